"""The one reader: cutoffs, order, refusals, and fingerprints that mean the content."""

import ast
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from tiny_lake import LAST_YEAR, make_tiny_lake

from warehouse.content import ContentHash
from warehouse.errors import UserError
from warehouse.tables import ALL, Lake, empty_slice

COLUMNS = {
    "documents": ["doc_id", "doc_type", "known_year", "title"],
    "edges": ["citing_id", "cited_id", "edge_type"],
    "nodes": ["node_id", "doc_id"],
    "anchors": ["doc_id", "pool"],
    "pretrain_text": ["source", "doc_id", "text"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny_lake(tmp_path_factory.mktemp("lake"))


@pytest.fixture
def lake(folder):
    with Lake(folder) as lake:
        yield lake


@pytest.mark.parametrize("table", ["documents", "edges", "nodes", "pretrain_text"])
def test_a_slice_is_a_prefix_by_year_of_the_next_and_holds_nothing_later(lake, table):
    columns = [*COLUMNS[table], *([] if table == "documents" else ["known_year"])]
    early = lake.read(table, columns, cutoff=2010)
    late = lake.read(table, columns, cutoff=2012)
    assert 0 < early.num_rows < late.num_rows
    assert late.slice(0, early.num_rows).equals(early)
    assert max(early["known_year"].to_pylist()) == 2010
    assert min(late.slice(early.num_rows)["known_year"].to_pylist()) > 2010


@pytest.mark.parametrize("table", list(COLUMNS))
def test_rows_come_in_one_order_for_any_thread_count_and_batch_size(folder, table):
    seen = []
    for threads, rows in ((1, 7), (1, 65_536), (2, 50), (8, 2048)):
        with Lake(folder, threads=threads) as lake:
            found = list(lake.batches(table, COLUMNS[table], cutoff=2013, rows=rows))
            seen.append((pa.Table.from_batches(found).to_pylist(), lake.reads[-1].fingerprint))
    assert all(one == seen[0] for one in seen[1:])
    assert len(seen[0][0]) > 100


@pytest.mark.parametrize("table", list(COLUMNS))
def test_rows_after_the_cutoff_leave_no_trace_in_the_fingerprint(folder, tmp_path, table):
    with Lake(folder) as whole, Lake(make_tiny_lake(tmp_path, last_year=2012)) as prefix:
        one = whole.fingerprint(table, COLUMNS[table], cutoff=2012)
        assert one == prefix.fingerprint(table, COLUMNS[table], cutoff=2012)
        assert one != whole.fingerprint(table, COLUMNS[table], cutoff=2013)
        assert whole.reads == []  # looking is not reading


def test_the_basis_dates_applications_by_filing_or_by_publication(lake):
    def years(basis):
        columns = ["source", "known_year", "public_year", "filing_year"]
        rows = lake.read("pretrain_text", columns, cutoff=2012, basis=basis).to_pylist()
        uspto = [row for row in rows if row["source"] == "uspto"]
        granted = [row for row in rows if row["source"] == "granted_text"]
        return (
            len(uspto),
            max(r["public_year"] for r in uspto),
            max(r["known_year"] for r in granted),
        )

    filed, last_published, _ = years("production")
    published, last, _ = years("publication")
    assert last == 2012 < last_published and published < filed
    assert years("filing")[2] == 2014  # granted later, filed by 2012
    with pytest.raises(UserError, match="Did you mean 'publication'"):
        years("publicatoin")


def test_a_slice_can_be_kept_within_a_licence_and_the_record_says_so(lake):
    columns = COLUMNS["pretrain_text"]
    texts = lake.read("pretrain_text", columns, cutoff=2012).to_pylist()
    kept = lake.read("pretrain_text", columns, cutoff=2012, licence_at_most="cc-by")
    free = [row for row in texts if row["source"] in ("uspto", "granted_text")]
    assert kept.to_pylist() == free and 0 < len(free) < len(texts)
    assert [read.licence_at_most for read in lake.reads] == [None, "cc-by"]
    with pytest.raises(UserError, match="^licence free is unknown$"):
        lake.read("pretrain_text", columns, cutoff=2012, licence_at_most="free")


def test_a_read_is_recorded_with_its_rows_and_latest_year(lake):
    rows = lake.read("edges", ["citing_id"], cutoff=2011).num_rows
    (read,) = lake.reads
    assert (read.name, read.cutoff, read.columns) == ("edges", 2011, ("citing_id",))
    assert (read.rows, read.latest_known_year) == (rows, 2011)
    for _ in lake.batches("edges", ["citing_id"], cutoff=2011, rows=10):
        break  # a reader that stops early is recorded with what it saw
    assert 0 < lake.reads[-1].rows < rows


def test_a_cutoff_outside_the_lake_names_the_span(lake):
    for year in (1890, LAST_YEAR + 1):
        with pytest.raises(UserError, match=f"{year} is outside .* 1976-{LAST_YEAR}"):
            lake.batches("edges", ["citing_id"], cutoff=year)
    with pytest.raises(TypeError):
        lake.batches("edges", ["citing_id"], cutoff=None)


def test_an_empty_slice_has_its_columns_and_an_error_that_helps(lake):
    for table, columns in COLUMNS.items():
        found = lake.read(table, columns, cutoff=1990)
        assert found.num_rows == 0 and found.column_names == columns
    assert lake.reads[-1].latest_known_year is None
    message = empty_slice("edges", 1990, "the graph").message
    assert "edges holds no row known by 1990" in message and "lake show" in message


def test_unknown_tables_and_columns_are_named_with_the_nearest(lake):
    with pytest.raises(UserError, match="'edgez'.*Did you mean 'edges'"):
        lake.batches("edgez", ["citing_id"], cutoff=2012)
    with pytest.raises(UserError, match="Did you mean 'citing_id'"):
        lake.batches("edges", ["citing_idd"], cutoff=2012)
    with pytest.raises(UserError, match="no column of edges"):
        lake.batches("edges", ["1; drop table x"], cutoff=2012)


def test_no_lake_or_a_broken_one_is_one_message(tmp_path):
    with pytest.raises(UserError, match="lake sample && lake build"):
        Lake(tmp_path)
    (tmp_path / "lake.duckdb").write_bytes(b"not a database" * 1000)
    with pytest.raises(UserError, match="lake build"):
        Lake(tmp_path)


def test_a_table_out_of_its_stored_order_is_noticed(tmp_path):
    make_tiny_lake(tmp_path)
    with duckdb.connect(str(tmp_path / "lake.duckdb")) as connection:
        connection.sql(
            "create or replace table graph.citation_edges as "
            "from graph.citation_edges order by citing_id"
        )
    with Lake(tmp_path) as lake, pytest.raises(UserError, match="not stored by known_year"):
        lake.read("edges", ["citing_id"], cutoff=2012)


def test_the_benchmark_is_read_without_a_cutoff_by_evaluation_only(tmp_path):
    make_tiny_lake(tmp_path)
    with duckdb.connect(str(tmp_path / "lake.duckdb")) as connection:
        connection.sql(
            "create view tasks.task_x as select * from (values "
            "(7, 2012, 2017), (3, 2012, 2017), (5, 2010, 2015)) t(doc_id, task_year, label_year)"
        )
    with Lake(tmp_path) as lake:
        everything = lake.read("tasks.task_x", ["doc_id"], cutoff=ALL)
        assert everything["doc_id"].to_pylist() == [5, 3, 7]
        known = lake.read("tasks.task_x", ["doc_id"], cutoff=2015)  # by the year of the label
        assert known["doc_id"].to_pylist() == [5]
        assert lake.read("documents", ["doc_id"], cutoff=ALL).num_rows == 600
        with pytest.raises(UserError, match="one cutoff"):
            lake.read("anchors", ["doc_id"], cutoff=ALL)


def test_every_year_is_refused_to_training_however_deep_the_call(lake):
    """A function whose module is in `pytrain`, and a helper that it calls."""
    names = {"__name__": "pytrain.sly", "__spec__": None}
    exec("def ask(read):\n    return read()", names)
    for read in (
        lambda: lake.read("edges", ["citing_id"], cutoff=ALL),
        lambda: lake.batches("edges", ["citing_id"], cutoff=ALL),
        lambda: lake.query("from corpus.documents"),
    ):
        with pytest.raises(UserError, match=r"refused to training \(pytrain.sly\)"):
            names["ask"](read)
        assert read() is not None  # and allowed to anyone else
    assert names["ask"](lambda: lake.read("edges", ["citing_id"], cutoff=2012)).num_rows


def test_no_file_of_the_trainers_names_all():
    for path in (Path(__file__).parents[1] / "pytrain").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            named = [getattr(node, "id", None), getattr(node, "attr", None)]
            named += [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            assert "ALL" not in named and "All" not in named, path


def test_the_query_of_a_person_is_one_select(lake):
    assert lake.query("from graph.anchors_asof(2012) limit 3").read_all().num_rows == 3
    for bad in ("select 1; select 2", "drop table corpus.documents", "copy (select 1) to '/x'"):
        with pytest.raises(UserError, match="one SELECT"):
            lake.query(bad)
    with pytest.raises(UserError, match="does not run"):
        lake.query("select nothing from nowhere")


def _hash(table, *sizes):
    content, start = ContentHash(table.column_names), 0
    for size in [*sizes, table.num_rows - sum(sizes)]:
        for batch in table.slice(start, size).to_batches():
            content.update(batch)
        start += size
    return content.hexdigest()


def test_the_content_hash_sees_values_and_not_batches():
    table = pa.table(
        {
            "i": pa.array([1, None, 3, 0], pa.int32()),
            "s": ["ab", "", None, "c"],
            "b": [True, None, False, True],
            "f": [1.5, None, 0.0, -2.0],
            "l": [[1, 2], None, [], [3]],
        }
    )
    whole = _hash(table)
    assert _hash(table, 1) == _hash(table, 2, 1) == whole
    assert _hash(pa.concat_tables([table.slice(0, 3), table.slice(3)])) == whole
    assert _hash(table.set_column(0, "i", table["i"].cast(pa.int64()))) == whole
    changed = {
        "i": [1, 0, 3, 0],  # null is not zero
        "s": ["a", "b", None, "c"],  # the bytes move from one row to the next
        "b": [True, False, False, True],
        "f": [1.5, 0.0, 0.0, -2.0],
        "l": [[1], [2], [], [3]],
    }
    for at, (name, values) in enumerate(changed.items()):
        other = table.set_column(at, name, pa.array(values, table.schema.field(name).type))
        assert _hash(other) != whole, name
    assert _hash(table.take([1, 0, 2, 3])) != whole
    assert _hash(table.slice(0, 3)) != whole
