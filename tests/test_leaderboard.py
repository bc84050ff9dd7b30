"""A leaderboard file is made again row by row, and what does not hold is named."""

import json

import duckdb
import pytest
from click.testing import CliRunner
from tiny_tasks import CUTOFF, make_task_lake

from pyeval.cli import cli

TASKS = ("patent_cite", "cpc_section", "grant_year")


def invoke(home, *words):
    env = {"SCITLAKE_WAREHOUSE": str(home / "lake"), "RUNS_ROOT": str(home / "runs")}
    return CliRunner().invoke(cli, [str(word) for word in words], env=env)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A lake, scores of two baselines, and their board."""
    home = tmp_path_factory.mktemp("board")
    make_task_lake(home / "lake")
    tasks = [word for name in TASKS for word in ("--task", name)]
    done = invoke(home, "run", "tfidf-svd", "bm25", "--cutoff", CUTOFF, "--resamples", 0, *tasks)
    assert done.exit_code == 0, done.output
    done = invoke(home, "leaderboard", "--out", home / "board.jsonl")
    assert done.exit_code == 0, done.output
    return home


def rows_of(home):
    return [json.loads(line) for line in (home / "board.jsonl").read_text().splitlines()]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_board_holds_where_nothing_has_changed(home):
    done = invoke(home, "check", home / "board.jsonl")
    assert done.exit_code == 0, done.output
    lines = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert len(lines) == len(rows_of(home)) and {line[-1] for line in lines} == {"same"}
    assert {line[2] for line in lines} >= {*TASKS, "patent_cite_distinct", "cpc_section_16shot"}
    assert [line[5] for line in lines] == [line[6] for line in lines]


def test_a_score_that_drifted_fails_the_check_and_one_within_the_tolerance_does_not(home, tmp_path):
    rows = [row for row in rows_of(home) if row["model"] == "bm25"]
    rows[0]["value"] += 0.5
    board = write(tmp_path / "board.jsonl", rows)
    done = invoke(home, "check", board)
    assert done.exit_code == 1
    assert f"1 of {len(rows)} scores" in done.output and "(drifted)" in done.output
    assert [line.rsplit("\t")[-1] for line in done.stdout.splitlines()[1:]].count("drifted") == 1
    assert invoke(home, "check", board, "--tolerance", "0.6").exit_code == 0


def test_another_model_is_no_drift(home, tmp_path):
    rows = [row | {"model_fingerprint": "0" * 64} for row in rows_of(home)]
    done = invoke(
        home, "check", write(tmp_path / "b.jsonl", rows), "--model", "bm25", "--task", "patent_cite"
    )
    assert done.exit_code == 1 and "(another model)" in done.output


def test_another_build_of_the_task_is_no_drift(home, tmp_path):
    make_task_lake(tmp_path / "lake")
    with duckdb.connect(str(tmp_path / "lake" / "lake.duckdb")) as lake:
        lake.execute(
            "delete from tasks.task_patent_cite where query_id ="
            " (select min(query_id) from tasks.task_patent_cite)"
        )
    (tmp_path / "runs").mkdir()
    done = invoke(tmp_path, "check", home / "board.jsonl", "--model", "bm25")
    assert done.exit_code == 1 and "(another build of the task)" in done.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot read"),
        ("", "holds no row"),
        ("model\tvalue\n", "line 1: no row of a leaderboard"),
        ('{"model": "bm25"}\n', "column"),
    ],
)
def test_what_is_no_board_gets_one_message(home, tmp_path, text, said):
    path = tmp_path / "board.jsonl"
    if text is not None:
        path.write_text(text)
    done = invoke(home, "check", path)
    assert done.exit_code == 2 and said in done.output


def test_a_row_that_is_not_on_the_board_is_named(home):
    done = invoke(home, "check", home / "board.jsonl", "--model", "bm26")
    assert done.exit_code == 2 and "no row of bm26" in done.output
