"""Paired comparison: a known difference is found, none is invented, unlike things are refused."""

import numpy as np
import pyarrow as pa
import pytest

from pyeval import columns, items, results
from pyeval.bootstrap import F1Evidence, MeanEvidence, TauEvidence, value
from pyeval.compare import Difference, compare, holm, paired
from pyeval.protocol import Measured
from pyeval.tasks import TASKS
from warehouse.errors import UserError

N = 120


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path))


def keep(name, values, task="patent_cite", **more):
    """Saves a system's scores on one retrieval task; odd queries are out of time."""
    ids = np.arange(len(values), dtype=np.int64)
    one = Measured(
        task=TASKS[task], metric="map", evidence=MeanEvidence(values), ids=ids, years=2010 + ids % 2
    )
    groups = np.where(ids % 2 == 1, columns.OUT_OF_TIME, columns.IN_TIME)
    base = {
        "model": name,
        "model_fingerprint": f"{name}-weights",
        "cutoff": 2010,
        "whitened": False,
        "states_cutoff": True,
        "task": task,
        "variant": "",
        "format": "retrieve",
        "metric": "map",
        "n_train": 0,
        "contaminated": False,
        "settings": "{}",
        "task_fingerprint": f"{task}-rows",
        "versions": "{}",
        "seconds": 0.0,
        "low": None,
        "high": None,
    } | more
    rows = []
    for column in ("all", columns.IN_TIME, columns.OUT_OF_TIME):
        mask = columns.within(groups, column)
        found = one.evidence.take(np.flatnonzero(mask))
        rows.append(base | {"column": column, "value": value(found), "n": int(mask.sum())})
    return results.save(name, rows, items.to_table(one, groups))


def noise(seed, shift=0.0):
    rng = np.random.default_rng(7)
    hard = rng.random(N)  # how hard a query is, for every system
    return np.clip(0.5 * hard + shift + 0.02 * np.random.default_rng(seed).normal(size=N), 0, 1)


def test_a_small_difference_is_found_because_queries_are_paired():
    """4 points between systems whose scores vary by 14: invisible without pairing."""
    keep("better", noise(1, 0.04))
    keep("worse", noise(2))
    one = compare("better", "worse")[0]
    assert (one.n, one.column) == (N // 2, "out_of_time")
    assert one.low > 0 and one.low < 4 < one.high
    assert one.difference == pytest.approx(one.a - one.b)
    assert one.ratio == pytest.approx(one.a / one.b)
    assert one.ratio_low < one.ratio < one.ratio_high
    assert one.p < 0.01


def test_the_other_way_round_is_the_mirror_image():
    keep("better", noise(1, 0.04))
    keep("worse", noise(2))
    one, back = compare("better", "worse")[0], compare("worse", "better")[0]
    assert (back.difference, back.low, back.high) == pytest.approx(
        (-one.difference, -one.high, -one.low)
    )
    assert back.p == one.p


def test_no_difference_is_invented_between_equals():
    """Of 40 pairs of equals about 2 look different at 5%."""
    found = []
    for seed in range(40):
        named = Difference(task="t", metric="map", column="all", n=N, a=0.0, b=0.0)
        pair = MeanEvidence(noise(2 * seed + 100)), MeanEvidence(noise(2 * seed + 101))
        named = Difference(
            task="t", metric="map", column="all", n=N, a=value(pair[0]), b=value(pair[1])
        )
        one = paired(named, *pair, resamples=400, seed=seed)
        found.append(one.low > 0 or one.high < 0)
    assert sum(found) <= 6


def test_a_system_does_not_differ_from_itself():
    keep("same", noise(1))
    one = compare("same", "same")[0]
    assert (one.difference, one.low, one.high, one.p) == (0, 0, 0, 1)


def test_holms_correction_by_hand():
    ps = [0.01, 0.04, 0.03, None]
    found = [
        Difference(task=str(i), metric="map", column="all", n=9, a=1.0, b=1.0, p=p)
        for i, p in enumerate(ps)
    ]
    assert [one.p_holm for one in holm(found)] == [0.03, 0.06, 0.06, None]


def test_scores_of_two_builds_of_a_task_are_not_compared():
    keep("old", noise(1))
    keep("new", noise(2), task_fingerprint="other rows")
    with pytest.raises(UserError, match="different builds"):
        compare("old", "new")


def test_scores_divided_at_two_years_are_compared_on_all_examples_only():
    keep("a", noise(1))
    keep("b", noise(2), cutoff=2011)
    with pytest.raises(UserError, match="divided at 2010 and b at 2011"):
        compare("a", "b")
    assert compare("a", "b", column="all")[0].n == N


def test_scores_of_different_queries_are_not_compared():
    keep("a", noise(1))
    keep("b", noise(2)[:100])
    with pytest.raises(UserError, match="divide its examples differently"):
        compare("a", "b")


def test_an_unknown_name_column_or_task_is_told_what_there_is():
    keep("sample-2013", noise(1))
    keep("minilm@2010", noise(2))
    with pytest.raises(UserError, match="Did you mean 'sample-2013'"):
        compare("sample-213", "minilm")
    with pytest.raises(UserError, match="Did you mean 'out_of_time'"):
        compare("sample-2013", "minilm", column="out_off_time")
    with pytest.raises(UserError, match="Did you mean 'patent_cite'"):
        compare("sample-2013", "minilm", tasks=["patent_cit"])
    assert compare("sample-2013", "minilm")[0].n == N // 2  # the only minilm there is
    keep("minilm@2012", noise(2))
    with pytest.raises(UserError, match="several cutoffs"):
        compare("sample-2013", "minilm")


def test_a_changed_model_drops_its_old_scores_and_an_unchanged_one_keeps_them():
    keep("m", noise(1))
    assert keep("m", noise(1), task="paper_cite") == []
    assert {row["task"] for row in results.read_all(["m"])} == {"patent_cite", "paper_cite"}
    assert set(results.read_items("m").column("task").to_pylist()) == {"patent_cite", "paper_cite"}
    assert keep("m", noise(1), task="paper_cite", model_fingerprint="new weights") == [
        "patent_cite"
    ]
    assert {row["task"] for row in results.read_all(["m"])} == {"paper_cite"}
    assert results.read_items("m").num_rows == N


def test_scoring_a_task_again_replaces_it():
    keep("m", noise(1))
    keep("m", noise(3))
    assert len(results.read_all(["m"])) == 3
    assert results.read_items("m").num_rows == N


def test_evidence_survives_the_round_trip_through_its_table():
    rng = np.random.default_rng(0)
    ids = np.arange(40)
    classes = ("A", "B", "C")
    truth = rng.integers(0, 2, 40)[:, None] == np.arange(3)  # C never occurs
    cases = {
        "cpc_section": F1Evidence(truth, rng.random((40, 3, 3)) < 0.4),
        "grant_year": TauEvidence(rng.normal(size=40), rng.normal(size=40)),
        "patent_cite": MeanEvidence(rng.random(40)),
    }
    for name, evidence in cases.items():
        task = TASKS[name]
        one = Measured(
            task=task, metric=task.metric, evidence=evidence, ids=ids, years=ids, classes=classes
        )
        table = items.to_table(one, np.full(40, "in_time"))
        assert isinstance(table, pa.Table) and table.num_rows == 40
        back = items.from_table(table, task.format)
        assert value(back) == pytest.approx(value(evidence))
        weights = rng.integers(0, 3, (5, 40))
        np.testing.assert_allclose(back.statistic(weights), evidence.statistic(weights))
