"""The same tables whatever the threads, the order of the rows and their spread over files.

That rows after a year change no slice is also in test_future_invariance, down to the weights.

A table's hash is of its rows as a set with repeats; of the tables that are stored in an order the
order counts too. Left out are the columns that name files (a table that lists nothing else is left
out whole): they say how the raw files were cut, and not what was in them.
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from conftest import SETTINGS
from raw_cut import RawCut
from raw_rearranged import rearrange

from warehouse.build import BuildSettings, build
from warehouse.dated import STORED_IN_ORDER, TABLES
from warehouse.sample import generate

NAMES_FILES = {
    "path", "first_doc_id", "file", "n_files",  # which files
    "line", "raw",  # where in a file; the raw text of TSV keeps the order of the file's columns
}  # fmt: skip
SCHEMAS = ("staging", "quarantine", "intermediate", "corpus", "graph", "tasks", "audit")
# Small buffers, so that several threads read one file; the sample's longest line is far shorter.
SMALL_BUFFERS = {"max_line_bytes": 65_536}
SLICES = ("corpus.documents_asof({})", "corpus.pretrain_asof({})", "graph.edges_asof({})",
          "corpus.pretrain_asof({}, basis := 'publication')", "graph.nodes_asof({})",
          "graph.anchors_asof({})", "graph.graph_by_year where cutoff <= {}",
          "corpus.same_work where known_year <= {}")  # fmt: skip


@dataclass(frozen=True)
class Made:
    """A lake, and how it was made."""

    raw: Path
    lake: Path
    threads: int
    variables: dict

    def build(self) -> "Made":
        """Build every model; the data tests have runs of their own."""
        with pytest.MonkeyPatch.context() as patch:
            for name in SETTINGS:
                patch.delenv(name, raising=False)
            patch.setenv("DATA_ROOT", str(self.raw))
            patch.setenv("SCITLAKE_WAREHOUSE", str(self.lake))
            patch.setenv("DBT_INDIRECT_SELECTION", "empty")
            patch.setenv("DUCKDB_THREADS", str(self.threads))
            build(BuildSettings(select=("+path:models_sql",), variables=self.variables,
                                threads=self.threads))  # fmt: skip
        return self

    def hashes(self) -> dict[str, tuple[int, str]]:
        """(rows, hash) of every table and view of the lake."""
        with duckdb.connect(str(self.lake / "lake.duckdb"), read_only=True) as con:
            columns: dict[str, list[str]] = {}
            for table, column in con.execute(
                "select schema_name || '.' || table_name, column_name from duckdb_columns()"
                " where list_contains(?, schema_name) order by table_name, column_index",
                [SCHEMAS],
            ).fetchall():
                columns.setdefault(table, [])
                if column not in NAMES_FILES:
                    columns[table].append(column)
            return {
                table: _hash(con, f"select {', '.join(names)} from {table}")
                for table, names in columns.items()
                if names
            }

    def in_order(self) -> dict[str, tuple[int, str]]:
        """(rows, hash) of the tables whose stored order is a promise."""
        with duckdb.connect(str(self.lake / "lake.duckdb"), read_only=True) as con:
            relations = [TABLES[name].relation for name in STORED_IN_ORDER]
            return {name: _hash(con, f"from {name}", ordered=True) for name in relations}

    def slices(self, cutoff: int) -> dict[str, tuple[int, str]]:
        """(rows, hash) of everything that is made for a cutoff."""
        with duckdb.connect(str(self.lake / "lake.duckdb"), read_only=True) as con:
            return {name: _hash(con, f"from {name.format(cutoff)}") for name in SLICES}


def _hash(con, query: str, ordered: bool = False) -> tuple[int, str]:
    key = "place" if ordered else "hash"
    return con.sql(
        f"select count(*), md5(string_agg(hash, '' order by {key})) from ("
        f"select md5(cast(found as varchar)) as hash, row_number() over () as place"
        f" from ({query}) as found)"
    ).fetchall()[0]


class Homes:
    """Makes one lake for each way of making it."""

    def __init__(self, folder: Path, scale: float) -> None:
        self.folder = folder
        generate(folder / "raw", scale=scale)
        self.one_thread = self.make("one-thread", threads=1)

    def make(self, name: str, *, threads: int, raw: str = "raw", **variables: int) -> Made:
        """Build a lake from one of the raw folders."""
        return Made(self.folder / raw, self.folder / f"lake-{name}", threads, variables).build()

    def rearranged(self, name: str, **how: bool) -> str:
        """Make a raw folder with the records rearranged; returns its name."""
        rearrange(self.folder / "raw", self.folder / name, **how)
        return name


@pytest.fixture(scope="module")
def homes(tmp_path_factory) -> Homes:
    return Homes(tmp_path_factory.mktemp("rearranged"), 0.1)


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Homes:
    return Homes(tmp_path_factory.mktemp("large"), 1.0)


def same(one: Made, other: Made) -> None:
    """Assert that two lakes hold the same tables with the same rows."""
    hashes, others = one.hashes(), other.hashes()
    assert len(hashes) > 90
    assert sum(rows > 0 for rows, _ in hashes.values()) > 80
    assert {name: h for name, h in hashes.items() if h != others.get(name)} == {}
    assert set(hashes) == set(others)
    assert one.in_order() == other.in_order()


@pytest.mark.slow  # two whole lakes; that order changes nothing in staging is in test_staging
def test_eight_threads_shuffled_rows_and_split_files_change_no_table(homes):
    raw = homes.rearranged("all-at-once", shuffle=True, split=True)
    assert len(list((homes.folder / raw).rglob("*.gz"))) > len(
        list((homes.folder / "raw").rglob("*.gz"))
    )
    same(homes.one_thread, homes.make("all", threads=8, raw=raw, **SMALL_BUFFERS))


def test_one_row_less_changes_a_hash(sample_lake):
    """The control: a hash that did not see a missing row would prove nothing."""
    path = sample_lake / "lake.duckdb"
    with duckdb.connect(str(path), read_only=True) as con:
        (rows, whole), (fewer, part) = (
            _hash(con, f"select * from graph.citation_edges offset {n}") for n in (0, 1)
        )
        backwards = "select * from graph.citation_edges order by all desc"
        assert _hash(con, backwards) == (rows, whole)
        assert _hash(con, backwards, True) != _hash(con, "from graph.citation_edges", True)
    assert (rows - 1, whole) != (fewer, part) and whole != part


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 8])
def test_threads_alone_change_no_table(large, threads):
    same(large.one_thread, large.make(f"threads-{threads}", threads=threads, **SMALL_BUFFERS))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["shuffle", "split"])
def test_rearranging_alone_changes_no_table(large, how):
    raw = large.rearranged(how, shuffle=how == "shuffle", split=how == "split")
    same(large.one_thread, large.make(how, threads=2, raw=raw))


@pytest.mark.slow
@pytest.mark.parametrize("cutoff", [2008, 2013, 2019])
def test_a_lake_cut_at_any_year_has_the_same_slices(large, cutoff):
    raw = f"cut-{cutoff}"
    RawCut(large.folder / "raw").write(large.folder / raw, cutoff)
    cut = large.make(raw, threads=2, raw=raw)
    for year in range(2005, cutoff + 1):
        assert cut.slices(year) == large.one_thread.slices(year), year
    assert cut.hashes() != large.one_thread.hashes()
