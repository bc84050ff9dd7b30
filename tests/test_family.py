"""A family of vintages: all of them made, none made twice, and one failure leaves the others."""

import csv
import io
import shutil

import pytest
from click.testing import CliRunner
from graph_runs import make_parents, use

from pytrain.cli import cli
from pytrain.family import years_of
from pytrain.run import read_run
from pytrain.stages import RUNNERS
from warehouse.errors import UserError

FAST = ["--preset", "tiny"]
for one in ("node2vec.report_auc=false", "mlm.tokens=4000", "mlm.save_every=2", "static.epochs=1",
            "tune.steps=2", "seeded.steps=2"):  # fmt: skip
    FAST += ["--set", one]


def ask(*words: str):
    done = CliRunner().invoke(cli, ["family", *FAST, *words])
    rows = csv.DictReader(io.StringIO(done.stdout), delimiter="\t")
    return done, {(int(row["year"]), row["stage"]): row["state"] for row in rows}


def test_a_family_is_made_once_and_a_failure_leaves_the_others(tmp_path, monkeypatch):
    root = make_parents(tmp_path)  # of 2012: up to the neighbours
    use(monkeypatch, root)
    done, states = ask("--years", "1980,2012", "--jobs", "2")  # no text is known in 1980
    assert done.exit_code == 1, done.output
    assert states[1980, "tokenizer"] == "failed" and states[1980, "pretrain"] == "not run"
    assert "1 of 2 vintages failed. 1980:" in done.stderr
    here = {stage: states[2012, stage] for stage in RUNNERS}
    kept = ("tokenizer", "node2vec", "neighbours")
    assert here == {s: "up to date" if s in kept else "made" for s in RUNNERS}
    fingerprints = [read_run(root / "runs" / f"tiny-2012{s}")["fingerprint"] for s in ("", "-ci")]
    # One run is gone and one stands under its name but is of other settings.
    shutil.rmtree(root / "runs" / "tiny-2012-static-ci")
    done, states = ask("--years", "2012", "--set", "tune.steps=3")
    assert done.exit_code == 1 and states[2012, "ci"] == "failed"
    assert "tune.steps" in done.stderr and states[2012, "static-ci"] == "not run"
    done, states = ask("--years", "2012", "--set", "tune.steps=3", "--force")
    assert done.exit_code == 0, done.output
    here = {stage: states[2012, stage] for stage in RUNNERS}
    assert [s for s in RUNNERS if here[s] == "made"] == ["ci", "static-ci"]
    assert [s for s in RUNNERS if here[s] == "up to date"] == list(RUNNERS)[:5]
    now = [read_run(root / "runs" / f"tiny-2012{s}")["fingerprint"] for s in ("", "-ci")]
    assert now[0] == fingerprints[0] and now[1] != fingerprints[1]


def test_years_are_a_range_a_list_or_both():
    assert years_of("2013-2016") == [2013, 2014, 2015, 2016]
    assert years_of("2016,2013-2014,2013") == [2013, 2014, 2016]
    for wrong in ("soon", "2016-2013", ""):
        with pytest.raises(UserError, match="Example: 2013-2025"):
            years_of(wrong)
