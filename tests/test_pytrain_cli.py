"""The command `pytrain`: exit codes, one message per mistake, and runs left alone when current."""

import json

import pytest
from click.testing import CliRunner
from tiny_lake import coined, make_tiny_lake

from pytrain.cli import _RUNNERS, cli


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    return tmp_path


def _ask(*words):
    return CliRunner().invoke(cli, [*words])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tokenizer", "--year", "1890", "--preset", "tiny"), "year 1890 is outside this lake"),
        (("all", "--year", "2099", "--preset", "tiny"), "spans 1976-2015"),
        (("tokenizer", "--year", "2012", "--preset", "tinny"), "Did you mean 'tiny'"),
        (("pretrain", "--year", "2012", "--set", "mlm.layerz=2"), "Did you mean 'mlm.layers'"),
        (("pretrain", "--year", "2012", "--set", "mlm.layers"), "not key=value"),
        (("pretrain", "--year", "2012", "--preset", "tiny"), "Run: pytrain tokenizer --year 2012"),
        (("tokenizer", "--year", "soon"), "not a valid integer"),
        (("tokenizer",), "Missing option '--year'"),
    ],
)
def test_a_mistake_is_one_message_and_exit_code_two(home, words, message):
    make_tiny_lake(home / "lake")
    done = _ask(*words)
    assert done.exit_code == 2, done.output
    assert message in done.output and "Traceback" not in done.output
    assert not list((home / "runs").glob("*")) if (home / "runs").exists() else True


def test_no_lake_yet_names_the_two_commands(home):
    done = _ask("tokenizer", "--year", "2012")
    assert done.exit_code == 2 and "lake sample && lake build" in done.output


def test_a_finished_run_is_kept_unless_forced_and_all_passes_over_it(home, monkeypatch):
    make_tiny_lake(home / "lake")
    words = ("tokenizer", "--year", "2012", "--preset", "tiny")
    done = _ask(*words)
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(home / "runs" / "tiny-2012-tokenizer")
    again = _ask(*words)
    assert again.exit_code == 2 and "--force" in again.output
    assert _ask(*words, "--force").exit_code == 0
    for stage in [stage for stage in _RUNNERS if stage not in ("tokenizer", "pretrain")]:
        monkeypatch.delitem(_RUNNERS, stage)
    everything = ("all", "--year", "2012", "--preset", "tiny")
    first, second = _ask(*everything), _ask(*everything)
    assert first.exit_code == second.exit_code == 0, first.output
    assert "tiny-2012-tokenizer: up to date" in first.stderr
    assert "tiny-2012: finished" in first.stderr and "tiny-2012: up to date" in second.stderr
    other = _ask(*everything, "--set", "mlm.layers=1")
    assert other.exit_code == 2 and "mlm.layers" in other.output
    forced = _ask(*everything, "--set", "mlm.layers=1", "--force")
    assert forced.exit_code == 0 and "tiny-2012-tokenizer: up to date" in forced.stderr
    assert "made anew, its settings differ: mlm.layers" in forced.stderr


def test_terms_coined_after_the_cutoff_fail_the_check_when_they_are_tokens(home):
    make_tiny_lake(home / "lake")
    terms = [{"term": coined(year), "year": year} for year in range(2008, 2016)]
    (home / "terms.json").write_text(json.dumps({"terms": terms}))
    words = (
        "tokenizer",
        "--year",
        "2012",
        "--preset",
        "tiny",
        "--set",
        "tokenizer.vocab_size=2400",
    )
    assert _ask(*words).exit_code == 0
    done = _ask(*words, "--terms", str(home / "terms.json"))
    assert done.exit_code == 0, done.output
    lines = dict(line.split("\t", 1) for line in done.stdout.splitlines()[1:])
    assert lines["2008"] == "1\t1" and lines["2013"] == "1\t0\tafter the cutoff"
    terms[0]["year"] = 2013  # a term of 2008 passed off as one of 2013
    (home / "terms.json").write_text(json.dumps({"terms": terms}))
    late = _ask(*words, "--terms", str(home / "terms.json"))
    assert late.exit_code == 1 and coined(2008) in late.output


def test_a_full_disk_is_one_message(home, monkeypatch):
    import errno

    import pytrain.tokenizer

    def full(*args, **more):
        raise OSError(errno.ENOSPC, "No space left on device", "x.bin")

    make_tiny_lake(home / "lake")
    monkeypatch.setattr(pytrain.tokenizer, "run", full)
    done = _ask("tokenizer", "--year", "2012", "--preset", "tiny")
    assert done.exit_code == 2 and "no space left" in done.output


def test_plan_says_steps_parameters_and_settings(home):
    done = _ask("plan", "--year", "2013", "--preset", "paper")
    assert done.exit_code == 0, done.output
    assert "149,655,232 parameters\t524,288 tokens a step" in done.output
    budget = _ask("plan", "--year", "2013", "--preset", "paper", "--set", "mlm.tokens=47000000000")
    assert "89,645 steps\t1,907 up, 76,294 flat, 11,444 down" in budget.output
    assert "  vocab_size: 50368" in budget.output
