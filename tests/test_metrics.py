"""Laws and oracles of the metrics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyeval import metrics


def ranking(seed: int, n_queries: int = 40, depth: int = 200):
    """Random hits, with short rankings, unranked relevants and queries that find nothing."""
    rng = np.random.default_rng(seed)
    ranked = np.arange(depth) < rng.integers(0, depth + 1, size=(n_queries, 1))
    hits = (rng.random((n_queries, depth)) < rng.random((n_queries, 1)) * 0.2) & ranked
    n_relevant = np.maximum(hits.sum(axis=1) + rng.integers(0, 5, size=n_queries), 1)
    return hits, ranked, n_relevant


@pytest.mark.parametrize("name", ["map", "ndcg_at_10", "p_at_5", "p_at_10"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_arrays_agree_with_pytrec_eval(name, seed):
    hits, ranked, n_relevant = ranking(seed)
    ours = metrics.ranking_metric(name, hits, n_relevant)
    theirs = metrics.trec_eval(name, hits, ranked, n_relevant)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_maps_denominator_is_all_relevant_documents():
    """One of four relevants at rank 2: (1/2) / 4, not (1/2) / 1."""
    hits = np.array([[False, True, False]])
    assert metrics.average_precision(hits, np.array([4]))[0] == pytest.approx(0.125)


def test_ndcg_of_a_hand_ranking():
    hits = np.array([[True, False, True]])
    expected = (1 + 0.5) / (1 + 1 / np.log2(3))
    assert metrics.ndcg(hits, np.array([2]))[0] == pytest.approx(expected)


def test_precision_divides_by_the_depth_even_when_fewer_are_ranked():
    assert metrics.precision_at(np.array([[True, True]]), 5)[0] == pytest.approx(0.4)


def test_a_query_that_ranks_nothing_counts_as_zero_in_both():
    hits = np.zeros((2, 5), dtype=bool)
    hits[1, 0] = True
    ranked = np.array([[False] * 5, [True] * 5])
    n_relevant = np.array([1, 1])
    assert metrics.average_precision(hits, n_relevant).tolist() == [0.0, 1.0]
    assert metrics.trec_eval("map", hits, ranked, n_relevant).tolist() == [0.0, 1.0]


def test_a_query_without_relevants_is_refused_rather_than_averaged():
    with pytest.raises(ValueError, match="without a relevant"):
        metrics.average_precision(np.zeros((1, 3), dtype=bool), np.array([0]))


def test_more_hits_than_relevants_is_refused():
    with pytest.raises(ValueError, match="more hits"):
        metrics.ndcg(np.ones((1, 3), dtype=bool), np.array([2]))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 80))
def test_f1_agrees_with_sklearn_over_the_classes_that_have_a_test_example(seed, classes, n):
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(seed)
    truth, guess = rng.integers(0, classes, (2, n))
    parts = metrics.f1_parts(
        truth[:, None] == np.arange(classes), guess[:, None] == np.arange(classes)
    )
    present = sorted(set(truth.tolist()))
    expected = f1_score(truth, guess, labels=present, average="macro", zero_division=0)
    assert metrics.macro_f1(parts.sum(axis=0)) == pytest.approx(expected)
    one = f1_score(truth == truth[0], guess == truth[0], zero_division=0)
    assert metrics.f1(parts.sum(axis=0))[truth[0]] == pytest.approx(one)


def test_macro_f1_without_any_true_example_is_undefined():
    assert np.isnan(metrics.macro_f1(np.zeros((3, 3))))


@pytest.mark.parametrize("seed", [0, 1])
def test_kendall_tau_b_agrees_with_a_count_of_pairs_with_ties(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, (2, 40))
    dx = np.sign(x[:, None] - x)[np.triu_indices(40, 1)]
    dy = np.sign(y[:, None] - y)[np.triu_indices(40, 1)]
    expected = (dx * dy).sum() / np.sqrt((dx != 0).sum() * (dy != 0).sum())
    assert metrics.kendall_tau(x, y) == pytest.approx(expected)


def test_tau_is_undefined_for_one_target_and_zero_for_one_prediction():
    assert np.isnan(metrics.kendall_tau(np.array([2014, 2014]), np.array([0.1, 0.2])))
    assert metrics.kendall_tau(np.array([2013, 2014]), np.array([0.5, 0.5])) == 0.0
