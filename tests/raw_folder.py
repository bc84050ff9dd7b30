"""The smallest raw folder that the lake takes, in the publishers' layouts, to break in tests."""

import gzip
import json
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

PATENT = ("patent_id", "patent_type", "patent_date", "patent_title", "wipo_kind", "num_claims",
          "withdrawn", "filename")  # fmt: skip
CITATION = ("patent_id", "citation_sequence", "citation_patent_id", "citation_date", "record_name",
            "wipo_kind", "citation_category")  # fmt: skip


def quoted(row: Iterable[Any]) -> str:
    """One TSV line as PatentsView writes it: text in double quotes, numbers bare."""
    return "\t".join(
        str(v) if isinstance(v, int) else '"' + str(v).replace('"', '""') + '"' for v in row
    )


def write_tsv(path: Path, header: Sequence[str], rows: Iterable[Any]) -> Path:
    """Write a table; a row that is text goes in as it is."""
    lines = [quoted(header)] + [row if isinstance(row, str) else quoted(row) for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_zip(path: Path, member: str, text: str) -> Path:
    """Write a zip of one member."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, text)
    return path


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    """Write JSON lines, gzip; a row that is text goes in as it is."""
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def paper(corpus_id: Any, year: Any = 2010, doi: str | None = None) -> dict[str, Any]:
    """A line of s2ag/papers."""
    return {
        "corpusid": corpus_id,
        "externalids": {"DOI": doi, "CorpusId": str(corpus_id)},
        "title": f"Paper {corpus_id}",
        "year": year,
        "publicationdate": None,
    }


def patent(number: Any, date: str = "2010-01-05", claims: Any = 20, kind: str = "utility") -> tuple:
    """A row of g_patent."""
    return (str(number), kind, date, f'Device "{number}"', "B2", claims, 0, "ipg.xml")


def write_required(root: Path) -> Path:
    """Write a row or two of every required table; returns the folder."""
    write_jsonl(root / "s2ag/papers/papers_000.jsonl.gz", [paper(1), paper(2, 2012)])
    write_jsonl(
        root / "s2ag/abstracts/abstracts_000.jsonl.gz",
        [{"corpusid": 1, "abstract": "On one thing.", "openaccessinfo": {"license": "CCBY"}}],
    )
    write_jsonl(
        root / "s2ag/citations/citations_000.jsonl.gz",
        [{"citationid": 1, "citingcorpusid": 2, "citedcorpusid": 1, "isinfluential": False}],
    )
    pv = root / "patentsview"
    write_tsv(pv / "g_patent.tsv", PATENT, [patent(7000001), patent(7000002)])
    write_tsv(pv / "g_patent_abstract.tsv", ("patent_id", "patent_abstract"), [("7000001", "A.")])
    write_tsv(
        pv / "g_us_patent_citation.tsv",
        CITATION,
        [("7000002", 0, "7000001", "2010-01-00", "Smith", "B2", "cited by applicant")],
    )
    return root
