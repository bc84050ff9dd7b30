"""Random walks over a graph in row (CSR) form: our numba kernels, and csrgraph as a reference.

A walk depends on (seed, first node, number of the walk) and on the graph, on nothing else:
the same walk comes out for any number of threads and for any block it is computed in.
Many walks advance together, so that the memory reads of one hide behind those of another.

Source: Grover and Leskovec (2016), node2vec; paper, Appendix A "Node2vec and neighbors".
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numba import njit, prange

from pytrain.splitmix import order_of
from warehouse.errors import UserError

if TYPE_CHECKING:
    from pytrain.config import Node2vecSettings
    from pytrain.graph import Graph

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_BLOCK = 64  # walks that advance together; 64 hide the latency of two reads per step


@njit(inline="always")
def _scramble(x):
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@njit(inline="always")
def _unit(raw):
    return np.float64(raw >> np.uint64(11)) * 2.0**-53


@njit(inline="always")
def _first_state(seed, node, walk):
    state = _scramble(np.uint64(seed) + _GOLDEN)
    state = _scramble(state + _GOLDEN + np.uint64(node))
    return _scramble(state + _GOLDEN + np.uint64(walk))


@njit(inline="always")
def _holds(indices, low, high, node):
    """Whether the sorted slice [low, high) of `indices` holds `node`."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low < end and indices[low] == node


@njit(parallel=True, cache=True)
def uniform_walks(indptr, indices, starts, walk, seed, out):
    """First-order walks (p = q = 1); a node without neighbours repeats itself.

    Args:
        indptr: (N + 1,) int64 row starts.
        indices: (E,) int32 neighbours, sorted inside each row.
        starts: (W,) int64 first nodes.
        walk: the number of this pass over the nodes.
        seed: of the vintage.
        out: (W, L) int32, filled in.
    """
    n_walks, length = out.shape
    for block in prange((n_walks + _BLOCK - 1) // _BLOCK):
        low = block * _BLOCK
        size = min(n_walks, low + _BLOCK) - low
        node = np.empty(size, np.int64)
        state = np.empty(size, np.uint64)
        edge = np.empty(size, np.int64)
        for j in range(size):
            node[j] = starts[low + j]
            state[j] = _first_state(seed, node[j], walk)
            out[low + j, 0] = node[j]
        for step in range(1, length):
            for j in range(size):
                row = indptr[node[j]]
                degree = indptr[node[j] + 1] - row
                state[j] += _GOLDEN
                edge[j] = -1
                if degree > 0:
                    edge[j] = row + np.int64(_unit(_scramble(state[j])) * degree)
            for j in range(size):
                if edge[j] >= 0:
                    node[j] = indices[edge[j]]
                out[low + j, step] = node[j]


@njit(parallel=True, cache=True)
def biased_walks(indptr, indices, starts, walk, seed, p, q, out):
    """Second-order walks by rejection; arguments as `uniform_walks`.

    A uniform neighbour x of the current node is kept with probability proportional to 1/p if
    x is the node before, 1 if x is its neighbour, and 1/q otherwise. What the node before has
    above all others is drawn by itself, so that a large 1/p makes no draw fail; one number gives
    the neighbour and, by what is left of it, whether it is kept.
    """
    n_walks, length = out.shape
    back = 1.0 / p
    far = 1.0 / q
    ceiling = max(1.0, far)
    surplus = max(0.0, back - ceiling)
    for i in prange(n_walks):
        node = np.int64(starts[i])
        before = np.int64(-1)
        state = _first_state(seed, node, walk)
        out[i, 0] = node
        for step in range(1, length):
            row = indptr[node]
            degree = indptr[node + 1] - row
            above = surplus if before >= 0 else 0.0
            while degree > 0:
                state += _GOLDEN
                place = _unit(_scramble(state)) * (degree * ceiling + above) - above
                if place < 0.0:
                    x = before
                    break
                place /= ceiling
                edge = min(np.int64(place), degree - 1)
                x = np.int64(indices[row + edge])
                height = (place - edge) * ceiling
                if before < 0:
                    break
                if x == before:
                    if height < back:
                        break
                elif height < min(1.0, far):
                    break  # kept whichever class x is in: no search
                elif height < max(1.0, far):
                    near = _holds(indices, indptr[before], indptr[before + 1], x)
                    if near == (far < 1.0):
                        break
            if degree > 0:
                before = node
                node = x
            out[i, step] = node


@njit(cache=True)
def count_visits(walks, counts):
    """Add the visits in (W, L) `walks` to (N,) int64 `counts`."""
    for node in walks.ravel():
        counts[node] += 1


def csrgraph_walks(graph: "Graph", length: int, p: float, q: float) -> np.ndarray:
    """One walk from every node by the library csrgraph, as (N, L) int32.

    Its documentation gives `return_weight=1/p, neighbor_weight=1/q`, but it multiplies the
    common neighbours, so that node2vec's weights are `q/p` and `q`. Its biased walker reads
    a neighbouring row, or past the end, at a node without edges; it takes no seed.
    """
    import csrgraph
    from scipy.sparse import csr_matrix

    if (np.diff(graph.indptr) == 0).any():
        raise UserError(
            "csrgraph cannot walk a graph with isolated nodes. "
            "Use our kernel: --set node2vec.walker=own"
        )
    ones = np.ones(len(graph.indices), np.float32)
    shape = (graph.n_nodes, graph.n_nodes)
    matrix = csr_matrix((ones, graph.indices, graph.indptr), shape=shape)
    walker = csrgraph.csrgraph(matrix, threads=1)
    walks = walker.random_walks(walklen=length, epochs=1, return_weight=q / p, neighbor_weight=q)
    return walks.astype(np.int32)


def walk_blocks(
    graph: "Graph", settings: "Node2vecSettings", seed: int, *, rows: int = 100_000
) -> Iterator[np.ndarray]:
    """Every walk of a vintage, as (<= rows, L) int32 blocks, in an order fixed by the seed.

    Each pass starts once from every node, in an order of its own: the training that follows
    is sequential, and nodes in order of their first year would be learnt in that order.
    """
    nodes = np.arange(graph.n_nodes, dtype=np.int64)
    for walk in range(settings.walks_per_node):
        if settings.walker == "csrgraph":
            everything = csrgraph_walks(graph, settings.walk_length, settings.p, settings.q)
            for low in range(0, len(everything), rows):
                yield everything[low : low + rows]
            continue
        order = nodes[order_of(nodes, seed, walk)]
        for low in range(0, len(order), rows):
            starts = order[low : low + rows]
            out = np.empty((len(starts), settings.walk_length), np.int32)
            if settings.p == settings.q == 1.0:
                uniform_walks(graph.indptr, graph.indices, starts, walk, seed, out)
            else:
                biased_walks(
                    graph.indptr, graph.indices, starts, walk, seed, settings.p, settings.q, out
                )
            yield out
