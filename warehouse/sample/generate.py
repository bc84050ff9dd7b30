"""Writes the sample folder: every publisher's files, and `sample.json` on what is planted."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from warehouse.beside import folder_beside
from warehouse.errors import UserError
from warehouse.sample.european_families import write_european_families
from warehouse.sample.faults import FAULTS, FaultBook
from warehouse.sample.fineweb import write_fineweb
from warehouse.sample.kpss import write_kpss
from warehouse.sample.long_text import write_granted_text, write_pregrant_text
from warehouse.sample.ocpb import write_ocpb
from warehouse.sample.openalex import write_openalex
from warehouse.sample.pasteurs_quadrant import write_pasteurs_quadrant
from warehouse.sample.patent_paper_pairs import write_patent_paper_pairs
from warehouse.sample.patentsview import write_patentsview
from warehouse.sample.patentsview_extra import write_patentsview_extra
from warehouse.sample.pregrant import republish, write_pregrant
from warehouse.sample.reliance_on_science import write_reliance_on_science
from warehouse.sample.s2orc import write_s2orc
from warehouse.sample.s2orc_v1 import write_s2orc_v1
from warehouse.sample.semantic_scholar import write_semantic_scholar
from warehouse.sample.settings import FORMAT, SampleSettings
from warehouse.sample.uspto import write_uspto
from warehouse.sample.world import World, build_world

MARKER = "sample.json"


def generate(
    folder: Path, *, seed: int = 0, scale: float = 1.0, shuffle_citations: bool = False
) -> bool:
    """Write the sample into a folder in the publishers' own layouts.

    The same settings give the same bytes (with one release of zlib and of pyarrow). A folder
    that already holds a sample of these settings is kept; one of other settings is replaced.

    Args:
        folder: the raw folder to make; its parent is made too.
        seed: of every draw.
        scale: multiplies the number of documents.
        shuffle_citations: the control, in which citations say nothing about the text.

    Returns:
        True if files were written, False if the folder was kept.

    Raises:
        ValueError: settings that make no sample.
        UserError: the folder holds something that is not a sample, cannot be written, or is being
            written by another process. Nothing is left of what was begun.
    """
    settings = SampleSettings(seed=seed, scale=scale, shuffle_citations=shuffle_citations)
    try:
        folder = folder.resolve()
        if _holds(folder, settings):
            return False
        if Path.cwd().is_relative_to(folder):
            raise UserError(
                f"{folder} is the current folder or holds it, so it cannot be replaced. Name "
                "another one: lake sample --out sample"
            )
        with folder_beside(folder) as partial:
            write_all(build_world(settings), partial)
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise UserError(
            f"cannot write a sample to {folder}: {error.strerror}. Make room, or name another "
            "folder: lake sample --out <folder>"
        ) from error
    return True


def write_all(world: World, folder: Path) -> None:
    """Write every publisher's files and, last, the marker."""
    book = FaultBook(world.settings.seed, world.settings.scale)
    republish(world, book)
    write_semantic_scholar(world, folder, book)
    write_s2orc(world, folder, book)
    write_s2orc_v1(world, folder, book)
    write_openalex(world, folder, book)
    write_patentsview(world, folder, book)
    write_granted_text(world, folder)
    write_pregrant(world, folder, book)
    write_pregrant_text(world, folder)
    write_patentsview_extra(world, folder, book)
    write_reliance_on_science(world, folder, book)
    write_uspto(world, folder, book)
    write_patent_paper_pairs(world, folder, book)
    write_kpss(world, folder, book)
    write_ocpb(world, folder, book)
    write_pasteurs_quadrant(world, folder, book)
    write_european_families(world, folder, book)
    write_fineweb(world, folder, book)
    text = json.dumps(_marker(world, book), indent=1, sort_keys=True)
    (folder / MARKER).write_text(text + "\n", encoding="utf-8")


def _marker(world: World, book: FaultBook) -> dict[str, Any]:
    return {
        "about": "Generated records: no person, firm, paper or patent in this folder is real.",
        "format": FORMAT,
        "settings": asdict(world.settings),
        "terms": [
            {"term": coined.term, "year": coined.year, "section": coined.section}
            for coined in world.vocabulary.coined
        ],
        "faults": {fault.name: book.planted.get(fault.name, []) for fault in FAULTS},
    }


def _holds(folder: Path, settings: SampleSettings) -> bool:
    """Whether a folder holds the sample of these settings."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    try:
        found = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        return found["format"] == FORMAT and found["settings"] == asdict(settings)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{folder} exists and holds no sample, so it is left alone."
            " Move it away, or name another folder: lake sample --out <folder>"
        ) from error
