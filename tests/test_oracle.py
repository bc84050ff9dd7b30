"""The lake and an independent computation by polars agree row for row at each of 13 cutoffs."""

import os
from pathlib import Path

import duckdb
import polars as pl
import pytest
from conftest import SETTINGS
from oracle import ANCHORS, Oracle
from polars.testing import assert_frame_equal
from raw_rivals import add_rivals

from warehouse.build import BuildSettings, build
from warehouse.sample import generate

CUTOFFS = range(2013, 2026)
RIVALS_AFTER = 2013
FEW = {"paper": 90, "patent": 150, "patent_citing_paper": 60}  # fewer than there are
TABLES = ("+documents_asof", "+anchors_asof", "+nodes_asof", "+edges_asof")
ORDER = {
    "corpus.documents_asof": "known_year, doc_id",
    "graph.edges_asof": "known_year, citing_id, cited_id",
    "graph.nodes_asof": "node_id",
    "graph.anchors_asof": "node_id",
}


@pytest.fixture(scope="module")
def oracle(sample_lake) -> Oracle:
    return Oracle(sample_lake / "sample")


@pytest.fixture(scope="module")
def rivals(tmp_path_factory) -> tuple[Path, Oracle]:
    """A small lake with records that compete for a place, and pools too large to be taken whole."""
    folder = tmp_path_factory.mktemp("oracle")
    generate(folder / "raw", scale=0.2)
    add_rivals(folder / "raw", RIVALS_AFTER)
    with pytest.MonkeyPatch.context() as patch:
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        patch.setenv("DATA_ROOT", str(folder / "raw"))
        patch.setenv("SCITLAKE_WAREHOUSE", str(folder / "lake"))
        patch.setenv("DBT_INDIRECT_SELECTION", "empty")
        sizes = {f"anchors_{pool}": size for pool, size in FEW.items()}
        build(BuildSettings(select=TABLES, variables=sizes))
    return folder / "lake", Oracle(folder / "raw")


def rows(lake: Path, function: str, cutoff: int) -> pl.DataFrame:
    """A slice of the lake in its own order."""
    with duckdb.connect(str(lake / "lake.duckdb"), read_only=True) as con:
        return con.sql(f"from {function}({cutoff}) order by {ORDER[function]}").pl()


def known(frame: pl.DataFrame, cutoff: int) -> pl.DataFrame:
    return frame.filter(pl.col("known_year") <= cutoff)


def agree(lake: Path, oracle: Oracle, cutoff: int, sizes: dict[str, int]) -> dict[str, int]:
    """Compare all that is made for a cutoff; returns how many rows were compared."""
    expected = {
        "corpus.documents_asof": known(oracle.documents, cutoff),
        "graph.edges_asof": known(oracle.edges, cutoff),
        "graph.nodes_asof": oracle.nodes(cutoff),
        "graph.anchors_asof": oracle.anchors(cutoff, sizes),
    }
    for function, frame in expected.items():
        found = rows(lake, function, cutoff)
        assert_frame_equal(found, frame.select(found.columns), check_dtypes=True)
    return {function: len(frame) for function, frame in expected.items()}


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_the_sample_agrees_row_for_row(sample_lake, oracle, cutoff):
    compared = agree(sample_lake, oracle, cutoff, ANCHORS)
    assert min(compared.values()) > 2_000


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_competing_records_and_draws_agree_row_for_row(rivals, cutoff):
    lake, oracle = rivals
    compared = agree(lake, oracle, cutoff, FEW)
    assert compared["graph.anchors_asof"] < min(sum(FEW.values()), compared["graph.nodes_asof"])


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> tuple[Path, Oracle]:
    """Real records with their abstracts as published: the oracle cleans the sample's alone."""
    if not os.environ.get("DATA_ROOT"):
        pytest.skip("needs DATA_ROOT=<folder> with real records")
    lake = tmp_path_factory.mktemp("real") / "lake"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCITLAKE_WAREHOUSE", str(lake))
        patch.setenv("DBT_INDIRECT_SELECTION", "empty")
        build(BuildSettings(select=TABLES, variables={"clean_abstracts": False}))
    return lake, Oracle(Path(os.environ["DATA_ROOT"]).resolve(), clean=False)


@pytest.mark.real
@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_real_records_agree_row_for_row(real, cutoff):
    compared = agree(*real, cutoff, ANCHORS)
    assert min(compared.values()) > 1_000


def test_each_cutoff_sees_more_than_the_one_before(oracle):
    sizes = [(known(oracle.documents, y).height, known(oracle.edges, y).height) for y in CUTOFFS]
    assert sizes == sorted(set(sizes))


def test_the_rivals_compete_in_the_small_lake(rivals):
    lake, _ = rivals
    with duckdb.connect(str(lake / "lake.duckdb"), read_only=True) as con:
        counts = {
            table: con.sql(
                f"select count(*) - count(distinct {key}) from staging.stg_{table}"
            ).fetchall()[0][0]
            for table, key in (("s2ag__papers", "corpus_id"), ("s2ag__papers", "doi"),
                               ("patentsview__patents", "patent_id"),
                               ("openalex__works", "work_id"))
        }  # fmt: skip
    assert min(counts.values()) > 0


@pytest.mark.parametrize("table", ["documents", "edges"])
def test_one_row_less_would_be_seen(sample_lake, oracle, table):
    """The control: the comparison refuses a table that lacks a row."""
    found = rows(sample_lake, f"{'corpus' if table == 'documents' else 'graph'}.{table}_asof", 2025)
    frame = known(getattr(oracle, table), 2025)
    with pytest.raises(AssertionError):
        assert_frame_equal(found, frame[1:].select(found.columns))
