"""Walks against exact transition probabilities; skip-gram against the structure it should see."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from small_graphs import graph_of
from tiny_lake import make_tiny_lake

from pytrain import node2vec
from pytrain.config import Node2vecSettings, load_settings
from pytrain.graph import Graph, read_graph
from pytrain.node2vec import area_under_curve, hold_out
from pytrain.run import read_run
from pytrain.skipgram import SkipGram, negative_table
from pytrain.splitmix import order_of
from pytrain.walks import csrgraph_walks, uniform_walks, walk_blocks
from warehouse.errors import UserError
from warehouse.tables import Lake

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


@pytest.mark.slow  # csrgraph compiles its walker anew in every process
def test_csrgraph_with_the_corrected_weights_follows_the_same_probabilities():
    graph = graph_of(PAIRS, 7)  # without the isolated node
    p, q = 0.25, 4.0
    walks = np.concatenate([csrgraph_walks(graph, 200, p, q) for _ in range(60)])
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


def test_area_under_curve_is_that_of_scikit_learn():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    positive, negative = rng.integers(2, 12, 60), rng.integers(0, 10, 80)
    theirs = roc_auc_score(np.r_[np.ones(60), np.zeros(80)], np.r_[positive, negative])
    assert area_under_curve(positive, negative) == pytest.approx(theirs)


def test_held_out_edges_leave_the_graph_and_strand_nobody_of_degree_one():
    rng = np.random.default_rng(4)
    graph = graph_of(list(zip(*rng.integers(0, 100, (2, 400)), strict=True)), 100)
    rest, held = hold_out(graph, 0)
    assert len(held) > 0 and rest.n_edges + len(held) == graph.n_edges
    for a, b in held:
        assert b not in rest.indices[rest.indptr[a] : rest.indptr[a + 1]]
        assert b in graph.indices[graph.indptr[a] : graph.indptr[a + 1]]
    assert (rest.degrees[graph.degrees == 1] == 1).all()


@pytest.fixture(scope="module")
def lakes(tmp_path_factory):
    """The same lake twice, one of them without a row after 2012."""
    root = tmp_path_factory.mktemp("lakes")
    return make_tiny_lake(root / "long"), make_tiny_lake(root / "short", last_year=2012)


def test_the_graph_of_a_year_is_a_prefix_of_the_next(lakes):
    with Lake(lakes[0]) as lake:
        early, late = read_graph(lake, 2011), read_graph(lake, 2012)
    n = early.n_nodes
    assert 0 < n < late.n_nodes
    assert np.array_equal(early.doc_ids, late.doc_ids[:n])
    for node in range(n):
        row = late.indices[late.indptr[node] : late.indptr[node + 1]]
        assert set(early.indices[early.indptr[node] : early.indptr[node + 1]]) <= set(row)


def test_vectors_of_a_year_do_not_change_when_later_edges_are_added(lakes, tmp_path, monkeypatch):
    prints, settings = [], load_settings("tiny")
    for i, folder in enumerate(lakes):
        monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(folder))
        monkeypatch.setenv("RUNS_ROOT", str(tmp_path / str(i)))
        made = node2vec.run(settings, 2012, seed=0, force=False)
        prints.append(read_run(made)["fingerprint"])
        vectors = np.load(made / "vectors.npy")
    assert prints[0] == prints[1]
    assert vectors.dtype == np.float32 and vectors.shape[1] == settings.node2vec.dimensions
    assert len(np.load(made / "node_ids.npy")) == len(vectors)
    notes = read_run(made)["notes"]
    assert notes["auc"] > 0.6  # topics are planted: linked documents are near
    assert notes["reproducible"] is True


def test_a_year_without_citations_gives_one_message(lakes, tmp_path, monkeypatch):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(lakes[0]))
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path))
    with pytest.raises(UserError, match="edges holds no row known by 2000"):
        node2vec.run(load_settings("tiny"), 2000, seed=0, force=False)
    assert not (tmp_path / "tiny-2000-node2vec").exists()
