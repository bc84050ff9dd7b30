"""The commands end to end on a tiny lake, and how the report says what it does not know."""

import csv

import pytest
from click.testing import CliRunner
from tiny_tasks import CUTOFF, make_task_lake

from pyeval import results
from pyeval.cli import cli
from pyeval.paper_tasks import PAPER_TASKS, tasks_of
from pyeval.plots import bars
from pyeval.render import markdown, terminal
from pyeval.report import cell, sections
from pyeval.tasks import TASKS


def row(system="a", task="patent_cite", column="all", value=12.345, n=10, **more):
    base = task.removesuffix("_distinct")
    kind = TASKS[base] if base in TASKS else PAPER_TASKS[base]
    return {
        "system": system,
        "model": system,
        "cutoff": 2013,
        "task": task,
        "variant": "distinct" if task.endswith("_distinct") else "",
        "format": kind.format if base in TASKS else kind.category,
        "metric": kind.metric,
        "column": column,
        "value": value,
        "low": None if value is None else value - 1,
        "high": None if value is None else value + 1,
        "n": n,
        "contaminated": False,
        "states_cutoff": True,
        "task_fingerprint": "build",
        "settings": "{}",
    } | more


def block(rows):
    return sections(rows)[0].main[0]


def test_an_empty_column_prints_no_examples_and_never_a_zero():
    one = block([row(), row(column="out_of_time", value=None, n=0)])
    assert cell(one, "a", "out_of_time") == "no examples"
    assert cell(one, "a", "in_time") == "\u2013"  # not scored is another thing
    for text in (markdown(sections([row(column="out_of_time", value=None, n=0)])),):
        assert "no examples" in text and "0.0" not in text


def test_a_score_that_cannot_be_formed_is_undefined():
    assert cell(block([row(value=None, n=7)]), "a", "all") == "undefined"


def test_contamination_and_missing_cutoffs_are_marked_and_explained():
    rows = [row(column="in_time", contaminated=True), row("minilm@2013", states_cutoff=False)]
    text = markdown(sections(rows))
    assert "12.3*" in text and "contaminated" in text
    assert "minilm\u2020" in text and "may know later years" in text
    plain = markdown(sections([row()]))
    assert "contaminated" not in plain and "\u2020" not in plain


def test_a_score_on_another_build_of_the_task_is_marked():
    rows = [row("a"), row("b"), row("c", task_fingerprint="older")]
    one = block(rows)
    assert cell(one, "c", "all") == "12.3\u2021" and cell(one, "a", "all") == "12.3"


def test_markdown_carries_intervals_and_the_number_of_queries():
    text = markdown(sections([row(n=865)]))
    assert "12.3 [11.3, 13.3]" in text and "all (865 queries)" in text


def test_a_class_without_a_test_example_is_named():
    rows = [row(task="cpc_section", settings='{"no_test_example": ["D"]}')]
    assert "no test example: D" in markdown(sections(rows))
    assert "no test example" not in markdown(sections([row(task="cpc_section")]))


def test_means_are_printed_only_where_no_part_is_missing():
    ranked = [task.name for task in tasks_of("Pat", "retrieve")]
    whole = [row("whole", name, value=10.0 + n) for n, name in enumerate(ranked)]
    part = [row("part", name) for name in ranked[:-1]]
    empty = [row("empty", name) for name in ranked[:-1]] + [row("empty", ranked[-1], value=None)]
    found = sections([*whole, *part, *empty])[0]
    mean = next(one for one in found.main if one.title == "mean retrieval")
    assert cell(mean, "whole", "all") == "15.0"  # of 10 to 20
    assert cell(mean, "part", "all") == cell(mean, "empty", "all") == "\u2013"


def test_scorings_without_near_copies_and_tasks_of_ours_do_not_enter_the_means():
    rows = [row("a", task.name, value=30.0) for task in tasks_of("Pat", "retrieve")]
    rows += [row("a", "patent_cite_distinct", value=99.0), row("a", "paper_cite", value=99.0)]
    mean = next(b for b in sections(rows)[0].main if b.title == "mean retrieval")
    assert cell(mean, "a", "all") == "30.0" and mean.metric == "11 tasks"


def test_rolling_and_few_shot_probes_stand_apart_with_the_same_columns():
    rows = [
        row(task="grant_year", column=column, value=value)
        | {"task": f"grant_year{suffix}", "variant": suffix[1:]}
        for suffix, first in (("", 50.0), ("_rolling", 30.0), ("_16shot", 10.0))
        for column, value in (("all", first), ("in_time", first + 1), ("out_of_time", first + 2))
    ]  # fmt: skip
    (section,) = sections(rows)
    assert [one.title for one in section.main if one.format != "mean"] == ["grant_year"]
    assert [one.title for one in section.apart] == ["grant_year_16shot", "grant_year_rolling"]
    assert {one.columns for one in section.apart} == {("all", "in_time", "out_of_time")}
    text = terminal([section], 120, color=False)
    apart = text[text.index("Reported apart") :]
    assert "30.0" in apart and "32.0" in apart and "50.0" not in apart
    assert "### grant_year_rolling" in markdown([section])


def test_cutoffs_are_never_in_one_table():
    found = sections([row("a"), row("b", cutoff=2014), row("c", cutoff=None)])
    assert [one.cutoff for one in found] == [2013, 2014, None]
    assert [one.systems for one in found] == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize("width", [60, 100, 200])
def test_the_terminal_table_keeps_to_the_width(width):
    rows = [row(s, t, c) for s in ("a", "b") for t in ("patent_cite", "patent_cocite", "paper_cite")
            for c in ("all", "in_time", "out_of_time")]  # fmt: skip
    text = terminal(sections(rows), width, color=False)
    tables = [line for line in text.splitlines() if "12.3" in line or "patent" in line]
    assert max(map(len, tables)) <= width
    assert "\x1b" not in text
    assert text.count("12.3") == len(rows)


def test_the_picture_draws_out_of_time_and_says_so():
    drawn = bars(sections([row(), row(column="out_of_time", value=5.0, n=3)]))
    assert [(one["column"], one["value"], one["n"]) for one in drawn] == [("out_of_time", 5.0, 3)]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a lake and the scores of three baselines."""
    folder = tmp_path_factory.mktemp("home")
    make_task_lake(folder / "lake")
    args = ["run", "tfidf-svd", "bm25", "--cutoff", str(CUTOFF), "--whiten", "--resamples", "50"]
    result = invoke(folder, *args)
    assert result.exit_code == 0, result.output
    return folder, result


def invoke(folder, *args):
    env = {
        "SCITLAKE_WAREHOUSE": str(folder / "lake"),
        "RUNS_ROOT": str(folder / "runs"),
        "PYEVAL_RUN_RESAMPLES": None,
    }
    return CliRunner(env=env).invoke(cli, args)


def test_run_prints_rows_to_stdout_and_words_to_stderr(home):
    lines = home[1].stdout.splitlines()
    assert lines[0].split("\t")[:5] == ["model", "whitened", "task", "metric", "column"]
    assert all(len(line.split("\t")) == 10 for line in lines)
    assert "bm25 only ranks" in home[1].stderr and "nothing to whiten" in home[1].stderr


def test_run_keeps_raw_and_white_apart_with_the_evidence_beside(home, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(home[0] / "runs"))
    assert results.names() == [
        f"bm25@{CUTOFF}",
        f"tfidf-svd@{CUTOFF}",
        f"tfidf-svd@{CUTOFF}+white",
    ]
    for name in results.names():
        table, evidence = results.read(name), results.read_items(name)
        top = [r for r in table.to_pylist() if r["column"] == "all"]
        for one in top:
            mine = [r for r in evidence.select(["task", "metric"]).to_pylist()
                    if (r["task"], r["metric"]) == (one["task"], one["metric"])]  # fmt: skip
            assert len(mine) == one["n"]
        assert {r["whitened"] for r in top} == {name.endswith("+white")}
        assert not list((home[0] / "runs" / "scores").glob("*.partial"))


def test_report_writes_one_table_one_picture_and_its_numbers(home, tmp_path):
    out, drawn = tmp_path / "scores.md", tmp_path / "scores.png"
    args = ["report", "--format", "markdown", "--out", str(out), "--picture", str(drawn)]
    result = invoke(home[0], *args)
    assert result.exit_code == 0 and result.stdout == ""
    text = out.read_text()
    assert f"## Scores, cutoff {CUTOFF}" in text and "tfidf-svd, white" in text
    for name in ("patent_cite_distinct", "cpc_section_16shot", "patent_cite: nDCG@10"):
        assert f"### {name}" in text
    assert drawn.stat().st_size > 10_000
    with drawn.with_suffix(".csv").open() as table:
        numbers = list(csv.DictReader(table))
    assert {one["column"] for one in numbers} == {"out_of_time"}
    scorings = sum(1 + one.distinct for one in TASKS.values() if one.format == "retrieve")
    assert len(numbers) == 3 * scorings  # of three systems


def test_report_in_a_pipe_is_plain_and_holds_every_system(home):
    result = invoke(home[0], "report", "--task", "patent_cite")
    assert result.exit_code == 0 and "\x1b" not in result.stdout
    for name in ("bm25", "tfidf-svd", "tfidf-svd, white"):
        assert any(line.strip().startswith(name) for line in result.stdout.splitlines())
    assert "grant_year" not in result.stdout


def test_compare_prints_the_difference_with_its_interval(home):
    result = invoke(home[0], "compare", "tfidf-svd", "bm25", "--resamples", "100")
    assert result.exit_code == 0
    assert "patent_cite_distinct" in result.stdout and "[" in result.stdout


def test_dry_run_says_what_would_be_scored_without_a_lake(tmp_path):
    result = invoke(tmp_path, "run", "any", "--task", "grant_year", "--dry-run")
    assert (result.exit_code, result.stdout) == (0, "any\tgrant_year\tkendall_tau\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["run", "bm25", "--task", "cpc_sectoin"], "Did you mean 'cpc_section'"),
        (["run", "tfidf-svd"], "--cutoff"),
        (["run", "no-such-run"], "no run, folder or baseline is called 'no-such-run'"),
        (["run", "bm25", "--cutoff", "1890"], "year 1890 is outside this lake"),
        (["report", "nobody"], "no scored system is called 'nobody'"),
        (["report", "--task", "nothing"], "nothing was scored on nothing"),
        (["compare", "bm25", "nobody"], "no scored system is called 'nobody'"),
    ],
)
def test_a_mistake_gets_one_message_and_exit_code_2(home, args, said):
    result = invoke(home[0], *args)
    assert result.exit_code == 2
    assert said in result.stderr and "Traceback" not in result.output


def test_without_a_lake_or_scores_the_command_that_makes_them_is_named(tmp_path):
    for args, said in ((["run", "bm25"], "lake sample && lake build"), (["report"], "pyeval run")):
        result = invoke(tmp_path, *args)
        assert result.exit_code == 2 and said in result.stderr


@pytest.mark.parametrize("command", [[], *([c] for c in cli.commands)])
def test_help_has_an_example(command):
    result = CliRunner().invoke(cli, [*command, "--help"])
    assert result.exit_code == 0 and "Example" in result.stdout
