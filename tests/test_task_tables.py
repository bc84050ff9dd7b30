"""The benchmark's tables against an oracle that shares no code with them: polars, not SQL."""

import re
from datetime import date

import polars as pl
import pytest
from oracle_draws import SETTINGS, common_sample, draw, splits, utility_patents

from pyeval.tasks import TASKS

RETRIEVAL = tuple(task.name for task in TASKS.values() if task.format == "retrieve")
ONE_DOCUMENT = tuple(name for name in RETRIEVAL if not TASKS[name].parts)


@pytest.fixture(scope="module")
def utility(table):
    """Granted utility patents, not withdrawn, with a date."""
    return utility_patents(table)


@pytest.fixture(scope="module")
def sample(table, utility):
    """The common patent sample, made again."""
    return common_sample(table, utility)


@pytest.fixture(scope="module")
def citations(table, utility):
    """Distinct (citing_id, cited_id) among utility patents, with the dates of both."""
    end = {name: utility.rename(lambda c, n=name: f"{n}_{c}") for name in ("citing", "cited")}
    return (
        table("staging.stg_patentsview__us_patent_citations")
        .select("patent_id", "cited_patent_id")
        .unique()
        .join(end["citing"], left_on="patent_id", right_on="citing_patent_id")
        .join(end["cited"], on="cited_patent_id")
        .filter(pl.col("citing_doc_id") != pl.col("cited_doc_id"))
    )


def split_of(examples, task):
    """{doc_id: split} of examples dated by their grant."""
    return splits(dict(examples.select("doc_id", "grant_year").iter_rows()), task)


def labels(rows):
    """{doc_id: (task_year, label_year, split, label)} of a task table."""
    columns = ("task_year", "label_year", "split", "label")
    return dict(zip(rows["doc_id"], rows.select(columns).iter_rows(), strict=True))


def test_the_common_sample_is_what_polars_draws(table, sample):
    built = table("tasks.common_patent_sample")
    assert len(sample) > 1000
    assert set(built.select(sample.columns).iter_rows()) == set(sample.iter_rows())
    assert len(built) == len(sample)


def test_cpc_sections_and_their_split_are_what_polars_draws(table, sample):
    examples = sample.filter(pl.col("cpc_section") != "?")
    split = split_of(examples, "cpc_section")
    expected = {
        doc_id: (year, year, split[doc_id], section)
        for doc_id, year, section, _ in examples.iter_rows()
    }
    assert labels(table("tasks.task_cpc_section")) == expected
    assert set(split.values()) == {"train", "test"}


def test_every_section_is_in_train_and_in_test(table):
    rows = table("tasks.task_cpc_section")
    for split in ("train", "test"):
        assert set(rows.filter(pl.col("split") == split)["label"]) == set("ABCDEFGH")


def test_grant_year_has_the_patents_and_the_split_of_cpc_section(table):
    sections, years = table("tasks.task_cpc_section"), table("tasks.task_grant_year")
    keys = ["doc_id", "task_year", "label_year", "split"]
    assert set(years.select(keys).iter_rows()) == set(sections.select(keys).iter_rows())
    assert (years["label"] == years["task_year"]).all()


def anniversary(day, years):
    """The same day `years` later; 28 February for a leap day that has none."""
    try:
        return day.replace(year=day.year + years)
    except ValueError:
        return date(day.year + years, 2, 28)


def test_forward_citations_are_counted_to_the_day(table, sample, utility, citations):
    last = (
        table("staging.stg_patentsview__us_patent_citations")
        .join(utility, on="patent_id")["grant_date"]
        .max()
    )
    observed_to = SETTINGS["observed_to_citations"] or last.year - (last.month != 12)
    window = SETTINGS["forward_citation_years"]
    latest = min(SETTINGS["forward_citation_last_grant"], observed_to - window)
    examples = sample.filter(pl.col("grant_year") <= latest)
    citing = {doc_id: set() for doc_id in examples["doc_id"]}
    edges = citations.select(
        "citing_doc_id", "citing_grant_date", "cited_doc_id", "cited_grant_date"
    )
    for citing_id, citing_date, cited_id, cited_date in edges.iter_rows():
        inside = cited_date <= citing_date <= anniversary(cited_date, window)
        if inside and cited_id in citing:
            citing[cited_id].add(citing_id)
    split = split_of(examples, "forward_citation")
    expected = {
        doc_id: (year, year + window, split[doc_id], float(len(citing[doc_id])))
        for doc_id, year, *_ in examples.iter_rows()
    }
    assert labels(table("tasks.task_forward_citation")) == expected
    assert max(len(one) for one in citing.values()) > 1


@pytest.fixture(scope="module")
def patent_pairs(sample, citations):
    """{query: cited sample patents} of every eligible query, and the year of each document."""
    year_of = dict(zip(sample["doc_id"], sample["grant_year"], strict=True))
    cited = {}
    for citing_id, cited_id in citations.select("citing_doc_id", "cited_doc_id").iter_rows():
        if citing_id in year_of and cited_id in year_of:
            cited.setdefault(citing_id, set()).add(cited_id)
    return {q: docs for q, docs in cited.items() if len(docs) >= SETTINGS["min_cited"]}, year_of


def test_patent_cite_has_the_queries_and_relevant_documents_that_polars_finds(table, patent_pairs):
    pairs, year_of = patent_pairs
    queries, released = draw("patent_cite", pairs, year_of)
    expected = {
        (query, doc_id, year_of[query], max(year_of[query], year_of[doc_id]))
        for query in queries
        for doc_id in pairs[query] - set(queries)
    }
    built = table("tasks.task_patent_cite")
    columns = ["query_id", "doc_id", "task_year", "label_year"]
    assert set(built.select(columns).iter_rows()) == expected
    assert len(built) == len(expected) > 100
    (counts,) = table("tasks.task_draws").filter(pl.col("task") == "patent_cite").to_dicts()
    assert counts["n_eligible"] == len(pairs)
    assert counts["n_released"] == len(released)
    assert counts["n_drawn"] == len(queries) + len(released)
    lost = sum(len(pairs[query] & set(queries)) for query in queries)
    assert counts["n_pairs_lost_to_queries"] == lost


def test_cocited_patents_are_cited_together_by_enough_patents(table, citations, patent_pairs):
    citing = {}
    for citing_id, cited_id in citations.select("citing_doc_id", "cited_doc_id").iter_rows():
        citing.setdefault(cited_id, set()).add(citing_id)
    built = table("tasks.task_patent_cocite")
    assert len(built) > 10
    for query, doc_id in built.select("query_id", "doc_id").iter_rows():
        assert query in patent_pairs[0]
        assert len(citing[query] & citing[doc_id]) >= SETTINGS["min_cociting"]


def test_paper_queries_cite_what_they_are_said_to_cite(table):
    papers = table("corpus.documents").filter(pl.col("doc_type") == "paper")
    year_of = dict(zip(papers["doc_id"], papers["known_year"], strict=True))
    rows = table("staging.stg_s2ag__citations").select("citing_corpus_id", "cited_corpus_id")
    cites = {(a, b) for a, b in rows.iter_rows() if a != b and a in year_of and b in year_of}
    built = table("tasks.task_paper_cite")
    assert len(built) > 100
    for query, doc_id, task_year in built.select("query_id", "doc_id", "task_year").iter_rows():
        assert (query, doc_id) in cites
        assert task_year == year_of[query]


@pytest.mark.parametrize("task", RETRIEVAL)
def test_a_corpus_holds_the_relevant_documents_and_no_query(table, task):
    rows, corpus = table(f"tasks.task_{task}"), table(f"tasks.corpus_{task}")["doc_id"]
    assert corpus.is_unique().all()
    assert set(rows["doc_id"]) <= set(corpus)
    assert not set(rows["query_id"]) & set(corpus)


@pytest.mark.parametrize("task", ONE_DOCUMENT)
def test_overlap_is_the_share_of_trigrams_that_the_query_repeats(table, task):
    columns = ["doc_id", "title", "abstract"]
    held = [table(name).select(columns) for name in ("corpus.documents", "tasks.benchmark_papers")]
    texts = {doc_id: f"{title} {abstract}" for doc_id, title, abstract in pl.concat(held).rows()}

    def trigrams(doc_id):
        words = re.findall("[a-z0-9]+", texts[doc_id].lower())
        return set(zip(words, words[1:], words[2:], strict=False))

    rows = table(f"tasks.task_{task}").select("query_id", "doc_id", "trigram_overlap").head(300)
    for query, doc_id, overlap in rows.iter_rows():
        wanted = trigrams(doc_id)
        assert overlap == pytest.approx(len(wanted & trigrams(query)) / len(wanted))


def test_the_settings_of_the_build_are_told(table):
    told = table("tasks.task_settings")
    for task, setting, value in told.iter_rows():
        if SETTINGS[setting] is not None and task != "common_patent_sample":
            assert value == str(SETTINGS[setting])
    cite = told.filter(pl.col("task") == "patent_cite")
    assert {"min_cited", "query_share", "min_queries", "corpus_patents"} <= set(cite["setting"])


def test_sizes_count_the_tables(table):
    for row in table("tasks.task_sizes").filter(pl.col("format") != "sample").to_dicts():
        rows = table(f"tasks.task_{row['task']}")
        assert len(rows) > 0
        if row["format"] == "retrieve":
            assert row["n_relevant"] == len(rows)
            assert row["n_queries"] == rows["query_id"].n_unique()
            assert row["n_corpus"] == len(table(f"tasks.corpus_{row['task']}"))
        else:
            assert row["n_train"] + row["n_test"] == row["n_examples"] == len(rows)
