"""Which OpenAlex works are linked to US patents, found again without SQL."""

from collections import defaultdict

import polars as pl
from oracle_draws import SETTINGS, Table


def current_works(table: Table):
    """A function from an OpenAlex number to what the work is now."""
    into = dict(
        table("staging.stg_openalex__merged_ids").select("work_id", "into_work_id").iter_rows()
    )

    def follow(work):
        while work in into:
            work = into[work]
        return work

    return follow


def linked_works(table: Table):
    """Everything that links a work to a patent, before texts and years are asked for.

    Citations {(patent doc_id, OpenAlex number)}, pairs {(patent doc_id, number): score}, and
    the researchers' {(number, inventor, author): confidence}.
    """
    number = dict(table("intermediate.int_patents").select("patent_id", "doc_id").iter_rows())
    cited = table("staging.stg_ros__patent_to_paper").filter(
        pl.col("is_us") & (pl.col("confscore").fill_null(1) >= SETTINGS["min_confscore"])
    )
    citations = {
        (number[patent], work)
        for patent, work in cited.select("patent_id", "work_id").iter_rows()
        if patent in number
    }
    pairs = {}
    listed = table("staging.stg_ppp__patent_paper_pairs").select("patent_id", "work_id", "score")
    for patent, work, score in listed.iter_rows():
        if patent in number:
            key = number[patent], work
            pairs[key] = min(score, pairs.get(key, score))
    people = defaultdict(list)
    found = table("staging.stg_pqr__researchers")
    for inventor, author, sure in found.select(
        "inventor_id", "author_id", "confidence"
    ).iter_rows():
        people[author].append((inventor, sure))
    works = {}
    for author, work in table("staging.stg_pqr__author_works").iter_rows():
        for inventor, sure in people.get(author, ()):
            key = work, inventor, author
            works[key] = min(sure, works.get(key, sure))
    return citations, pairs, works


def benchmark_papers(table: Table, links, current):
    """The papers of the benchmark: OpenAlex number -> (doc_id, year)."""
    held = table("staging.stg_openalex__works").filter(
        pl.col("publication_year").is_not_null()
        & (pl.col("title").str.strip_chars() != "")
        & (pl.col("abstract").str.strip_chars() != "")
        & ~pl.col("is_paratext").fill_null(False)
        & ~pl.col("is_retracted").fill_null(False)
        & ~pl.col("is_xpac").fill_null(False)
    )
    citations, pairs, works = links
    linked = {work for _, work in citations} | {work for _, work in pairs}
    linked = {current(work) for work in linked | {work for work, _, _ in works}}
    found = {}
    for work, year in held.select("work_id", "publication_year").iter_rows():
        if work in linked:
            found[work] = 2_000_000_000_000 + work, min(year, found.get(work, (0, year))[1])
    return found
