"""The proximity tasks against an oracle that shares no code with them: polars and sets, no SQL."""

from collections import defaultdict

import polars as pl
import pytest
from oracle_draws import (
    SETTINGS,
    common_sample,
    corpus_of,
    draw,
    in_hash_order,
    utility_patents,
)
from oracle_papers import benchmark_papers, current_works, linked_works


@pytest.fixture(scope="module")
def utility(table):
    """Granted utility patents with a date: patent_id, doc_id, grant_year."""
    return utility_patents(table)


@pytest.fixture(scope="module")
def granted(table, utility):
    """Sample patents: doc_id -> grant year."""
    sample = common_sample(table, utility)
    return dict(zip(sample["doc_id"], sample["grant_year"], strict=True))


@pytest.fixture(scope="module")
def patents(table):
    """All patents of the sample's years with text: doc_id -> (grant year, filing year)."""
    rows = table("corpus.documents").filter(
        (pl.col("doc_type") == "patent")
        & pl.col("known_year").is_between(
            SETTINGS["sample_first_year"], SETTINGS["sample_last_year"]
        )
    )
    return {
        doc_id: (year, filed)
        for doc_id, year, filed in rows.select("doc_id", "known_year", "filing_year").iter_rows()
    }


def agree(table, task, pairs, queries, year_of, known, fillers, size):
    """The task's rows and corpus are these; returns its counts.

    Args:
        table: reads the lake.
        task: its name.
        pairs: query -> relevant documents, of every query drawn.
        queries: those drawn and not released, in the order of the draw.
        year_of: query -> task_year.
        known: (query, document) -> label_year.
        fillers: what fills the corpus; None: nothing.
        size: of the corpus.
    """
    asked, kept, needed = set(queries), [], set()
    for query in queries:
        needed |= pairs.get(query, set()) - asked
        if len(needed) > size:
            break
        kept.append(query)
    expected = {
        (query, doc_id, 1, year_of[query], known(query, doc_id))
        for query in kept
        for doc_id in pairs.get(query, set()) - asked
    }
    columns = ["query_id", "doc_id", "relevant", "task_year", "label_year"]
    built = table(f"tasks.task_{task}").select(columns)
    assert set(built.iter_rows()) == expected
    assert len(built) == len(expected) > 0
    relevant = {doc_id for _, doc_id, *_ in expected}
    corpus = table(f"tasks.corpus_{task}")["doc_id"]
    named = {query for query in queries if pairs.get(query)}
    assert set(corpus) == corpus_of(relevant, named, fillers or (), size)
    assert len(corpus) == len(set(corpus))
    (counts,) = table("tasks.task_draws").filter(pl.col("task") == task).to_dicts()
    assert counts["n_queries"] == len({query for query, *_ in expected})
    assert counts["n_pairs_kept"] == len(expected)
    return counts


def groups_of(members):
    """{document: other documents of its groups} from {group: documents}."""
    others = defaultdict(set)
    for group in members.values():
        for one in group:
            others[one] |= group - {one}
    return others


def test_same_inventor(table, utility, granted):
    rows = (
        table("staging.stg_patentsview__inventors")
        .drop_nulls("inventor_id")
        .join(utility, on="patent_id")
    )
    inventors, patents_of = defaultdict(set), defaultdict(set)
    for doc_id, inventor in rows.select("doc_id", "inventor_id").iter_rows():
        if doc_id in granted:
            inventors[doc_id].add(inventor)
            patents_of[inventor].add(doc_id)
    pairs = {
        query: others
        for query, others in groups_of(patents_of).items()
        if others and len(inventors[query]) >= SETTINGS["min_inventors"]
    }
    queries, released = draw("same_inventor", pairs, granted)
    counts = agree(
        table,
        "same_inventor",
        pairs,
        queries,
        granted,
        lambda query, doc_id: max(granted[query], granted[doc_id]),
        granted,
        SETTINGS["corpus_patents"],
    )
    assert (counts["n_eligible"], counts["n_released"]) == (len(pairs), len(released))
    assert counts["n_queries"] > 50


def test_same_initial_assignee(table, utility, patents, granted):
    rows = (
        table("staging.stg_ocpb__assignee_at_filing")
        .drop_nulls("assignee_id")
        .sort("assignee_id", "vc_score", "founding_score")
        .unique("patent_id", keep="first", maintain_order=True)
        .join(utility, on="patent_id")
    )
    held = defaultdict(set)
    for doc_id, assignee in rows.select("doc_id", "assignee_id").iter_rows():
        if doc_id in patents and patents[doc_id][1] is not None:
            held[assignee].add(doc_id)
    low, high = SETTINGS["min_assignee_patents"], SETTINGS["max_assignee_patents"]
    kept = {name: docs for name, docs in held.items() if low <= len(docs) <= high}
    assert 0 < len(kept) < len(held)
    pairs = groups_of(kept)
    filed = {doc_id: year for doc_id, (_, year) in patents.items()}
    at_most = SETTINGS["initial_assignee_queries"]
    queries, released = draw("same_initial_assignee", pairs, filed, at_most=at_most)
    counts = agree(
        table,
        "same_initial_assignee",
        pairs,
        queries,
        filed,
        lambda query, doc_id: max(filed[query], patents[query][0], patents[doc_id][0]),
        granted,
        SETTINGS["corpus_patents"],
    )
    assert (counts["n_eligible"], counts["n_released"]) == (len(pairs), len(released))
    assert counts["n_drawn"] == len(queries) + len(released) < at_most < len(pairs)
    assert counts["n_queries"] > 50


def test_assignee_patent_match(table, utility, granted):
    rows = (
        table("staging.stg_patentsview__assignees")
        .sort("assignee_sequence", pl.col("assignee_id").fill_null("~"))
        .unique("patent_id", keep="first", maintain_order=True)
        .drop_nulls("assignee_id")
        .join(utility, on="patent_id")
    )
    held = defaultdict(list)
    for doc_id, assignee in rows.select("doc_id", "assignee_id").iter_rows():
        if doc_id in granted:
            held[assignee].append(doc_id)
    enough = [name for name, docs in held.items() if len(docs) >= SETTINGS["match_min_patents"]]
    drawn = in_hash_order(enough, "query:assignee_patent_match")[: SETTINGS["match_assignees"]]
    parts, relevant = {}, {}
    for name in drawn:
        ordered = in_hash_order(held[name], "assignee_patent_match")
        # 30% as a whole number of hundredths: a binary fraction may round to either side.
        n_out = len(ordered) * round(100 * SETTINGS["match_held_out_share"]) // 100
        parts[ordered[0]], relevant[ordered[0]] = ordered[:-n_out], set(ordered[-n_out:])
    year_of = {query: max(granted[one] for one in docs) for query, docs in parts.items()}
    shown = {one for docs in parts.values() for one in docs}
    counts = agree(
        table,
        "assignee_patent_match",
        relevant,
        list(parts),
        year_of,
        lambda query, doc_id: max(year_of[query], granted[doc_id]),
        set(granted) - shown,
        SETTINGS["corpus_patents"],
    )
    assert counts["n_eligible"] == len(enough) > 50
    listed = table("tasks.queries_assignee_patent_match")
    assert set(listed.iter_rows()) == {(q, one) for q, docs in parts.items() for one in docs}
    assert len(listed) == len(shown)


@pytest.fixture(scope="module")
def current(table):
    """A function from an OpenAlex number to what the work is now."""
    return current_works(table)


@pytest.fixture(scope="module")
def links(table):
    """Everything that links a work to a patent."""
    return linked_works(table)


@pytest.fixture(scope="module")
def papers(table, links, current):
    """The papers of the benchmark: OpenAlex number -> (doc_id, year)."""
    return benchmark_papers(table, links, current)


def test_the_papers_are_the_linked_works_with_text(table, papers):
    built = table("tasks.benchmark_papers").select("doc_id", "publication_year")
    assert set(built.iter_rows()) == set(papers.values())
    assert len(built) == len(papers) > 500


@pytest.fixture(scope="module")
def cites(links, current, papers, patents):
    """{(patent, paper)} as doc_ids, of the benchmark alone."""
    return {
        (patent, papers[current(work)][0])
        for patent, work in links[0]
        if patent in patents and current(work) in papers
    }


def two_ways(pairs):
    """{left: rights} and {right: lefts}."""
    left, right = defaultdict(set), defaultdict(set)
    for one, other in pairs:
        left[one].add(other)
        right[other].add(one)
    return left, right


def check(table, task, pairs, years, known, fillers, size, eligible=None):
    """Draws among the eligible and compares; returns the counts of the draw."""
    queries, released = draw(task, pairs, years, eligible=eligible)
    counts = agree(table, task, pairs, queries, years, known, fillers, SETTINGS[size])
    assert counts["n_eligible"] == len(pairs if eligible is None else eligible)
    assert counts["n_released"] == len(released)
    assert counts["n_queries"] > 50
    return counts


def test_patent_paper_citation(table, cites, patents, papers):
    published = dict(papers.values())
    filed = {one: year for one, (_, year) in patents.items() if year is not None}
    pairs = {
        patent: found
        for patent, found in two_ways(cites)[0].items()
        if len(found) >= SETTINGS["min_cited"] and patent in filed
    }

    def known(query, doc_id):
        return max(filed[query], patents[query][0], published[doc_id])

    check(table, "patent_paper_citation", pairs, filed, known, set(published), "corpus_papers")


def test_paper_patent_retrieval(table, cites, patents, papers):
    published = dict(papers.values())
    pairs = {
        paper: found
        for paper, found in two_ways(cites)[1].items()
        if len(found) >= SETTINGS["min_citing"]
    }

    def known(query, doc_id):
        return max(published[query], patents[doc_id][0])

    check(table, "paper_patent_retrieval", pairs, published, known, None, "corpus_patents")


def test_papers_cocite(table, cites, patents, papers):
    published = dict(papers.values())
    cited, citing = two_ways(cites)
    enough = SETTINGS["min_cociting"]
    eligible = [paper for paper, found in citing.items() if len(found) >= enough]
    pairs = {}
    for paper in eligible:
        others = set().union(*(cited[patent] for patent in citing[paper])) - {paper}
        close = {one for one in others if len(citing[one] & citing[paper]) >= enough}
        if close:
            pairs[paper] = close

    def known(query, doc_id):
        years = sorted(patents[one][0] for one in citing[query] & citing[doc_id])
        return max(published[query], published[doc_id], years[enough - 1])

    counts = check(
        table, "papers_cocite", pairs, published, known, None, "corpus_cocited_papers", eligible
    )
    assert counts["n_released"] > 0


def test_ppp_paper_patent(table, links, current, papers, patents, granted):
    published = dict(papers.values())
    scores = {}
    for (patent, work), score in links[1].items():
        if patent in patents and current(work) in papers:
            key = papers[current(work)][0], patent
            scores[key] = min(score, scores.get(key, score))
    pairs, _ = two_ways(key for key, score in scores.items() if score >= SETTINGS["min_pair_score"])
    assert len(scores) > sum(map(len, pairs.values()))

    def known(query, doc_id):
        return max(published[query], patents[doc_id][0])

    check(table, "ppp_paper_patent", pairs, published, known, granted, "corpus_patents")


@pytest.fixture(scope="module")
def researched(table, links, papers, patents):
    """{patent: papers of its researchers} and {paper: patents of its researchers}."""
    number = dict(table("intermediate.int_patents").select("patent_id", "doc_id").iter_rows())
    sure = SETTINGS["min_researcher_confidence"]
    wrote, who = defaultdict(set), defaultdict(set)
    for (work, inventor, author), confidence in links[2].items():
        if confidence >= sure:
            who[inventor].add(author)
            if work in papers:
                wrote[inventor, author].add(papers[work][0])
    together = set()
    for inventor, patent in table("staging.stg_pqr__inventor_patents").iter_rows():
        for author in who[inventor] if number.get(patent) in patents else ():
            together |= {(number[patent], paper) for paper in wrote[inventor, author]}
    return two_ways(together)


def test_pqr_patent_paper(table, researched, papers, patents):
    published = dict(papers.values())
    filed = {one: year for one, (_, year) in patents.items() if year is not None}
    pairs = {patent: found for patent, found in researched[0].items() if patent in filed}

    def known(query, doc_id):
        return max(filed[query], patents[query][0], published[doc_id])

    check(table, "pqr_patent_paper", pairs, filed, known, None, "corpus_papers")


def test_pqr_paper_patent(table, researched, papers, patents):
    published = dict(papers.values())

    def known(query, doc_id):
        return max(published[query], patents[doc_id][0])

    check(table, "pqr_paper_patent", researched[1], published, known, None, "corpus_patents")
