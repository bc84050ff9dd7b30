"""Every count of expected.json on real records: make test-real DATA_ROOT=<folder>."""

import json
import os
from pathlib import Path

import duckdb
import pytest

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def root() -> Path:
    folder = os.environ.get("DATA_ROOT")
    if not folder or not (Path(folder) / "expected.json").is_file():
        pytest.skip("needs DATA_ROOT=<folder> with real records and their expected.json")
    return Path(folder)


@pytest.fixture(scope="module")
def expected(root):
    return json.loads((root / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def con(root, tmp_path_factory):
    """The lake of SCITLAKE_WAREHOUSE where it is built from these records, else one built here."""
    from warehouse.build import BuildSettings, build

    named = os.environ.get("SCITLAKE_WAREHOUSE")
    lake = Path(named) if named else tmp_path_factory.mktemp("real") / "lake"
    made = lake / "lake.json"
    built_from = json.loads(made.read_text())["data_root"] if made.is_file() else None
    if not (named and built_from == str(root.resolve())):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SCITLAKE_WAREHOUSE", str(lake))
            build(BuildSettings())
    with duckdb.connect(str(lake / "lake.duckdb"), read_only=True) as connection:
        yield connection


def by_year(con, query):
    """Counts as expected.json writes them: years are text, no year is "null"."""
    rows = con.sql(query).fetchall()
    return {"null" if year is None else str(year): n for year, n in rows}


def test_documents_and_edges_of_each_cutoff(con, expected):
    found = {}
    for cutoff in expected["by_cutoff"]:
        documents = dict(
            con.sql(
                f"select doc_type, count(*) from corpus.documents_asof({cutoff}) group by 1"
            ).fetchall()
        )
        edges = dict(
            con.sql(
                f"select edge_type, count(*) from graph.edges_asof({cutoff}) group by 1"
            ).fetchall()
        )
        found[cutoff] = {
            "embeddable_papers": documents["paper"],
            "embeddable_patents": documents["patent"],
            "edges": {**edges, "total": sum(edges.values())},
        }
    assert found == expected["by_cutoff"]


def test_graph_by_year_says_the_same(con, expected):
    for cutoff, counts in expected["by_cutoff"].items():
        row = con.sql(f"from graph.graph_by_year where cutoff = {cutoff}").pl().to_dicts()[0]
        assert row["papers"] == counts["embeddable_papers"]
        assert row["patents"] == counts["embeddable_patents"]
        assert row["edges"] == counts["edges"]["total"]
        for kind in ("paper_paper", "patent_patent", "patent_paper"):
            assert row[kind] == counts["edges"][kind]


# Each query gives (year or key, count) rows.
BY_KEY = {
    "papers_all_by_year": "select year, count(*) from staging.stg_s2ag__papers group by 1",
    "papers_embeddable_by_year": """
        select known_year, count(*) from corpus.documents where doc_type = 'paper' group by 1
    """,
    "patents_all_by_grant_year": """
        select grant_year, count(*) from staging.stg_patentsview__patents group by 1
    """,
    "patents_utility_kept_by_grant_year": """
        select grant_year, count(*) from staging.stg_patentsview__patents
        where is_utility group by 1
    """,
    "patents_embeddable_by_grant_year": """
        select known_year, count(*) from corpus.documents where doc_type = 'patent' group by 1
    """,
    "patents_by_type": """
        select patent_type, count(*) from staging.stg_patentsview__patents group by 1
    """,
    "s2orc_v2_by_year": """
        select year, count(*) from staging.stg_s2ag__s2orc_v2
        join staging.stg_s2ag__papers using (corpus_id) group by 1
    """,
    "detail_desc_by_grant_year": """
        select grant_year, count(*) from staging.stg_patentsview__g_detail_desc_text
        join staging.stg_patentsview__patents using (patent_id) group by 1
    """,
    "applications_by_filing_year": """
        select filing_year, count(*) from staging.stg_patentsview__applications group by 1
    """,
}
UNDATED = """
    select count(*) from intermediate.{table}
    where known_year is null and trim(title) <> '' and trim(abstract) <> '' {kept}
"""
# Each query gives one number.
ONE_NUMBER = {
    "papers_embeddable_undated": UNDATED.format(table="int_papers", kept=""),
    "patents_embeddable_undated": UNDATED.format(table="int_patents", kept="and is_utility"),
    "patents_withdrawn": "select sum(withdrawn) from staging.stg_patentsview__patents",
    "openalex_works": "select count(*) from staging.stg_openalex__works",
    "openalex_works_with_abstract": "select count(abstract) from staging.stg_openalex__works",
}


def test_every_count_of_documents_has_its_query_here(expected):
    assert set(expected["documents"]) == set(BY_KEY) | set(ONE_NUMBER)


@pytest.mark.parametrize("name", BY_KEY)
def test_documents_by_year(con, expected, name):
    assert by_year(con, BY_KEY[name]) == expected["documents"][name]


@pytest.mark.parametrize("name", ONE_NUMBER)
def test_documents_in_all(con, expected, name):
    assert con.sql(ONE_NUMBER[name]).fetchall() == [(expected["documents"][name],)]


def test_edges_by_their_later_year(con, expected):
    found = {
        kind: by_year(
            con,
            "select known_year, count(*) from graph.citation_edges"
            f" where edge_type = '{kind}' group by 1",
        )
        for kind in expected["edges_by_later_year"]
    }
    assert found == expected["edges_by_later_year"]


def test_no_row_of_a_citation_file_is_lost_in_staging(con, expected):
    tables = {
        "paper_paper": "stg_s2ag__citations",
        "patent_patent": "stg_patentsview__us_patent_citations",
        "patent_paper": "stg_ros__patent_to_paper",
    }
    found = {
        kind: con.sql(f"select count(*) from staging.{table}").fetchall()[0][0]
        for kind, table in tables.items()
    }
    assert found == expected["edge_rows_in_files"]


def test_nodes_and_degrees_of_the_whole_graph(con, expected):
    degrees = """
        select doc_id, count(*) as degree from (
            select citing_id as doc_id from graph.citation_edges
            union all
            select cited_id from graph.citation_edges
        ) group by 1
    """
    bins = {
        "1": (1, 1), "2": (2, 2), "3-5": (3, 5), "6-10": (6, 10), "11-20": (11, 20),
        "21-50": (21, 50), "51-100": (51, 100), "over_100": (101, 10**9),
    }  # fmt: skip
    found = [degree for _, degree in con.sql(degrees).fetchall()]
    types = dict(con.sql("select doc_type, count(*) from graph.graph_nodes group by 1").fetchall())
    assert {
        "nodes_with_an_edge": len(found),
        "papers_with_an_edge": types["paper"],
        "patents_with_an_edge": types["patent"],
        "max_degree": max(found),
        "degree_histogram": {
            name: sum(low <= degree <= high for degree in found)
            for name, (low, high) in bins.items()
        },
    } == expected["graph_all_years"]


def test_every_part_of_expected_is_looked_at(expected):
    assert set(expected) == {
        "about", "rules", "by_cutoff", "documents", "edges_by_later_year", "edge_rows_in_files",
        "graph_all_years",
    }  # fmt: skip


def test_links_out_of_this_lake_are_counted(con):
    """The README of the records: 87 citations name no paper, 71,177 cited patents have no row."""
    counts = dict(con.sql("select link, n_rows from audit.unmatched").fetchall())
    assert counts["s2ag citation: cited paper not named"] == 87
    assert counts["patentsview citation: cited patent"] == 71_177
    kept = con.sql(
        "select count(*) from intermediate.int_patent_paper_links where cited_id is not null"
    ).fetchall()[0][0]
    links = con.sql(
        "select count(*) from (select distinct patent_id, work_id"
        " from staging.stg_ros__patent_to_paper)"
    ).fetchall()[0][0]
    assert kept + sum(counts[f"reliance_on_science: {end}"] for end in (
        "OpenAlex work", "DOI of the work", "paper with the DOI",
    )) == links  # fmt: skip
