"""Scores by years past the cutoff, against values worked out by hand."""

import csv
import io
import itertools

import pyarrow as pa
import pytest
from click.testing import CliRunner
from paper_scores import row

from pyeval import results
from pyeval.cli import cli
from pyeval.years_past import curves
from pyeval.years_past_text import markdown, terminal


def item(task: str, year: int, column: str, **given) -> dict:
    """One kept example, as `pyeval run` writes it."""
    return dict.fromkeys(results.ITEMS.names) | {
        "task": task, "task_year": year, "column": column, "metric": "map",
    } | given  # fmt: skip


def queries(cutoff: int, values: dict[int, list[float]], seen: dict[int, list[float]] = {}):  # noqa: B006
    """Queries of patent_cite by year, and those whose text had been read."""
    found = [
        item("patent_cite", year, "in_time" if year <= cutoff else "out_of_time", value=one)
        for year, own in values.items()
        for one in own
    ]
    return found + [
        item("patent_cite", year, "text_seen", value=one)
        for year, own in seen.items()
        for one in own
    ]


def system(name: str, cutoff: int | None, kept: list[dict], **more) -> tuple[dict, pa.Table]:
    """A score row of all examples, and its evidence."""
    numbered = [one | {"item_id": i} for i, one in enumerate(kept)]
    first = kept[0]
    one = row(name, first["task"], 50.0, cutoff=cutoff, n=len(kept), **more)
    return one, pa.Table.from_pylist(numbered, results.ITEMS)


def points(*systems, around: int = 3, resamples: int = 400, **more):
    kept = {one["system"]: items for one, items in systems}
    found = curves(
        [one for one, _ in systems], kept.__getitem__, around=around, resamples=resamples, **more
    )
    return found, {(one.system, one.years_past): one for one in found.points}


EARLY = system(
    "sample-2013", 2013,
    queries(2013, {2010: [0.7], 2012: [0.2, 0.4], 2013: [0.5], 2014: [0.1, 0.3]}, {2014: [0.9]}),
    contaminated=True,
)  # fmt: skip
LATE = system("sample-2014", 2014, queries(2014, {2013: [0.6], 2014: [0.8], 2016: [0.3]}))


def test_points_are_the_means_of_the_items_of_a_year_counted_by_hand():
    found, at = points(EARLY, around=2)
    assert [(one.years_past, one.value, one.n, one.n_text_seen) for one in found.points] == [
        (-1, pytest.approx(30.0), 2, 0),
        (0, pytest.approx(50.0), 1, 0),
        (1, pytest.approx(20.0), 2, 1),  # the query whose text had been read is left out
    ]
    # Resamples of 0.1 and 0.3 are 0.1, 0.2, 0.2 and 0.3, each as likely.
    assert (at["sample-2013", 1].low, at["sample-2013", 1].high) == (
        pytest.approx(10.0), pytest.approx(30.0),
    )  # fmt: skip
    assert at["sample-2013", 0].low is None  # one item has no interval
    assert [one.contaminated for one in found.points] == [True, True, False]


def test_seen_pairs_are_contaminated_in_every_year():
    kept = [one | {"task": "patent_cite_seen"} for one in queries(2013, {2013: [0.5], 2014: [0.1]})]
    one = EARLY[0] | {"task": "patent_cite_seen", "variant": "seen", "n": 2}
    items = pa.Table.from_pylist([{**q, "item_id": i} for i, q in enumerate(kept)], results.ITEMS)
    found, _ = points((one, items), tasks=("patent_cite",))
    assert [(p.years_past, p.contaminated) for p in found.points] == [(0, True), (1, True)]


def test_a_mean_stands_only_where_every_vintage_has_the_point():
    found, at = points(EARLY, LATE)
    mean = {k: at["sample", k] for k in (-3, -1, 0, 1, 2)}
    assert mean[-1].value == pytest.approx((30 + 60) / 2) and mean[-1].n == 3
    assert mean[0].value == pytest.approx((50 + 80) / 2)
    assert {k: one.missing for k, one in mean.items()} == {
        -3: (2014,), -1: (), 0: (), 1: (2014,), 2: (2013,),
    }  # fmt: skip
    assert all(one.value is None for one in mean.values() if one.missing)
    text = markdown(found)
    assert (
        "| mean of 2: sample | lacks 2014 | 45.0* (3) | 65.0* (2) | lacks 2014 | lacks 2013 |"
        in (text)
    )
    assert "| sample-2013 | 70.0* (1) | 30.0* [20.0, 40.0] (2) | 50.0* (1) |" in text
    assert "lacks 2013" in terminal(found)


def test_a_vintage_that_was_not_scored_on_a_task_lacks_all_of_it():
    other = system("sample-2015", 2015, [
        item("grant_year", y, "in_time", metric="kendall_tau", target=float(y), predicted=1.0 * y)
        for y in (2014, 2015)
    ])  # fmt: skip
    _, at = points(EARLY, LATE, other)
    assert at["sample", -1].missing == (2015,) and at["sample", -1].value is None


def test_vintages_are_drawn_apart_in_the_interval_of_their_mean():
    """Opposite values drawn together would cancel: every resample of the mean would be 50."""
    one = system("a-2013", 2013, queries(2013, {2014: [0.0, 1.0]}))
    other = system("a-2014", 2014, queries(2014, {2015: [1.0, 0.0]}))
    _, at = points(one, other)
    sums = sorted(
        25 * sum(draw) for draw in itertools.product((0, 1), repeat=4)
    )  # fmt: skip
    assert (sums[0], sums[-1]) == (0, 100)  # each of probability 1/16, more than 2.5%
    assert (at["a", 1].low, at["a", 1].value, at["a", 1].high) == (0.0, 50.0, 100.0)


def test_f1_and_tau_of_a_year_are_those_of_its_items_alone():
    """F1 of A is 2/3 (one of two guesses right), of B 0; of three pairs one is out of order."""
    said = [(2014, "A", "A"), (2014, "B", "A"), (2015, "A", "A"), (2015, "B", "B")]
    classes = system("a-2013", 2013, [
        item("cpc_section", year, "out_of_time", metric="macro_f1", truth=[true], guesses=[[guess]])
        for year, true, guess in said
    ])  # fmt: skip
    order = system("b-2013", 2013, [
        item("grant_year", 2014, "out_of_time", metric="kendall_tau", target=a, predicted=b)
        for a, b in ((1.0, 1.0), (2.0, 3.0), (3.0, 2.0))
    ])  # fmt: skip
    _, at = points(classes, order)
    assert at["a-2013", 1].value == pytest.approx(100 / 3)
    assert at["a-2013", 2].value == pytest.approx(100.0)
    assert at["b-2013", 1].value == pytest.approx(100 / 3)


def test_a_baseline_at_several_cutoffs_is_a_curve_of_its_own():
    at_both = [
        system("bm25", year, queries(year, {year: [0.2], year + 1: [v]}), system=f"bm25@{year}")
        for year, v in ((2013, 0.1), (2014, 0.5))
    ]
    found, at = points(*at_both, EARLY)
    assert at["bm25", 1].value == pytest.approx(30.0) and at["bm25", 1].cutoffs == (2013, 2014)
    assert ("sample", 1) not in at  # one vintage has no mean
    # The other system has items in four years; where no bm25 has one, all of them lack the mean.
    means = [(one.years_past, one.missing) for one in found.points if one.is_mean]
    assert means == [(-3, (2013, 2014)), (-1, (2013, 2014)), (0, ()), (1, ())]


def test_what_has_no_place_on_a_curve_is_said():
    late = system(
        "sample-2012", 2013, queries(2013, {2014: [0.5]}), settings='{"model_cutoff":2012}'
    )
    none = system("minilm", None, queries(2013, {2014: [0.5]}))
    built = system("old-2013", 2013, queries(2013, {2014: [0.5]}), task_fingerprint="other build")
    found, at = points(EARLY, LATE, late, none, built)
    assert {one.system for one in found.points} == {"sample-2013", "sample-2014", "sample"}
    assert found.left_out == (
        "sample-2012: divided at 2013, and its own cutoff is 2012",
        "minilm: states no cutoff, and was scored without one",
        "old-2013 on patent_cite: another build of the task than most systems",
    )


def test_a_task_is_shown_with_the_variants_that_are_asked_for():
    shot = [item("cpc_section_16shot", 2013, "in_time", metric="macro_f1", truth=["A"],
                 guesses=[["A"]])]  # fmt: skip
    one, items = system("a-2013", 2013, [shot[0] | {"task": "cpc_section"}])
    more, kept = one | {"task": "cpc_section_16shot", "variant": "16shot"}, shot[0] | {"item_id": 0}
    both = pa.concat_tables([items, pa.Table.from_pylist([kept], results.ITEMS)])
    for tasks, names in (
        ((), ["cpc_section"]),
        (("cpc_section",), ["cpc_section", "cpc_section_16shot"]),
        (("cpc_section_16shot",), ["cpc_section_16shot"]),
    ):
        found = curves([one, more], lambda _: both, around=1, tasks=tasks, resamples=0)
        assert [point.task for point in found.points] == names


@pytest.fixture
def home(tmp_path, monkeypatch):
    """RUNS_ROOT with the scores of two vintages."""
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    for one, items in (EARLY, LATE):
        kept = [{name: value for name, value in one.items() if name != "system"}]
        results.save(one["system"], kept, items)
    return tmp_path


def report(*args):
    return CliRunner().invoke(cli, ["report", *args])


def test_the_table_and_the_numbers_of_the_picture_are_the_same(home):
    out, folder = home / "years.tsv", home / "figures"
    found = report("--years-past", "3", "--format", "tsv", "--out", str(out),
                   "--figures", str(folder))  # fmt: skip
    assert found.exit_code == 0, found.output
    rows = list(csv.DictReader(out.open(), delimiter="\t"))
    drawn = list(csv.DictReader((folder / "years_past.csv").open()))
    assert len(rows) == len(drawn) == 3 * 5  # two vintages and their mean, five years with items
    for row_, one in zip(rows, drawn, strict=True):
        assert float(row_["value"] or -1) == pytest.approx(float(one["value"] or -1), abs=1e-4)
        assert [row_[name] for name in ("system", "years_past", "n", "missing")] == [
            one[name] for name in ("system", "years_past", "n", "missing")
        ]
    (mean,) = [r for r in rows if r["kind"] == "mean" and r["years_past"] == "1"]
    assert (mean["value"], mean["missing"], mean["cutoff"]) == ("", "2014", "2013 2014")
    assert (folder / "years_past.svg").read_bytes().startswith(b"<?xml")


def test_the_other_formats_add_it(home):
    plain = report("--format", "markdown").stdout
    text = report("--format", "markdown", "--years-past", "2").stdout
    assert "by years past" not in plain and text.startswith(plain)
    assert "### patent_cite: MAP by years past the cutoff" in text
    assert "mean of 2: sample" in report("--years-past", "2", "--resamples", "0").stdout
    page = report("--format", "html", "--years-past", "2").stdout
    assert 'id="years_past"' in page and "years_past.csv" in page
    with_figures = home / "there"
    text = report(
        "--format", "markdown", "--years-past", "2", "--figures", str(with_figures)
    ).stdout
    assert f"({with_figures}/years_past.svg)" in text


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--format", "tsv"], "pyeval leaderboard --out"),
        (["--format", "latex", "--years-past", "2"], "--years-past is none of them"),
        (["--picture", "x.gif"], "a picture ends in .svg or .png or .pdf, and x.gif in .gif"),
    ],
)
def test_a_wrong_request_gets_one_message(home, args, said):
    found = report(*args)
    assert found.exit_code == 2 and said in found.output and "Traceback" not in found.output


def test_scores_without_their_examples_or_a_cutoff_are_refused(home):
    one, _ = EARLY
    kept = [{name: value for name, value in one.items() if name != "system"}]
    results.save("sample-2013", kept, results.ITEMS.empty_table())
    found = report("--years-past", "2")
    assert found.exit_code == 2 and "pyeval run sample-2013 --task patent_cite" in found.output
    results.save("minilm", [kept[0] | {"model": "minilm", "cutoff": None}], EARLY[1])
    found = report("minilm", "--years-past", "2")
    assert found.exit_code == 2 and "pyeval run MODEL --cutoff 2013" in found.output


def test_a_long_table_is_read_back_as_it_was_written(home):
    text = report("--years-past", "1", "--format", "tsv").stdout
    rows = list(csv.reader(io.StringIO(text), delimiter="\t"))
    assert {len(one) for one in rows} == {len(rows[0])}
