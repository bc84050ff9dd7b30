"""S2ORC v2: full texts whose annotations are JSON strings with character offsets."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from warehouse.sample import templates as t
from warehouse.sample.faults import FaultBook
from warehouse.sample.files import write_jsonl_gz
from warehouse.sample.settings import stream
from warehouse.sample.text import Author
from warehouse.sample.world import Paper, World

FULL_TEXT = 0.09  # share of papers
_SECTIONS = ("Introduction", "Materials and Methods", "Results", "Discussion")
Span = dict[str, Any]


def write_s2orc(world: World, folder: Path, book: FaultBook) -> None:
    """Write `s2orc_v2/s2orc_v2_000.jsonl.gz`."""
    seed = world.settings.seed
    papers = [p for p in world.papers if stream(seed, "s2orc", p.key).random() < FULL_TEXT]
    papers.sort(key=lambda paper: paper.corpus_id)
    records = {paper.corpus_id: full_text(world, paper) for paper in papers}
    keys = list(records)
    for key in book.take("body_null", keys):
        records[key]["body"] = {"text": None, "annotations": None}
    for key in book.take("body_annotations_null", keys):
        records[key]["body"]["annotations"] = dict.fromkeys(
            ("paragraph", "section_header", "bib_ref")
        )
    for key in book.take("body_offsets_text", keys):
        _change(records[key], lambda span, _: {**span, "start": str(span["start"])})
    for key in book.take("body_offsets_outside", keys):
        _change(records[key], lambda span, size: {**span, "end": span["end"] + size})
    write_jsonl_gz(folder / "s2orc_v2" / "s2orc_v2_000.jsonl.gz", list(records.values()))


def _change(record: dict[str, Any], change: Any) -> None:
    """Change the last paragraph's span."""
    body = record["body"]
    spans = json.loads(body["annotations"]["paragraph"])
    spans[-1] = change(spans[-1], len(body["text"]))
    body["annotations"]["paragraph"] = _packed(spans)


def full_text(world: World, paper: Paper) -> dict[str, Any]:
    """The record of a paper's full text."""
    rng = stream(world.settings.seed, "s2orc text", paper.key)
    author = Author(world.vocabulary, paper.idea, rng)
    text, spans = "", {"section_header": [], "paragraph": [], "bib_ref": []}
    cited = list(paper.cites)
    for number, name in enumerate(_SECTIONS, start=1):
        header: Span = {"attributes": {"n": str(number)}}
        text = _append(text, name, spans["section_header"], header)
        for _ in range(2 if number < 3 else 1):
            paragraph = author.text(t.PAPER_OPENING, t.PAPER_MIDDLE, t.PAPER_CLOSING, (55, 85))
            refs: list[Span] = []
            while cited and len(refs) < 3 and rng.random() < 0.8:
                paragraph += " "
                sentence = author.sentence(rng.choice(t.CITING))
                place = paper.cites.index(cited[0])
                mark = f"[{place + 1}]"
                start = len(paragraph) + len(sentence) + 1
                refs.append({"start": start, "end": start + len(mark), "ref_id": f"b{place}"})
                paragraph += f"{sentence} {mark}."
                cited.pop(0)
            before = len(text) + (1 if text else 0)
            text = _append(text, paragraph, spans["paragraph"], {})
            spans["bib_ref"] += [
                {
                    "start": before + ref["start"],
                    "end": before + ref["end"],
                    "attributes": {"ref_id": ref["ref_id"]},
                }
                for ref in refs
            ]
    body = {"text": text, "annotations": {name: _packed(found) for name, found in spans.items()}}
    ids = {"MAG": None, "ACL": None, "DOI": paper.doi, "PubMedCentral": None, "ArXiv": None}
    return {
        "corpusid": paper.corpus_id,
        "title": paper.title,
        "authors": [{"authorId": None, "name": person.name} for person in paper.authors],
        "openaccessinfo": {"externalids": ids, "license": "CCBY", "url": None, "status": "GOLD"},
        "body": body,
        "bibliography": _bibliography(paper, rng),
    }


def _append(text: str, piece: str, spans: list[Span], attributes: Span) -> str:
    """Add a line to a text and its span to a list."""
    start = len(text) + (1 if text else 0)
    spans.append({"start": start, "end": start + len(piece), **attributes})
    return f"{text}\n{piece}" if text else piece


def _bibliography(paper: Paper, rng: random.Random) -> dict[str, Any]:
    """Entries in the order of citation; a few are not matched to a paper."""
    text, entries = "", []
    for place, cited in enumerate(paper.cites):
        matched = cited.corpus_id if rng.random() < 0.9 else None
        line = f"{cited.authors[0].name if cited.authors else 'Anon'}. {cited.title}. {cited.year}."
        attributes = {"id": f"b{place}", "matched_paper_id": matched}
        text = _append(text, line, entries, {"attributes": attributes})
    return {"text": text or None, "annotations": {"bib_entry": _packed(entries)}}


def _packed(spans: list[Span]) -> str | None:
    """Annotations are JSON inside JSON, or null where there is none."""
    return json.dumps(spans, separators=(",", ":")) if spans else None
