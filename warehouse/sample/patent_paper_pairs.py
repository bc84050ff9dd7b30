"""Patent-paper pairs: inventions that restate a paper, and less sure ones.

Source: Zenodo concept record 3236339 (`_patent_paper_pairs.csv`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import write_csv
from warehouse.sample.settings import stream
from warehouse.sample.world import Invention, Paper, World

_UNHELD_WORK = 4_100_000_000  # first OpenAlex id that no work of the sample has
Row = list[Any]


def write_patent_paper_pairs(world: World, folder: Path, book: FaultBook) -> None:
    """Write `patent_paper_pairs/_patent_paper_pairs.csv`."""
    written: dict[int, list[Paper]] = {}
    for paper in world.papers:
        if paper.work_id:
            for author in paper.authors:
                written.setdefault(author.number, []).append(paper)
    rows = [row for patent in world.patents for row in _pairs(world, patent, written)]
    keys = [(row[1], row[0]) for row in rows]
    found = dict(zip(keys, rows, strict=True))
    for key in book.take("pair_days_blank", keys):
        found[key][3] = None
    # A pair listed again has a higher score there: the lower one counts.
    for key in book.take("pair_repeated", [key for key in keys if found[key][2] < 4]):
        rows.append([*found[key][:2], 4, *found[key][3:]])
    plants = book.planted["patent_plant"][: book.extra("pair_plant", len(rows))]
    plants = plants if rows else []  # a very small sample may have no pair to copy
    book.note("pair_plant", plants)
    rows += [[rows[0][0], f"US-{plant}", 2, 100, f"US-{plant}"] for plant in plants]
    unheld = min(book.extra("pair_unheld_work", len(rows)), len(rows))
    works = [f"W{_UNHELD_WORK + n}" for n in range(unheld)]
    book.note("pair_unheld_work", works)
    rows += [[work, *rows[n][1:]] for n, work in enumerate(works)]
    header = "paperid patent ppp_score daysdiffcont all_patents_for_the_same_paper"
    path = folder / "patent_paper_pairs" / "_patent_paper_pairs.csv"
    write_csv(path, header.split(), rows)


def _pairs(world: World, patent: Invention, written: dict[int, list[Paper]]) -> list[Row]:
    """The paper that a patent restates, surely, and now and then one by an inventor of it."""
    rng = stream(world.settings.seed, "pair", patent.key)
    pairs = []
    if patent.restates and patent.restates.work_id:
        pairs.append((patent.restates, rng.choice((3, 4, 4, 4))))
    if rng.random() < 0.03:
        near = [
            paper
            for person in patent.inventors
            for paper in written.get(person.number, [])
            if abs(paper.year - patent.filed.year) <= 4 and paper is not patent.restates
        ]
        if near:
            pairs.append((rng.choice(near), rng.choice((1, 1, 2, 3))))
    name = f"US-{patent.patent_id}"
    return [
        [f"W{paper.work_id}", name, score, (patent.filed - paper.published).days, name]
        for paper, score in pairs
    ]
