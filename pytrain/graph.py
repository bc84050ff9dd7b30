"""The undirected citation graph of a cutoff, in row (CSR) form, and its components."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from warehouse.errors import UserError
from warehouse.tables import Lake, empty_slice

PAPER, PATENT = 0, 1


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Nodes 0..N-1 in the order of the lake: by first year with an edge, then `doc_id`.

    The year-y graph is a prefix of every later one, so a node keeps its number for ever.
    """

    indptr: np.ndarray  # (N + 1,) int64, start of each node's neighbours
    indices: np.ndarray  # (2 * n_edges,) int32, neighbours, rising inside each row
    doc_ids: np.ndarray  # (N,) int64
    doc_types: np.ndarray  # (N,) int8, PAPER or PATENT

    @property
    def n_nodes(self) -> int:
        """Number of documents with an edge."""
        return len(self.doc_ids)

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return len(self.indices) // 2

    @property
    def degrees(self) -> np.ndarray:
        """(N,) neighbours of each node."""
        return np.diff(self.indptr)

    def nodes_of(self, doc_ids: np.ndarray) -> np.ndarray:
        """Node numbers of documents, -1 for a document that is not in the graph."""
        order = np.argsort(self.doc_ids, kind="stable")
        places = np.searchsorted(self.doc_ids, doc_ids, sorter=order)
        places = np.minimum(places, max(0, self.n_nodes - 1))
        nodes = order[places] if self.n_nodes else np.full(len(doc_ids), -1)
        found = self.n_nodes > 0 and self.doc_ids[nodes] == doc_ids
        return np.where(found, nodes, -1)


@njit(cache=True)
def _fill_rows(low, high, indptr, indices):
    """Write both directions of edges sorted by (low, high), so that rows come out sorted."""
    place = indptr[:-1].copy()
    for i in range(len(low)):
        indices[place[high[i]]] = low[i]
        place[high[i]] += 1
    for i in range(len(low)):
        indices[place[low[i]]] = high[i]
        place[low[i]] += 1


@njit(cache=True)
def _stably(keys, others, n_nodes):
    """Pairs in the order of `keys`, equal keys as they come: one counting sort, in linear time."""
    place = np.zeros(n_nodes + 1, np.int64)
    for key in keys:
        place[key + 1] += 1
    for i in range(n_nodes):
        place[i + 1] += place[i]
    sorted_keys, sorted_others = np.empty_like(keys), np.empty_like(others)
    for i in range(len(keys)):
        at = place[keys[i]]
        place[keys[i]] += 1
        sorted_keys[at], sorted_others[at] = keys[i], others[i]
    return sorted_keys, sorted_others


@njit(cache=True)
def _components(indptr, indices, parent):
    for node in range(len(parent)):
        for e in range(indptr[node], indptr[node + 1]):
            a, b = node, np.int64(indices[e])
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a < b:
                parent[b] = a
            else:
                parent[a] = b
    for node in range(len(parent)):
        parent[node] = parent[parent[node]]


def rows_of(low: np.ndarray, high: np.ndarray, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The undirected rows of edges given by node numbers, in either direction.

    "A cites B" and "B cites A" are one edge: counted twice it would be walked twice as often.

    Args:
        low: (E,) one end of each edge.
        high: (E,) the other end, in no particular order.
        n_nodes: N.

    Returns:
        indptr (N + 1,) int64 and indices (2 * distinct edges,) int32, sorted inside each row.
    """
    first = np.minimum(low, high).astype(np.int32)
    second = np.maximum(low, high).astype(np.int32)
    proper = first != second
    second, first = _stably(second[proper], first[proper], n_nodes)
    first, second = _stably(first, second, n_nodes)
    new = np.ones(len(first), bool)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    first, second = first[new], second[new]
    counts = np.bincount(first, minlength=n_nodes) + np.bincount(second, minlength=n_nodes)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices = np.empty(indptr[-1], np.int32)
    _fill_rows(first, second, indptr, indices)
    return indptr, indices


def components(graph: Graph) -> np.ndarray:
    """(N,) int64: the lowest node number of each node's connected component."""
    parent = np.arange(graph.n_nodes, dtype=np.int64)
    _components(graph.indptr, graph.indices, parent)
    return parent


def read_graph(lake: Lake, cutoff: int) -> Graph:
    """The graph of the slice: its nodes, and the edges between them.

    Raises:
        UserError: the slice has no citation.
    """
    nodes = lake.read("nodes", ["node_id", "doc_id", "doc_type"], cutoff=cutoff)
    edges = lake.read("edges", ["citing_id", "cited_id"], cutoff=cutoff)
    if not len(nodes) or not len(edges):
        raise empty_slice("edges", cutoff, "the citation graph")
    numbers = nodes["node_id"].to_numpy()
    if not np.array_equal(numbers, np.arange(len(numbers))):
        raise UserError(f"nodes of {cutoff} are not numbered 0..n-1. Build the lake: lake build")
    types = np.where(nodes["doc_type"].to_numpy(zero_copy_only=False) == "paper", PAPER, PATENT)
    graph = Graph(
        indptr=np.zeros(len(nodes) + 1, np.int64),
        indices=np.empty(0, np.int32),
        doc_ids=nodes["doc_id"].to_numpy(),
        doc_types=types.astype(np.int8),
    )
    ends = [graph.nodes_of(edges[name].to_numpy()) for name in ("citing_id", "cited_id")]
    if min(end.min() for end in ends) < 0:
        raise UserError(f"an edge of {cutoff} has an end that is no node. Build it: lake build")
    indptr, indices = rows_of(ends[0], ends[1], graph.n_nodes)
    return Graph(indptr=indptr, indices=indices, doc_ids=graph.doc_ids, doc_types=graph.doc_types)
