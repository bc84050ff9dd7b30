"""Raw files as publishers write them, faults and all, arrive typed, or in the quarantine."""

import gzip
import json
import shutil
from datetime import date

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from raw_folder import (
    PATENT,
    paper,
    patent,
    write_jsonl,
    write_required,
    write_tsv,
    write_zip,
)

from warehouse.errors import UserError
from warehouse.ingest import prepare
from warehouse.runner import run_dbt

# Two ids whose md5 begin with the same 15 hex digits, so that they share a doc_id.
CLASHING = (
    "<urn:uuid:00000000-0000-0000-006c-b5455cadf092>",
    "<urn:uuid:00000000-0000-0000-0682-e439192a7d50>",
)


def write_pages(root, dump, ids):
    """A dump of FineWeb-Edu with a page of each id."""
    path = root / f"fineweb_edu/data/{dump}/{dump}.parquet"
    path.parent.mkdir(parents=True)
    rows = [
        {"text": f"Page {n}.", "id": key, "dump": dump, "language_score": 0.9, "score": 3.0,
         "url": "http://x"}
        for n, key in enumerate(ids)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), path)


def write_faulty(root):
    """A raw folder with one of every fault; the comments give the line in the file."""
    write_required(root)
    write_jsonl(
        root / "s2ag/papers/papers_000.jsonl.gz",
        [
            paper(1, doi="10.1/UPPER"),  # 1
            '{"corpusid": 2, "title": "cut short',  # 2 malformed
            "",  # 3 blank
            paper("not a number"),  # 4 malformed
            paper(5, None),  # 5 undated
            paper(6, 0),  # 6 undated
            {"title": "no corpusid", "year": 2010},  # 7 malformed
            paper(8, "2011"),  # 8 a number in quotes is a number
            paper(9, "two thousand"),  # 9 malformed
            paper(10, 2010.5),  # 10 malformed: no whole year
            json.dumps([1, 2]),  # 11 malformed: no object
        ],
    )
    write_jsonl(root / "s2ag/papers/papers_001.jsonl.gz", [paper(20), paper("x")])  # 2 malformed
    write_tsv(
        root / "patentsview/g_patent.tsv",
        PATENT,
        [
            patent(7000001),  # 2
            '"7000002"\t"utility"\t"2010-01-05"\t"a "loose" quote"\t"B2"\t1\t0\t"x"',  # 3 malformed
            '"7000003"\t"utility"',  # 4 malformed: short
            patent(7000004, "2010-02-30"),  # 5 malformed: no such day
            patent(7000005, ""),  # 6 undated
            ("7000006", "utility", "2011-01-04", 'Two\nlines, a\ttab and ""', "B2", 3, 0, ""),  # 7
            patent(7000007, claims="many"),  # 8 malformed
            patent("", claims=1),  # 9 malformed: no key
            patent("0007000008"),  # 10
            patent("D0734743", kind="design"),  # 11
            '"7000009"\t"utility"\t"2012-01-03"\t""\t""\t\t\t""',  # 12 empty fields
        ],
    )
    order = ("citation_patent_id", "extra", "patent_id", "citation_date", "citation_category",
             "citation_sequence")  # fmt: skip
    write_tsv(  # another order, a column more, some fewer: read by name
        root / "patentsview/g_us_patent_citation.tsv",
        order,
        [("D0000012", "?", "7000001", "2009-05-00", "", 0), ("7", "?", "7000006", "", "Cited", 1)],
    )
    for year, header in (
        (2010, ("patent_id", "summary_text")),
        (2011, ("summary_text", "patent_id")),
    ):
        row = {"patent_id": str(year), "summary_text": f"Summary\n\nof {year}"}
        path = write_tsv(root / "tmp.tsv", header, [[row[name] for name in header]])
        name = f"g_brf_sum_text_{year}.tsv"
        write_zip(root / f"patentsview/{name}.zip", name, path.read_text())
        path.unlink()
    index = {"the": [0, 5], "sat": [3], "cat": [1]}
    work = {"id": "https://openalex.org/W7", "title": "T", "publication_year": 2010}
    write_jsonl(
        root / "openalex/works/updated_date=2026-01-01/part_000.gz",
        [
            {**work, "abstract_inverted_index": index},
            {**work, "id": "https://openalex.org/W8", "abstract_inverted_index": json.dumps(index)},
            {**work, "id": "https://openalex.org/A9"},  # 3 malformed: an author
            {
                **work,
                "id": "https://openalex.org/W10",
                "abstract_inverted_index": "the cat",
            },  # 4 too
        ],
    )
    merged = root / "openalex/merged_ids/works/2024-06-07.csv.gz"
    merged.parent.mkdir(parents=True)
    merged.write_bytes(gzip.compress(
        b"merge_date,id,merge_into_id\n2024-06-07,W3,W7\n2024-06-07,W4,S1\n", mtime=0
    ))  # fmt: skip
    write_jsonl(
        root / "s2ag/paper-ids/paper-ids_000.jsonl.gz",
        [
            {"sha": "A" * 40, "corpusid": 1, "primary": True},
            {"sha": "b" * 40, "corpusid": "5", "primary": False},
            {"sha": "a" * 39, "corpusid": 5, "primary": False},  # 3 malformed
            {"sha": "d" * 40, "primary": False},  # 4 malformed
            {"sha": "c" * 40, "corpusid": 6},
        ],
    )
    ros = root / "reliance_on_science/pcs_oa_uspto.csv"
    ros.parent.mkdir()
    ros.write_text(
        "﻿reftype,confscore,oaid,patent,wherefound\r\nApp,10,7,us-07000001-b2,frontonly\r\n"
        "exm,high,7,us-7000001-b2,both\r\nunk,3,8,us-20050123456-a1,Both\r\n",
        encoding="utf-8",
    )
    write_pages(root, "CC-MAIN-2013-20", ["<urn:uuid:1>", None, CLASHING[1]])
    # The page known first keeps the doc_id, though the other id sorts before it.
    write_pages(root, "CC-MAIN-2014-10", [CLASHING[1], CLASHING[0], "<urn:uuid:1>"])
    return root


def write_works_as_parquet(root, nested):
    """Works in the layout since 2026: maps and structs, or (some copies) JSON strings of them."""
    path = root / "openalex/data/parquet/works/updated_date=2026-06-01/part_0000.parquet"
    path.parent.mkdir(parents=True)
    index, copy = {"the": [0, 5], "sat": [3], "cat": [1]}, {"license": "cc-by", "version": None}
    columns = {
        "id": [f"https://openalex.org/{key}" for key in ("W7", "W8", "A9")],
        "doi": ["https://doi.org/10.1/A", None, None],
        "title": ["T", "", "T"],
        "publication_year": [2010, None, 2010],
        **dict.fromkeys(("language", "type"), ["en"] * 3),
        **dict.fromkeys(("is_paratext", "is_retracted"), [False, True, None]),
    }
    if nested:
        kind = pa.map_(pa.string(), pa.list_(pa.int32()))
        columns["abstract_inverted_index"] = pa.array([list(index.items()), None, None], kind)
        columns["best_oa_location"] = [copy, None, {"license": None, "version": None}]
    else:
        columns["abstract_inverted_index"] = [json.dumps(index), None, "the cat"]
        columns["best_oa_location"] = [json.dumps(copy), None, "no JSON"]
    pq.write_table(pa.table(columns), path)


def stage(root, lake, copy, select=("path:models_sql/staging", "quarantined", "sources")):
    """Run the staging models and the audit of them; returns a reader of a copy of the lake.

    The lake folder serves two raw folders, so that dbt parses the project once.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATA_ROOT", str(root))
        patch.setenv("SCITLAKE_WAREHOUSE", str(lake))
        prepare()
        run_dbt(["run", "--select", *select])
    copy.mkdir()
    shutil.move(lake / "lake.duckdb", copy / "lake.duckdb")
    return duckdb.connect(str(copy / "lake.duckdb"), read_only=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("faulty")


@pytest.fixture(scope="module")
def lake(folder):
    # A folder that SQL or a file pattern could stumble over.
    root = write_faulty(folder / "user's [raw]")
    with stage(root, folder / "lake", folder / "staged") as con:
        yield con


def rows(con, sql):
    return con.execute(sql).fetchall()


def rejected(con, table, counts=True):
    """(file name, line, column, reason) of a quarantine table."""
    return [
        (file.split("/")[-1], line, column, reason)
        for file, line, column, reason in rows(
            con,
            f"select file, line, column_name, reason from quarantine.{table}"
            f" where counts = {counts} order by file, line, column_name",
        )
    ]


def test_json_lines_that_do_not_parse_or_cast_are_quarantined_with_file_and_line(lake):
    name = "papers_000.jsonl.gz"
    assert rejected(lake, "s2ag__papers") == [
        (name, 2, None, "not valid JSON"),
        (name, 4, "corpusid", "not of type bigint"),
        (name, 7, "corpusid", "key is missing"),
        (name, 9, "year", "not of type integer"),
        (name, 10, "year", "not of type integer"),
        (name, 11, "corpusid", "key is missing"),
        ("papers_001.jsonl.gz", 2, "corpusid", "not of type bigint"),
    ]
    kept = rows(lake, "select corpus_id, year, doi from staging.stg_s2ag__papers order by 1")
    assert kept == [
        (1, 2010, "10.1/upper"),
        (5, None, None),
        (6, None, None),
        (8, 2011, None),
        (20, 2010, None),
    ]


def test_undated_rows_stay_without_a_year_and_are_listed_but_do_not_count(lake):
    assert rejected(lake, "s2ag__papers", counts=False) == [
        ("papers_000.jsonl.gz", 5, None, "undated"),
        ("papers_000.jsonl.gz", 6, None, "undated"),
    ]
    assert rejected(lake, "patentsview__g_patent", counts=False) == [
        ("g_patent.tsv", 6, None, "undated")
    ]


def test_table_rows_of_a_broken_structure_or_value_are_quarantined_with_file_and_line(lake):
    name = "g_patent.tsv"
    assert rejected(lake, "patentsview__g_patent") == [
        (name, 3, "patent_title", "unquoted value"),
        (name, 4, "patent_date", "missing columns"),
        (name, 5, "patent_date", "not of type date"),
        (name, 8, "num_claims", "not of type integer"),
        (name, 9, "patent_id", "key is missing"),
    ]
    raw = rows(lake, "select raw from quarantine.patentsview__g_patent where line = 8")
    assert raw[0][0].startswith("7000007\tutility\t2010-01-05")


def test_what_is_quarantined_and_what_is_staged_is_every_row_once(lake):
    staged = rows(lake, "select patent_id from staging.stg_patentsview__patents order by 1")
    assert [row[0] for row in staged] == [
        "7000001", "7000005", "7000006", "7000008", "7000009", "D734743",
    ]  # fmt: skip
    assert rows(
        lake,
        "select n_rows, n_rejected from audit.sources where table_name in ('g_patent', 'papers')"
        " order by table_name",
    ) == [(6, 5), (5, 7)]


def test_quotes_tabs_line_breaks_and_empty_fields_are_read_as_they_were_written(lake):
    found = rows(
        lake,
        "select title, wipo_kind, num_claims, withdrawn, grant_date"
        " from staging.stg_patentsview__patents"
        " where patent_id in ('7000006', '7000009') order by patent_id",
    )
    assert found == [
        ('Two\nlines, a\ttab and ""', "B2", 3, 0, date(2011, 1, 4)),
        (None, None, None, 0, date(2012, 1, 3)),
    ]


def test_columns_are_found_by_name_whatever_their_order(lake):
    assert rows(
        lake,
        "select patent_id, citation_sequence, cited_patent_id, citation_date, citation_category"
        " from staging.stg_patentsview__us_patent_citations order by 1",
    ) == [("7000001", 0, "D12", None, None), ("7000006", 1, "7", None, "cited")]


def test_yearly_files_with_different_headers_make_one_table(lake):
    found = rows(lake, "from staging.stg_patentsview__g_brf_sum_text order by patent_id")
    assert found == [("2010", "Summary\n\nof 2010"), ("2011", "Summary\n\nof 2011")]


def test_abstracts_come_back_from_an_index_given_as_object_or_as_text(lake):
    assert rows(lake, "select work_id, abstract from staging.stg_openalex__works order by 1") == [
        (7, "the cat sat the"),
        (8, "the cat sat the"),
    ]
    assert rejected(lake, "openalex__works") == [
        ("part_000.gz", 3, "id", "does not match (https?://openalex.org/)?W?[0-9]{1,12}"),
        ("part_000.gz", 4, "abstract_inverted_index", "not of type map(varchar, integer[])"),
    ]


@pytest.mark.parametrize("nested", [True, False])
def test_works_come_from_parquet_and_lines_of_one_release(folder, nested):
    """Of the layouts that lie there one is read: the older lines stand for no second record."""
    name = "nested" if nested else "text"
    root = write_required(folder / name)
    work = {"id": "https://openalex.org/W7", "title": "Old", "publication_year": 2001}
    write_jsonl(root / "openalex/works/updated_date=2026-01-01/part_000.gz", [work])
    write_works_as_parquet(root, nested)
    with stage(root, folder / "lake", folder / f"staged {name}", ["stg_openalex__works"]) as con:
        columns = "work_id, doi, title, publication_year, is_retracted, is_xpac, abstract, licence"
        assert rows(con, f"select {columns} from staging.stg_openalex__works order by 1") == [
            (7, "10.1/a", "T", 2010, False, None, "the cat sat the", "cc-by"),
            (8, None, None, None, True, None, None, None),
        ]
        part = "part_0000.parquet"
        bad = [(part, 3, "id", "does not match (https?://openalex.org/)?W?[0-9]{1,12}")]
        if not nested:
            bad.insert(0, (part, 3, "abstract_inverted_index",
                           "not of type map(varchar, integer[])"))  # fmt: skip
        assert rejected(con, "openalex__works") == bad
        assert rejected(con, "openalex__works", counts=False) == [(part, 2, None, "undated")]


def test_a_release_of_works_in_both_formats_is_read_once(folder):
    root = write_required(folder / "both")
    write_works_as_parquet(root, nested=True)
    work = {"id": "https://openalex.org/W7", "title": "Line", "publication_year": 2010}
    write_jsonl(root / "openalex/data/jsonl/works/updated_date=2026-06-01/part_0000.gz", [work])
    with stage(root, folder / "lake", folder / "staged both", ["stg_openalex__works"]) as con:
        assert rows(con, "select title from staging.stg_openalex__works") == [("Line",)]


def test_ids_of_merged_works_are_read_from_packed_csv(lake):
    assert rows(lake, "from staging.stg_openalex__merged_ids") == [(3, 7, date(2024, 6, 7))]
    assert rejected(lake, "openalex__merged_ids") == [
        ("2024-06-07.csv.gz", 3, "merge_into_id",
         "does not match (https?://openalex.org/)?W?[0-9]{1,12}")
    ]  # fmt: skip


def test_versions_of_papers_are_read_in_either_case_and_others_quarantined(lake):
    found = rows(lake, "from staging.stg_s2ag__paper_ids order by corpus_id")
    assert found == [("a" * 40, 1, True), ("b" * 40, 5, False), ("c" * 40, 6, None)]
    name = "paper-ids_000.jsonl.gz"
    assert rejected(lake, "s2ag__paper_ids") == [
        (name, 3, "sha", "does not match [0-9A-Fa-f]{40}"),
        (name, 4, "corpusid", "key is missing"),
    ]


def test_a_release_without_the_optional_columns_is_read(lake):
    assert rows(lake, "select * from staging.stg_ros__patent_to_paper order by work_id") == [
        ("7000001", 7, "app", 10, "frontonly", True),
        (None, 8, "unk", 3, "both", True),
    ]
    assert rejected(lake, "ros__pcs_oa") == [
        ("pcs_oa_uspto.csv", 3, "confscore", "not of type integer")
    ]


def test_web_pages_are_dated_by_their_dump_and_a_page_without_id_is_quarantined(lake):
    sql = "select page_id, crawl_year, text from staging.stg_fineweb__pages order by dump, text"
    assert rows(lake, sql) == [
        ("<urn:uuid:1>", 2013, "Page 0."),
        (CLASHING[1], 2013, "Page 2."),
        (CLASHING[1], 2014, "Page 0."),
        (CLASHING[0], 2014, "Page 1."),
        ("<urn:uuid:1>", 2014, "Page 2."),
    ]
    malformed = [("CC-MAIN-2013-20.parquet", 2, "id", "key is missing")]
    assert rejected(lake, "fineweb__pages") == malformed


def test_of_two_pages_with_one_doc_id_the_later_one_is_quarantined_and_does_not_count(lake):
    sql = "select count(distinct doc_id), count(distinct page_id) from staging.stg_fineweb__pages"
    assert rows(lake, sql) == [(2, 3)]  # the clash is real
    clashes = [("CC-MAIN-2014-10.parquet", 2, "id", "id_collision")]
    assert rejected(lake, "fineweb__pages", counts=False) == clashes
    sql = """select reason, counts, n_rows from audit.quarantined
    where source = 'fineweb' order by reason"""
    assert rows(lake, sql) == [("id_collision", False, 1), ("key is missing", True, 1)]
    said = rows(lake, "select raw from quarantine.fineweb__pages where reason = 'id_collision'")
    assert said == [(f"{CLASHING[0]} has the doc_id of {CLASHING[1]}",)]


def test_absent_optional_tables_are_empty_and_typed(lake):
    assert rows(lake, "select count(*) from staging.stg_patentsview__pg_claims") == [(0,)]
    types = rows(lake, "describe staging.stg_patentsview__pg_published_applications")
    assert [(row[0], row[1]) for row in types][:3] == [
        ("pgpub_id", "BIGINT"),
        ("doc_id", "BIGINT"),
        ("application_id", "VARCHAR"),
    ]
    assert rows(
        lake, "select present, n_files from audit.sources where table_name = 'pg_claims'"
    ) == [(False, 0)]


def test_the_audit_sums_what_the_quarantine_holds(lake):
    assert rows(
        lake,
        "select reason, counts, n_rows from audit.quarantined where table_name = 'papers'"
        " order by reason",
    ) == [
        ("key is missing", True, 2),
        ("not of type bigint", True, 2),
        ("not of type integer", True, 2),
        ("not valid JSON", True, 1),
        ("undated", False, 2),
    ]


def test_the_order_of_rows_and_files_changes_nothing(lake, folder):
    """Law: the same lines in another order, spread over other files, stage the same rows."""
    root = write_faulty(folder / "other order")
    table = root / "patentsview/g_us_patent_citation.tsv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    (root / "s2ag/papers/papers_001.jsonl.gz").rename(root / "s2ag/papers/a_first.gz")
    names = [row[0] for row in rows(lake, "select table_name from duckdb_tables() where"
                                    " schema_name = 'staging' order by 1")]  # fmt: skip
    assert len(names) == 26
    with stage(root, folder / "lake", folder / "staged again") as other:
        for name in names:
            query = f"select * from staging.{name} order by all"
            assert rows(other, query) == rows(lake, query), name


def test_headers_among_the_rows_and_ids_that_are_none_are_quarantined(folder):
    """Files put together by hand bring their headers along; a shifted column puts text in ids."""
    root = write_required(folder / "put together")
    path = root / "patentsview/g_patent_abstract.tsv"
    lines = path.read_text().splitlines()
    lines += [lines[0], '"A device for it."\t"7000003"', '"d0734743"\t"Kept."']
    path.write_text("\n".join(lines) + "\n")
    only = ["stg_patentsview__patent_abstracts"]
    with stage(root, folder / "lake", folder / "staged put together", only) as con:
        assert rejected(con, "patentsview__g_patent_abstract") == [
            ("g_patent_abstract.tsv", 3, "patent_id", "does not match [A-Za-z]{0,2}[0-9]{1,10}"),
            ("g_patent_abstract.tsv", 3, None, "the header again"),
            ("g_patent_abstract.tsv", 4, "patent_id", "does not match [A-Za-z]{0,2}[0-9]{1,10}"),
        ]
        kept = rows(
            con, "select patent_id from staging.stg_patentsview__patent_abstracts order by 1"
        )
        assert kept == [("7000001",), ("D734743",)]


def test_a_field_that_is_in_no_record_of_a_json_file_is_told(folder):
    """JSON has no header: a renamed field would come as nulls, and every abstract be lost."""
    root = write_required(folder / "renamed")
    rows_of = [{"corpusid": n, "Abstract": "On a thing."} for n in range(20)]
    path = write_jsonl(root / "s2ag/abstracts/abstracts_001.jsonl.gz", rows_of)
    with pytest.raises(UserError) as refused:
        stage(root, folder / "lake", folder / "staged renamed", ["stg_s2ag__abstracts"])
    assert f"{path} has $.abstract in none of its records" in refused.value.message
    (folder / "lake/lake.duckdb").unlink()


def test_a_line_that_an_open_quote_takes_along_is_listed_by_itself(folder):
    """The reader ends the quote in the next line, so a good record goes with the bad one."""
    root = write_required(folder / "open quote")
    path = root / "patentsview/g_patent_abstract.tsv"
    lines = ['"7000002"\t"Never closed', '"7000003"\t"Whole."', '"7000004"\t"Two\nlines."']
    path.write_text(path.read_text() + "\n".join(lines) + "\n")
    only = ["stg_patentsview__patent_abstracts"]
    with stage(root, folder / "lake", folder / "staged open quote", only) as con:
        assert rows(
            con,
            "select line, reason, raw from quarantine.patentsview__g_patent_abstract"
            " where column_name is null",
        ) == [(3, "taken along by an open quote before it", '"7000003"\t"Whole."')]
        sql = "select count(*) from quarantine.patentsview__g_patent_abstract where counts"
        assert rows(con, sql) == [(2,)]
        kept = rows(
            con, "select patent_id from staging.stg_patentsview__patent_abstracts order by 1"
        )
        assert kept == [("7000001",), ("7000004",)]
