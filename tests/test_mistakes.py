"""Mistakes in arguments, settings and folders: one message, exit code 2, nothing half-written."""

import pytest
import tiny_tasks
from click.testing import CliRunner
from tiny_lake import make_tiny_lake

import pyeval.cli
import pytrain.cli
from pytrain.config import Settings, load_settings, presets
from warehouse.errors import UserError

TINY = ("--year", "2012", "--preset", "tiny")


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    make_tiny_lake(folder)
    return folder


@pytest.fixture
def home(lake, tmp_path, monkeypatch):
    """A lake and an empty RUNS_ROOT."""
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(lake))
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    return tmp_path


def refused(command, *words):
    """What a command says as it refuses."""
    cli = {"pytrain": pytrain.cli, "pyeval": pyeval.cli}[command].cli
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2, (words, done.output, done.exception)
    return done.output


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("mlm.layers", "0", "above 0, not 0"),
        ("mlm.layers", "-1", "above 0, not -1"),
        ("mlm.tokens", "0", "above 0"),
        ("mlm.peak_lr", ".nan", "above 0, not nan"),
        ("mlm.peak_lr", ".inf", "above 0, not inf"),
        ("mlm.mixture.uspto", "-1", "shares >= 0"),
        ("mlm.held_out_share", "1.5", "in [0, 1)"),
        ("mlm.mask_token_share", "-0.5", "at least 0 and at most 1"),
        ("mlm.phases", "[0, 0, 0]", "one number above 0"),
        ("mlm.phases", "[1, -1, 1]", "at least 0"),
        ("threads", "0", "above 0, not 0"),
        ("threads", "-3", "above 0, not -3"),
        ("node2vec.negatives", "-1", "above 0"),
        ("static.dimensions", "0", "above 0"),
        ("tune.temperature", "0", "above 0"),
        ("tune.steps", "0", "above 0"),
        ("tune.paper_share", "3", "at most 1"),
        ("seeded.graph_share", "2", "at most 1"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused_before_anything_is_read(key, value, says):
    with pytest.raises(UserError, match=key.split(".")[1 if "." in key else 0]) as found:
        load_settings("tiny", [f"{key}={value}"])
    assert says in found.value.message


def test_every_preset_and_the_papers_own_settings_pass(tmp_path):
    from pytrain.coerce import check_numbers

    check_numbers(Settings())
    assert {load_settings(name).preset for name in presets()} == set(presets())


@pytest.mark.parametrize(
    "words",
    [
        ("pytrain", "tokenizer", *TINY, "--seed", "-1"),
        ("pytrain", "tokenizer", *TINY, "--seed", "99999999999999999999"),
        ("pytrain", "family", "--years", "2012", "--preset", "tiny", "--seed", "-1"),
        ("pyeval", "run", "bm25", "--seed", "-1"),
        ("pyeval", "run", "bm25", "--resamples", "99999999999"),
        ("pyeval", "compare", "a", "b", "--seed", "-1"),
    ],
)
def test_numbers_out_of_range_are_told_with_the_range(home, words):
    assert "is not in the range" in refused(*words)


def test_a_preset_that_is_not_there_is_told_those_that_are(home):
    said = refused("pytrain", "tokenizer", "--year", "2012", "--preset", "smaple")
    assert "Did you mean 'sample'" in said and "--preset tiny" in said


def test_a_place_that_cannot_be_written_is_one_message(home, monkeypatch):
    (home / "file").write_text("mine")
    for place in (home / "file", "/proc/nowhere"):
        monkeypatch.setenv("RUNS_ROOT", str(place))
        said = refused("pytrain", "tokenizer", *TINY)
        assert "cannot be used" in said and "RUNS_ROOT" in said
    assert (home / "file").read_text() == "mine"


def test_a_report_that_cannot_be_written_is_one_message(home, tmp_path, monkeypatch):
    folder = tiny_tasks.make_task_lake(tmp_path / "tasks")
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(folder))
    done = CliRunner().invoke(
        pyeval.cli.cli, ["run", "bm25", "--task", "patent_cite", "--resamples", "0"]
    )
    assert done.exit_code == 0, done.output
    for words in (("report", "--out", "/nope/x.md"), ("leaderboard", "--out", "/nope/x"),
                  ("export", "--task", "patent_cite", "--out", "/proc/x")):  # fmt: skip
        said = refused("pyeval", *words)
        assert "cannot be used" in said or "no folder" in said, said


@pytest.mark.parametrize("fault", ["gone", "cut short", "another file's bytes"])
def test_texts_of_a_lake_that_are_gone_or_damaged_are_one_message(home, monkeypatch, fault):
    make_tiny_lake(home / "torn")
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(home / "torn"))
    for path in (home / "torn" / "text").rglob("*.parquet"):
        if fault == "gone":
            path.unlink()
        elif fault == "cut short":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        else:
            whole = path.read_bytes()
            path.write_bytes(whole[:40] + bytes(len(whole) // 2) + whole[40 + len(whole) // 2 :])
    assert "lake build" in refused("pytrain", "tokenizer", *TINY)
    assert not (home / "runs" / "tiny-2012-tokenizer").exists()
