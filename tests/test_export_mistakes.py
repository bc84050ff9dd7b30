"""`pyeval export` and what reads its folder, given what people get wrong."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tiny_tasks import make_task_lake

from pyeval.cli import cli
from warehouse.beside import WRITING


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A tiny lake of the test's own, and folders for runs and for what is written."""
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(make_task_lake(tmp_path / "lake")))
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    (tmp_path / "out").mkdir()
    return tmp_path


def call(*args):
    found = CliRunner().invoke(cli, list(map(str, args)))
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.output


def export(home):
    return call("export", "--task", "paper_cite", "--out", home / "out" / "benchmark")


def test_a_folder_of_the_scratch_name_is_left_alone(home):
    own = home / "out" / "benchmark.partial" / "thesis.txt"
    own.parent.mkdir()
    own.write_text("years of work")
    code, said = export(home)
    assert (code, "benchmark.partial is in the way" in said) == (2, True), said
    assert own.read_text() == "years of work"
    assert [one.name for one in (home / "out").iterdir()] == ["benchmark.partial"]


def test_what_a_killed_export_left_is_begun_again(home):
    left = home / "out" / "benchmark.partial" / "paper_cite"
    left.mkdir(parents=True)
    (left / "half.parquet").touch()
    (left.parent / WRITING).touch()
    code, said = export(home)
    assert code == 0, said
    assert [one.name for one in (home / "out").iterdir()] == ["benchmark"]
    names = {one.name for one in (home / "out" / "benchmark").rglob("*")}
    assert "qrels.parquet" in names and names.isdisjoint({"half.parquet", WRITING})


def test_a_link_that_leads_nowhere_is_no_place_for_an_export(home):
    (home / "out" / "benchmark").symlink_to(home / "nowhere")
    code, said = export(home)
    assert (code, "is there already" in said) == (2, True), said


def overwrite(path, start=4, n=400):
    """Damage what a Parquet file holds, and leave its end, which says what that is."""
    data = bytearray(path.read_bytes())
    data[start : start + n] = b"\xff" * n
    path.write_bytes(data)


def retyped(path, name, values):
    table = pq.read_table(path)
    made = pa.array(values * (len(table) // len(values) + 1))[: len(table)]
    pq.write_table(table.set_column(table.column_names.index(name), name, made), path)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (lambda f: overwrite(f / "documents.parquet"), "cannot read"),
        (lambda f: overwrite(f / "paper_cite/qrels.parquet"), "cannot read"),
        (lambda f: retyped(f / "paper_cite/qrels.parquet", "relevant", ["yes"]), "no number"),
        (lambda f: retyped(f / "paper_cite/queries.parquet", "task_year", ["old"]), "whole number"),
    ],
)
def test_damage_inside_a_file_is_one_message(home, fault, says):
    assert export(home)[0] == 0
    fault(home / "out" / "benchmark")
    code, said = call("run", "bm25", "--from", home / "out" / "benchmark", "--cutoff", 2012)
    assert (code, says in said) == (2, True), said
    assert not (home / "runs" / "scores").exists()


def test_no_command_takes_more_resamples_than_another(home):
    for command in (["run", "bm25"], ["compare", "a", "b"], ["report", "--years-past", 3]):
        code, said = call(*command, "--resamples", 100_001)
        assert (code, "100000" in said) == (2, True), said
