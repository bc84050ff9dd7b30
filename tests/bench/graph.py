"""Walks, skip-gram, rows and neighbours beside csrgraph, gensim, scipy and faiss."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pytrain.graph import Graph, rows_of
from pytrain.graph_config import Node2vecSettings
from tests.bench.timing import Row, absent, cpu_seconds, gather_seconds, product_seconds

PECANPY = "pecanpy 2.0.9 does not import beside numpy 2"


def skewed(nodes: int, degree: int = 22) -> Graph:
    """A random graph with a few nodes of very many edges, and none without."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, nodes * degree // 2)) ** 2 // nodes
    ring = np.stack([np.arange(nodes), np.roll(np.arange(nodes), 1)])
    indptr, indices = rows_of(*np.concatenate([ends, ring], axis=1), nodes)
    types = np.zeros(nodes, np.int8)
    return Graph(indptr=indptr, indices=indices, doc_ids=np.arange(nodes), doc_types=types)


def uniform(nodes: int = 1_000_000, length: int = 40) -> Iterator[Row]:
    """First-order walks, one from each node."""
    from pytrain.walks import csrgraph_walks, uniform_walks

    graph = skewed(nodes)
    starts, out = np.random.default_rng(0).permutation(nodes), np.empty((nodes, length), np.int32)
    own = cpu_seconds(lambda: uniform_walks(graph.indptr, graph.indices, starts, 0, 1, out))
    # Each step reads the row's start and one of its neighbours.
    limit = gather_seconds(2 * out.size, graph.indices)
    other = cpu_seconds(lambda: csrgraph_walks(graph, length, 1.0, 1.0), 1)
    name = "uniform walks"
    yield Row(kernel=name, peer="csrgraph", own=own, other=other, floor=50, limit=limit)
    yield Row(kernel=name, peer="pecanpy", own=own, other=None, floor=12, limit=limit, note=PECANPY)


def biased(nodes: int = 100_000, length: int = 40, starts: int = 2_000) -> Iterator[Row]:
    """Second-order walks (p = 0.5, q = 2) from the same few nodes."""
    from pytrain.walks import biased_walks

    graph = skewed(nodes)
    chosen = np.random.default_rng(0).permutation(nodes)[:starts]
    out = np.empty((starts, length), np.int32)
    own = cpu_seconds(
        lambda: biased_walks(graph.indptr, graph.indices, chosen, 0, 1, 0.5, 2.0, out)
    )
    limit = gather_seconds(2 * out.size, graph.indices)
    name = "biased walks"
    yield Row(kernel=name, peer="pecanpy", own=own, other=None, floor=9, limit=limit, note=PECANPY)
    other = _csrgraph_biased(graph, length, chosen)
    yield Row(kernel=name, peer="csrgraph", own=own, other=other, floor=60, limit=limit)


def _csrgraph_biased(graph: Graph, length: int, starts: np.ndarray) -> float:
    """With the weights that node2vec needs (q/p and q)."""
    import csrgraph
    from scipy.sparse import csr_matrix

    ones, shape = np.ones(len(graph.indices), np.float32), (graph.n_nodes, graph.n_nodes)
    matrix = csr_matrix((ones, graph.indices, graph.indptr), shape=shape)
    walker = csrgraph.csrgraph(matrix, threads=1)
    asked = {"walklen": length, "epochs": 1, "start_nodes": starts.astype(np.uint32)}
    weights = {"return_weight": 2.0 / 0.5, "neighbor_weight": 2.0}
    return cpu_seconds(lambda: walker.random_walks(**asked, **weights), 1)


def planted(nodes: int, groups: int = 200, degree: int = 12) -> Graph:
    """Communities: nine edges in ten stay in their own."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, nodes, nodes * degree // 2)
    near = first // groups * groups + rng.integers(0, groups, len(first))
    second = np.where(
        rng.random(len(first)) < 0.9, near % nodes, rng.integers(0, nodes, len(first))
    )
    indptr, indices = rows_of(first, second, nodes)
    types = np.zeros(nodes, np.int8)
    return Graph(indptr=indptr, indices=indices, doc_ids=np.arange(nodes), doc_types=types)


def skip_gram(nodes: int = 20_000, rates: tuple[float, ...] = (0.025, 0.05, 0.1)) -> Iterator[Row]:
    """The same walks, each trainer at its best rate of those; AUC on held-out edges of both."""
    from pytrain.node2vec import hold_out
    from pytrain.skipgram import SkipGram
    from pytrain.splitmix import order_of
    from pytrain.walks import walk_blocks

    settings = Node2vecSettings(dimensions=64, walk_length=40, walks_per_node=3, window=5)
    graph = planted(nodes)
    rest, held = hold_out(graph, 0)
    walks = np.concatenate(list(walk_blocks(rest, settings, 0)))
    pairs = np.stack([held[:, 0], held[order_of(np.arange(len(held)), 0, 4), 1]], axis=1)
    counts = np.bincount(walks.ravel(), minlength=nodes)
    offsets = np.arange(0, walks.size + 1, walks.shape[1])

    def train(rate: float) -> np.ndarray:
        model = SkipGram(
            counts, len(walks), dimensions=64, window=5, negatives=5, lr=(rate, 1e-4), seed=0
        )
        model.feed(walks.ravel(), offsets)
        return model.vectors

    own = max((auc(train(rate), held, pairs), rate) for rate in rates)
    seconds = cpu_seconds(lambda: train(own[1]), 1)
    # Two rows of 64 per pair and target are read and one is written: three products of length 64.
    n_pairs = walks.size * (5 + 1)
    limit = product_seconds(6 * 64 * n_pairs * 6 / 2, 64)
    missing = absent("gensim")
    if missing:
        yield Row(
            kernel="skip-gram", peer="gensim", own=seconds, other=None, floor=2, limit=limit,
            note=f"{missing}; own AUC {own[0]:.3f} at rate {own[1]}",
        )  # fmt: skip
        return
    other, best = _gensim(walks, nodes, rates, held, pairs)
    note = f"AUC {own[0]:.3f} at rate {own[1]}, gensim's {best[0]:.3f} at {best[1]}"
    yield Row(
        kernel="skip-gram", peer="gensim", own=seconds, other=other, floor=2, limit=limit, note=note
    )


def _gensim(walks, nodes, rates, held, pairs) -> tuple[float, tuple[float, float]]:
    from gensim.models import Word2Vec

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "walks.txt"
        np.savetxt(path, walks, fmt="%d")

        def train(rate: float) -> np.ndarray:
            model = Word2Vec(
                corpus_file=str(path), vector_size=64, window=5, sg=1, negative=5, min_count=0,
                workers=1, epochs=1, seed=1, sample=0, alpha=rate,
            )  # fmt: skip
            vectors = np.zeros((nodes, 64), np.float32)
            for word, row in model.wv.key_to_index.items():
                vectors[int(word)] = model.wv.vectors[row]
            return vectors

        best = max((auc(train(rate), held, pairs), rate) for rate in rates)
        return cpu_seconds(lambda: train(best[1]), 1), best


def auc(vectors: np.ndarray, held: np.ndarray, pairs: np.ndarray) -> float:
    """Of the cosine on held-out edges against pairs of the same degrees."""
    from pytrain.node2vec import area_under_curve

    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return area_under_curve(*(
        np.einsum("nd,nd->n", unit[p[:, 0]], unit[p[:, 1]]) for p in (held, pairs)
    ))  # fmt: skip


def neighbours(
    nodes: int = 300_000, anchors: int = 256, width: int = 128, last: int = 4_000
) -> Iterator[Row]:
    """The paper's ranks of each anchor among all nodes, scores in float64 at the ranks."""
    import faiss

    from pytrain.ranks import lengths, nearest

    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    vectors = np.random.default_rng(0).normal(size=(nodes, width)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ranks = np.array([21, 22, 23, 24, 25, last - 1, last])
    everything, chosen = np.arange(nodes), np.arange(0, nodes, nodes // anchors)[:anchors]
    norms = lengths(vectors)
    own = cpu_seconds(lambda: nearest(vectors, everything, chosen, everything, ranks, norms), 3)
    index = faiss.IndexFlatIP(width)
    index.add(vectors)
    mended = faiss.cvar.distance_compute_blas_threshold
    faiss.cvar.distance_compute_blas_threshold = 128_000  # as shipped
    try:
        other = cpu_seconds(lambda: index.search(vectors[chosen], last + 1), 1)
    finally:
        faiss.cvar.distance_compute_blas_threshold = mended
        faiss.omp_set_num_threads(threads)
    limit = product_seconds(2.0 * nodes * anchors * width, width)
    yield Row(
        kernel="exact neighbours", peer="faiss as shipped", own=own, other=other, floor=9,
        limit=limit, note=f"no exact search in fp32 could be above {other / limit:.1f}x here",
    )  # fmt: skip


def rows(nodes: int = 1_000_000, edges: int = 9_000_000) -> Iterator[Row]:
    """The undirected rows of a graph beside scipy's."""
    from scipy.sparse import coo_matrix

    low, high = np.random.default_rng(0).integers(0, nodes, (2, edges))
    own = cpu_seconds(lambda: rows_of(low, high, nodes), 1)

    def scipys() -> None:
        ends = (np.r_[low, high], np.r_[high, low])
        matrix = coo_matrix((np.ones(2 * edges, np.int8), ends), shape=(nodes, nodes)).tocsr()
        matrix.sum_duplicates()

    other = cpu_seconds(scipys, 1)
    yield Row(kernel="rows of a graph", peer="scipy", own=own, other=other, floor=1)
