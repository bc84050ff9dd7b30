"""PatentsView's tables on pre-grant publications, and the crosswalk to grants.

Source: PatentsView-DB, `create_and_test_crosswalk.py` (how the flags come about).
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import write_tsv_zip
from warehouse.sample.inventions import pgpub_id
from warehouse.sample.world import Invention, World

Row = list[Any]


def republish(world: World, book: FaultBook) -> None:
    """Give some applications a second publication, half a year after the first."""
    last = world.settings.last_year
    held = [i for i in world.inventions if i.pgpubs and i.pgpubs[0][1].year < last]
    chosen = book.take("pgpub_republished", sorted(i.application_id for i in held))
    for invention in held:
        if invention.application_id in chosen:
            again = invention.pgpubs[0][1] + timedelta(days=182)
            second = pgpub_id(world, f"{invention.key} again", again)
            invention.pgpubs.append((second, again))


def write_pregrant(world: World, folder: Path, book: FaultBook) -> None:
    """Write the pre-grant tables except the long text."""
    at = folder / "patentsview"
    published = sorted(
        (pgpub, day, place, invention)
        for invention in world.inventions
        for place, (pgpub, day) in enumerate(invention.pgpubs)
    )
    rows = {pgpub: _application(pgpub, day, place, i) for pgpub, day, place, i in published}
    keys = list(rows)
    padded = [key for key in keys if rows[key][1].startswith("0")]
    for key in book.take("pgpub_unpadded", padded):
        rows[key][1] = rows[key][1].lstrip("0")
    for key in book.take("pgpub_undated", keys):
        rows[key][2] = None
    for place in range(book.extra("pgpub_plant", len(keys))):
        pgpub = 20_090_900_001 + place
        day = "2009-06-04"
        title = f"Rose plant named Sample {place}"
        plant = ["plant", "Plant", day, "P1", "12", title, 0, "ipa090604.xml"]
        rows[pgpub] = [pgpub, f"12900{place:03d}", "2008-02-01", *plant]
    book.note("pgpub_plant", [key for key in rows if rows[key][3] == "plant"])
    header = (
        "pgpub_id application_id filing_date patent_type filing_type published_date wipo_kind"
        " series_code application_title rule_47_flag filename"
    )
    write_tsv_zip(at, "pg_published_application", header.split(), rows.values())
    write_tsv_zip(
        at,
        "pg_published_application_abstract",
        ("pgpub_id", "application_abstract"),
        ((pgpub, invention.abstract) for pgpub, _, _, invention in published),
    )
    _write_crosswalk(at, world, book)


def _application(pgpub: int, day: Any, place: int, invention: Invention) -> Row:
    # A second publication has kind A2.
    return [
        pgpub,
        invention.application_id,
        invention.filed.isoformat(),
        "utility",
        "new-application",
        day.isoformat(),
        f"A{place + 1}",
        invention.application_id[:2],
        invention.title,
        0,
        f"ipa{day:%y%m%d}.xml",
    ]


def _write_crosswalk(at: Path, world: World, book: FaultBook) -> None:
    """Full outer join of publications and grants; a missing side has the flag FALSE."""
    rows = []
    for invention in sorted(world.inventions, key=lambda i: i.application_id):
        granted = "TRUE" if invention.patent_id else "FALSE"
        last = invention.pgpubs[-1][0] if invention.pgpubs else None
        for pgpub in [pgpub for pgpub, _ in invention.pgpubs] or [None]:
            current = "TRUE" if pgpub and pgpub == last else "FALSE"
            rows.append([pgpub, invention.patent_id, invention.application_id, current, granted])
    book.note("crosswalk_not_granted", sorted(row[0] for row in rows if not row[1]))
    header = "pgpub_id patent_id application_id current_pgpub_id_flag current_patent_id_flag"
    write_tsv_zip(at, "pg_granted_pgpubs_crosswalk", header.split(), rows)
