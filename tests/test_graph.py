"""The undirected graph: both directions once, rows sorted, components, node numbers."""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from small_graphs import graph_of

from pytrain.graph import components, rows_of


def test_a_citation_in_both_directions_is_one_edge():
    graph = graph_of([(0, 1), (1, 0), (1, 2), (1, 2)], 4)
    assert graph.n_edges == 2
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.degrees.tolist() == [1, 2, 1, 0]


def test_a_self_citation_is_no_edge():
    assert graph_of([(0, 0), (0, 1)], 2).n_edges == 1


def test_rows_equal_those_of_scipy_and_are_sorted():
    rng = np.random.default_rng(1)
    low, high = rng.integers(0, 200, (2, 3_000))
    indptr, indices = rows_of(low, high, 200)
    ones = np.ones(2 * len(low))
    ends = (np.r_[low, high], np.r_[high, low])
    matrix = coo_matrix((ones, ends), shape=(200, 200)).tolil()
    matrix.setdiag(0)
    expected = matrix.tocsr()
    expected.eliminate_zeros()
    expected.sort_indices()
    assert np.array_equal(indptr, expected.indptr)
    assert np.array_equal(indices, expected.indices)
    assert indptr.dtype == np.int64 and indices.dtype == np.int32


def test_components_are_those_of_scipy_named_by_their_lowest_node():
    rng = np.random.default_rng(2)
    pairs = list(zip(*rng.integers(0, 300, (2, 180)), strict=True))
    graph = graph_of(pairs, 300)
    ours = components(graph)
    ones = np.ones(len(graph.indices))
    matrix = coo_matrix(
        (ones, (np.repeat(np.arange(300), graph.degrees), graph.indices)), shape=(300, 300)
    )
    _, theirs = connected_components(matrix, directed=False)
    for label in np.unique(theirs):
        members = np.flatnonzero(theirs == label)
        assert (ours[members] == members.min()).all()


def test_an_unknown_document_has_no_node():
    graph = graph_of([(0, 1)], 3)
    assert graph.nodes_of(np.array([1_002, 5, 1_000, 9_999])).tolist() == [2, -1, 0, -1]
