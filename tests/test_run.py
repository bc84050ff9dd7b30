"""Run folders: whole or absent, never overwritten by accident, and honest about their origin."""

import json
import multiprocessing

import pytest
from tiny_lake import make_tiny_lake

from pytrain.config import load_settings
from pytrain.run import Run, need_run, read_run, run_name
from pytrain.stale import why_stale
from warehouse.errors import UserError
from warehouse.tables import Lake

TINY = load_settings("tiny")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    return tmp_path / "runs"


def _make(text="a", **more):
    with Run("tokenizer", TINY, 2012, **more) as run:
        (run.folder / "tokenizer.json").write_text(text)
    return run.final


def test_names_carry_preset_year_seed_and_stage():
    assert run_name("sample", 2013, "pretrain") == "sample-2013"
    assert run_name("sample", 2013, "ci", seed=2) == "sample-2013-s2-ci"
    assert run_name("tiny", 2010, "static-ci") == "tiny-2010-static-ci"


def test_a_failed_run_leaves_no_folder_that_looks_finished(runs):
    with pytest.raises(ZeroDivisionError), Run("tokenizer", TINY, 2012) as run:
        run.log(1, loss=2.0)
        1 / 0  # noqa: B018
    assert not run.final.exists()
    assert json.loads((run.folder / "log.jsonl").read_text())["loss"] == 2.0
    with pytest.raises(UserError, match="no finished run"):
        read_run(run.final)
    _make()  # and the next try is not in its way
    assert not run.folder.exists()


def test_a_finished_run_is_replaced_only_by_force(runs):
    final = _make("first")
    with pytest.raises(UserError, match="--force"):
        _make("second")
    assert (final / "tokenizer.json").read_text() == "first"
    _make("second", force=True)
    assert (final / "tokenizer.json").read_text() == "second"
    assert sorted(path.name for path in runs.iterdir()) == [final.name]


def _hold(entered, leave, root):
    import os

    os.environ["RUNS_ROOT"] = root
    with Run("tokenizer", TINY, 2012) as run:
        (run.folder / "mine").write_text("x")
        entered.set()
        leave.wait(20)


def test_two_processes_do_not_make_one_run(runs):
    context = multiprocessing.get_context("spawn")
    entered, leave = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(entered, leave, str(runs)))
    other.start()
    try:
        assert entered.wait(60)
        with pytest.raises(UserError, match="another process is making run tiny-2012-tokenizer"):
            _make()
    finally:
        leave.set()
        other.join(20)
    assert (runs / "tiny-2012-tokenizer" / "mine").read_text() == "x"


def test_a_missing_parent_names_the_command_that_makes_it(runs):
    with pytest.raises(UserError, match="pytrain tokenizer --year 2012 --preset tiny --seed 3"):
        need_run(TINY, 2012, "tokenizer", 3)


def test_run_json_tells_tables_parents_seed_and_versions(runs, tmp_path):
    parent = _make()
    with Lake(make_tiny_lake(tmp_path / "lake")) as lake:
        rows = lake.read("edges", ["citing_id"], cutoff=2012).num_rows
        with Run("pretrain", TINY, 2012, parents=[parent], lake=lake) as run:
            run.note(colour="blue")
    made = read_run(run.final)
    assert made["cutoff"] == 2012 and made["seed"] == 0 and made["notes"] == {"colour": "blue"}
    assert made["parents"] == [
        {"name": parent.name, "fingerprint": read_run(parent)["fingerprint"]}
    ]
    (read,) = made["tables_read"]
    assert (read["name"], read["rows"], read["latest_known_year"]) == ("edges", rows, 2012)
    assert made["versions"]["torch"] and made["wall_seconds"] >= 0
    assert load_settings(str(run.final / "config.yaml")) == TINY


def test_the_fingerprint_follows_the_results_and_not_the_clock(runs):
    one = read_run(_make("same"))
    two = read_run(_make("same", force=True))
    other = read_run(_make("other", force=True))
    assert one["fingerprint"] == two["fingerprint"] != other["fingerprint"]


def test_a_run_is_current_until_settings_parents_or_rows_change(runs, tmp_path):
    """Rows after the cutoff change nothing; a row before it does."""
    parent = _make()
    early = Lake(make_tiny_lake(tmp_path / "early", last_year=2012))
    late = Lake(make_tiny_lake(tmp_path / "late"))
    late.read("edges", ["citing_id", "cited_id"], cutoff=2012)
    with Run("pretrain", TINY, 2012, parents=[parent], lake=late):
        pass

    def stale(settings=TINY, lake=early):
        return why_stale("pretrain", settings, 2012, seed=0, lake=lake)

    assert stale() is None
    assert stale(load_settings("tiny", ["tune.steps=11"])) is None  # of another stage
    assert "mlm.layers" in stale(load_settings("tiny", ["mlm.layers=1"]))
    assert "rows of edges as of 2012" in stale(lake=Lake(_without_an_edge(tmp_path / "changed")))
    _make("new tokenizer", force=True)
    assert "parent tiny-2012-tokenizer" in stale()


def _without_an_edge(folder):
    import duckdb

    make_tiny_lake(folder)
    with duckdb.connect(str(folder / "lake.duckdb")) as connection:
        connection.sql(
            "delete from graph.citation_edges where citing_id = "
            "(select min(citing_id) from graph.citation_edges where known_year <= 2012)"
        )
    return folder
