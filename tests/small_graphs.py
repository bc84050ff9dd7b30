"""Graphs of a few nodes, for tests."""

import numpy as np

from pytrain.graph import Graph, rows_of


def graph_of(pairs: list[tuple[int, int]], n: int, types: list[int] | None = None) -> Graph:
    """Nodes 0..n-1 with doc ids 1000.., papers unless `types` says so."""
    low, high = np.array(pairs).T
    indptr, indices = rows_of(low, high, n)
    kinds = np.array(types if types else [0] * n, np.int8)
    doc_ids = 1_000 + np.arange(n, dtype=np.int64)
    return Graph(indptr=indptr, indices=indices, doc_ids=doc_ids, doc_types=kinds)
