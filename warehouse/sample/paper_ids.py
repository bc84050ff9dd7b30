"""Semantic Scholar's paper-ids: the hash of each version of a paper, and ids that were merged.

An old id leads to its paper through a version that both have had: an id without a record by an
older release of paper-ids, a record that was merged by the hash in its page.
"""

from __future__ import annotations

from hashlib import sha1
from typing import Any

from warehouse.sample.faults import FaultBook
from warehouse.sample.files import RawLine
from warehouse.sample.settings import stream
from warehouse.sample.world import Paper, World

_OLD, _AGAIN = 400_000_000, 700_000_000  # no paper of the sample has so high a number
_UNHELD = 995_000_000
_YEARS_LATER = 2  # between a paper and the record of it that was merged


def old_id(corpus_id: int) -> int:
    """The number that a paper had before a merge, and that no record has now."""
    return corpus_id + _OLD


def again_id(corpus_id: int) -> int:
    """The number of a second record of a paper."""
    return corpus_id + _AGAIN


def version(seed: int, corpus_id: int, number: int = 0) -> str:
    """The hash that names a version of a paper; version 0 is its main one."""
    return sha1(f"{seed}/{corpus_id}/{number}".encode()).hexdigest()


def page(seed: int, corpus_id: int) -> str:
    """The page of a paper record."""
    return f"https://www.semanticscholar.org/paper/{version(seed, corpus_id)}"


def merged_records(
    world: World, records: dict[int, dict[str, Any]], book: FaultBook
) -> list[dict[str, Any]]:
    """Second records of some earlier papers: another id, a later year, a DOI of its own."""
    early = [paper.corpus_id for paper in world.papers[: len(world.papers) // 2]]
    chosen = sorted(book.take("paper_merged", early))
    again = []
    for corpus_id in chosen:
        first, second = records[corpus_id], again_id(corpus_id)
        again.append(
            {
                **first,
                "corpusid": second,
                "externalids": {
                    **first["externalids"],
                    "CorpusId": str(second),
                    "DOI": f"10.5555/sample.again.{corpus_id}",
                },
                "url": page(world.settings.seed, second),
                "year": first["year"] + _YEARS_LATER,
                "publicationdate": None,
            }
        )
    book.note("paper_merged", [[corpus_id, again_id(corpus_id)] for corpus_id in chosen])
    return again


def redirect_citations(world: World, lines: list[dict[str, Any]], book: FaultBook) -> None:
    """Let some citations name the paper that they cite by an old id or by its second record."""
    rng = stream(world.settings.seed, "fault", "citation_of_merged_id")
    again = {paper for paper, _ in book.planted["paper_merged"]}
    count = book.extra("citation_of_merged_id", len(lines))
    to_again = [line for line in lines if line["citedcorpusid"] in again]
    to_others = [line for line in lines if line["citedcorpusid"] not in {*again, None}]
    some = rng.sample(to_again, min(count // 2, len(to_again)))
    redirected = []
    for line in some + rng.sample(to_others, count - len(some)):
        cited = line["citedcorpusid"]
        line["citedcorpusid"] = again_id(cited) if cited in again else old_id(cited)
        redirected.append([line["citingcorpusid"], cited, line["citedcorpusid"]])
    book.note("citation_of_merged_id", redirected)


def paper_ids(world: World, papers: list[Paper], book: FaultBook) -> dict[str, list[Any]]:
    """The rows of paper-ids by file: today's release, and the rows of an older one."""
    seed = world.settings.seed
    today: list[Any] = []
    upper = book.take("version_upper_case", [paper.corpus_id for paper in papers])
    for paper in papers:
        sha = version(seed, paper.corpus_id)
        today.append(_row(sha.upper() if paper.corpus_id in upper else sha, paper.corpus_id, True))
        if stream(seed, "versions", paper.key).random() < 0.2:
            today.append(_row(version(seed, paper.corpus_id, 1), paper.corpus_id, False))
    for paper_id, second in book.planted["paper_merged"]:
        today.append(_row(version(seed, second), paper_id, False))
    unheld = [_UNHELD + n for n in range(book.extra("version_unheld", len(today)))]
    book.note("version_unheld", unheld)
    today += [_row(version(seed, corpus_id), corpus_id, True) for corpus_id in unheld]
    rows = len(today)
    if book.extra("version_broken_line", rows):
        today.insert(rows // 3, RawLine('{"sha":"0123456789abcdef'))
        book.note("version_broken_line", ["0123456789abcdef"])
    if book.extra("version_short_hash", rows):
        short = version(seed, 0)[:39]
        today.insert(rows // 2, _row(short, papers[0].corpus_id, False))
        book.note("version_short_hash", [short])
    moved = {paper_id for paper_id, _ in book.planted["abstract_of_merged_id"]}
    moved |= {
        cited for _, cited, named in book.planted["citation_of_merged_id"] if named == old_id(cited)
    }
    older = [_row(version(seed, paper_id), old_id(paper_id), True) for paper_id in sorted(moved)]
    return {"paper-ids_000": today, "paper-ids_2025": older}


def _row(sha: str, corpus_id: int, primary: bool) -> dict[str, Any]:
    return {"sha": sha, "corpusid": corpus_id, "primary": primary}
