"""Walks against exact transition probabilities; skip-gram against the structure it should see."""

from dataclasses import replace

import numba
import numpy as np
import pytest

from pytrain.config import Node2vecSettings
from pytrain.graph import Graph
from pytrain.skipgram import SkipGram, negative_table
from pytrain.splitmix import order_of
from pytrain.walks import csrgraph_walks, uniform_walks, walk_blocks
from tests.test_graph import graph_of
from warehouse.errors import UserError

# A triangle 0-1-2, a tail 2-3-4 that ends in a node of one neighbour, a pair 5-6, and 7 alone.
PAIRS = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (5, 6)]
LENGTH = 12


def long_walks(graph: Graph, settings: Node2vecSettings, seed: int = 3) -> np.ndarray:
    return np.concatenate(list(walk_blocks(graph, settings, seed)))


def settings_of(**values: object) -> Node2vecSettings:
    return replace(Node2vecSettings(walk_length=LENGTH, walks_per_node=4_000), **values)


def transition(graph: Graph, before: int, node: int, p: float, q: float) -> dict[int, float]:
    """Node2vec's definition, written out: weight 1/p back, 1 to common neighbours, 1/q else."""
    row = {n: set(graph.indices[graph.indptr[n] : graph.indptr[n + 1]]) for n in (before, node)}
    weights = {
        x: 1 / p if x == before else 1.0 if x in row[before] else 1 / q for x in sorted(row[node])
    }
    return {x: weight / sum(weights.values()) for x, weight in weights.items()}


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (0.5, 2.0)])
def test_steps_follow_the_exact_transition_probabilities(p: float, q: float):
    graph = graph_of(PAIRS, 8)
    walks = long_walks(graph, settings_of(p=p, q=q))
    before, node, after = (walks[:, i : LENGTH - 2 + i].ravel() for i in range(3))
    seen = 0
    for pair in {(b, n) for b, n in zip(before, node, strict=True)}:
        here = (before == pair[0]) & (node == pair[1])
        if pair[0] == 7:
            assert (after[here] == 7).all()  # an isolated node repeats itself
            continue
        for x, share in transition(graph, *pair, p, q).items():
            bound = 5 * np.sqrt(share * (1 - share) / here.sum()) + 1e-9
            assert abs((after[here] == x).mean() - share) < bound, (pair, x)
            seen += 1
    assert seen == (graph.degrees**2).sum()  # every directed edge, every continuation


def test_the_first_step_is_uniform_over_the_neighbours():
    graph = graph_of(PAIRS, 8)
    walks = long_walks(graph, settings_of(p=0.25, q=4.0))
    first = walks[walks[:, 0] == 2][:, 1]
    for x in (0, 1, 3):
        assert abs((first == x).mean() - 1 / 3) < 5 * np.sqrt(2 / 9 / len(first))


def test_no_step_leaves_the_graph():
    graph = graph_of(PAIRS, 8)
    edges = set(PAIRS) | {(b, a) for a, b in PAIRS} | {(7, 7)}
    walks = long_walks(graph, settings_of(q=2.0, walks_per_node=50))
    steps = zip(walks[:, :-1].ravel().tolist(), walks[:, 1:].ravel().tolist(), strict=True)
    assert set(steps) == edges


@pytest.mark.parametrize("q", [1.0, 2.0])
def test_walks_are_the_same_for_any_number_of_threads_and_any_block(q: float):
    graph = graph_of(PAIRS, 8)
    settings = settings_of(q=q, walks_per_node=30)
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    alone = long_walks(graph, settings)
    numba.set_num_threads(before)
    together = long_walks(graph, settings)
    pieces = np.concatenate(list(walk_blocks(graph, settings, 3, rows=3)))
    assert np.array_equal(alone, together)
    assert np.array_equal(alone, pieces)
    assert not np.array_equal(alone, long_walks(graph, settings, seed=4))


def test_a_walk_depends_on_its_node_and_not_on_the_nodes_around_it():
    """A later, unconnected part of the graph changes no walk of the earlier part."""
    small, large = graph_of(PAIRS, 8), graph_of([*PAIRS, (8, 9), (9, 10)], 11)
    for walk in range(3):
        nodes = np.arange(8)
        outs = [np.empty((8, LENGTH), np.int32) for _ in range(2)]
        for graph, out in zip((small, large), outs, strict=True):
            uniform_walks(graph.indptr, graph.indices, nodes, walk, 3, out)
        assert np.array_equal(*outs)
    order = order_of(np.arange(11), 3, 0)
    assert np.array_equal(order[order < 8], order_of(np.arange(8), 3, 0))


def test_csrgraph_with_the_corrected_weights_follows_the_same_probabilities():
    graph = graph_of(PAIRS, 7)  # without the isolated node
    p, q = 0.25, 4.0
    walks = np.concatenate([csrgraph_walks(graph, 200, p, q) for _ in range(200)])
    before, node, after = (walks[:, i : 198 + i].ravel() for i in range(3))
    here = (before == 1) & (node == 2)
    for x, share in transition(graph, 1, 2, p, q).items():
        bound = 6 * np.sqrt(share * (1 - share) / here.sum())
        assert abs((after[here] == x).mean() - share) < bound


def test_csrgraph_refuses_isolated_nodes():
    with pytest.raises(UserError, match=r"node2vec\.walker=own"):
        csrgraph_walks(graph_of(PAIRS, 8), 5, 1.0, 1.0)


def two_cliques(seed: int, **values: object) -> np.ndarray:
    pairs = [(a + k, b + k) for k in (0, 10) for a in range(10) for b in range(a)]
    graph = graph_of([*pairs, (0, 10)], 20)
    walks = long_walks(graph, settings_of(walks_per_node=40), seed)
    options = {"dimensions": 16, "window": 3, "negatives": 5, "lr": (0.05, 1e-4), "seed": seed}
    trained = SkipGram(np.bincount(walks.ravel()), len(walks), **(options | values))
    trained.feed(walks.ravel(), np.arange(0, walks.size + 1, LENGTH))
    return trained.vectors


def test_skip_gram_puts_the_two_halves_of_a_graph_apart():
    vectors = two_cliques(1)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    same = np.kron(np.eye(2), np.ones((10, 10))) - np.eye(20) > 0
    assert cosines[same].mean() > cosines[~same & ~np.eye(20, dtype=bool)].mean() + 0.3


def test_skip_gram_is_the_same_twice_and_another_for_another_seed():
    first = two_cliques(1)
    assert np.array_equal(first, two_cliques(1))
    assert not np.array_equal(first, two_cliques(2))


def test_one_step_of_skip_gram_by_hand():
    """One pair, no negative: both rows move along each other by lr * (1 - sigmoid)."""
    trained = SkipGram(
        np.array([1, 1]), 1, dimensions=4, window=1, negatives=0, lr=(0.5, 0.5), seed=0
    )
    start = trained.vectors.copy()
    trained.feed(np.array([0, 1], np.int32), np.array([0, 2]))
    # Place 0: centre 0, context 1; outputs are zero, so the score is 0 and the step 0.25.
    output0 = 0.25 * start[1]
    # Place 1: centre 1, context 0, likewise; inputs have not moved: outputs were zero.
    output1 = 0.25 * start[0]
    assert np.array_equal(trained.vectors, start)
    trained.feed(np.array([0, 1], np.int32), np.array([0, 2]))
    sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    moved1 = start[1] + 0.5 * (1 - sigmoid(start[1] @ output0)) * output0
    moved0 = start[0] + 0.5 * (1 - sigmoid(start[0] @ output1)) * output1
    assert np.allclose(trained.vectors, [moved0, moved1], atol=1e-7)


def test_fast_mode_learns_the_same_structure():
    unit = two_cliques(1, fast=True)
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    assert (unit[:10] @ unit[:10].T).mean() > (unit[:10] @ unit[10:].T).mean() + 0.3


def test_negatives_are_drawn_by_count_to_three_quarters():
    table = negative_table(np.array([1, 16, 0, 81]))
    shares = np.bincount(table, minlength=4) / len(table)
    assert shares == pytest.approx([1 / 36, 8 / 36, 0, 27 / 36], abs=1e-5)
