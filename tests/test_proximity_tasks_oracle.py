"""The proximity tasks against an oracle that shares no code with them: polars and sets, no SQL."""

from collections import defaultdict

import duckdb
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


@pytest.fixture(scope="module")
def table(sample_lake):
    """A function from a table's name to the whole table."""
    with duckdb.connect(str(sample_lake / "lake.duckdb"), read_only=True) as lake:
        yield lambda name: lake.sql(f"select * from {name}").pl()


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
