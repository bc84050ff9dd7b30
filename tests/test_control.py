"""The control: where citations say nothing about the text, tuning on them must not help.

The same settings train and tune a base on the plain sample and on the sample whose citations are
shuffled. On the plain one the tuned model beats its base on every citation task: the 95% interval
of the paired bootstrap of tuned - base, over all queries, lies above 0. On the shuffled one that
interval does not lie above 0, on any task, and the difference is below where the plain one begins.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner

from pyeval.compare import Difference, compare

YEAR = "2013"
TASKS = ("patent_cite", "patent_cocite", "paper_cite")
# Just large enough that tuning shows: some 45 CPU seconds for each of the two.
SETTINGS = {
    "tokenizer.vocab_size": 4000,
    "mlm.hidden": 64,
    "mlm.heads": 4,
    "mlm.intermediate": 96,
    "mlm.tokens": 150_000,
    "node2vec.report_auc": "false",
    "tune.steps": 90,
    "tune.batch": 64,
    "tune.micro_batch": 64,
    "tune.temperature": 0.01,
    "tune.max_length": 32,
    "tune.peak_lr": "3.0e-3",
}
STAGES = ("tokenizer", "pretrain", "node2vec", "neighbours", "tune")
MODELS = ("+pretrain_asof", "+same_work", "+edges_asof", "+anchors_asof", "+task_settings")
MODELS += tuple(f"+{part}_{task}" for task in TASKS for part in ("task", "corpus"))


def ask(command: str, *words: str) -> None:
    """Run one of the three commands in this process."""
    import pyeval.cli
    import pytrain.cli
    import warehouse.cli

    group = {"lake": warehouse.cli, "pytrain": pytrain.cli, "pyeval": pyeval.cli}[command].cli
    done = CliRunner().invoke(group, words)
    assert done.exit_code == 0, (words, done.output, done.exception)


def gains(lake: Path, runs: Path) -> dict[str, Difference]:
    """Tuned minus base on each citation task, over all queries, after training both."""
    changed = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCITLAKE_WAREHOUSE", str(lake))
        patch.setenv("RUNS_ROOT", str(runs))
        for stage in STAGES:
            ask("pytrain", stage, "--year", YEAR, "--preset", "tiny", *changed)
        base, tuned = f"tiny-{YEAR}", f"tiny-{YEAR}-ci"
        tasks = [word for name in TASKS for word in ("--task", name)]
        ask("pyeval", "run", base, tuned, *tasks, "--resamples", "0", "--no-seen-pairs")
        found = compare(tuned, base, tasks=TASKS, column="all", seed=0)
    return {one.task: one for one in found}


@pytest.fixture(scope="module")
def plain(sample_lake, tmp_path_factory) -> dict[str, Difference]:
    return gains(sample_lake, tmp_path_factory.mktemp("plain") / "runs")


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory) -> dict[str, Difference]:
    folder = tmp_path_factory.mktemp("shuffled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCITLAKE_WAREHOUSE", str(folder / "lake"))
        patch.setenv("DBT_INDIRECT_SELECTION", "empty")  # models alone, no data tests
        ask("lake", "sample", "--shuffle-citations")
        ask("lake", "build", *(word for name in MODELS for word in ("--select", name)))
    return gains(folder / "lake", folder / "runs")


@pytest.mark.parametrize("task", TASKS)
def test_tuning_beats_the_base_on_the_plain_sample(plain, task):
    assert plain[task].n >= 200
    assert plain[task].low > 0, plain[task]


@pytest.mark.parametrize("task", TASKS)
def test_tuning_does_not_help_where_citations_are_shuffled(shuffled, plain, task):
    assert shuffled[task].n >= 100
    assert shuffled[task].low <= 0, shuffled[task]
    assert shuffled[task].difference < plain[task].low, (shuffled[task], plain[task])
