"""Training examples of finished runs as SQL, from a view that was made before them."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytrain.examples import cross_type_shares

ROWS = {
    "anchor_id": [1, 1, 2],
    "anchor_type": ["paper", "paper", "patent"],
    "pool": ["paper", "paper", "patent_citing_paper"],
    "positive_id": [3, 4, 5],
    "positive_type": ["paper", "patent", "paper"],
    "rank": pa.array([21, 22, 21], pa.int32()),
    "negative_ids": [[6, 7], [8], []],
    "n_hard": pa.array([2, 1, 0], pa.int32()),
    "known_year": pa.array([2011, 2012, 2012], pa.int32()),
}


@pytest.fixture
def elsewhere(sample_lake, tmp_path):
    """The lake's own view and its text, over another folder of runs."""
    with duckdb.connect(str(sample_lake / "lake.duckdb"), read_only=True) as lake:
        before = lake.sql("select count(*) from (select * from runs.examples limit 0)").fetchall()
        sql = "select view_name, sql from duckdb_views() where schema_name = 'runs' order by 1 desc"
        views = dict(lake.sql(sql).fetchall())
    assert before == [(0,)]
    root = views["examples"].split("/*-neighbours/")[0].rsplit("'", 1)[1]
    con = duckdb.connect()
    con.execute("create schema runs")
    for name in ("examples", "cross_type_shares"):
        con.execute(views[name].replace(root, str(tmp_path)))
    return con, tmp_path


def test_runs_made_after_the_build_are_rows_with_their_cutoff(elsewhere):
    con, root = elsewhere
    assert con.sql("from runs.examples").fetchall() == []
    table = pa.table(ROWS)
    for name in (
        "paper-2012-neighbours",
        "tiny-2013-s1-neighbours",
        "tiny-2013-neighbours.partial",
    ):
        (root / name).mkdir()
        pq.write_table(table, root / name / "examples.parquet")
    runs = (
        "select run, cutoff, count(*), max(known_year) from runs.examples group by all order by 1"
    )
    assert con.sql(runs).fetchall() == [
        ("paper-2012-neighbours", 2012, 3, 2012),
        ("tiny-2013-s1-neighbours", 2013, 3, 2012),
    ]
    shares = con.sql(
        "select coalesce(pool, 'all'), cross_type_share from runs.cross_type_shares"
        " where cutoff = 2012"
    ).fetchall()
    expected = {
        name: share for name, share in cross_type_shares(table).items() if share is not None
    }
    assert dict(shares) == pytest.approx(expected)
