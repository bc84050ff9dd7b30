"""The paper's tables and figures from made-up scores, against counts by hand."""

import base64
import csv
import io
import re
from html.parser import HTMLParser
from statistics import fmean

import pytest
from click.testing import CliRunner
from paper_scores import family, row

from pyeval import results
from pyeval.cli import cli
from pyeval.figure_draw import spread
from pyeval.figure_numbers import category_rows, heat_grids, heat_rows, task_rows, years_shown
from pyeval.grid import category_mean, category_means, grids, ranks, vintage_of, z_scores
from pyeval.paper_report import paper_reports
from pyeval.paper_tables import lacking, tables
from pyeval.paper_tasks import PAPER_TASKS, PATREPEVAL, SCIREPEVAL, tasks_of
from pyeval.sci_tasks import SUITES
from pyeval.table_text import latex, latex_table, markdown_table
from pyeval.tasks import TASKS

REGRESSIONS = ("grant_year", "forward_citation", "kogan_value", "science_uptake")


def regressions(model: str, *values: float | None, **more) -> list[dict]:
    return [row(model, t, v, **more) for t, v in zip(REGRESSIONS, values, strict=True)]


def test_the_tasks_are_those_of_table_1_and_of_the_suite():
    counts = {c: len(tasks_of("Pat", c)) for c in ("classify", "regress", "retrieve")}
    assert counts == {"classify": 12, "regress": 4, "retrieve": 11} and len(PATREPEVAL) == 27
    assert {task.name for task in SCIREPEVAL} == set(SUITES["scitbert"])
    shared = [TASKS[name] for name in TASKS if name in PAPER_TASKS]
    assert len(shared) >= 5
    for task in shared:
        paper = PAPER_TASKS[task.name]
        assert (paper.category, paper.metric) == (task.format, task.metric)


def test_ranks_and_z_scores_by_hand():
    assert ranks({"a": 3.0, "b": 5.0, "c": 5.0, "d": 1.0}) == {"a": 3, "b": 1, "c": 1, "d": 4}
    # Mean 6, squares 16 + 0 + 4 + 4 over four: variance 6.
    found = z_scores({"a": 2.0, "b": 6.0, "c": 8.0, "d": 8.0})
    assert found == pytest.approx({"a": -4 / 6**0.5, "b": 0.0, "c": 2 / 6**0.5, "d": 2 / 6**0.5})
    assert z_scores({"a": 4.0, "b": 4.0}) == {} and z_scores({"a": 4.0}) == {}


def test_a_mean_stands_only_where_every_task_of_the_category_has_a_score():
    rows = regressions("whole", 10.0, 20.0, 30.0, 42.0) + regressions(
        "part", 10.0, 20.0, 30.0, None
    )
    (grid,) = grids(rows)
    assert category_mean(grid, "whole", "Pat", "regress").value == pytest.approx(25.5)
    part = category_mean(grid, "part", "Pat", "regress")
    assert (part.value, part.missing) == (None, ("science_uptake",))
    said = " ".join(lacking(grid))
    assert "No mean of Pat regression: part lacks science_uptake." in said
    assert "No mean of Sci regression: every system lacks all 5 tasks." in said
    (table,) = [one for one in tables(grid) if one.key == "table2"]
    assert [one.label for one in table.rows] == ["whole"]


def test_the_mean_column_averages_the_two_means_and_not_the_tasks():
    sci = [row("m", task.name, 50.0) for task in tasks_of("Sci", "regress")]
    (grid,) = grids([*regressions("m", 10.0, 20.0, 30.0, 40.0), *sci])
    found = category_means(grid, "m")
    assert found["regress", "Pat"].value == 25.0 and found["regress", "Sci"].value == 50.0
    assert found["regress", "Mean"].value == 37.5  # of nine tasks it would be 38.9
    assert found["classify", "Mean"].value is None


def test_near_copies_other_metrics_and_our_own_tasks_enter_no_mean():
    rows = regressions("m", 10.0, 20.0, 30.0, 40.0)
    extra = [
        row("m", "patent_cite", 90.0, metric="ndcg_at_10"),
        row("m", "grant_year", 90.0, variant="rolling"),
        row("m", "patent_cite", 90.0) | {"task": "paper_cite"},
    ]
    (grid,) = grids(rows + extra)
    assert category_mean(grid, "m", "Pat", "regress").value == 25.0
    assert {task for _, task in grid.cells} == set(REGRESSIONS)


def test_scores_on_another_build_of_a_task_are_left_out_and_said():
    rows = (
        regressions("a", 1, 2, 3, 4) + regressions("b", 1, 2, 3, 4) + regressions("c", 9, 9, 9, 9)
    )
    rows[-4]["task_fingerprint"] = "an older build"
    (grid,) = grids(rows)
    assert grid.value("c", "grant_year") is None and grid.value("c", "kogan_value") == 9
    assert category_mean(grid, "c", "Pat", "regress").missing == ("grant_year",)
    assert grid.left_out == ("c on grant_year: another build of the task than most systems",)
    assert [one["systems"] for one in heat_rows(grid) if one["task"] == "grant_year"] == [2, 2]


def test_other_weights_under_one_name_are_another_row():
    old = regressions("m", 10, 10, 10, None, system="m@2013", model_fingerprint="old")
    new = regressions("m", None, None, None, 50, system="m@2014", model_fingerprint="new")
    (grid,) = grids(old + new)
    assert [entry.label for entry in grid.entries] == ["m @2013", "m @2014"]
    means = [category_mean(grid, entry.label, "Pat", "regress").value for entry in grid.entries]
    assert means == [None, None]


def test_a_baseline_scored_at_two_cutoffs_is_one_row_unless_its_scores_differ():
    first = regressions("minilm", 1, 2, 3, 4, system="minilm@2013")
    second = regressions("minilm", 1, 2, 3, 4, system="minilm@2014", cutoff=2014)
    (grid,) = grids(first + second)
    assert [entry.label for entry in grid.entries] == ["minilm"] and not grid.left_out
    second[0]["value"] = 7.0
    (grid,) = grids(first + second)
    assert grid.value("minilm", "grant_year") is None
    assert "scored twice, with different results" in grid.left_out[0]


def test_columns_divided_in_time_give_a_grid_per_year():
    rows = [
        one | {"column": "out_of_time"}
        for one in regressions("a", 1, 2, 3, 4) + regressions("b", 1, 2, 3, 4, cutoff=2015)
    ]
    found = grids(rows, "out_of_time")
    assert [(one.divided_at, len(one.entries)) for one in found] == [(2013, 1), (2015, 1)]
    assert grids(rows) == []


def test_each_division_in_time_has_names_and_captions_of_its_own():
    rows = [
        one | {"column": "out_of_time", "cutoff": year}
        for year in (2013, 2014)
        for model in ("a", "b")
        for one in regressions(model, 1, 2, 3, 4 if model == "a" else 5)
    ]
    found = paper_reports(rows, column="out_of_time")
    keys = [part.key for one in found for part in (*one.tables, *one.figures)]
    assert len(keys) == len(set(keys)) and "table2_out_of_time_2014" in keys
    for one, year in zip(found, (2013, 2014), strict=True):
        for part in (*one.tables, *one.figures):
            assert part.caption.endswith(f"Test examples: out of time, divided at {year}.")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sample-2013", ("sample", 2013, False)),
        ("sample-2013-s1-ci", ("sample-s1-ci", 2013, True)),
        ("SciTBERT-2020-CI", ("SciTBERT-ci", 2020, True)),
        ("sample-2013-static-ci", ("sample-static-ci", 2013, True)),
        ("sample-2013-tokenizer", None),
        ("random-sample-2013", None),
        ("minilm", None),
    ],
)
def test_the_name_of_a_run_says_its_vintage(name, said):
    found = vintage_of(name)
    assert (found and (found.family, found.year, found.tuned)) == said


def test_the_best_is_bold_and_the_second_underlined_column_by_column():
    rows = (
        regressions("a", 9, 2, 5, 1) + regressions("b", 8, 3, 5, 1) + regressions("c", 7, 1, 4, 1)
    )
    (grid,) = grids(rows)
    (table,) = [one for one in tables(grid) if one.key == "table11"]
    placed = {one.label: [cell.place for cell in one.cells[:4]] for one in table.rows}
    # Equals share a place: two best in the third column, three in the fourth, and no second.
    assert placed == {"a": [1, 2, 1, 1], "b": [2, 1, 1, 1], "c": [0, 0, 0, 1]}
    text = markdown_table(table)
    assert "| a | **9.0** | <u>2.0</u> | **5.0** | **1.0** |\n" in text
    assert [head.split(" (")[0] for head in table.heads] == [
        PAPER_TASKS[name].title for name in REGRESSIONS
    ]
    assert table.groups == (("Regression", 4),)
    assert "No system was scored on: Same Inventor, Patent Cite," in table.notes[-1]


@pytest.fixture(scope="module")
def report():
    (found,) = paper_reports(family())
    return found


def test_every_table_and_figure_of_the_paper_is_there(report):
    assert [one.key for one in report.tables] == ["table2", "table9", "table10", "table11"]
    assert [len(one.heads) for one in report.tables] == [9, 18, 12, 15]
    assert [one.key for one in report.figures] == [f"figure{n}" for n in range(1, 7)]
    assert report.lacking == []


def test_table_2_is_what_a_person_computes_from_the_rows(report):
    rows = family()
    names = {task.name for task in tasks_of("Pat", "classify")}
    want = fmean(r["value"] for r in rows if r["model"] == "sample-2016" and r["task"] in names)
    (line,) = [one for one in report.tables[0].rows if one.label == "sample-2016"]
    assert line.cells[1].text == f"{want:.1f}"


def test_the_numbers_of_the_heat_map_are_z_scores_and_ranks(report):
    (figure,) = [one for one in report.figures if one.key == "figure4"]
    one_task = [one for one in figure.rows if one["task"] == "kogan_value"]
    values = [one["value"] for one in one_task]
    middle = sum(values) / len(values)
    spread_ = (sum((v - middle) ** 2 for v in values) / len(values)) ** 0.5
    for one in one_task:
        assert one["z"] == pytest.approx((one["value"] - middle) / spread_)
        assert one["rank"] == 1 + sorted(values, reverse=True).index(one["value"])
    assert sum(one["z"] for one in one_task) == pytest.approx(0, abs=1e-9)
    assert len(figure.rows) == 45 * 32


def test_figures_5_and_6_part_untuned_from_tuned():
    (grid,) = grids(family(range(2013, 2015)))
    parts = {key: {entry.label for entry in part.entries} for key, _, part in heat_grids(grid)}
    assert parts["figure5"] == {"scibert", "tfidf-svd", "sample-2013", "sample-2014"}
    tuned = {"specter2", "scincl", "paecter", "minilm", "sample-2013-ci", "sample-2014-ci"}
    assert parts["figure6"] == tuned and parts["figure4"] == parts["figure5"] | tuned


def test_figures_2_and_3_draw_the_vintages_that_the_paper_draws():
    (grid,) = grids(family())
    assert years_shown(grid, "Pat") == [2013, 2025]
    assert years_shown(grid, "Sci") == list(range(2013, 2026, 2))
    rows = task_rows(grid, "Pat", vintages=[2016], names=["renewal"])
    assert [one["system"] for one in rows][-2:] == ["sample-2016", "sample-2016-ci"]
    assert {one["task"] for one in rows} == {"renewal"} and len(rows) == 8


def test_figure_1_draws_only_means_that_are_formed():
    (grid,) = grids(regressions("sample-2013", 10, 20, 30, 40) + regressions("b", 1, 2, 3, None))
    rows = category_rows(grid)
    assert [(one["system"], one["mean_of"], one["value"]) for one in rows] == [
        ("sample-2013", "Pat", 25.0)
    ]


def test_labels_are_moved_apart_and_no_further():
    assert spread([0.0, 0.0, 10.0], 2.0) == [-1.0, 1.0, 10.0]
    assert spread([0.0, 5.0], 2.0) == [0.0, 5.0] and spread([], 1.0) == []
    moved = spread([0.0, 0.1, 0.2, 3.0], 1.0)
    assert all(b - a >= 1.0 - 1e-9 for a, b in zip(moved, moved[1:], strict=False))


def test_latex_is_balanced_escaped_and_of_as_many_cells_as_columns(report):
    assert latex(r"a_b & 5% {x} \y") == r"a\_b \& 5\% \{x\} \textbackslash{}y"
    for table in report.tables:
        text = latex_table(table)
        bare = re.sub(r"\\[{}]", "", text)
        assert bare.count("{") == bare.count("}")
        assert re.findall(r"\\begin\{(.*?)\}", text) == re.findall(r"\\end\{(.*?)\}", text)[::-1]
        (columns,) = re.findall(r"\\begin\{tabular\}\{(lr*)\}", text)
        lines = text.split("\\midrule\n", 1)[1].split("\\bottomrule")[0].splitlines()
        for line in [one for one in lines if one != "\\midrule"]:
            assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1 and line.endswith(r"\\")
        assert not re.search(r"(?<!\\)[_%#$]", text.replace("}{%\n", "").replace("[t]", ""))
        assert text.count(r"\textbf{") >= len(table.heads)


class _Balance(HTMLParser):
    """Fails on a tag that closes another than the last one opened."""

    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for key, value in attrs if key in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def scored(tmp_path, monkeypatch):
    """RUNS_ROOT with the scores of five vintages and of three baselines."""
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    rows: dict[str, list[dict]] = {}
    for one in family(range(2013, 2018), ("scibert", "minilm", "tfidf-svd"), odd=2015):
        rows.setdefault(one["model"], []).append({k: v for k, v in one.items() if k != "system"})
    for name, own in rows.items():
        results.save(name, own, results.ITEMS.empty_table())
    return tmp_path


def invoke(*args):
    return CliRunner().invoke(cli, [*args], catch_exceptions=False)


def test_the_page_is_one_file_that_fetches_nothing(scored):
    out = scored / "scores.html"
    result = invoke("report", "--format", "html", "--out", str(out))
    assert result.exit_code == 0, result.output
    text = out.read_text()
    assert "http" not in text and "<script" not in text and "@import" not in text
    found = _Balance()
    found.feed(text)
    assert found.open == []
    assert all(link.startswith(("data:", "#")) for link in found.links)
    pictures = [one for one in found.links if one.startswith("data:image/svg+xml;base64,")]
    numbers = [one for one in found.links if one.startswith("data:text/csv;base64,")]
    assert len(pictures) == len(numbers) == 6
    assert base64.b64decode(pictures[0].partition(",")[2]).startswith(b"<?xml")
    heat = base64.b64decode(numbers[3].partition(",")[2]).decode()
    assert len(list(csv.DictReader(io.StringIO(heat)))) == 45 * 13
    assert "Odd vintages" in text and "vintage 2015: scores" in text


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_pictures_are_written_with_their_numbers_the_same_every_time(scored, suffix):
    # The other formats differ only in how the last step is written: two systems will do.
    names = ["sample-2013", "minilm"] + ["sample-2014", "sample-2013-ci"] * (suffix == "svg")
    first, second = scored / "one", scored / "two"
    for folder in (first, second):
        result = invoke("report", *names, "--figures", str(folder), "--figure-format", suffix)
        assert result.exit_code == 0, result.output
    drawn = sorted(path.name for path in first.glob(f"*.{suffix}"))
    assert drawn == [f"figure{n}.{suffix}" for n in range(1, 7 if suffix == "svg" else 5)]
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    for name in drawn:
        assert (first / name).read_bytes().startswith(starts)
        with (first / name).with_suffix(".csv").open() as table:
            assert len(list(csv.DictReader(table))) > 0


def test_markdown_links_its_figures_and_latex_holds_the_tables(scored):
    out, folder = scored / "report" / "scores.md", scored / "figures"
    out.parent.mkdir()
    result = invoke("report", "--format", "markdown", "--figures", str(folder), "--out", str(out))
    assert result.exit_code == 0, result.output
    links = re.findall(r"!\[.*?\]\((.*?)\)", out.read_text())
    assert len(links) == 6 and all((out.parent / link).is_file() for link in links)
    assert not any(link.startswith("/") for link in links) and "(Table 10)" in out.read_text()
    text = invoke("report", "--format", "latex").stdout
    assert text.count(r"\begin{table*}") == 4 and text.startswith("% In the preamble")


def test_systems_stand_in_one_order_whatever_they_were_scored_on():
    rows = regressions("sample-2013", 1, 2, 3, 4) + [row("bm25", "patent_cite", 5.0)]
    rows += [row("sample-2013", "patent_cite", 6.0), row("tfidf-svd", "grant_year", 9.0)]
    (grid,) = grids(rows)
    for found in (heat_rows(grid), task_rows(grid, "Pat", names=list(PAPER_TASKS))):
        order = list(dict.fromkeys(one["system"] for one in found))
        assert order == ["bm25", "tfidf-svd", "sample-2013"]


def test_a_report_of_one_task_has_no_table_of_means(scored):
    text = invoke("report", "--task", "renewal", "--format", "markdown").stdout
    assert "Table 2" not in text and "### renewal" in text
    assert "Table 2" in invoke("report", "--format", "markdown").stdout


def test_what_cannot_be_shown_is_said(scored):
    result = invoke("report", "--column", "out_of_time", "--format", "latex")
    assert result.exit_code == 2 and "no score on a task of the papers" in result.output
    result = invoke("report", "--column", "in_time", "--figures", str(scored / "none"))
    assert result.exit_code == 2 and "nothing to draw" in result.output
    assert not (scored / "none").exists()
    result = invoke("report", "--vintages", "new")
    assert result.exit_code == 2 and "no list of years" in result.output
