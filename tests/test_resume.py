"""Killed at any moment and resumed, a run comes to the weights of a run that was not, bit for bit.

Real processes are killed with SIGKILL; two steps lie between checkpoints.
"""

import json

import pytest
from click.testing import CliRunner
from graph_runs import YEAR, make_parents, use
from stopped_runs import killed_five_times, pretrain, process, tune

from pytrain.cli import cli
from pytrain.digests import hash_files
from pytrain.run import read_log, read_run

MLM = ("mlm.tokens=40000", "mlm.save_every=2", "mlm.log_every=1")
TUNE = (*MLM, "tune.steps=40", "tune.save_every=2", "tune.log_every=1")


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    """A run of each stage that nothing disturbed, and one killed five times."""
    made = []
    for name in ("straight", "stopped"):
        root = make_parents(tmp_path_factory.mktemp(name))
        made.append(root)
    straight, stopped = made
    struck = {}
    for stage, name, steps, words in (
        (pretrain, "tiny-2012", 39, MLM),
        (tune, "tiny-2012-ci", 40, TUNE),
    ):
        begun = process(straight, stage, YEAR, words)
        begun.join()
        assert begun.exitcode == 0
        struck[name] = killed_five_times(stopped, name, steps, stage, YEAR, words)
    return straight, stopped, struck


@pytest.mark.parametrize("name", ["tiny-2012", "tiny-2012-ci"])
def test_five_kills_leave_the_weights_and_the_losses_as_they_would_be(roots, name):
    straight, stopped, struck = roots
    assert struck[name] == 5
    folders = [root / "runs" / name for root in (straight, stopped)]
    assert hash_files(folders[0]) == hash_files(folders[1])
    assert "model/model.safetensors" in hash_files(folders[0])
    notes = [read_run(folder)["notes"] for folder in folders]
    assert notes[1]["resumed_from_step"] > 0 and "resumed_from_step" not in notes[0]
    assert notes[0]["last_loss"] == notes[1]["last_loss"]
    logs = [[(line["step"], line["loss"]) for line in read_log(folder)] for folder in folders]
    assert logs[0] == logs[1] and [step for step, _ in logs[0]] == list(range(len(logs[0])))


def test_two_checkpoints_stay_and_nothing_half_written(roots):
    _, stopped, _ = roots
    kept = sorted(p.name for p in (stopped / "runs" / "tiny-2012-ci" / "checkpoints").iterdir())
    assert kept == ["inputs.json", "step-000038", "step-000040"]
    assert not [p for p in (stopped / "runs").iterdir() if p.suffix in (".partial", ".old")]


def _stopped(root, monkeypatch, *overrides):
    """A pre-training that fails after its third step, as a kill would leave it."""
    from pytrain import mlm
    from pytrain.config import load_settings

    use(monkeypatch, root)
    real = mlm.masked_loss
    taken = []

    def fails(model, batch):
        taken.append(0)
        if len(taken) > 4:
            raise KeyboardInterrupt
        return real(model, batch)

    with monkeypatch.context() as patch:
        patch.setattr(mlm, "masked_loss", fails)
        with pytest.raises(KeyboardInterrupt):
            mlm.run(load_settings("tiny", ["mlm.tokens=8000", *overrides]), YEAR, seed=3)
    return root / "runs" / "tiny-2012-s3.partial"


def test_a_run_whose_parent_was_made_anew_is_not_resumed(roots, monkeypatch):
    from pytrain import tokenizer
    from pytrain.config import load_settings

    root = roots[0]
    use(monkeypatch, root)
    tokenizer.run(load_settings("tiny"), YEAR, seed=3)
    partial = _stopped(root, monkeypatch, "mlm.save_every=1")
    folder = root / "runs" / "tiny-2012-s3-tokenizer" / "run.json"
    said = json.loads(folder.read_text())
    folder.write_text(json.dumps(said | {"fingerprint": "another"}))
    done = CliRunner().invoke(cli, ["resume", "tiny-2012-s3"])
    assert done.exit_code == 2 and "has changed since it was begun" in done.output
    folder.write_text(json.dumps(said))
    done = CliRunner().invoke(cli, ["resume", str(partial)])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(root / "runs" / "tiny-2012-s3")


def test_resuming_what_is_finished_or_not_there_is_said(roots, monkeypatch, tmp_path):
    use(monkeypatch, roots[0])
    done = CliRunner().invoke(cli, ["resume", "tiny-2012-ci"])
    assert done.exit_code == 0 and "was finished" in done.stderr
    done = CliRunner().invoke(cli, ["resume", "tiny-1999"])
    assert done.exit_code == 2 and "no stopped run" in done.output
    done = CliRunner().invoke(cli, ["resume", str(tmp_path / "tiny-2012.partial")])
    assert done.exit_code == 2 and "RUNS_ROOT" in done.output
