"""The law of the project, end to end: raw rows after a year change nothing made for that year.

Two raw folders: the sample with later rivals (records that compete with earlier ones for a
place), and the same without any row after the year and with the rows of each file backwards.
Both become lakes and vintages by the commands; everything made for the year must be the same.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from raw_cut import RawCut
from raw_rivals import add_rivals

from pytrain.digests import hash_files
from warehouse.build import BuildSettings, build
from warehouse.sample import generate
from warehouse.tables import Lake, TableRead

YEAR = 2013  # has web pages, and granted long text both before and after it
SCALE = 0.25
SLICES = ("documents_asof", "pretrain_asof", "same_work", "edges_asof", "nodes_asof",
          "anchors_asof")  # fmt: skip
# Dated tables of the benchmark's sources, whose slices no function gives.
DATED = ("int_fee_events", "int_patent_values", "int_patent_firms", "int_patent_paper_pairs",
         "int_pqr_patents", "int_pqr_works", "int_european_families",
         "int_european_citations")  # fmt: skip
COLUMNS = {
    "documents": "doc_id doc_uri doc_type known_year filing_year title abstract",
    "pretrain_text": "doc_id source known_year public_year filing_year text"
    " publisher_licence licence",
    "same_work": "doc_id work_id via known_year",
    "edges": "citing_id cited_id edge_type known_year",
    "nodes": "node_id doc_id doc_type known_year",
    "anchors": "doc_id node_id doc_type pool",
}
# Each stage of a vintage, and the file that matters most in it.
STAGES = {
    "-tokenizer": "tokenizer.json",
    "": "model/model.safetensors",
    "-node2vec": "vectors.npy",
    "-neighbours": "examples.parquet",
    "-static": "model/model.safetensors",
    "-ci": "model/model.safetensors",
    "-static-ci": "model/model.safetensors",
}


@dataclass(frozen=True)
class Home:
    """A raw folder, its lake, its runs, and what was left out of the raw folder."""

    raw: Path
    lake: Path
    runs: Path
    counts: dict

    def build(self, *select: str) -> None:
        """Build the models alone; the data tests have a test of their own."""
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("SCITLAKE_DB", raising=False)
            patch.setenv("DATA_ROOT", str(self.raw))
            patch.setenv("SCITLAKE_WAREHOUSE", str(self.lake))
            patch.setenv("DBT_INDIRECT_SELECTION", "empty")
            build(BuildSettings(select=select))

    def train(self) -> None:
        """Every stage of the vintage."""
        from pytrain.cli import cli

        env = {"SCITLAKE_WAREHOUSE": str(self.lake), "RUNS_ROOT": str(self.runs)}
        words = ["all", "--year", str(YEAR), "--preset", "tiny"]
        done = CliRunner().invoke(cli, words, env=env)
        assert done.exit_code == 0, done.output

    def fingerprint(self, table: str, basis: str = "production") -> TableRead:
        """What a slice of the year holds, row by row."""
        with Lake(self.lake) as lake:
            return lake.fingerprint(table, COLUMNS[table].split(), cutoff=YEAR, basis=basis)


@pytest.fixture(scope="module")
def homes(tmp_path_factory) -> tuple[Home, Home]:
    """With the rows after the year, and without."""
    folder = tmp_path_factory.mktemp("invariance")
    generate(folder / "raw-whole", scale=SCALE)
    add_rivals(folder / "raw-whole", YEAR)
    counts = RawCut(folder / "raw-whole").write(folder / "raw-cut", YEAR, backwards=True)
    whole, cut = (
        Home(folder / f"raw-{name}", folder / f"lake-{name}", folder / f"runs-{name}", counts)
        for name in ("whole", "cut")
    )
    for home in (whole, cut):
        home.build(*(f"+{name}" for name in (*SLICES, *DATED)))
        home.train()
    return whole, cut


def test_rows_after_the_year_are_gone_from_every_raw_table_and_earlier_ones_are_not(homes):
    whole, cut = homes
    assert len(cut.counts) == 43
    few = [table for table, (kept, gone) in cut.counts.items() if kept < 10 or gone < 10]
    # Researchers bear no date; the list of withdrawals is short.
    assert few == ["pqr/pqrs_dataset", "uspto/withdrawn"]
    assert cut.counts["uspto/withdrawn"][1] > 0
    years = []
    for home in homes:
        with Lake(home.lake) as lake:
            years.append(lake.years()[1])
    assert years == [2025, YEAR]


def test_the_rivals_are_in_the_whole_lake(homes):
    repeats = "select count(*) - count(distinct {}) from staging.stg_{}"
    numbers = f"({YEAR + 2}9900001, {YEAR + 1}0000001)"
    sql = {
        "paper": repeats.format("corpus_id", "s2ag__papers"),
        "patent": repeats.format("patent_id", "patentsview__patents"),
        "work": repeats.format("work_id", "openalex__works"),
        "doi": "select count(*) from staging.stg_s2ag__papers where corpus_id in (7, 8)",
        "publication": "select count(*) from staging.stg_patentsview__pg_published_applications"
        f" where pgpub_id in {numbers}",
    }
    found = []
    for home in homes:
        with duckdb.connect(str(home.lake / "lake.duckdb"), read_only=True) as lake:
            found.append({name: lake.sql(one).fetchall()[0][0] for name, one in sql.items()})
    # The second publication of an application filed in time is itself in time.
    assert found[0] == {"paper": 1, "patent": 1, "doi": 2, "work": 1, "publication": 2}
    assert found[1] == {"paper": 0, "patent": 0, "doi": 0, "work": 0, "publication": 1}


@pytest.mark.parametrize(
    ("table", "basis"),
    [*((table, "production") for table in COLUMNS), ("pretrain_text", "publication")],
)
def test_a_slice_is_the_same_row_for_row(homes, table, basis):
    whole, cut = (home.fingerprint(table, basis) for home in homes)
    assert whole.rows > 300
    assert whole.latest_known_year in (YEAR, None)  # anchors bear no year
    assert whole == cut


@pytest.mark.parametrize("table", DATED)
def test_rows_of_a_benchmark_source_are_the_same_in_the_same_order(homes, table):
    sql = f"from intermediate.{table} where known_year <= {YEAR}"
    whole, cut = (
        duckdb.connect(str(home.lake / "lake.duckdb"), read_only=True).sql(sql).fetchall()
        for home in homes
    )
    assert len(whole) > 20
    assert whole == cut


def test_granted_text_by_filing_date_is_the_named_exception(homes):
    whole, cut = (home.fingerprint("pretrain_text", "filing") for home in homes)
    assert whole.rows > cut.rows  # only patents granted later have it


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_of_the_vintage_is_the_same_byte_for_byte(homes, stage):
    whole, cut = (home.runs / f"tiny-{YEAR}{stage}" for home in homes)
    hashes = hash_files(whole)
    assert STAGES[stage] in hashes
    assert hashes == hash_files(cut)
    said = [json.loads((run / "run.json").read_text()) for run in (whole, cut)]
    assert said[0]["tables_read"] == said[1]["tables_read"]
    assert {read["cutoff"] for read in said[0]["tables_read"]} <= {YEAR}


def test_the_token_cache_is_the_same_byte_for_byte(homes):
    caches = [hash_files(home.runs / ".cache") for home in homes]
    assert len(caches[0]) >= 2
    assert caches[0] == caches[1]


def test_one_row_less_within_the_year_changes_the_slice(homes, tmp_path):
    """The control: a fingerprint that did not see a missing citation would prove nothing."""
    _, cut = homes
    with Lake(cut.lake) as lake:
        edges = lake.read("edges", ["citing_id", "cited_id", "edge_type"], cutoff=YEAR).to_pylist()
    edge = next(edge for edge in reversed(edges) if edge["edge_type"] == "paper_paper")

    def is_edge(file: str, row: dict) -> bool:
        ends = (row.get("citingcorpusid"), row.get("citedcorpusid"))
        return file.startswith("s2ag/citations") and ends == (edge["citing_id"], edge["cited_id"])

    counts = RawCut(cut.raw).write(tmp_path / "raw", YEAR, also=is_edge)
    assert sum(gone for _, gone in counts.values()) == 1
    home = Home(tmp_path / "raw", tmp_path / "lake", tmp_path / "runs", counts)
    home.lake.mkdir()
    shutil.copyfile(cut.lake / "lake.duckdb", home.lake / "lake.duckdb")
    home.build("stg_s2ag__citations", "int_citations", "citation_edges", "graph_nodes")
    assert home.fingerprint("edges").rows == cut.fingerprint("edges").rows - 1
    assert home.fingerprint("edges").fingerprint != cut.fingerprint("edges").fingerprint
    assert home.fingerprint("documents") == cut.fingerprint("documents")
