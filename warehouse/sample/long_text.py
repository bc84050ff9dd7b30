"""Long text of applications and grants: summary, claims, description and drawings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from warehouse.sample import templates as t
from warehouse.sample.files import write_tsv_zip
from warehouse.sample.settings import stream
from warehouse.sample.text import Author
from warehouse.sample.world import Invention, World

# Grant years whose long text the sample holds, and the share of patents that have it.
GRANTED_YEARS = (1998, 2005, 2010, 2012, 2013, 2014)
GRANTED_SHARE = 0.3


class LongText(NamedTuple):
    """The four parts of a document."""

    summary: str
    claims: list[str]
    description: str
    drawings: list[str]


def long_text(world: World, invention: Invention) -> LongText:
    """The parts of an application, the same in its publication and its grant."""
    rng = stream(world.settings.seed, "long text", invention.key)
    author = Author(world.vocabulary, invention.idea, rng)
    claims = [author.sentence(rng.choice(t.CLAIM_FIRST))]
    for number in range(2, rng.randint(3, 5)):
        claims.append(f"{number}. {author.sentence(rng.choice(t.CLAIM_FURTHER))}")
    paragraphs = [
        author.text(t.PATENT_OPENING, t.PATENT_MIDDLE, t.PATENT_CLOSING, (60, 90))
        for _ in range(rng.randint(1, 3))
    ]
    drawings = [
        f"FIG. {number} {author.sentence(rng.choice(t.DRAWING))}"
        for number in range(1, rng.randint(2, 4))
    ]
    summary = author.text(t.PATENT_OPENING, t.PATENT_MIDDLE, t.PATENT_CLOSING, (50, 80))
    # Paragraphs are parted by line breaks inside the quoted field.
    return LongText(summary, claims, "\n".join(paragraphs), drawings)


def write_granted_text(world: World, folder: Path) -> None:
    """Write `g_brf_sum_text_YYYY` and its sisters for some grant years."""
    seed = world.settings.seed
    for year in GRANTED_YEARS:
        texts = [
            (patent.patent_id, long_text(world, patent))
            for patent in world.patents
            if patent.granted.year == year
            and stream(seed, "granted text", patent.key).random() < GRANTED_SHARE
        ]
        write_parts(folder / "patentsview", "g", "patent_id", year, texts)


def write_pregrant_text(world: World, folder: Path) -> None:
    """Write `pg_brf_sum_text_YYYY` and its sisters, by year of publication."""
    by_year: dict[int, list[tuple[int, LongText]]] = {}
    for invention in world.inventions:
        text = long_text(world, invention) if invention.pgpubs else None
        for pgpub, published in invention.pgpubs:
            by_year.setdefault(published.year, []).append((pgpub, text))
    for year, texts in sorted(by_year.items()):
        write_parts(folder / "patentsview", "pg", "pgpub_id", year, sorted(texts))


def write_parts(
    at: Path, prefix: str, key: str, year: int, texts: list[tuple[Any, LongText]]
) -> None:
    """Write the four tables of one year.

    Args:
        at: the PatentsView folder.
        prefix: `g` or `pg`.
        key: name of the key column.
        year: part of the file names.
        texts: (key, text) in the order of the files.
    """
    if not texts:
        return

    def write(part: str, header: str, rows: Callable[[Any, LongText], Iterable[list[Any]]]) -> None:
        lines = [[name, *row] for name, text in texts for row in rows(name, text)]
        write_tsv_zip(at, f"{prefix}_{part}_{year}", [key, *header.split()], lines)

    write("brf_sum_text", "summary_text", lambda _, x: [[x.summary]])
    write(
        "detail_desc_text",
        "description_text description_length",
        lambda _, x: [[x.description, len(x.description)]],
    )
    write(
        "draw_desc_text",
        "draw_desc_sequence draw_desc_text",
        lambda _, x: [[n, line] for n, line in enumerate(x.drawings)],
    )
    # The two families of files order the columns of claims differently.
    if prefix == "g":
        write(
            "claims",
            "claim_sequence claim_number claim_text dependent exemplary",
            lambda _, x: [
                [n, f"{n + 1:05d}", line, "claim 1" if n else None, 0 if n else 1]
                for n, line in enumerate(x.claims)
            ],
        )
    else:
        write(
            "claims",
            "claim_sequence claim_text dependent claim_number",
            lambda _, x: [
                [n, line, "claim 1" if n else None, f"{n + 1:05d}"]
                for n, line in enumerate(x.claims)
            ],
        )
