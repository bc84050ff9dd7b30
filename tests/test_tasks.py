"""The table of tasks: consistent with itself, with the SQL, and checked on the way in."""

from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from tiny_tasks import make_task_lake

from pyeval.labels import hash_order, read_labels, task_settings
from pyeval.tasks import METRICS, TASKS, Task, pick
from warehouse.errors import CheckFailed, UserError
from warehouse.tables import Lake

SQL = Path(__file__).parents[1] / "models_sql" / "tasks"
ABOUT_TASKS = {"task_settings", "task_sizes", "task_draws"}  # describe the tasks; hold no labels


@pytest.fixture
def folder(tmp_path):
    return make_task_lake(tmp_path / "lake")


def change(folder: Path, sql: str) -> None:
    with duckdb.connect(str(folder / "lake.duckdb")) as lake:
        lake.execute(sql)


def test_every_task_has_its_sql_model_and_every_sql_model_its_task():
    made = {path.stem for path in SQL.glob("task_*.sql")} - ABOUT_TASKS
    assert made == {f"task_{name}" for name in TASKS}
    ranked = {path.stem for path in SQL.glob("corpus_*.sql")}
    assert ranked == {f"corpus_{t.name}" for t in TASKS.values() if t.format == "retrieve"}


def test_retrieval_tasks_are_averaged_by_map():
    assert all(t.metric == "map" for t in TASKS.values() if t.format == "retrieve")
    assert all(set(t.metrics) <= METRICS[t.format] for t in TASKS.values())


@pytest.mark.parametrize(
    "wrong",
    [
        {"metric": "map"},
        {"metric": "binary_f1"},
        {"positive": "1"},
        {"corpus_size": 5},
        {"also": ("ndcg_at_10",)},
    ],
)
def test_a_row_that_contradicts_itself_fails_at_import(wrong):
    with pytest.raises(ValueError, match="cpc_section"):
        replace(TASKS["cpc_section"], **wrong)


def test_pick_keeps_the_tables_order_and_gives_all_by_default():
    assert pick([]) == list(TASKS.values())
    assert [t.name for t in pick(["paper_cite", "cpc_section"])] == ["cpc_section", "paper_cite"]


def test_a_misspelt_task_is_told_the_nearest_one():
    with pytest.raises(UserError, match=r"'cpc_sectoin'. Did you mean 'cpc_section'"):
        pick(["cpc_sectoin"])


def test_a_scoring_without_near_copies_is_asked_for_by_its_task():
    with pytest.raises(UserError, match="--task patent_cite"):
        pick(["patent_cite_distinct"])


def test_counts_are_regressed_on_their_logarithm_and_years_are_not(folder):
    with Lake(folder) as lake:
        counts = read_labels(lake, TASKS["forward_citation"])
        years = read_labels(lake, TASKS["grant_year"])
        raw = lake.query("select doc_id, label from tasks.task_forward_citation order by doc_id")
        raw = raw.read_all()
    np.testing.assert_array_equal(counts.ids, raw.column("doc_id").to_numpy())
    np.testing.assert_allclose(counts.label, np.log1p(raw.column("label").to_numpy()))
    np.testing.assert_array_equal(years.label, years.years)


def test_the_order_of_rows_in_the_table_does_not_matter(folder):
    with Lake(folder) as lake:
        before = read_labels(lake, TASKS["patent_cite"])
    change(folder, "create or replace table tasks.task_patent_cite as "
                   "from tasks.task_patent_cite order by md5(doc_id::varchar)")  # fmt: skip
    with Lake(folder) as lake:
        after = read_labels(lake, TASKS["patent_cite"])
    assert before.fingerprint == after.fingerprint
    np.testing.assert_array_equal(before.relevant, after.relevant)


@pytest.mark.parametrize(
    ("sql", "task", "said"),
    [
        (
            "insert into tasks.corpus_patent_cite select min(query_id) from tasks.task_patent_cite",
            "patent_cite",
            "1 queries that stand in the corpus",
        ),
        (
            "delete from tasks.corpus_patent_cite where doc_id in "
            "(select min(doc_id) from tasks.task_patent_cite)",
            "patent_cite",
            "1 relevant documents outside the corpus",
        ),
        (
            "insert into tasks.task_patent_cite from tasks.task_patent_cite limit 1",
            "patent_cite",
            "1 relevant documents listed twice",
        ),
        (
            "insert into tasks.task_cpc_section from tasks.task_cpc_section limit 1",
            "cpc_section",
            "1 documents listed twice",
        ),
        (
            "update tasks.task_cpc_section set label = null",
            "cpc_section",
            "documents without a label",
        ),
        (
            "update tasks.task_cpc_section set split = 'validation'",
            "cpc_section",
            "documents of no split",
        ),
    ],
)
def test_rows_that_no_score_could_be_honest_about_fail_the_run(folder, sql, task, said):
    change(folder, sql)
    with Lake(folder) as lake, pytest.raises(CheckFailed, match=said):
        read_labels(lake, TASKS[task])


def test_several_labels_of_a_document_are_read_as_a_set(folder):
    change(
        folder,
        "create or replace table tasks.task_cpc_section as "
        "select * replace ([label, 'Z'] as label) from tasks.task_cpc_section",
    )
    with Lake(folder) as lake:
        labels = read_labels(lake, replace(TASKS["cpc_section"], multilabel=True))
    assert all(len(one) == 2 and one[1] == "Z" for one in labels.label)


def test_the_settings_of_a_build_are_those_of_the_task(folder):
    with Lake(folder) as lake:
        assert task_settings(lake, TASKS["patent_cite"]) == {"near_copy_overlap": "0.2"}
        assert task_settings(lake, TASKS["cpc_section"]) == {}


def test_a_draw_by_hash_is_not_changed_by_other_rows():
    ids = np.arange(1000)
    whole = ids[hash_order(ids, "task", 0)]
    some = ids[ids % 3 == 0]
    assert whole[whole % 3 == 0].tolist() == some[hash_order(some, "task", 0)].tolist()
    assert whole[:50].tolist() != ids[hash_order(ids, "task", 1)][:50].tolist()


def test_a_task_row_reads_like_the_papers_table():
    assert Task("x", "classify", "binary_f1", "patent", "USPTO", positive="1").metrics == (
        "binary_f1",
    )
