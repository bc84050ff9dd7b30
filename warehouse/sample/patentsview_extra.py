"""PatentsView's tables that no document hangs on: classes at issue, references, applications.

Source: PatentsView-DB, `resources/create_export_views.sql` (columns in file order).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import write_tsv_zip
from warehouse.sample.patentsview import inventor_id
from warehouse.sample.settings import stream
from warehouse.sample.world import Invention, World

Row = list[Any]


def write_patentsview_extra(world: World, folder: Path, book: FaultBook) -> None:
    """Write classes at issue, other references, and the people and classes of applications."""
    at = folder / "patentsview"
    patents = sorted(world.patents, key=lambda patent: patent.patent_id)
    _write_classes(at, world, patents)
    _write_references(at, patents, book)
    _write_applications(at, world)


def _codes(world: World, invention: Invention) -> Iterator[tuple[int, str, str]]:
    """Sequence, subclass and group: the main class and now and then a related one."""
    rng = stream(world.settings.seed, "cpc at issue", invention.key)
    subclasses = [invention.idea.topic.subclass]
    for number in invention.idea.topic.related:
        if rng.random() < 0.2:
            subclasses.append(world.vocabulary.topics[number].subclass)
    for sequence, code in enumerate(dict.fromkeys(subclasses)):
        yield sequence, code, f"{code}{rng.randint(1, 30)}/{rng.randint(0, 99):02d}"


def _write_classes(at: Path, world: World, patents: list[Invention]) -> None:
    rows = []
    for patent in patents:
        day = patent.granted.isoformat()
        version = f"{max(2013, patent.granted.year)}-01-01"
        for sequence, code, group in _codes(world, patent):
            kind = "additional" if sequence else "inventional"
            cpc = [code[0], code[:3], code, group, kind, version, day]
            rows.append([patent.patent_id, sequence, *cpc])
    header = (
        "patent_id cpc_sequence cpc_section cpc_class cpc_subclass cpc_group cpc_type"
        " cpc_version_indicator cpc_action_date"
    )
    write_tsv_zip(at, "g_cpc_at_issue", header.split(), rows)


def _write_references(at: Path, patents: list[Invention], book: FaultBook) -> None:
    rows = [
        [patent.patent_id, place, f'{paper.authors[0].name} et al., "{paper.title}," {paper.year}.']
        for patent in patents
        for place, paper in enumerate(patent.cites_papers)
    ]
    keys = [(row[0], row[1]) for row in rows]
    broken = book.take("reference_newline", keys)
    for row in rows:
        if (row[0], row[1]) in broken:
            row[2] = row[2].replace(", ", ",\n", 1)
    header = "patent_id other_reference_sequence other_reference_text"
    write_tsv_zip(at, "g_other_reference", header.split(), rows)


def _write_applications(at: Path, world: World) -> None:
    published = sorted(
        ((pgpub, invention) for invention in world.inventions for pgpub, _ in invention.pgpubs),
        key=lambda pair: pair[0],
    )
    classes: list[Row] = []
    owners: list[Row] = []
    people: list[Row] = []
    for pgpub, invention in published:
        for sequence, code, group in _codes(world, invention):
            kind = "additional" if sequence else "inventional"
            cpc = [code[0], code[:3], code, group, kind, "2025-01-01"]
            classes.append([pgpub, sequence, *cpc])
        if owner := invention.assignee:
            person = owner.kind in (4, 5)
            names = [*owner.name.split(), None] if person else [None, None, owner.name]
            owners.append([pgpub, 0, owner.assignee_id, *names, owner.kind, None])
        for place, person in enumerate(invention.inventors):
            first, last = person.name.split()
            people.append([pgpub, place, inventor_id(person), first, last, None, None])
    header = (
        "pgpub_id cpc_sequence cpc_section cpc_class cpc_subclass cpc_group cpc_type"
        " cpc_version_indicator"
    )
    write_tsv_zip(at, "pg_cpc_current", header.split(), classes)
    header = (
        "pgpub_id assignee_sequence assignee_id disambig_assignee_individual_name_first"
        " disambig_assignee_individual_name_last disambig_assignee_organization assignee_type"
        " location_id"
    )
    write_tsv_zip(at, "pg_assignee_disambiguated", header.split(), owners)
    header = (
        "pgpub_id inventor_sequence inventor_id disambig_inventor_name_first"
        " disambig_inventor_name_last gender_code location_id"
    )
    write_tsv_zip(at, "pg_inventor_disambiguated", header.split(), people)
