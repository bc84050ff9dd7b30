"""What differs between two builds: counted by hand, and by the law that the counts obey."""

import json

import duckdb
import polars as pl
import pytest
from click.testing import CliRunner
from tiny_lake import LAST_YEAR, make_tiny_lake

from warehouse.cli import cli
from warehouse.diff import COUNTS, diff, only_in_one
from warehouse.errors import UserError


def lake(folder, documents, edges, texts=(), more=""):
    """A lake of documents (id, year, title), edges (citing, cited, year) and texts by file."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(folder / "lake.duckdb")) as con:
        con.execute(
            """
            create schema corpus; create schema graph; create schema audit; create schema tasks;
            create table corpus.documents (doc_id bigint, known_year integer, title varchar);
            create table graph.citation_edges
                (citing_id bigint, cited_id bigint, edge_type varchar, known_year integer);
            create table audit.text_files (path varchar, known_year integer, n_rows bigint);
            """
        )
        for row in documents:
            con.execute("insert into corpus.documents values (?, ?, ?)", row)
        for row in edges:
            con.execute("insert into graph.citation_edges values (?, ?, 'paper_paper', ?)", row)
        files = []
        for path, year, rows in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                con.execute("create or replace temp table t (doc_id bigint, text varchar)")
                con.executemany("insert into t values (?, ?)", rows)
                con.execute(f"copy t to '{path}' (format parquet)")
            con.execute("insert into audit.text_files values (?, ?, ?)",
                        [str(path), year, len(rows)])  # fmt: skip
            files.append(str(path))
        if files:
            con.execute(
                "create view corpus.pretrain_text as select doc_id, source, known_year, text from "
                f"read_parquet({files}, hive_partitioning = true, "
                "hive_types = {'known_year': integer, 'source': varchar})"
            )
        con.execute(more or "select 1")
    return folder


def rows_of(frame):
    return [row for row in frame.rows() if any(row[3:-1])]


def test_rows_are_counted_as_a_person_counts_them(tmp_path):
    old = lake(
        tmp_path / "old",
        [(1, 2001, "a"), (2, 2001, "b"), (3, 2002, "c"), (4, 2002, "d"), (5, None, "e")],
        [(2, 1, 2001), (3, 1, 2002), (4, 1, 2002)],
    )
    new = lake(
        tmp_path / "new",
        # 1 stays, 2 is retitled, 3 moves to 2001, 4 is gone, 5 gets a year, 6 is new.
        [(1, 2001, "a"), (2, 2001, "B"), (3, 2001, "c"), (5, 2003, "e"), (6, 2003, "f")],
        [(2, 1, 2001), (3, 1, 2001), (6, 1, 2003)],
    )
    documents, edges = "corpus.documents", "graph.citation_edges"
    # table, year, rows_old, added, removed, dated_away, dated_here, changed, rows_new
    assert diff(old, new).rows() == [
        (documents, None, 1, 0, 0, 1, 0, 0, 0),
        (documents, 2001, 2, 0, 0, 0, 1, 1, 3),
        (documents, 2002, 2, 0, 1, 1, 0, 0, 0),
        (documents, 2003, 0, 1, 0, 0, 1, 0, 2),
        (edges, 2001, 1, 0, 0, 0, 1, 0, 2),
        (edges, 2002, 2, 0, 1, 1, 0, 0, 0),
        (edges, 2003, 0, 1, 0, 0, 0, 0, 1),
    ]
    assert rows_of(diff(old / "lake.duckdb", old)) == []


def test_a_text_file_that_both_lakes_read_is_counted_and_not_read(tmp_path):
    def text(build, year):
        return tmp_path / f"text/known_year={year}/source=s2orc/{build}_0.parquet"

    kept = (text("one", 2001), 2001, [(1, "a"), (2, "b")])
    old = lake(tmp_path / "old", [], [], [kept, (text("one", 2002), 2002, [(3, "c"), (4, "d")])])
    new = lake(tmp_path / "new", [], [], [kept, (text("two", 2002), 2002, [(3, "C"), (5, "e")])])
    kept[0].write_bytes(b"no parquet")  # whoever reads it fails
    name = "corpus.pretrain_text"
    assert diff(old, new).rows() == [
        (name, 2001, 2, 0, 0, 0, 0, 0, 2),
        (name, 2002, 2, 1, 1, 0, 0, 1, 2),
    ]
    text("one", 2002).unlink()
    with pytest.raises(UserError, match="1 text file.* are gone.*keep-last"):
        diff(old, new)


def test_one_more_year_adds_rows_to_that_year_alone(tmp_path):
    old, new = (make_tiny_lake(tmp_path / str(year), last_year=year) for year in (2012, LAST_YEAR))
    found = diff(old, new)
    assert set(found["table"]) >= {"corpus.documents", "graph.citation_edges", "graph.graph_nodes"}
    differ = found.filter(pl.sum_horizontal(COUNTS[1:-1]) > 0)
    assert set(differ["year"]) == set(range(2013, LAST_YEAR + 1))
    assert differ.select(pl.col("removed", "dated_away", "dated_here", "changed").sum()).rows() == [
        (0, 0, 0, 0)
    ]


def test_the_counts_of_every_year_add_up(tmp_path):
    old, new = (make_tiny_lake(tmp_path / str(year), last_year=year) for year in (2015, 2013))
    with duckdb.connect(str(new / "lake.duckdb")) as con:
        con.execute("update corpus.documents set known_year = known_year + 1 where doc_id % 7 = 0")
        con.execute("update corpus.documents set title = 'other' where doc_id % 11 = 0")
        con.execute("delete from corpus.documents where doc_id % 13 = 0")
    found = diff(old, new)
    here, away = found["dated_here"].sum(), found["dated_away"].sum()
    assert here == away > 10
    left = found["rows_old"] + found["added"] - found["removed"] - away_by_year(found)
    assert (left == found["rows_new"]).all()
    with duckdb.connect(str(new / "lake.duckdb"), read_only=True) as con:
        n = con.execute("select count(*) from corpus.documents").fetchall()[0][0]
    assert found.filter(pl.col("table") == "corpus.documents")["rows_new"].sum() == n


def away_by_year(found):
    return found["dated_away"] - found["dated_here"]


def test_tables_of_one_lake_alone_are_named(tmp_path):
    more = "create table tasks.task_new (doc_id bigint, task_year integer, label integer)"
    old, new = lake(tmp_path / "old", [], []), lake(tmp_path / "new", [], [], more=more)
    assert only_in_one(old, new) == ([], ["tasks.task_new"])
    assert only_in_one(new, old) == (["tasks.task_new"], [])


def test_the_command_prints_what_differs_and_refuses_what_is_no_lake(tmp_path):
    old = lake(tmp_path / "old", [(1, 2001, "a"), (2, 2002, "b")], [])
    new = lake(tmp_path / "new", [(1, 2001, "a"), (2, 2003, "b")], [])
    found = CliRunner().invoke(cli, ["diff", str(old), str(new)])
    assert found.exit_code == 0
    assert [line.split("\t")[1] for line in found.stdout.splitlines()] == ["year", "2002", "2003"]
    every = CliRunner().invoke(cli, ["diff", str(old), str(new), "--all", "--json"])
    assert [json.loads(line)["year"] for line in every.stdout.splitlines()] == [2001, 2002, 2003]
    same = CliRunner().invoke(cli, ["diff", str(old), str(old)])
    assert same.exit_code == 0 and "no row differs" in same.stderr
    wrong = CliRunner().invoke(cli, ["diff", str(old), str(tmp_path / "nowhere")])
    assert wrong.exit_code == 2 and "nowhere" in wrong.output
