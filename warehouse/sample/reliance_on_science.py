"""Reliance on Science: patent-to-paper citations, in the layout of release 64.

Source: Zenodo record 11461587 (`_pcs_oa.csv`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import write_csv
from warehouse.sample.openalex import old_work_id
from warehouse.sample.settings import stream
from warehouse.sample.world import Invention, World

_UNHELD_WORK = 4_000_000_000  # first OpenAlex id that no work of the sample has
_WHERE = ("frontonly", "bodyonly", "both")
Row = list[Any]


def write_reliance_on_science(world: World, folder: Path, book: FaultBook) -> None:
    """Write `reliance_on_science/_pcs_oa.csv`."""
    rows = [row for patent in world.patents for row in _cited(world, patent)]
    for row in rows:
        if row[2] in book.planted["work_merged"]:
            row[2] = old_work_id(row[2])
    places = list(range(len(rows)))
    for place in book.take("ros_leading_zero", [p for p in places if len(rows[p][3]) == 13]):
        rows[place][3] = rows[place][3].replace("us-", "us-0")
    for place in book.take("ros_upper_case", places):
        rows[place][0] = rows[place][0].capitalize()
    for name in ("ros_leading_zero", "ros_upper_case"):
        book.note(name, [(rows[place][3], rows[place][2]) for place in book.planted[name]])
    rng = stream(world.settings.seed, "fault", "ros")
    held = len(rows)
    changes = {
        "ros_duplicate": lambda row, _: [*row[:5], "both", row[6]],
        "ros_european": lambda row, n: [*row[:3], f"ep-{1_200_000 + n}-a1", 0, *row[5:]],
        "ros_pregrant": lambda row, n: [*row[:3], f"us-{20_050_012_345 + n}-a1", *row[4:]],
        "ros_reissue": lambda row, n: [*row[:3], f"us-0re{35_000 + 7 * n}-e1", *row[4:]],
        "ros_unheld_work": lambda row, n: [*row[:2], _UNHELD_WORK + n, *row[3:]],
    }
    for name, change in changes.items():
        chosen = rng.sample(rows[:held], book.extra(name, held))
        more = [change(row, number) for number, row in enumerate(chosen)]
        book.note(name, [(row[3], row[2]) for row in more])
        rows += more
    rng.shuffle(rows)
    header = ("reftype", "confscore", "oaid", "patent", "uspto", "wherefound", "self")
    write_csv(folder / "reliance_on_science" / "_pcs_oa.csv", header, rows)


def _cited(world: World, patent: Invention) -> list[Row]:
    rng = stream(world.settings.seed, "ros", patent.key)
    kind = "a" if patent.granted.year < 2001 else "b2" if patent.pgpubs else "b1"
    rows = []
    for paper in patent.cites_papers:
        score = rng.choices((10, 9, 8, 6, 4, 3, 1), (60, 10, 10, 8, 6, 4, 2))[0]
        own = "self" if set(patent.inventors) & set(paper.authors) else ""
        source = rng.choices(("app", "exm", "unk"), (90, 8, 2))[0]
        key = f"us-{patent.patent_id}-{kind}"
        rows.append([source, score, paper.work_id, key, 1, rng.choice(_WHERE), own])
    return rows
