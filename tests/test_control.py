"""The control: where citations say nothing about the text, tuning on them must not help.

The same settings tune one base on the plain sample and on the sample whose citations are shuffled;
their texts are the same, so the base of one is the base of the other. On the plain one the tuned
model beats its base on every citation task: the 95% interval of the paired bootstrap of
tuned - base, over all queries, lies above 0. On the shuffled one that interval does not lie above
0, on any task, and the difference is below where the plain one begins.
"""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyeval.compare import Difference, compare
from warehouse.tables import Lake

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
BASE = ("tokenizer", "pretrain")  # of the texts alone
STAGES = ("node2vec", "neighbours", "tune")
MODELS = ("+pretrain_asof", "+same_work", "+edges_asof", "+anchors_asof", "+task_settings")
TEXT = ("doc_id", "source", "known_year", "text")
MODELS += tuple(f"+{part}_{task}" for task in TASKS for part in ("task", "corpus"))


def ask(command: str, *words: str) -> None:
    """Run one of the three commands in this process."""
    import pyeval.cli
    import pytrain.cli
    import warehouse.cli

    group = {"lake": warehouse.cli, "pytrain": pytrain.cli, "pyeval": pyeval.cli}[command].cli
    done = CliRunner().invoke(group, words)
    assert done.exit_code == 0, (words, done.output, done.exception)


def gains(lake: Path, runs: Path, stages: tuple[str, ...]) -> dict[str, Difference]:
    """Tuned minus base on each citation task, over all queries, after these stages."""
    changed = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCITLAKE_WAREHOUSE", str(lake))
        patch.setenv("RUNS_ROOT", str(runs))
        for stage in stages:
            ask("pytrain", stage, "--year", YEAR, "--preset", "tiny", *changed)
        base, tuned = f"tiny-{YEAR}", f"tiny-{YEAR}-ci"
        tasks = [word for name in TASKS for word in ("--task", name)]
        ask("pyeval", "run", base, tuned, *tasks, "--resamples", "0", "--no-seen-pairs")
        found = compare(tuned, base, tasks=TASKS, column="all", seed=0)
    return {one.task: one for one in found}


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    """Where the runs of the plain sample go."""
    return tmp_path_factory.mktemp("plain") / "runs"


@pytest.fixture(scope="module")
def plain(sample_lake, base) -> dict[str, Difference]:
    return gains(sample_lake, base, (*BASE, *STAGES))


@pytest.fixture(scope="module")
def shuffled(sample_lake, base, plain, tmp_path_factory) -> dict[str, Difference]:
    folder = tmp_path_factory.mktemp("shuffled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCITLAKE_WAREHOUSE", str(folder / "lake"))
        patch.setenv("DBT_INDIRECT_SELECTION", "empty")  # models alone, no data tests
        ask("lake", "sample", "--shuffle-citations")
        ask("lake", "build", *(word for name in MODELS for word in ("--select", name)))
    texts = []
    for lake in (sample_lake, folder / "lake"):
        with Lake(lake) as reader:
            texts.append(reader.fingerprint("pretrain_text", TEXT, cutoff=int(YEAR)))
    assert texts[0] == texts[1]
    for name in (f"tiny-{YEAR}-tokenizer", f"tiny-{YEAR}"):
        shutil.copytree(base / name, folder / "runs" / name)
    return gains(folder / "lake", folder / "runs", STAGES)


@pytest.mark.parametrize("task", TASKS)
def test_tuning_beats_the_base_on_the_plain_sample(plain, task):
    assert plain[task].n >= 200
    assert plain[task].low > 0, plain[task]


@pytest.mark.parametrize("task", TASKS)
def test_tuning_does_not_help_where_citations_are_shuffled(shuffled, plain, task):
    assert shuffled[task].n >= 100
    assert shuffled[task].low <= 0, shuffled[task]
    assert shuffled[task].difference < plain[task].low, (shuffled[task], plain[task])
