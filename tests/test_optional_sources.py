"""Nobody has all the sources: without any of the optional ones the lake builds and says so."""

import json
import shutil
import zipfile
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import duckdb
import pytest
from click.testing import CliRunner
from conftest import SETTINGS

from warehouse.build import BuildSettings, build
from warehouse.cli import cli
from warehouse.sample import generate
from warehouse.sources import RawTable, raw_tables

GRAPH = ("path:models_sql/staging", "+citation_edges", "+documents", "sources", "quarantined",
         "unmatched")  # fmt: skip
OPTIONAL = [table for table in raw_tables() if not table.required]


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("optional") / "raw"
    generate(folder, scale=0.1)
    return folder


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATA_ROOT", str(tmp_path / "raw"))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    return tmp_path


def leave_out(raw: Path, target: Path, tables: list[RawTable]) -> None:
    """Copy a raw folder without the files of some tables."""
    shutil.copytree(raw, target)
    for table in tables:
        for pattern in table.paths:
            for path in [*target.glob(pattern), *_zips_with(target, pattern)]:
                path.unlink()


def _zips_with(root: Path, pattern: str) -> list[Path]:
    """Zips, whatever their own names, that hold a file of this pattern."""
    place = PurePosixPath(pattern)
    found = []
    for path in root.glob(f"{place.parent}/*.zip"):
        with zipfile.ZipFile(path) as archive:
            if any(fnmatch(name, place.name) for name in archive.namelist()):
                found.append(path)
    return found


def said_of_sources() -> tuple[dict[str, dict], str]:
    """What `lake sources` says of each table, and its words."""
    rows = CliRunner().invoke(cli, ["sources", "--json"])
    words = CliRunner().invoke(cli, ["sources"])
    assert rows.exit_code == words.exit_code == 0, rows.output
    found = map(json.loads, rows.output.splitlines())
    return {f"{row['source']}.{row['table_name']}": row for row in found}, words.output


def check(home: Path, away: list[RawTable]) -> None:
    """The tables away are off, with what they switch on and where to get them; no other is."""
    rows, words = said_of_sources()
    absent = {table.key for table in away}
    assert {key for key, row in rows.items() if not row["present"]} == absent
    for table in away:
        row = rows[table.key]
        assert row["n_rows"] == 0
        assert all(what in str(row["switches_on"]) for what in table.switches_on)
        assert table.get_it_from in words
        assert table.name in words.split("Absent", 1)[1]
    with duckdb.connect(str(home / "lake/lake.duckdb"), read_only=True) as con:
        for table in ("corpus.documents", "graph.citation_edges"):
            assert con.sql(f"select count(*) from {table}").fetchall()[0][0] > 500


def by_publisher(name: str) -> list[RawTable]:
    return [table for table in OPTIONAL if name in ("all", table.source)]


@pytest.mark.parametrize("publisher", ["all", pytest.param("openalex", marks=pytest.mark.slow)])
def test_a_lake_without_a_publisher_builds_and_says_what_is_off(raw, home, monkeypatch, publisher):
    away = by_publisher(publisher)
    assert away
    leave_out(raw, home / "raw", away)
    monkeypatch.setenv("DBT_INDIRECT_SELECTION", "empty")
    build(BuildSettings(select=GRAPH))
    check(home, away)
    with duckdb.connect(str(home / "lake/lake.duckdb"), read_only=True) as con:
        kinds = {row[0] for row in con.sql(
            "select distinct edge_type from graph.citation_edges").fetchall()}  # fmt: skip
    assert kinds == {"paper_paper", "patent_patent"}  # no bridge from patents to papers


@pytest.mark.slow
@pytest.mark.parametrize("table", OPTIONAL, ids=lambda table: table.key)
def test_the_whole_lake_builds_and_passes_its_tests_without_a_table(raw, home, table):
    leave_out(raw, home / "raw", [table])
    build(BuildSettings())
    check(home, [table])


@pytest.mark.slow
def test_the_whole_lake_builds_and_passes_its_tests_without_any_optional_table(raw, home):
    leave_out(raw, home / "raw", OPTIONAL)
    build(BuildSettings())
    check(home, OPTIONAL)
