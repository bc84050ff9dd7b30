"""Families of European patents and the papers they cite, in the layout of this project."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import write_csv
from warehouse.sample.settings import hashed, stream
from warehouse.sample.world import Invention, Paper, World

SHARE = 12  # one patent in so many has a family
_CITED = (3, 9)  # papers that a family cites, from and to
_UNHELD_WORK = 4_200_000_000  # first OpenAlex id that no work of the sample has
_OFFICES = ("WO", "DE", "FR", "JP", "NL")
_HEADER = (
    "family_id office publication application_id publication_date title abstract cited_work"
    " confscore wherefound"
)
Row = list[Any]


def write_european_families(world: World, folder: Path, book: FaultBook) -> None:
    """Write `european_families/european_families.csv`."""
    seed = world.settings.seed
    papers: dict[int, list[Paper]] = {}
    for paper in world.papers:
        if paper.work_id:
            papers.setdefault(paper.idea.topic.number, []).append(paper)
    chosen = [p for p in world.patents if hashed(seed, "family", p.key) % SHARE == 0]
    chosen = [p for p in chosen if _published(p) <= date(world.settings.last_year, 12, 31)]
    families = {_family_id(p): _members(world, p, papers) for p in chosen}
    _spoil(families, book, world.settings.last_year)
    rows = [row for members in families.values() for row in members]
    write_csv(folder / "european_families" / "european_families.csv", _HEADER.split(), rows)


def _family_id(patent: Invention) -> int:
    return 40_000_000 + int(patent.application_id) % 10_000_000


def _published(patent: Invention) -> date:
    """Eighteen months after filing, on a Wednesday."""
    due = patent.filed + timedelta(days=548)
    return due + timedelta(days=(2 - due.weekday()) % 7)


def _members(world: World, patent: Invention, papers: dict[int, list[Paper]]) -> list[Row]:
    """Rows of a European publication, and now and then of one of another office.

    The text stands in a row of its own, before the rows of the citations.
    """
    rng = stream(world.settings.seed, "family", patent.key)
    day, family = _published(patent), _family_id(patent)
    number = 1_000_000 + family % 3_000_000
    head = [family, "EP", f"ep-{number}-a1", 2 * number, day.isoformat()]
    text = [patent.title, patent.abstract]
    rows = [[*head, *text, None, None, None]]
    for paper in _cited(world, rng, patent, papers):
        rows.append([*head, None, None, f"W{paper.work_id}", _score(rng), _place(rng)])
    if rng.random() < 0.4:
        office = rng.choice(_OFFICES)
        other = [family, office, f"{office.lower()}-{number}-a1", 2 * number + 1]
        rows.append([*other, day.isoformat(), *text, None, None, None])
    return rows


def _cited(
    world: World, rng: random.Random, patent: Invention, papers: dict[int, list[Paper]]
) -> list[Paper]:
    """Papers of the field that share concepts with the patent, none from after its filing."""
    count = rng.randint(*_CITED)
    if world.settings.shuffle_citations:
        early = [p for group in papers.values() for p in group if p.year < patent.filed.year]
        return rng.sample(early, min(count, len(early)))
    own = papers.get(patent.idea.topic.number, [])
    early = [paper for paper in own if paper.year < patent.filed.year]
    concepts = set(patent.idea.concepts)
    shared = {p.work_id: len(concepts & set(p.idea.concepts)) + rng.random() * 2 for p in early}
    return sorted(early, key=lambda paper: -shared[paper.work_id])[:count]


def _score(rng: random.Random) -> int:
    return rng.choices((10, 9, 7, 4), (80, 10, 6, 4))[0]


def _place(rng: random.Random) -> str:
    return rng.choice(("frontonly", "bodyonly", "both"))


def _spoil(families: dict[int, list[Row]], book: FaultBook, last_year: int) -> None:
    """Plant the faults; a family has one at most."""
    keys = list(families)
    early = [key for key in keys if int(families[key][0][4][:4]) <= last_year - 2]
    for key in book.take("family_later_member", early):
        first, *others = families[key]
        # The member known first is of a lesser office, the European one comes two years later.
        later = f"{int(first[4][:4]) + 2}-06-01"
        text = ["A later title", "A later abstract of the same family."]
        families[key] = [
            [first[0], "NL", f"nl-{first[3]}-a", *first[3:]],
            [*first[:4], later, *text, *first[7:]],
            *([*row[:4], later, *row[5:]] for row in others if row[1] == "EP"),
        ]
    for key in book.take("family_undated", keys):
        families[key] = [[*families[key][0][:4], None, *families[key][0][5:]]]
    for key in book.take("family_without_text", keys):
        families[key] = [[*row[:5], None, " ", *row[7:]] for row in families[key]]
    for key in book.take("family_lower_case", keys):
        families[key] = [
            [row[0], row[1].lower(), row[2].upper(), *row[3:]] for row in families[key]
        ]
    for key in book.take("family_tie", keys):
        first = families[key][0]
        again = [first[0], "EP", f"ep-{first[3] + 1}-a1", first[3] - 1, first[4]]
        families[key].append([*again, "Of the lower application", first[6], None, None, None])
    citing = [key for key in keys if any(row[7] for row in families[key])]
    for n, key in enumerate(sorted(book.take("family_unheld_work", citing))):
        next(row for row in families[key] if row[7])[7] = f"W{_UNHELD_WORK + n}"
