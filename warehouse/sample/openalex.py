"""OpenAlex works, one JSON object a line, and the ids of works that were merged into others.

Source: OpenAlex's snapshot documentation (layout of March 2026).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import shards, write_csv_gz, write_jsonl_gz
from warehouse.sample.settings import stream
from warehouse.sample.world import Paper, World

_UPDATED = ("2026-02-27", "2026-03-30")
_BASE = "https://openalex.org/"
_OLD = 400_000_000  # what the number of a merged work is higher by; no work has so high a number
_LICENCES = ("cc-by", "cc-by-nc-nd", "publisher-specific-oa", "public-domain", None)


def old_work_id(work_id: int) -> int:
    """The number of a work that was merged into this one, and that has no record now."""
    return work_id + _OLD


def write_openalex(world: World, folder: Path, book: FaultBook) -> None:
    """Write the works, `updated_date=*/part_000.gz`, and `merged_ids/works/*.csv.gz`."""
    papers = sorted((p for p in world.papers if p.work_id), key=lambda paper: paper.work_id)
    works = {paper.work_id: _work(world, paper) for paper in papers}
    _plant(works, book)
    for date, shard in zip(_UPDATED, shards(list(works.values()), 2), strict=False):
        path = folder / "openalex" / "works" / f"updated_date={date}" / "part_000.gz"
        write_jsonl_gz(path, shard)
    cited = {p.work_id for patent in world.patents for p in patent.cites_papers}
    merged = sorted(book.take("work_merged", sorted(cited)))
    rows = [("2024-06-07", f"W{old_work_id(work)}", f"W{work}") for work in merged]
    path = folder / "openalex" / "merged_ids" / "works" / "2024-06-07.csv.gz"
    write_csv_gz(path, ("merge_date", "id", "merge_into_id"), rows)


def _work(world: World, paper: Paper) -> dict[str, Any]:
    rng = stream(world.settings.seed, "openalex", paper.key)
    work = f"{_BASE}W{paper.work_id}"
    doi = f"https://doi.org/{paper.doi}" if paper.doi else None
    return {
        "id": work,
        "doi": doi,
        "title": paper.title,
        "display_name": paper.title,
        "publication_year": paper.year,
        "publication_date": paper.published.isoformat(),
        "ids": {"openalex": work, "doi": doi, "mag": None, "pmid": None, "pmcid": None},
        "language": rng.choice(("en", "en", "en", None)),
        "type": rng.choice(("article", "article", "preprint", "book-chapter")),
        "is_paratext": False,
        "is_retracted": False,
        "is_xpac": False,
        "authorships": [
            {
                "author_position": "first" if place == 0 else "middle",
                "author": {
                    "id": f"{_BASE}A{5_000_000_000 + person.number}",
                    "display_name": person.name,
                    "orcid": None,
                },
                "institutions": [],
                "raw_affiliation_strings": [],
            }
            for place, person in enumerate(paper.authors)
        ],
        "best_oa_location": _best_location(world, paper),
        "cited_by_count": None,
        "abstract_inverted_index": inverted(paper.abstract.split(" ")),
        "referenced_works": [f"{_BASE}W{cited.work_id}" for cited in paper.cites if cited.work_id],
    }


def _best_location(world: World, paper: Paper) -> dict[str, Any] | None:
    rng = stream(world.settings.seed, "open copy", paper.key)
    if rng.random() < 0.4:
        return None
    return {"is_oa": True, "license": rng.choice(_LICENCES), "pdf_url": None}


def inverted(words: list[str], gap_after: int | None = None) -> dict[str, list[int]]:
    """Word -> its positions; positions after `gap_after` are moved up by three."""
    index: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        moved = place + (3 if gap_after is not None and place > gap_after else 0)
        index.setdefault(word, []).append(moved)
    return index


def _words(index: dict[str, list[int]]) -> list[str]:
    return [
        word for _, word in sorted((at, word) for word, places in index.items() for at in places)
    ]


def _plant(works: dict[int, dict[str, Any]], book: FaultBook) -> None:
    keys = list(works)
    for key in book.take("work_title_html", keys):
        title = works[key]["title"].replace(" and ", " &amp; ")
        first, _, rest = title.partition(" ")
        works[key]["title"] = works[key]["display_name"] = f"<i>{first}</i> {rest}"
    for key in book.take("work_index_gap", keys):
        words = _words(works[key]["abstract_inverted_index"])
        works[key]["abstract_inverted_index"] = inverted(words, gap_after=9)
    for key in book.take("work_index_text", keys):
        works[key]["abstract_inverted_index"] = json.dumps(works[key]["abstract_inverted_index"])
    for key in book.take("work_index_null", keys):
        works[key]["abstract_inverted_index"] = None
    for key in book.take("work_year_null", keys):
        works[key]["publication_year"] = works[key]["publication_date"] = None
    for name, flag in (
        ("work_paratext", "is_paratext"),
        ("work_xpac", "is_xpac"),
        ("work_retracted", "is_retracted"),
    ):
        for key in book.take(name, keys):
            works[key][flag] = True
    with_doi = [key for key in keys if works[key]["doi"]]
    for key in book.take("work_unlinked", with_doi):
        works[key]["doi"] = works[key]["ids"]["doi"] = f"https://doi.org/10.5555/elsewhere.{key}"
