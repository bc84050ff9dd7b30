"""Founding Patents in both releases: firms, their founding years and venture backing.

Source: Zenodo records 12706672 (2024-07-10) and 10250493 (2023-12-02).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import csv_text, write_text
from warehouse.sample.settings import hashed, stream
from warehouse.sample.world import Assignee, Invention, World

_LAST_YEAR = 2021  # of grants in both releases
_NEWER = (
    "patent_id founding_year founding_score vc_backed_assignee vc_score initassignee_id"
    " initassignee_organization univ_hospital_gov foreign"
)
_OLDER = (
    "patent_id,location_id,country,state,city,june2022assignee_id,assignee_sequence,"
    "assignee_type,organization,university,Found in OC,jurisdiction_code,company_number,"
    "UO_DISCERN,SUB_DISCERN,gvkey,CUSIP,founding_year,first_year_publicly_listed,"
    "founding_score,VC_backed_assignee,VC_score"
)


def write_ocpb(world: World, folder: Path, book: FaultBook) -> None:
    """Write `ocpb/ocpb_assigneeatfiling.csv` and `ocpb/_patent_ocpb.csv`."""
    owned = sorted(
        (p for p in world.patents if p.assignee and p.granted.year <= _LAST_YEAR),
        key=lambda patent: patent.patent_id,
    )
    rows = {patent.patent_id: _newer(world, patent) for patent in owned}
    keys = list(rows)
    for key in book.take("firm_unmatched", keys):
        rows[key][1:5] = [None] * 4
    for key in book.take("firm_year_with_point", [key for key in keys if rows[key][1]]):
        rows[key][1] = f"{rows[key][1]}.0"
    unheld = [str(4_200_000 + 23 * n) for n in range(book.extra("firm_unheld", len(rows)))]
    book.note("firm_unheld", unheld)
    for key in unheld:
        rows[key] = [key, *rows[keys[0]][1:]]
    at = folder / "ocpb"
    text = csv_text(_NEWER.replace("vc_", "VC_").split(), rows.values())
    write_text(at / "ocpb_assigneeatfiling.csv", "\ufeff" + text)
    book.note("firm_byte_order_mark", ["ocpb_assigneeatfiling.csv"])

    older = [patent for patent in owned if patent.granted.year <= _LAST_YEAR - 1]
    book.note("firm_older_release", [patent.patent_id for patent in older])
    names = _OLDER.split(",")
    lines = []
    for patent in older:
        found = dict(zip(_NEWER.split(), _newer(world, patent), strict=True))
        value: dict[str, Any] = {
            **found,
            "country": "DE" if found["foreign"] else "US",
            "june2022assignee_id": found["initassignee_id"],
            "assignee_sequence": 0,
            "assignee_type": patent.assignee.kind,
            "organization": found["initassignee_organization"],
            "university": int(patent.assignee.name.startswith("University")),
            "Found in OC": int(found["founding_year"] is not None),
            "VC_backed_assignee": found["vc_backed_assignee"],
            "VC_score": found["vc_score"],
        }
        lines.append([value.get(name) for name in names])
    write_text(at / "_patent_ocpb.csv", csv_text(names, lines))


def _newer(world: World, patent: Invention) -> list[Any]:
    """A row of the newer release."""
    owner = patent.assignee
    rng = stream(world.settings.seed, "ocpb", patent.key)
    matched = owner.name.startswith("Firm") and rng.random() < 0.8
    number = hashed(world.settings.seed, "founded", owner.name) % 60
    backed = _is_backed(owner)
    return [
        patent.patent_id,
        1950 + number if matched else None,
        rng.randint(5, 10) if matched else None,
        int(backed) if matched else None,
        rng.choice((5, 6, 7, 8, 9, 10)) if matched else None,
        # An id of the release: not the one that PatentsView gives today.
        "2022-" + owner.assignee_id[:13],
        owner.name,
        int(owner.name.startswith(("University", "Agency"))),
        int(owner.kind in (3, 5, 7)),
    ]


def _is_backed(owner: Assignee) -> bool:
    """Whether venture capital ever backed the firm: every fourth one."""
    return owner.name.startswith("Firm") and int(owner.name[5:]) % 4 == 1
