"""FineWeb-Edu: educational web pages as Parquet, a folder for each crawl dump."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from warehouse.sample import templates as t
from warehouse.sample.faults import FaultBook
from warehouse.sample.settings import hashed, stream
from warehouse.sample.text import Author
from warehouse.sample.world import World, draw_idea

# Two dumps a year, named as Common Crawl names them.
DUMPS = (
    "2013-20", "2013-48", "2014-10", "2014-42", "2015-06", "2015-40", "2016-07", "2016-50",
    "2017-04", "2017-51", "2018-05", "2018-51", "2019-04", "2019-51", "2020-05", "2020-50",
    "2021-04", "2021-49", "2022-05", "2022-49", "2023-06", "2023-50", "2024-10", "2024-51",
    "2025-05", "2025-38",
)  # fmt: skip
Row = dict[str, Any]


def write_fineweb(world: World, folder: Path, book: FaultBook) -> None:
    """Write `fineweb_edu/data/CC-MAIN-YYYY-WW/000_00000.parquet`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        {
            "text": pa.string(),
            "id": pa.string(),
            "dump": pa.string(),
            "url": pa.string(),
            "file_path": pa.string(),
            "language": pa.string(),
            "language_score": pa.float64(),
            "token_count": pa.int64(),
            "score": pa.float64(),
            "int_score": pa.int64(),
        }
    )
    pages = [
        _page(world, dump, place)
        for dump in DUMPS
        if world.settings.first_year <= int(dump[:4]) <= world.settings.last_year
        for place in range(world.settings.pages())
    ]
    pages += _recrawled(world, pages, book)
    for dump in sorted({page["dump"] for page in pages}):
        rows = sorted((p for p in pages if p["dump"] == dump), key=lambda page: page["url"])
        path = folder / "fineweb_edu" / "data" / dump / "000_00000.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema), path, compression="snappy")


def _page(world: World, dump: str, place: int) -> Row:
    rng = stream(world.settings.seed, "page", dump, place)
    idea = draw_idea(world, rng, int(dump[:4]))
    author = Author(world.vocabulary, idea, rng)
    text = author.text(t.WEB, t.WEB, (), (110, 220))
    score = round(rng.uniform(2.6, 4.8), 3)
    serial = hashed(world.settings.seed, "url", dump, place)
    return {
        "text": text,
        "id": _urn(world, dump, place),
        "dump": f"CC-MAIN-{dump}",
        "url": f"https://school{serial % 97:02d}.sample.invalid/{serial}",
        "file_path": f"s3://commoncrawl/crawl-data/CC-MAIN-{dump}/segments/{place:05d}.warc.gz",
        "language": "en",
        "language_score": round(rng.uniform(0.8, 0.99), 4),
        "token_count": round(1.4 * len(text.split())),
        "score": score,
        "int_score": round(score),
    }


def _urn(world: World, *names: object) -> str:
    made = uuid.uuid5(uuid.NAMESPACE_URL, "/".join(map(str, (world.settings.seed, *names))))
    return f"<urn:uuid:{made}>"


def _recrawled(world: World, pages: list[Row], book: FaultBook) -> list[Row]:
    """Turn some pages French, and crawl some again four dumps later."""
    ids = [page["id"] for page in pages]
    french = book.take("page_not_english", ids)
    last = pages[-1]["dump"]
    early = [page["id"] for page in pages if page["dump"] < last][: len(pages) * 3 // 4]
    again, same = book.take("page_repeated", early), book.take("page_same_id", early)
    dumps = sorted({page["dump"] for page in pages})
    more = []
    for page in pages:
        if page["id"] in french:
            page["text"] = t.FRENCH
        if page["id"] in again | same:
            dump = dumps[min(len(dumps) - 1, dumps.index(page["dump"]) + 4)]
            path = page["file_path"].replace(page["dump"], dump)
            copy = {**page, "dump": dump, "file_path": path}
            if page["id"] in again:
                copy["id"] = _urn(world, "again", page["id"])
            more.append(copy)
    return more
