"""Probed tasks cannot be cheated: the oracle, the ignorant and the blind get what they earn."""

import duckdb
import numpy as np
import pytest
import tiny_tasks
from tiny_tasks import CUTOFF, SECTIONS, documents, make_task_lake

from pyeval.protocol import ScoreSettings
from pyeval.score import load_benchmark, score
from pyeval.tasks import TASKS
from warehouse.errors import CheckFailed
from warehouse.tables import Lake

NAMES = [task.name for task in TASKS.values() if task.format != "retrieve"]
NAMES = [name for name in NAMES if name not in ("grant_year", "forward_citation")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_task_lake(tmp_path_factory.mktemp("lake"))


def scored(folder, embed, names=NAMES):
    """The value of every example, by the name of the score row."""
    settings = ScoreSettings(few_shot=(16,), resamples=0)
    with Lake(folder) as lake:
        benchmark = load_benchmark(lake, [TASKS[name] for name in names])
        found = score(tiny_tasks.system(embed), benchmark, lake, settings, cutoff=CUTOFF)
        rows = [row for scores in found for row in scores.rows]
    return {row["task"]: row["value"] for row in rows if row["column"] == "all"}


def test_an_encoder_that_knows_the_label_scores_100(folder):
    vectors = {one["doc_id"]: np.eye(len(SECTIONS))[one["topic"]] for one in documents("patent")}
    found = scored(folder, tiny_tasks.knowing(vectors))
    assert set(NAMES) < set(found) and {"us_foreign_foreign", "us_foreign_16shot"} < set(found)
    for name, value in found.items():
        # Fifty epochs do not bring every threshold of several labels home.
        assert value > (99 if name.startswith("cpc_subclass") else 99.99), name


def test_an_encoder_that_knows_nothing_scores_at_chance(folder):
    found = scored(folder, tiny_tasks.hashed)
    for name in NAMES:
        if TASKS[name].format == "regress":
            assert abs(found[name]) < 20, name
        elif TASKS[name].multilabel:
            # Answers of yes at half the rate, right as often as the class is frequent: F1 of
            # 2 r / (1 + 2 r) at the rate r, 1/6 and 1/3 here.
            assert found[name] < 100 * (0.25 + 0.4) / 2 + 12, name
        elif TASKS[name].positive:
            assert abs(found[name] - 50) < 16, name
        else:
            assert found[name] < 100 / len(SECTIONS) + 12, name


def test_an_encoder_that_sees_no_difference_tells_nothing(folder):
    found = scored(folder, tiny_tasks.constant)
    for name in NAMES:
        if TASKS[name].format == "regress":
            assert found[name] == 0, name
        elif TASKS[name].positive:
            # One answer for all: nothing, or the F1 of always saying yes to half of them.
            assert found[name] < 100 * 2 / 3 + 5, name
        else:
            assert found[name] < 50, name


def test_an_application_is_read_where_its_text_stands(folder, tmp_path):
    """The text of what is no document of the corpus comes from the benchmark's own table."""
    lake_folder = make_task_lake(tmp_path / "lake")
    first = 100_000_000_000_000
    with duckdb.connect(str(lake_folder / "lake.duckdb")) as lake:
        lake.execute(
            "create or replace table tasks.benchmark_applications as"
            f" select doc_id + {first} as doc_id, title || ' filed' as title, abstract"
            " from corpus.documents where doc_type = 'patent'"
        )
        lake.execute(f"update tasks.task_grant_abandon set doc_id = doc_id + {first}")
    read = []

    def embed(titles, abstracts):
        read.extend(titles)
        return tiny_tasks.hashed(titles, abstracts)

    assert "grant_abandon" in scored(lake_folder, embed, ["grant_abandon"])
    assert read and all(title.endswith(" filed") for title in read)
    with duckdb.connect(str(lake_folder / "lake.duckdb")) as lake:
        lake.execute("delete from tasks.benchmark_applications")
    with pytest.raises(CheckFailed, match="no title and abstract in documents or tasks"):
        scored(lake_folder, embed, ["grant_abandon"])
