"""Every task on the sample: a system without training scores each one, and there is signal."""

import csv
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from pyeval.cli import cli
from pyeval.labels import read_labels
from pyeval.paper_tasks import PATREPEVAL
from pyeval.tasks import TASKS
from warehouse.build import BuildSettings, build
from warehouse.tables import Lake

ROOT = Path(__file__).parents[1]
PROXIMITY = [task.name for task in PATREPEVAL if task.category == "retrieve"]
ASKED = [task.name for task in TASKS.values() if task.format == "retrieve"]


def chance_of(lake: Lake, name: str) -> float:
    """The mean of MAP over all orders of the corpus, each as likely."""
    queries = read_labels(lake, TASKS[name])
    n, r = len(queries.corpus), np.bincount(queries.relevant[0])[:, None]
    k = np.arange(1, n + 1)
    return 100 * float(((1 + (k - 1) * (r - 1) / (n - 1)) / k).mean())


def test_the_benchmark_has_the_papers_proximity_tasks():
    assert set(PROXIMITY) | {"paper_cite"} == set(ASKED) and len(PROXIMITY) == 11


@pytest.mark.slow
def test_every_task_has_a_score_and_words_find_what_the_sample_planted(
    sample_lake, tmp_path, monkeypatch
):
    """Inventors, assignees, pairs and researchers keep to their topics."""
    lake = tmp_path / "lake"
    monkeypatch.setenv("DATA_ROOT", str(sample_lake / "sample"))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(lake))
    monkeypatch.setenv("DBT_INDIRECT_SELECTION", "empty")
    build(BuildSettings(variables={"min_year_examples": 20}))
    env = {"SCITLAKE_WAREHOUSE": str(lake), "RUNS_ROOT": str(tmp_path / "runs")}
    asked = ["run", "tfidf-svd", "--resamples", "0", "--cutoff", "2013", "--no-few-shot"]
    done = CliRunner().invoke(cli, asked, env=env)
    assert done.exit_code == 0, done.output
    rows = csv.DictReader(done.stdout.splitlines(), delimiter="\t")
    first = {}
    for row in rows:
        if row["column"] == "all":
            first.setdefault(row["task"], row)
    for task in PATREPEVAL:
        assert first[task.name]["value"] != "no examples", task.name
        assert float(first[task.name]["value"]) > 0, task.name
    for name in (
        "academic_public",
        "vc_backed",
        "ppp_patent",
        "ppp_paper",
        "pqr_patent",
        "pqr_paper",
    ):
        assert float(first[name]["value"]) > 52, name  # both classes are equal: 50 by chance
    for name in ("forward_citation", "kogan_value", "science_uptake"):
        assert float(first[name]["value"]) > 5, name
    with Lake(lake) as opened:
        for name in PROXIMITY:
            assert int(first[name]["n"]) >= 50, name
            assert float(first[name]["value"]) > 1.5 * chance_of(opened, name), name


def test_the_target_runs_what_the_commands_know():
    from test_readme import OURS, check

    said = subprocess.run(
        ["make", "-n", "benchmark"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    text = said.replace("\\\n", " ").replace("$stage", "tokenizer")
    calls = [
        part[part.index("bin/") + 4 :].split(">")[0].split()
        for part in text.replace("do ", "\n").replace(";", "\n").splitlines()
        if any(f"bin/{name} " in part for name in OURS)
    ]
    for words in calls:
        check(words)
    assert [words[0] for words in calls].count("pytrain") == 1
    assert {"sample", "build", "run", "report"} <= {words[1] for words in calls}
    stages = text.split("for stage in ")[1].split(";")[0].split()
    for stage in stages:
        check(["pytrain", stage, "--year", "2013", "--preset", "sample", "--force"])
    assert stages[-1] == "static"
