"""Pasteur's-quadrant researchers: inventors who are authors, with link files of their own ids.

Source: Zenodo records 11374125 and 23048170; EmmaScharfmann/scientists-inventors.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import write_tsv
from warehouse.sample.settings import hashed, stream
from warehouse.sample.world import Person, World

_INVENTORS_TO = date(2023, 3, 30)  # of PatentsView's release whose inventor ids are used
_WORKS_TO = 2023  # year of the OpenAlex snapshot whose author ids are used
# Share of those who do both that the match finds, in one half of the sub-topics and in the other:
# what makes a researcher's documents learnable from text.
_MATCHED = (0.45, 0.95)
_UNHELD = 4_300_000  # first number of a patent or work that the sample does not hold


def write_pasteurs_quadrant(world: World, folder: Path, book: FaultBook) -> None:
    """Write the three files of `pqr/`."""
    at = folder / "pqr"
    people = [person for group in world.people for person in group]
    both = [p for p in people if p.writes and p.invents and _is_matched(world, p)]
    rows = {person.number: _researcher(world, person) for person in both}
    keys = list(rows)
    for key in book.take("researcher_confidence_absent", keys):
        rows[key][3] = None
    old = book.take("researcher_old_id", keys)
    authors = {p.number: _author_id(world, p, p.number in old) for p in people}
    for key in old:
        rows[key][1] = authors[key]
    lines = list(rows.values())
    for key in book.take("researcher_repeated", keys):
        lines.append([*rows[key][:3], 1.0, *rows[key][4:]])
    header = ("inventor_id", "author_id", "inventor_name", "confidence", "number of comparison",
              "number of match")  # fmt: skip
    write_tsv(at / "pqrs_dataset.tsv", header, lines)
    _write_links(at, world, people, authors, book)


def _write_links(
    at: Path, world: World, people: list[Person], authors: dict[int, str], book: FaultBook
) -> None:
    links = [
        [_inventor_id(world, person), f"US-{patent.patent_id}"]
        for patent in world.patents
        if patent.granted <= _INVENTORS_TO
        for person in patent.inventors
    ]
    count = book.extra("researcher_patent_unheld", len(links))
    unheld = [f"US-{_UNHELD + n}" for n in range(count)]
    book.note("researcher_patent_unheld", unheld)
    links += [[links[n][0], patent] for n, patent in enumerate(unheld)]
    # pandas wrote the table with its index, which has no name.
    lines = [[n, *link] for n, link in enumerate(links)]
    write_tsv(at / "inventorid_patentid.tsv", ("", "inventor_id", "patent_id"), lines)
    book.note("researcher_index", ["inventorid_patentid.tsv"])

    pairs = [
        [f"W{paper.work_id}", authors[person.number]]
        for paper in world.papers
        if paper.work_id and paper.year < _WORKS_TO
        for person in paper.authors
    ]
    count = book.extra("researcher_work_unheld", len(pairs))
    works = [f"W{_UNHELD + n}" for n in range(count)]
    book.note("researcher_work_unheld", works)
    pairs += [[work, pairs[n][1]] for n, work in enumerate(works)]
    write_tsv(at / "authorid_workid.tsv", ("work_id", "author_id"), pairs)


def _is_matched(world: World, person: Person) -> bool:
    share = _MATCHED[hashed(world.settings.seed, "matched", person.topic) % 2]
    return stream(world.settings.seed, "matched", person.number).random() < share


def _researcher(world: World, person: Person) -> list[Any]:
    rng = stream(world.settings.seed, "researcher", person.number)
    compared = rng.randint(4, 40)
    share = rng.choice((0.4, 0.6, 0.8, 0.9, 1.0))
    matched = round(share * compared)
    name = person.name
    ids = [_inventor_id(world, person), _author_id(world, person, False)]
    return [*ids, name, round(matched / compared, 4), compared, matched]


def _inventor_id(world: World, person: Person) -> str:
    """The id of the release of 2023: today's ids number the people otherwise."""
    return f"fl:au_ln:{person.number:04d}-{2 + hashed(world.settings.seed, person.number) % 3}"


def _author_id(world: World, person: Person, is_old: bool) -> str:
    """An OpenAlex id of August 2023; some are still of the older kind."""
    number = hashed(world.settings.seed, "author", person.number) % 90_000_000
    return f"A{2 if is_old else 5}0{number:08d}"
