"""KPSS patent values, in two releases that differ in order, dates and estimates.

Source: README of the extended data of Kogan, Papanikolaou, Seru and Stoffman.
"""

from __future__ import annotations

from math import exp
from pathlib import Path

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import csv_text, write_text_zip
from warehouse.sample.settings import hashed, stream
from warehouse.sample.world import Invention, World

_CPI = 1.9  # dollars of the day per 1982 dollar, on average (our choice)
_LAST_YEAR = 2024


def write_kpss(world: World, folder: Path, book: FaultBook) -> None:
    """Write `kpss/KPSS_2024.zip`, and `kpss/KPSS_2023.zip` with other estimates."""
    listed = sorted((p for p in world.patents if _is_listed(p)), key=lambda p: p.patent_id)
    rows = {patent.patent_id: _row(world, patent) for patent in listed}
    keys = list(rows)
    for key in book.take("value_undated", keys):
        rows[key]["issue_date"] = None
    for key in book.take("value_filing_blank", keys):
        rows[key]["filing_date"] = None
    for key in book.take("value_cites_blank", keys):
        rows[key]["cites"] = None
    unheld = [str(1_568_325 + 19 * n) for n in range(book.extra("value_unheld", len(rows)))]
    book.note("value_unheld", unheld)
    for key in unheld:
        rows[key] = {**rows[keys[0]], "patent_num": key, "issue_date": "01/05/1926"}
    order = ("patent_num", "xi_real", "xi_nominal", "cites", "issue_date", "filing_date", "permno")
    text = csv_text(order, [[row[name] for name in order] for row in rows.values()])
    write_text_zip(folder / "kpss" / "KPSS_2024.zip", "KPSS_2024.csv", text)

    older = [patent for patent in listed if patent.granted.year < _LAST_YEAR]
    book.note("value_older_release", [patent.patent_id for patent in older])
    order = ("issue_date", "permno", "patent_num", "xi_nominal", "xi_real", "cites", "filing_date")
    lines = []
    for patent in older:
        row = _row(world, patent)
        row["xi_real"] = round(1.08 * row["xi_real"], 6)
        row["xi_nominal"] = round(1.08 * row["xi_nominal"], 6)
        row["issue_date"] = patent.granted.isoformat()
        row["filing_date"] = patent.filed.isoformat()
        lines.append([row[name] for name in order])
    write_text_zip(folder / "kpss" / "KPSS_2023.zip", "KPSS_2023.csv", csv_text(order, lines))


def _is_listed(patent: Invention) -> bool:
    """Whether its owner is a listed firm: two firms of five are."""
    firm = patent.assignee is not None and patent.assignee.name.startswith("Firm")
    return firm and patent.granted.year <= _LAST_YEAR and int(patent.assignee.name[5:]) % 5 < 2


def _row(world: World, patent: Invention) -> dict[str, object]:
    """One row; the value grows with quality, the firm and chance."""
    rng = stream(world.settings.seed, "value", patent.key)
    number = int(patent.assignee.name[5:])
    firm = hashed(world.settings.seed, "firm value", number) % 1000 / 500 - 1
    value = exp(1.5 + 0.8 * patent.idea.quality + firm + rng.gauss(0, 0.5))
    return {
        "patent_num": patent.patent_id,
        "xi_real": round(value, 6),
        "xi_nominal": round(value * _CPI, 6),
        "cites": rng.randint(0, 30),
        "issue_date": f"{patent.granted:%m/%d/%Y}",
        "filing_date": f"{patent.filed:%m/%d/%Y}",
        "permno": 10_000 + number,
    }
