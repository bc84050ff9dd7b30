"""Semantic Scholar's bulk files: papers, abstracts, citations and paper-ids.

Source: https://api.semanticscholar.org/datasets/v1 (shapes of the records).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from warehouse.sample import templates as t
from warehouse.sample.faults import FaultBook
from warehouse.sample.files import RawLine, shards, write_jsonl_gz
from warehouse.sample.paper_ids import (
    merged_records,
    old_id,
    page,
    paper_ids,
    redirect_citations,
)
from warehouse.sample.settings import stream
from warehouse.sample.text import Author
from warehouse.sample.words import FIELDS
from warehouse.sample.world import Paper, World

_LICENCES = ("CCBY", "CCBYNC", "CCBYSA", None)
_INTENTS = ("background", "methodology", "result")
INFLUENTIAL = 0.05  # share of citations
CONTEXTS = 0.1  # share of citations whose citing sentence is given
_UNHELD = 990_000_000  # first corpusid that no paper of the sample has


def write_semantic_scholar(world: World, folder: Path, book: FaultBook) -> None:
    """Write `s2ag/papers`, `s2ag/abstracts`, `s2ag/citations` and `s2ag/paper-ids`."""
    papers = sorted(world.papers, key=lambda paper: paper.corpus_id)
    tables = {
        "papers": _papers(world, papers, book),
        "abstracts": _abstracts(papers, book),
        "citations": _citations(world, papers, book),
    }
    for name, records in tables.items():
        for number, shard in enumerate(shards(records, 2)):
            write_jsonl_gz(folder / "s2ag" / name / f"{name}_{number:03d}.jsonl.gz", shard)
    for name, rows in paper_ids(world, papers, book).items():
        write_jsonl_gz(folder / "s2ag" / "paper-ids" / f"{name}.jsonl.gz", rows)


def _papers(world: World, papers: list[Paper], book: FaultBook) -> list[Any]:
    cited = Counter(paper.corpus_id for citing in papers for paper in citing.cites)
    records = {paper.corpus_id: _paper(world, paper, cited) for paper in papers}
    keys = list(records)
    years = {"paper_year_null": None, "paper_year_zero": 0, "paper_year_2099": 2099}
    for name, year in years.items():
        for key in book.take(name, keys):
            records[key]["year"] = year
            records[key]["publicationdate"] = None
    for place, key in enumerate(sorted(book.take("paper_without_title", keys))):
        records[key]["title"] = ("", "  ", None)[place % 3]
    with_doi = [paper.corpus_id for paper in papers if paper.doi]
    for key in book.take("paper_doi_upper_case", with_doi):
        ids = records[key]["externalids"]
        ids["DOI"] = ids["DOI"].upper()
    prefixes = ("https://doi.org/", "http://dx.doi.org/", "doi:")
    for place, key in enumerate(sorted(book.take("paper_doi_prefixed", with_doi))):
        ids = records[key]["externalids"]
        ids["DOI"] = prefixes[place % 3] + ids["DOI"]
    # The DOI's owner is an earlier paper, so that the year decides who keeps it.
    early = {paper.corpus_id: paper for paper in world.papers[: len(papers) // 2] if paper.doi}
    late = [paper.corpus_id for paper in world.papers[len(papers) // 2 :] if not paper.doi]
    for place, key in enumerate(sorted(book.take("paper_doi_shared", late))):
        records[key]["externalids"]["DOI"] = early[sorted(early)[place]].doi
    lines: list[Any] = [*records.values(), *merged_records(world, records, book)]
    if book.extra("paper_broken_line", len(lines)):
        lines.insert(len(lines) // 3, RawLine('{"corpusid":990000001,"title":"Cut off in the mi'))
        book.note("paper_broken_line", [990000001])
    if book.extra("paper_wrong_type", len(lines)):
        lines.insert(len(lines) // 2, {**lines[0], "corpusid": "not a number", "externalids": None})
        book.note("paper_wrong_type", ["not a number"])
    return lines


def _paper(world: World, paper: Paper, cited: Counter[int]) -> dict[str, Any]:
    rng = stream(world.settings.seed, "s2 paper", paper.key)
    journal = f"Journal of {FIELDS[paper.idea.topic.section]} {paper.idea.topic.number:02d}"
    ids = {"ACL": None, "DBLP": None, "ArXiv": None, "MAG": None}
    ids |= {"CorpusId": str(paper.corpus_id), "PubMed": None, "DOI": paper.doi}
    return {
        "corpusid": paper.corpus_id,
        "externalids": {**ids, "PubMedCentral": None},
        "url": page(world.settings.seed, paper.corpus_id),
        "title": paper.title,
        "authors": [{"authorId": str(7_000_000 + a.number), "name": a.name} for a in paper.authors],
        "venue": journal,
        "publicationvenueid": None,
        "year": paper.year,
        "referencecount": len(paper.cites),
        "citationcount": cited[paper.corpus_id],
        "influentialcitationcount": round(INFLUENTIAL * cited[paper.corpus_id]),
        "isopenaccess": rng.random() < 0.4,
        "s2fieldsofstudy": [
            {"category": FIELDS[paper.idea.topic.section], "source": "s2-fos-model"}
        ],
        "publicationtypes": rng.choice((["JournalArticle"], ["Conference"], None)),
        "publicationdate": paper.published.isoformat() if rng.random() < 0.85 else None,
        "journal": rng.choice(({"name": journal, "pages": None, "volume": "1"}, None)),
    }


def _abstracts(papers: list[Paper], book: FaultBook) -> list[Any]:
    abstracts: dict[int, str | None] = {paper.corpus_id: paper.abstract for paper in papers}
    keys = list(abstracts)
    for name, text in (
        ("abstract_french", t.FRENCH),
        ("abstract_german", t.GERMAN),
        ("abstract_placeholder", t.PLACEHOLDER),
    ):
        for key in book.take(name, keys):
            abstracts[key] = text
    for key in book.take("abstract_newline", keys):
        abstracts[key] = "Abstract\n" + abstracts[key].replace(". ", ".\n")
    for place, key in enumerate(sorted(book.take("abstract_empty", keys))):
        abstracts[key] = (None, "", " \n ")[place % 3]
    absent = book.take("abstract_absent", keys)
    moved = sorted(book.take("abstract_of_merged_id", keys))
    book.note("abstract_of_merged_id", [[key, old_id(key)] for key in moved])
    for key in book.take("abstract_markup", keys):
        said = abstracts[key].replace(" and ", " &amp; ")
        abstracts[key] = f"<jats:title>Abstract</jats:title><jats:p>{said}</jats:p>"
    years = {paper.corpus_id: paper.published.year for paper in papers}
    for key in book.take("abstract_notice", keys):
        abstracts[key] += f" \u00a9 {years[key]} The Authors. All rights reserved."
    records = [
        _abstract(
            old_id(paper.corpus_id) if paper.corpus_id in moved else paper.corpus_id,
            paper.doi,
            abstracts[paper.corpus_id],
        )
        for paper in papers
        if paper.corpus_id not in absent
    ]
    unheld = [_UNHELD + 100 + n for n in range(book.extra("abstract_unheld", len(keys)))]
    book.note("abstract_unheld", unheld)
    return records + [_abstract(key, None, papers[0].abstract) for key in unheld]


def _abstract(corpus_id: int, doi: str | None, text: str | None) -> dict[str, Any]:
    ids = {"MAG": None, "ACL": None, "DOI": doi, "PubMedCentral": None, "ArXiv": None}
    licence = _LICENCES[corpus_id % 4]
    info = {"externalids": ids, "license": licence, "url": None, "status": "BRONZE"}
    return {"corpusid": corpus_id, "openaccessinfo": info, "abstract": text}


def _citations(world: World, papers: list[Paper], book: FaultBook) -> list[Any]:
    seed = world.settings.seed
    lines: list[Any] = []
    for citing in papers:
        rng = stream(seed, "s2 citations", citing.key)
        author = Author(world.vocabulary, citing.idea, rng)
        for cited in citing.cites:
            lines.append(_citation(citing.corpus_id, cited.corpus_id, rng.random() < INFLUENTIAL))
            if rng.random() < CONTEXTS:
                lines[-1]["contexts"] = [author.sentence(rng.choice(t.CITING)) + " [1]."]
                lines[-1]["intents"] = [rng.choice(([rng.choice(_INTENTS)], None))]
    rng = stream(seed, "fault", "s2 citations")
    rows = len(lines)

    def draw(name: str) -> list[dict[str, Any]]:
        return rng.sample(lines[:rows], book.extra(name, rows))

    extra: dict[str, list[tuple[int, int | None]]] = {
        "citation_cited_null": [(x["citingcorpusid"], None) for x in draw("citation_cited_null")],
        "citation_unheld": [
            (x["citingcorpusid"], _UNHELD + n) for n, x in enumerate(draw("citation_unheld"))
        ],
        "citation_duplicate": [
            (x["citingcorpusid"], x["citedcorpusid"]) for x in draw("citation_duplicate")
        ],
        "citation_self_loop": [(x["citingcorpusid"],) * 2 for x in draw("citation_self_loop")],
        "citation_forward": _forward(world.papers, book.extra("citation_forward", rows)),
    }
    for name, pairs in extra.items():
        book.note(name, pairs)
        lines.extend(_citation(citing, cited, False) for citing, cited in pairs)
    redirect_citations(world, lines[:rows], book)
    rng.shuffle(lines)
    for number, line in enumerate(lines):
        line["citationid"] = 10_000 + number
    if book.extra("citation_broken_line", rows):
        lines.insert(rows // 3, RawLine('{"citationid":1,"citingcorpusid":99000'))
        book.note("citation_broken_line", [1])
    if book.extra("citation_wrong_type", rows):
        lines.insert(rows // 2, {**lines[0], "citationid": 2, "citingcorpusid": "unknown"})
        book.note("citation_wrong_type", [2])
    return lines


def _forward(papers: list[Paper], count: int) -> list[tuple[int, int]]:
    """Pairs in which an early paper cites one of a later year."""
    step = len(papers) // (2 * count)
    late = papers[len(papers) // 2 :]
    return [(papers[n * step].corpus_id, late[n * step].corpus_id) for n in range(count)]


def _citation(citing: int, cited: int | None, influential: bool) -> dict[str, Any]:
    return {
        "citationid": 0,
        "citingcorpusid": citing,
        "citedcorpusid": cited,
        "isinfluential": influential,
        "contexts": None,
        "intents": None,
    }
