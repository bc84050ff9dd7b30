"""Node2vec of the year-y graph: random walks, then skip-gram vectors of the nodes."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytrain.graph import Graph, read_graph, rows_of
from pytrain.run import Run
from pytrain.skipgram import SkipGram
from pytrain.splitmix import key_of, order_of, scramble, unit
from pytrain.walks import count_visits, walk_blocks
from warehouse.tables import Lake

if TYPE_CHECKING:
    from pytrain.config import Settings
    from pytrain.graph_config import Node2vecSettings

_HELD_OUT = 0.1  # share of the edges on which link prediction is measured


def train_vectors(graph: Graph, settings: "Node2vecSettings", seed: int) -> np.ndarray:
    """(N, D) float32 vectors of the nodes, in node order.

    The walks are made twice, once to count visits for the negatives and once to train on:
    they come from counters, so that nothing needs to be kept.

    Source: paper, Appendix A "Node2vec and neighbors", Table 4.
    """
    visits = np.zeros(graph.n_nodes, np.int64)
    total = 0
    for block in walk_blocks(graph, settings, seed):
        count_visits(block, visits)
        total += len(block)
    model = SkipGram(
        visits,
        total * settings.epochs,
        dimensions=settings.dimensions,
        window=settings.window,
        negatives=settings.negatives,
        lr=(settings.lr, settings.min_lr),
        seed=seed,
        fast=settings.fast,
    )
    for _ in range(settings.epochs):
        for block in walk_blocks(graph, settings, seed):
            starts = np.arange(0, block.size + 1, settings.walk_length)
            model.feed(block.ravel(), starts)
    return model.vectors


def hold_out(graph: Graph, seed: int) -> tuple[Graph, np.ndarray]:
    """The graph without a tenth of its edges, and those edges as (H, 2) node numbers.

    An edge is drawn by a hash of its two documents, among those whose ends keep others.
    """
    low = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    high = graph.indices.astype(np.int64)
    once = low < high
    low, high = low[once], high[once]
    ends = [graph.doc_ids[end].astype(np.uint64) for end in (low, high)]
    draws = unit(scramble(scramble(key_of(seed, 3) + ends[0]) + ends[1]))
    kept_ends = np.minimum(graph.degrees[low], graph.degrees[high]) >= 2
    out = (draws < _HELD_OUT) & kept_ends
    indptr, indices = rows_of(low[~out], high[~out], graph.n_nodes)
    rest = Graph(indptr=indptr, indices=indices, doc_ids=graph.doc_ids, doc_types=graph.doc_types)
    return rest, np.stack([low[out], high[out]], axis=1)


def area_under_curve(positive: np.ndarray, negative: np.ndarray) -> float:
    """The chance that a score of the first kind is above one of the second; ties count half."""
    scores = np.concatenate([positive, negative])
    order = np.argsort(scores, kind="stable")
    _, first, counts = np.unique(scores[order], return_index=True, return_counts=True)
    ranks = np.empty(len(scores))
    ranks[order] = np.repeat(first + (counts + 1) / 2, counts)
    n, m = len(positive), len(negative)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def link_prediction_auc(
    graph: Graph, settings: "Node2vecSettings", seed: int
) -> tuple[float, int] | None:
    """AUC of the cosine on held-out edges against pairs of equal degrees; and how many edges.

    Negatives are the held-out edges with their second ends exchanged, edges left out. None
    where no edge can be held out.
    """
    rest, held = hold_out(graph, seed)
    others = held[order_of(np.arange(len(held)), seed, 4), 1]
    unlinked = [
        a != b and b not in graph.indices[graph.indptr[a] : graph.indptr[a + 1]]
        for a, b in zip(held[:, 0], others, strict=True)
    ]
    pairs = np.stack([held[:, 0], others], axis=1)[np.array(unlinked, bool)]
    if not len(pairs):
        return None
    vectors = train_vectors(rest, settings, seed)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    positive, negative = (
        np.einsum("nd,nd->n", vectors[p[:, 0]], vectors[p[:, 1]]) for p in (held, pairs)
    )
    return area_under_curve(positive, negative), len(held)


def run(settings: "Settings", year: int, *, seed: int, force: bool) -> Path:
    """Write `vectors.npy` (N, D) float32 and `node_ids.npy` (N,) int64 doc ids, in node order."""
    import numba

    own = settings.node2vec
    if settings.threads is not None:
        numba.set_num_threads(min(settings.threads, numba.config.NUMBA_NUM_THREADS))
    with (
        Lake() as lake,
        Run("node2vec", settings, year, seed=seed, lake=lake, force=force) as made,
    ):
        graph = read_graph(lake, year)
        made.say(f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges known by {year}")
        vectors = train_vectors(graph, own, seed)
        np.save(made.folder / "vectors.npy", vectors)
        np.save(made.folder / "node_ids.npy", graph.doc_ids)
        made.note(
            nodes=graph.n_nodes,
            edges=graph.n_edges,
            reproducible=not own.fast and own.walker == "own",
        )
        if own.report_auc and graph.n_nodes <= own.auc_max_nodes:
            found = link_prediction_auc(graph, own, seed)
            if found is None:
                made.say("no edge can be held out, so link prediction is not measured")
            else:
                auc, n_held = found
                made.log(0, auc=auc, held_out_edges=n_held)
                made.note(auc=round(auc, 4), held_out_edges=n_held)
                made.say(f"link prediction AUC {auc:.3f} on {n_held:,} held-out edges")
    return made.final
