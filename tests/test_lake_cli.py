"""The command `lake`: what it lists, shows and writes, on the sample lake and before a build."""

import json
import subprocess
import sys

import duckdb
import pytest
from click.testing import CliRunner
from raw_folder import write_required, write_zip

from warehouse.build import _remove_stale_text
from warehouse.cli import cli
from warehouse.sample import FAULTS
from warehouse.show import left_out
from warehouse.variables import parse_settings


def run(*arguments):
    """The lines a `lake` command prints."""
    found = CliRunner().invoke(cli, arguments)
    assert found.exit_code == 0, found.output
    return found.output.splitlines()


@pytest.fixture
def at_sample(sample_lake, monkeypatch):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(sample_lake))
    return sample_lake


@pytest.mark.parametrize(
    "name", ["sample", "sources", "build", "show", "docs", "lineage", "diff", "report", "plan"]
)
def test_every_command_explains_itself_with_an_example(name):
    assert run(name, "-h") == run(name, "--help")
    assert any(f"Example: lake {name}" in line for line in run(name, "--help"))


def test_help_loads_neither_dbt_nor_duckdb():
    code = "import sys, warehouse.cli; print(sorted({'dbt', 'duckdb', 'pyarrow'} & {*sys.modules}))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_sources_says_what_is_there_before_any_build(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_ROOT", str(write_required(tmp_path / "data")))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    for year in (2010, 2011):
        name = f"g_claims_{year}.tsv"
        write_zip(tmp_path / f"data/patentsview/{name}.zip", name, "patent_id\n")
    rows = {row["table_name"]: row for row in map(json.loads, run("sources", "--json"))}
    assert {name for name, row in rows.items() if row["required"]} == {
        "papers", "abstracts", "citations", "g_patent", "g_patent_abstract", "g_us_patent_citation",
    }  # fmt: skip
    assert rows["g_claims"]["present"] and rows["g_claims"]["n_files"] == 2
    assert not rows["works"]["present"]
    assert rows["papers"]["n_rows"] is None
    assert not (tmp_path / "lake").exists()  # looking writes nothing
    assert any(line.startswith("  works: aws s3") for line in run("sources"))


def test_sources_counts_every_malformed_row_that_the_sample_planted(at_sample):
    planted = json.loads((at_sample / "sample/sample.json").read_text())["faults"]
    expected = {}
    for fault in FAULTS:
        if fault.handling == "malformed":
            table = fault.table.split("/")[-1]
            expected[table] = expected.get(table, 0) + len(planted[fault.name])
    assert sum(expected.values()) >= 6
    rows = {row["table_name"]: row for row in map(json.loads, run("sources", "--json"))}
    assert {t: rows[t]["n_rejected"] for t in expected} == expected
    assert sum(row["n_rejected"] for row in rows.values()) == sum(expected.values())


def test_undated_rows_of_the_sample_are_quarantined_one_by_one(at_sample):
    planted = json.loads((at_sample / "sample/sample.json").read_text())["faults"]
    expected = sum(len(planted[f.name]) for f in FAULTS if f.handling == "undated")
    with duckdb.connect(str(at_sample / "lake.duckdb"), read_only=True) as con:
        found = con.execute(
            "select sum(n_rows)::integer, bool_or(counts) from audit.quarantined"
            " where reason = 'undated'"
        ).fetchall()
    assert expected > 0
    assert found == [(expected, False)]


def test_a_build_ends_by_saying_what_did_not_arrive(at_sample):
    rows = {row["table_name"]: row for row in map(json.loads, run("sources", "--json"))}
    malformed = sum(row["n_rejected"] for row in rows.values())
    assert left_out().startswith(f"quarantined: {malformed} malformed, ")


def test_show_lists_tables_with_rows_and_descriptions(at_sample):
    header, *lines = (line.split("\t") for line in run("show"))
    assert header == ["schema", "table", "rows", "description"]
    rows = {f"{line[0]}.{line[1]}": line for line in lines}
    assert int(rows["corpus.documents"][2]) > 5_000
    assert "graph.edges_asof(cutoff)" in rows
    assert [name for name, line in rows.items() if not line[3]] == []


def test_show_gives_the_first_rows_of_a_table_and_of_a_slice(at_sample):
    header, *rows = (line.split("\t") for line in run("show", "documents", "--limit", "3"))
    assert header[0] == "doc_id" and len(rows) == 3
    header, *rows = (
        line.split("\t") for line in run("show", "edges", "--asof", "1999", "--limit", "100000")
    )
    years = [int(row[header.index("known_year")]) for row in rows]
    assert max(years) == 1999 and years == sorted(years)


def test_show_keeps_a_slice_of_text_within_a_licence(at_sample):
    words = ("show", "pretrain_text", "--asof", "2005", "--limit", "100000")
    header, *rows = (line.split("\t") for line in run(*words))
    place = header.index("licence")
    header, *kept = (line.split("\t") for line in run(*words, "--licence-at-most", "cc-by"))
    assert {row[place] for row in kept} == {"cc-by"}
    assert kept == [row for row in rows if row[place] == "cc-by"]
    refused = {
        ("documents", "--asof", "2005"): "slices of text",
        ("pretrain_text",): "--asof 2013",
        ("pretrain_text", "--asof", "2005"): "use one of public-domain",
    }
    for asked, said in refused.items():
        found = CliRunner().invoke(cli, ["show", *asked, "--licence-at-most", "free"])
        assert found.exit_code == 2
        assert said in found.output


def test_a_year_outside_the_lake_is_refused_with_the_years_it_spans(at_sample):
    found = CliRunner().invoke(cli, ["show", "edges", "--asof", "1890"])
    assert found.exit_code == 2
    assert "1890" in found.output and "1976" in found.output


def test_docs_is_one_page_and_readers_are_not_in_its_way(at_sample):
    with duckdb.connect(str(at_sample / "lake.duckdb"), read_only=True):
        (path,) = run("docs")
    page = (at_sample / "docs/index.html").read_text(encoding="utf-8")
    assert path == str(at_sample / "docs/index.html")
    assert "stg_patentsview__patents" in page and "citation_edges" in page
    assert '"send_anonymous_usage_stats": false' in page  # else the page would load a tracker


def test_text_files_that_the_new_lake_does_not_list_are_removed(tmp_path):
    names = [
        f"known_year={year}/source=s2orc/{build}_0.parquet"
        for year, build in ((2001, "new"), (2001, "old"), (2002, "old"))
    ]
    for name in names:
        (tmp_path / "text" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "text" / name).touch()
    with duckdb.connect(str(tmp_path / "lake.duckdb")) as con:
        con.execute("create schema audit; create table audit.text_files (path varchar)")
        con.execute("insert into audit.text_files values (?)", [str(tmp_path / "text" / names[0])])
    _remove_stale_text(tmp_path)
    assert [path.name for path in (tmp_path / "text").rglob("*.parquet")] == ["new_0.parquet"]
    assert [path.name for path in (tmp_path / "text").iterdir()] == ["known_year=2001"]


def test_settings_are_typed_as_yaml_types_them():
    pairs = ["min_cited=1", "english_nodes=true", "observed_to_citations=null", "seed=a=b"]
    assert parse_settings(pairs) == {
        "min_cited": 1,
        "english_nodes": True,
        "observed_to_citations": None,
        "seed": "a=b",
    }
