"""Builds that are stopped, doubled, or read from meanwhile; and state files that are damaged."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from raw_folder import write_required, write_tsv, write_zip
from tiny_lake import make_tiny_lake

from warehouse import build as build_module
from warehouse import ingest, refresh
from warehouse.build import BuildSettings, _command, _remove_stale_text, build
from warehouse.errors import UserError
from warehouse.ingest import STATE
from warehouse.locks import only_one
from warehouse.show import write_docs
from warehouse.tables import ALL, Lake

TABLE = "patentsview/g_claims_2010.tsv"
COLUMNS = ("patent_id", "claim_sequence", "claim_text", "dependent", "claim_number", "exemplary")


@pytest.fixture
def lake(tmp_path, monkeypatch):
    """A tiny lake, and a raw folder of the test's own with one zip in it."""
    root = write_required(tmp_path / "data")
    write_zip(root / f"{TABLE}.zip", Path(TABLE).name, "\t".join(COLUMNS) + "\n")
    monkeypatch.setenv("DATA_ROOT", str(root))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    (tmp_path / "lake").mkdir()
    return make_tiny_lake(tmp_path / "lake")


def children(process):
    """The processes that a process has started and that still run."""
    found = Path(f"/proc/{process}/task/{process}/children")
    return [int(word) for word in found.read_text().split()]


def runs(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_build_takes_dbt_with_it_and_leaves_the_lake(lake, sign):
    before = (lake / "lake.duckdb").read_bytes()
    command = [sys.executable, "-c", "from warehouse.cli import cli; cli()", "build"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        wait_for(lambda: children(process.pid) and (lake / "logs/dbt.log").exists())
        (dbt,) = children(process.pid)
        process.send_signal(sign)
        assert process.wait(timeout=60) != 0
    wait_for(lambda: not runs(dbt), seconds=20)
    assert (lake / "lake.duckdb").read_bytes() == before
    if sign == signal.SIGINT:  # a killed process cleans up in the next build
        assert not (lake / "next").exists()
    with only_one(lake):
        pass  # the lock is free


def test_dbt_ends_when_its_starter_is_gone():
    command = [sys.executable, "-m", "warehouse.dbt_process", "--version"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        process.stdin.close()
        assert process.wait(timeout=60) == 1


def test_docs_wait_for_no_build_but_say_who_builds(lake):
    with only_one(lake), pytest.raises(UserError, match=f"built by process {os.getpid()} since"):
        write_docs()


def test_text_that_a_reader_has_open_is_left_for_the_next_build(lake):
    old = {path.name for path in (lake / "text").rglob("*.parquet")}
    assert old == {"tiny_0.parquet"}
    with Lake(lake) as reader:
        rows = reader.batches("pretrain_text", ["doc_id", "text"], cutoff=ALL, rows=10)
        n_rows = next(rows).num_rows
        with duckdb.connect(str(lake / "new.duckdb")) as con:  # a build that lists no such file
            con.execute("create schema audit; create table audit.text_files (path varchar)")
        (lake / "new.duckdb").replace(lake / "lake.duckdb")
        _remove_stale_text(lake)
        n_rows += sum(batch.num_rows for batch in rows)
        assert n_rows == reader.read("pretrain_text", ["doc_id"], cutoff=ALL).num_rows > 500
    _remove_stale_text(lake)
    assert not list((lake / "text").rglob("*"))


def test_text_of_a_refused_lake_and_of_one_that_cannot_be_read_is_kept(lake):
    (lake / "lake.duckdb").unlink()
    kept, gone = (lake / "text/known_year=2001" / name for name in ("kept", "gone"))
    kept.parent.mkdir(parents=True)
    kept.touch(), gone.touch()
    (lake / "failed.duckdb").write_text("no lake")
    _remove_stale_text(lake)
    assert kept.exists() and gone.exists()
    (lake / "failed.duckdb").unlink()
    with duckdb.connect(str(lake / "failed.duckdb")) as con:
        con.execute("create schema audit; create table audit.text_files (path varchar)")
        con.execute("insert into audit.text_files values (?)", [str(kept)])
    _remove_stale_text(lake)
    assert [path for path in (lake / "text").rglob("*") if path.is_file()] == [kept]


def test_a_build_that_comes_to_nothing_leaves_no_text(lake, monkeypatch):
    with duckdb.connect(str(lake / "lake.duckdb")) as con:
        con.execute("create table audit.text_files (path varchar)")

    def stop(*_, **__):
        (lake / "text/half.parquet").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(build_module, "run_dbt", stop)
    with pytest.raises(KeyboardInterrupt):
        build(BuildSettings())
    assert not list((lake / "text").rglob("*.parquet"))
    assert not (lake / "next").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"patentsview/g_claims_2010.tsv": 3}'])
@pytest.mark.parametrize("name", [STATE, "whole.json"])
def test_a_damaged_state_file_costs_no_more_than_time(lake, name, text):
    before = ingest.prepare()
    (lake / "raw" / TABLE).write_text("torn")
    (lake / "raw" / name).write_text(text)
    assert ingest.prepare() == before
    assert (lake / "raw" / TABLE).read_text().startswith("patent_id\t")
    assert json.loads((lake / "raw" / STATE).read_text()).keys() == {TABLE}


def test_a_member_of_another_size_is_unpacked_again(lake):
    ingest.prepare()
    (lake / "raw" / TABLE).write_text("patent_id")
    ingest.prepare()
    assert (lake / "raw" / TABLE).read_text() == "\t".join(COLUMNS) + "\n"


def test_what_no_zip_holds_is_not_read(lake):
    write_tsv(lake / "raw/patentsview/g_claims_2011.tsv", COLUMNS, [])
    read = ingest.prepare().files["patentsview.g_claims"]
    assert read == [str(lake / "raw" / TABLE)]


def test_what_a_killed_process_was_unpacking_is_removed(lake):
    with subprocess.Popen([sys.executable, "-c", "pass"]) as gone:
        gone.wait()
    folder = lake / "raw/patentsview"
    folder.mkdir(parents=True)
    names = [f"{Path(TABLE).name}.{process}.partial" for process in (gone.pid, os.getppid())]
    for name in names:
        (folder / name).touch()
    ingest.prepare()
    assert {path.name for path in folder.iterdir()} == {Path(TABLE).name, names[1]}


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_a_lake_whose_account_is_lost_is_built_again(lake, monkeypatch, text):
    if text:
        (lake / "lake.json").write_text(text)
    monkeypatch.setattr(refresh, "look", lambda *_: refresh.Refresh())
    asked = []
    monkeypatch.setattr(build_module, "_build_beside", lambda *given: asked.append(given[2]) or {})
    build(BuildSettings())
    assert [todo.reasons for todo in asked] == [("lake.json is gone or damaged",)]


@pytest.mark.parametrize("variables", [{}, {"web_pages_once": True}])
def test_unit_tests_judge_the_sql_and_no_build(lake, variables):
    """Nor could web_pages_once=true be built: a unit test keeps pages twice."""
    asked = _command(BuildSettings(variables=variables), refresh.Refresh(), lake)
    assert "--exclude-resource-type unit_test" in " ".join(asked)
