"""PatentsView's tables on granted patents.

Source: PatentsView-DB, `resources/create_export_views.sql` (columns in file order).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import RawLine, write_tsv_zip
from warehouse.sample.settings import hashed, stream
from warehouse.sample.words import ADDITIONAL_SUBCLASSES
from warehouse.sample.world import Invention, Person, World

_CATEGORIES = ("cited by applicant", "cited by examiner", "cited by other")
Row = list[Any]


def write_patentsview(world: World, folder: Path, book: FaultBook) -> None:
    """Write the granted tables except the long text."""
    at = folder / "patentsview"
    patents = sorted(world.patents, key=lambda patent: patent.patent_id)
    others = _others(world, book)
    _write_patents(at, world, patents, others, book)
    _write_abstracts(at, patents, others, book)
    _write_applications(at, patents, book)
    _write_citations(at, world, patents, others, book)
    _write_cpc(at, world, patents, book)
    _write_people(at, world, patents, book)


def _others(world: World, book: FaultBook) -> list[Row]:
    """Rows of g_patent for what is no utility patent: id, type, date, title, kind."""
    kinds = (
        ("patent_design", "D{}", "design", "S1", 345_393),
        ("patent_plant", "PP{}", "plant", "P2", 14_398),
        ("patent_reissue", "RE{}", "reissue", "E1", 35_000),
        ("patent_reissue_as_utility", "RE{}", "utility", "E1", 39_000),
        ("patent_sir", "H{}", "statutory invention registration", "H1", 2_222),
    )
    rows = []
    for name, form, patent_type, kind, first in kinds:
        count = book.extra(name, len(world.patents))
        ids = [form.format(first + 7 * n) for n in range(count)]
        book.note(name, ids)
        for place, patent_id in enumerate(ids):
            like = world.patents[(place + 1) * len(world.patents) // (count + 2)]
            rows.append([patent_id, patent_type, like.granted.isoformat(), like.title, kind])
    return rows


def _write_patents(
    at: Path, world: World, patents: list[Invention], others: list[Row], book: FaultBook
) -> None:
    keys = [patent.patent_id for patent in patents]
    rows = {patent.patent_id: _patent(world, patent) for patent in patents}
    for key in book.take("patent_undated", keys):
        rows[key][2] = None
    for key in book.take("patent_withdrawn", keys):
        rows[key][6] = 1
    for key in book.take("patent_title_quotes", keys):
        first, _, rest = rows[key][3].partition(" ")
        rows[key][3] = f'"{first}" {rest}'
    for name, mark in (("patent_title_tab", "\t"), ("patent_title_newline", "\n")):
        for key in book.take(name, keys):
            rows[key][3] = rows[key][3].replace(" ", mark, 1)
    lines: list[Row | RawLine] = list(rows.values())
    lines += [[*row, None, 0, None] for row in others]
    if book.extra("patent_short_row", len(lines)):
        lines.insert(len(lines) // 2, RawLine('"9999998"\t"utility"\t"2012-03-06"'))
        book.note("patent_short_row", ["9999998"])
    if book.extra("patent_bad_integer", len(lines)):
        broken = ["9999997", "utility", "2012-03-06", "Unreadable", "B2", "twelve", 0, None]
        lines.insert(len(lines) // 3, broken)
        book.note("patent_bad_integer", ["9999997"])
    header = (
        "patent_id patent_type patent_date patent_title wipo_kind num_claims withdrawn filename"
    )
    write_tsv_zip(at, "g_patent", header.split(), lines)


def _patent(world: World, patent: Invention) -> Row:
    kind = "A" if patent.granted.year < 2001 else "B2" if patent.pgpubs else "B1"
    claims = 4 + hashed(world.settings.seed, "claims", patent.key) % 26
    file = f"ipg{patent.granted:%y%m%d}.xml"
    day = patent.granted.isoformat()
    return [patent.patent_id, "utility", day, patent.title, kind, claims, 0, file]


def _write_abstracts(
    at: Path, patents: list[Invention], others: list[Row], book: FaultBook
) -> None:
    keys = [patent.patent_id for patent in patents]
    absent = book.take("patent_without_abstract", keys)
    rows = {p.patent_id: p.abstract for p in patents if p.patent_id not in absent}
    keys = list(rows)
    for place, key in enumerate(sorted(book.take("patent_abstract_empty", keys))):
        rows[key] = (None, " ", "\n")[place % 3]
    for key in book.take("patent_abstract_quotes", keys):
        words = rows[key].split(" ")
        words[4] = f'"{words[4]}"'
        rows[key] = " ".join(words)
    for key in book.take("patent_abstract_newline", keys):
        rows[key] = rows[key].replace(". ", ".\n\t", 1)
    for patent_id, patent_type, *_ in others:
        if patent_type != "design":
            rows[patent_id] = "The subject of this document is registered as described herein."
    write_tsv_zip(at, "g_patent_abstract", ("patent_id", "patent_abstract"), rows.items())


def _write_applications(at: Path, patents: list[Invention], book: FaultBook) -> None:
    rows = {p.patent_id: application_row(p) for p in patents}
    keys = list(rows)
    padded = [key for key in keys if rows[key][0].startswith("0")]
    for key in book.take("application_unpadded", padded):
        rows[key][0] = rows[key][0].lstrip("0")
    for key in book.take("application_undated", keys):
        rows[key][3] = None
    header = "application_id patent_id patent_application_type filing_date series_code rule_47_flag"
    write_tsv_zip(at, "g_application", header.split(), rows.values())


def application_row(patent: Invention) -> Row:
    """A row of g_application."""
    series = patent.application_id[:2]
    return [patent.application_id, patent.patent_id, series, patent.filed.isoformat(), series, 0]


def _write_citations(
    at: Path, world: World, patents: list[Invention], others: list[Row], book: FaultBook
) -> None:
    rows = [row for patent in patents for row in _cited(world, patent)]
    rng = stream(world.settings.seed, "fault", "patent citations")
    dated = [place for place, row in enumerate(rows) if row[3]]
    for place in book.take("cite_day_00", dated):
        rows[place][3] = rows[place][3][:8] + "00"
    for place in book.take("cite_date_zero", dated):
        rows[place][3] = "0000-00-00"
    designs = [row[0] for row in others if row[1] == "design"]
    extra: dict[str, list[Row]] = {
        "cite_duplicate": [list(rng.choice(rows)) for _ in _times(book, "cite_duplicate", rows)],
        "cite_self_loop": [
            _more(patent.patent_id, patent.patent_id, 900)
            for patent in rng.sample(patents, book.extra("cite_self_loop", len(rows)))
        ],
        "cite_design": [
            _more(rng.choice(patents).patent_id, rng.choice(designs), 910 + n)
            for n in _times(book, "cite_design", rows)
        ],
        "cite_unheld": [
            _more(rng.choice(patents).patent_id, str(rng.randrange(3_930_271, 5_400_000)), 1000 + n)
            for n in _times(book, "cite_unheld", rows)
        ],
    }
    # The keys of rows chosen above were places in the list: give their ids instead.
    for name in ("cite_day_00", "cite_date_zero"):
        book.note(name, [(rows[place][0], rows[place][1]) for place in book.planted[name]])
    for name, more in extra.items():
        book.note(name, [(row[0], row[2]) for row in more])
        rows += more
    if book.extra("cite_bad_integer", len(rows)):
        rows.append([patents[0].patent_id, "first", patents[1].patent_id, None, None, None, None])
        book.note("cite_bad_integer", [(patents[0].patent_id, patents[1].patent_id)])
    rows.sort(key=lambda row: (row[0], str(row[1]).zfill(6)))
    header = (
        "patent_id citation_sequence citation_patent_id citation_date record_name wipo_kind"
        " citation_category"
    )
    write_tsv_zip(at, "g_us_patent_citation", header.split(), rows)


def _times(book: FaultBook, name: str, rows: list[Row]) -> Iterable[int]:
    return range(book.extra(name, len(rows)))


def _cited(world: World, patent: Invention) -> list[Row]:
    rng = stream(world.settings.seed, "patent citations", patent.key)
    blank = 1.0 if patent.granted.year <= 2001 else 0.05 if patent.granted.year == 2002 else 0.0
    rows = []
    for sequence, cited in enumerate(patent.cites):
        category = None if rng.random() < blank else rng.choice(_CATEGORIES)
        day, kind = cited.granted.isoformat(), "A" if cited.granted.year < 2001 else "B1"
        name = cited.inventors[0].name.split()[0] if cited.inventors else None
        row = [patent.patent_id, sequence, cited.patent_id, day, name, kind, category]
        rows.append(row)
    return rows


def _more(citing: str, cited: str, sequence: int) -> Row:
    return [citing, sequence, cited, None, None, None, "cited by other"]


def _write_cpc(at: Path, world: World, patents: list[Invention], book: FaultBook) -> None:
    keys = [patent.patent_id for patent in patents]
    absent = book.take("cpc_absent", keys)
    late = book.take("cpc_sequence_gap", keys)
    rows = []
    for patent in patents:
        if patent.patent_id in absent:
            continue
        rng = stream(world.settings.seed, "cpc", patent.key)
        topics = world.vocabulary.topics
        codes = [(patent.idea.topic.subclass, "inventional")]
        codes += [(patent.idea.topic.subclass, "additional")] * (rng.random() < 0.4)
        for number in patent.idea.topic.related:
            if rng.random() < 0.2:
                codes.append((topics[number].subclass, rng.choice(("inventional", "additional"))))
        codes += [(rng.choice(ADDITIONAL_SUBCLASSES), "additional")] * (rng.random() < 0.25)
        sequence = 1 if patent.patent_id in late else 0
        for code, kind in codes:
            group = f"{code}{rng.randint(1, 30)}/{rng.randint(0, 99):02d}"
            rows.append([patent.patent_id, sequence, code[0], code[:3], code, group, kind])
            # A repeated subgroup is dropped at the office, which leaves a gap.
            sequence += 1 if rng.random() < 0.9 else 2
    header = "patent_id cpc_sequence cpc_section cpc_class cpc_subclass cpc_group cpc_type"
    write_tsv_zip(at, "g_cpc_current", header.split(), rows)


def _write_people(at: Path, world: World, patents: list[Invention], book: FaultBook) -> None:
    owned = {patent.patent_id: patent.assignee for patent in patents if patent.assignee}
    keys = list(owned)
    unnamed, part = book.take("assignee_id_null", keys), book.take("assignee_part", keys)
    rows = []
    for key, owner in owned.items():
        person = owner.kind in (4, 5)
        names = [*owner.name.split(), None] if person else [None, None, owner.name]
        kind = 12 if key in part else owner.kind
        rows.append([key, 0, None if key in unnamed else owner.assignee_id, *names, kind, None])
    header = (
        "patent_id assignee_sequence assignee_id disambig_assignee_individual_name_first"
        " disambig_assignee_individual_name_last disambig_assignee_organization assignee_type"
        " location_id"
    )
    write_tsv_zip(at, "g_assignee_disambiguated", header.split(), rows)

    odd = book.take("inventor_entity", [p.patent_id for p in patents if p.inventors])
    rows = []
    for patent in patents:
        for place, person in enumerate(patent.inventors):
            inventor = inventor_id(person)
            if patent.patent_id in odd and place == 0:
                inventor = inventor.replace("_ln:", "&#39;_ln:")
            first, last = person.name.split()
            rows.append([patent.patent_id, place, inventor, first, last, None, None])
    header = (
        "patent_id inventor_sequence inventor_id disambig_inventor_name_first"
        " disambig_inventor_name_last gender_code location_id"
    )
    write_tsv_zip(at, "g_inventor_disambiguated", header.split(), rows)


def inventor_id(person: Person) -> str:
    """PatentsView's id of a person."""
    return f"fl:au_ln:{person.number:04d}-1"
