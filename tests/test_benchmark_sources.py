"""Sources of the benchmark, from files in every published layout to their dated tables."""

from datetime import date

import duckdb
import pytest
from raw_benchmark import write_benchmark
from raw_folder import write_required

from warehouse.ingest import prepare
from warehouse.runner import run_dbt
from warehouse.show import source_rows

DATED = (
    "int_fee_events", "int_patent_values", "int_patent_firms", "int_patent_paper_pairs",
    "int_pqr_patents", "int_pqr_works", "int_european_families", "int_european_citations",
)  # fmt: skip


def make(root, lake, *models):
    """Build some models, or the dated tables and the audit, of a raw folder; returns a reader."""
    models = models or (*DATED, "sources", "unmatched")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATA_ROOT", str(root))
        patch.setenv("SCITLAKE_WAREHOUSE", str(lake))
        prepare()
        run_dbt(["run", "--select", *(f"+{name}" for name in models)])
    return duckdb.connect(str(lake / "lake.duckdb"), read_only=True)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmark")
    with make(write_benchmark(folder / "raw"), folder / "lake") as con:
        yield con


def rows(con, sql):
    return con.execute(sql).fetchall()


def rejected(con, table, counts=True):
    """(file name, line, column, reason) of a quarantine table."""
    sql = f"select file, line, column_name, reason from quarantine.{table} where counts = {counts}"
    return [(row[0].split("/")[-1], *row[1:]) for row in rows(con, f"{sql} order by file, line")]


def test_fee_events_of_both_layouts_are_one_table_in_order_of_their_days(lake):
    sql = "select patent_id, known_year, event_date, step, event_code, kind, entity from"
    assert rows(lake, f"{sql} intermediate.int_fee_events") == [
        ("RE35000", 1999, date(1999, 2, 1), 0, "M184", "paid_8", "large"),
        ("RE35000", 2002, date(2002, 12, 1), 0, "M185", "paid_12", "large"),
        ("7000001", 2009, date(2009, 7, 1), 0, "M1551", "paid_4", "large"),
        ("7000002", 2009, date(2009, 7, 1), 0, "M2551", "paid_4", "small"),
        ("7000002", 2010, date(2010, 1, 1), 0, "REM.", "reminder", "micro"),
        ("7000001", 2014, date(2014, 1, 10), 1, "EXP.", "expired", "small"),
        ("7000001", 2014, date(2014, 1, 10), 2, "EXPX", "reinstated", "small"),
    ]
    sql = "select filing_date, grant_date from staging.stg_uspto__maintenance_fee_events where"
    assert rows(lake, f"{sql} event_code = 'M184'") == [(None, date(1995, 8, 1))]
    assert rows(lake, f"{sql} event_code = 'M2551' and event_year = 2009") == [
        (None, date(2006, 1, 10))
    ]


def test_fee_lines_that_fit_no_layout_are_quarantined_with_file_and_line(lake):
    name = "MaintFeeEvents_20260512.txt"
    assert rejected(lake, "uspto__maintenance_fee_events") == [
        (name, 7, "event_date", "does not match [0-9]{8}"),
        (name, 8, None, "no layout fits"),
    ]
    assert rejected(lake, "uspto__maintenance_fee_events", counts=False) == [
        (name, 10, None, "undated")
    ]
    raw = rows(lake, "select raw from quarantine.uspto__maintenance_fee_events where line = 8")
    assert raw[0][0].strip() == "0000007000002 07123457"


def test_withdrawn_numbers_take_a_patent_out_and_a_line_of_words_is_quarantined(lake):
    assert rejected(lake, "uspto__withdrawn") == [
        ("withdrawn03312026.txt", 3, None, "no layout fits")
    ]
    sql = "select patent_id, withdrawn, is_utility from intermediate.int_patents order by 1"
    assert rows(lake, sql) == [
        ("7000001", 0, True),
        ("7000002", 0, True),
        ("7000003", 1, False),
        ("RE35000", 0, False),
    ]


def test_patent_values_are_of_the_last_release_whatever_the_order_of_its_columns(lake):
    sql = "select patent_id, known_year, xi_real, xi_nominal, permno from"
    assert rows(lake, f"{sql} intermediate.int_patent_values") == [
        ("7000001", 2006, 1.5, 3.5, 10107)
    ]
    assert rows(lake, "select patent_id, xi_real, cites from staging.stg_kpss__patent_values") == [
        ("7000001", 1.5, None),
        ("7000003", None, 2),
    ]
    assert rejected(lake, "kpss__patent_values", counts=False) == [
        ("KPSS_2024.csv", 3, None, "undated")
    ]


def test_an_older_release_of_values_with_iso_dates_is_read_where_it_is_alone(tmp_path):
    root = write_benchmark(tmp_path / "raw")
    (root / "kpss/KPSS_2024.zip").unlink()
    (root / "ocpb/ocpb_assigneeatfiling.csv").unlink()
    with make(root, tmp_path / "lake", "int_patent_values", "int_patent_firms") as con:
        sql = "select patent_id, known_year, issue_date, xi_real, permno from"
        assert rows(con, f"{sql} intermediate.int_patent_values") == [
            ("7000001", 2006, date(2006, 1, 10), 9.9, 10107)
        ]
        sql = "select patent_id, release, organization, is_vc_backed, is_public, is_foreign from"
        assert rows(con, f"{sql} intermediate.int_patent_firms") == [
            ("7000003", "2023-12-02", "Firm 001", True, False, False)
        ]


def test_firms_are_read_past_a_byte_order_mark_and_names_in_capitals(lake):
    sql = """select patent_id, release, organization, founding_year, is_vc_backed, vc_score,
    is_public, is_foreign from intermediate.int_patent_firms order by 1"""
    assert rows(lake, sql) == [
        ("7000001", "2024-07-10", "Firm 001, Inc.", 1990, True, 8.0, False, False),
        ("7000002", "2024-07-10", "University 01", None, None, None, True, True),
    ]
    assert rejected(lake, "ocpb__ocpb_assigneeatfiling") == [
        ("ocpb_assigneeatfiling.csv", 4, "patent_id", "not of type bigint")
    ]


def test_a_foreign_flag_that_is_not_there_is_unknown(tmp_path):
    root = write_benchmark(tmp_path / "raw")
    path = root / "ocpb/ocpb_assigneeatfiling.csv"
    path.write_bytes(path.read_bytes().replace(b",foreign\r\n", b",abroad\r\n"))
    with make(root, tmp_path / "lake", "int_patent_firms") as con:
        sql = "select patent_id, is_public, is_foreign from intermediate.int_patent_firms"
        assert rows(con, f"{sql} order by 1") == [("7000001", False, None), ("7000002", True, None)]


def test_pairs_are_read_from_tabs_too_and_dated_by_the_later_document(lake):
    sql = "select patent_id, work_id, known_year, score, days_to_filing from"
    assert rows(lake, f"{sql} intermediate.int_patent_paper_pairs order by patent_id") == [
        ("7000001", 7, 2006, 3, -12.0),
        ("7000002", 7, 2006, 4, None),
        ("PP34398", 7, None, 2, 1.0),
    ]
    assert [row[1:3] for row in rejected(lake, "ppp__patent_paper_pairs")] == [
        (5, "ppp_score"),
        (6, "paperid"),
    ]


def test_researchers_are_joined_by_the_links_of_their_release(lake):
    sql = "select {}, inventor_id, author_id, known_year, confidence from intermediate.int_pqr_{}"
    person = ("fl:au_ln:0001-1", "A5000000001")
    assert rows(lake, sql.format("doc_id", "patents")) == [(1000007000001, *person, 2006, 0.75)]
    assert rows(lake, sql.format("doc_id", "works")) == [(2000000000007, *person, 1997, 0.75)]
    assert rejected(lake, "pqr__inventorid_patentid") == [
        ("inventorid_patentid.tsv", 4, "inventor_id", "key is missing")
    ]


def test_families_stand_for_their_first_year_with_text(lake):
    sql = "select family_id, known_year, public_year, publication, title from"
    assert rows(lake, f"{sql} intermediate.int_european_families") == [
        (41, 2001, 2000, "ep-1-a1", "Device")
    ]
    sql = "select cited_id, known_year, confscore, wherefound from"
    assert rows(lake, f"{sql} intermediate.int_european_citations") == [
        (2000000000007, 2001, 10, "frontonly"),
        (2000000000008, 2001, 9, "bodyonly"),
    ]
    assert [row[1:] for row in rejected(lake, "families__european_families")] == [
        (6, "wherefound", "does not match (?i)frontonly|bodyonly|both")
    ]
    assert [row[1] for row in rejected(lake, "families__european_families", counts=False)] == [5]


def test_links_to_what_is_not_held_are_counted(lake):
    found = dict(rows(lake, "select link, n_rows from audit.unmatched where n_rows > 0"))
    ours = ("patent-paper", "patent value", "ocpb", "pqr", "uspto", "family")
    assert {link: n for link, n in found.items() if link.startswith(ours)} == {
        "patent-paper pair: its patent": 1,
        "pqr link to a patent: its patent": 1,
        "pqr link to a work: its researcher": 1,
        "pqr link to a work: its work": 1,
        "uspto fee event: its patent": 1,
        "uspto withdrawn: its patent": 2,
    }


def test_sources_are_counted_before_a_build_in_zips_of_any_name(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_ROOT", str(write_benchmark(tmp_path / "raw")))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    files = {row["table_name"]: row["n_files"] for row in source_rows()}
    assert (files["withdrawn"], files["maintenance_fee_events"], files["patent_values"]) == (
        1,
        2,
        1,
    )
    assert (files["patent_paper_pairs"], files["pqrs_dataset"]) == (1, 1)
    assert not (tmp_path / "lake").exists()


def test_absent_sources_are_typed_empty_tables_and_said_to_be_off(tmp_path):
    with make(write_required(tmp_path / "raw"), tmp_path / "lake") as con:
        for name in DATED:
            assert rows(con, f"select count(*) from intermediate.{name}") == [(0,)], name
        types = dict(row[:2] for row in rows(con, "describe intermediate.int_european_families"))
        assert (types["doc_id"], types["known_year"]) == ("BIGINT", "INTEGER")
        sql = "select table_name from audit.sources where not present and switches_on <> ''"
        off = {row[0] for row in rows(con, sql)}
    assert {"withdrawn", "maintenance_fee_events", "patent_paper_pairs", "patent_values",
            "ocpb_assigneeatfiling", "patent_ocpb", "pqrs_dataset", "inventorid_patentid",
            "authorid_workid", "european_families", "g_cpc_at_issue", "g_other_reference",
            "pg_cpc_current"} <= off  # fmt: skip
