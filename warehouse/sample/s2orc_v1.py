"""S2ORC in its first version: one text from title to references, its parts told by spans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import write_jsonl_gz
from warehouse.sample.s2orc import FULL_TEXT, full_text
from warehouse.sample.settings import stream
from warehouse.sample.world import Paper, World

FULL_TEXT_V1 = 0.04  # share of papers that only the first version has
_NAMES = (
    "abstract", "author", "authoraffiliation", "authorfirstname", "authorlastname", "bibauthor",
    "bibentry", "bibref", "bibtitle", "bibvenue", "figure", "figurecaption", "figureref", "formula",
    "paragraph", "publisher", "sectionheader", "table", "tableref", "title", "venue",
)  # fmt: skip
_LICENCES = ("CCBY", "CCBYNC", None)


def write_s2orc_v1(world: World, folder: Path, book: FaultBook) -> None:
    """Write `s2orc/s2orc_000.jsonl.gz`: papers of its own, and some that version 2 has too."""
    seed = world.settings.seed
    draws = {p.corpus_id: stream(seed, "s2orc", p.key).random() for p in world.papers}
    only_here = (FULL_TEXT, FULL_TEXT + FULL_TEXT_V1)
    papers = sorted(world.papers, key=lambda paper: paper.corpus_id)
    both = book.take(
        "body_v1_other", [p.corpus_id for p in papers if draws[p.corpus_id] < FULL_TEXT]
    )
    records = {
        paper.corpus_id: _record(world, paper)
        for paper in papers
        if paper.corpus_id in both or only_here[0] <= draws[paper.corpus_id] < only_here[1]
    }
    _plant(records, [key for key in records if key not in both], book)
    write_jsonl_gz(folder / "s2orc" / "s2orc_000.jsonl.gz", list(records.values()))


def _record(world: World, paper: Paper) -> dict[str, Any]:
    """The parts of the second version, put into one text."""
    parts = full_text(world, paper)
    body, entries = parts["body"], parts["bibliography"]
    text, spans = "", {}
    for name, piece in (
        ("title", paper.title),
        ("author", ", ".join(person.name for person in paper.authors) or "Anon"),
        ("abstract", paper.abstract),
    ):
        spans[name] = [{"start": len(text), "end": len(text) + len(piece)}]
        text += piece + "\n"
    for old, new in (("section_header", "sectionheader"), ("paragraph", "paragraph")):
        spans[new] = _moved(body["annotations"][old], len(text))
    text += body["text"] + "\n"
    spans["bibentry"] = _moved(entries["annotations"]["bib_entry"], len(text))
    text += entries["text"] or ""
    licence = _LICENCES[paper.corpus_id % len(_LICENCES)]
    return {
        "corpusid": paper.corpus_id,
        "externalids": parts["openaccessinfo"]["externalids"],
        "content": {
            "source": {
                "pdfurls": None,
                "pdfsha": None,
                "oainfo": {"license": licence, "openaccessurl": None, "status": "GREEN"},
            },
            "text": text,
            "annotations": {name: _packed(spans.get(name)) for name in _NAMES},
        },
    }


def _moved(packed: str | None, by: int) -> list[dict[str, Any]]:
    spans = json.loads(packed or "[]")
    return [{**span, "start": span["start"] + by, "end": span["end"] + by} for span in spans]


def _packed(spans: list[dict[str, Any]] | None) -> str | None:
    return json.dumps(spans, separators=(",", ":")) if spans else None


def _plant(records: dict[int, dict[str, Any]], keys: list[int], book: FaultBook) -> None:
    contents = {key: record["content"] for key, record in records.items()}
    for key in book.take("body_v1_null", keys):
        contents[key]["text"] = None
    for key in book.take("body_v1_unmarked", keys):
        contents[key]["annotations"] |= {"abstract": None, "paragraph": None}
    for key in book.take("body_v1_no_paragraphs", keys):
        contents[key]["annotations"]["paragraph"] = None
    for name, end in (("body_v1_offsets_text", "start"), ("body_v1_offsets_outside", "end")):
        for key in book.take(name, keys):
            notes = contents[key]["annotations"]
            spans = json.loads(notes["paragraph"])
            size = len(contents[key]["text"])
            spans[-1][end] = str(spans[-1][end]) if end == "start" else spans[-1][end] + size
            notes["paragraph"] = _packed(spans)
