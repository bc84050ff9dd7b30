"""Exact cosine ranks: faiss finds candidates, float64 and the ids put them in order.

Two engines, or two block sizes of one, give float32 scores that differ in the last bit, so
that near-equal neighbours swap ranks. Here every candidate is scored again in float64, in one
fixed order of additions, and ties go to the lower `doc_id`: the ranks are the vectors' own.
"""

import numpy as np
from numba import njit, prange

_SPARE = 32  # candidates beyond the rank asked for, against float32 swaps at the edge
_FLOAT32_ERROR = 4e-6  # more than a float32 cosine of unit vectors can be off
_BRUTE = 4_096  # members up to which scoring all of them is cheaper than an index
_BLOCK = 1_024  # anchors per search


@njit(parallel=True, cache=True)
def _cosines(vectors, norms, anchors, members, out):
    """Fill out[i, j] with the float64 cosine of anchors[i] and members[i, j]."""
    for i in prange(len(anchors)):
        anchor = vectors[anchors[i]]
        for j in range(members.shape[1]):
            other = vectors[members[i, j]]
            total = 0.0
            for k in range(vectors.shape[1]):
                total += np.float64(anchor[k]) * np.float64(other[k])
            out[i, j] = total / (norms[anchors[i]] * norms[members[i, j]])


def lengths(vectors: np.ndarray) -> np.ndarray:
    """(N,) float64 Euclidean lengths; 1 for a zero vector, whose cosines are then 0."""
    squares = np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64)
    return np.sqrt(np.where(squares > 0, squares, 1.0))


def nearest(
    vectors: np.ndarray,
    doc_ids: np.ndarray,
    anchors: np.ndarray,
    members: np.ndarray,
    ranks: np.ndarray,
    norms: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The members at some ranks from each anchor by cosine, the anchor itself left out.

    Args:
        vectors: (N, D) float32, any length.
        doc_ids: (N,) int64; equal scores rank by it, and the anchor is left out by it.
        anchors: (A,) node numbers.
        members: (M,) distinct node numbers to rank, more than the last rank; an anchor need
            not be among them.
        ranks: (R,) the ranks wanted, 1-based, rising; 1 is the nearest.
        norms: (N,) `lengths(vectors)`, for who asks of many small groups.

    Returns:
        (A, R) int64 node numbers and (A, R) float64 cosines.

    Source: paper, Appendix A "Node2vec and neighbors".
    """
    norms, up_to = lengths(vectors) if norms is None else norms, int(ranks[-1])
    nodes = np.empty((len(anchors), len(ranks)), np.int64)
    scores = np.empty((len(anchors), len(ranks)))
    index = None if len(members) <= _BRUTE else _index(vectors[members], norms[members])
    for low in range(0, len(anchors), _BLOCK):
        block = anchors[low : low + _BLOCK]
        if index is None:
            found, worst = np.tile(members, (len(block), 1)), None
        else:
            found, worst = _candidates(index, vectors, norms, block, members, up_to)
        exact = np.empty(found.shape)
        _cosines(vectors, norms, block, found, exact)
        for i, anchor in enumerate(block):
            near, cosines = _ordered(found[i], exact[i], doc_ids, anchor, up_to)
            if worst is not None and cosines[-1] <= worst[i] + _FLOAT32_ERROR:
                near, cosines = _all_members(vectors, norms, doc_ids, anchor, members, up_to)
            nodes[low + i], scores[low + i] = near[ranks - 1], cosines[ranks - 1]
    return nodes, scores


def _ordered(
    found: np.ndarray, scores: np.ndarray, doc_ids: np.ndarray, anchor: int, up_to: int
) -> tuple[np.ndarray, np.ndarray]:
    others = doc_ids[found] != doc_ids[anchor]
    found, scores = found[others], scores[others]
    order = np.lexsort((doc_ids[found], -scores))[:up_to]
    return found[order], scores[order]


def _all_members(
    vectors: np.ndarray,
    norms: np.ndarray,
    doc_ids: np.ndarray,
    anchor: int,
    members: np.ndarray,
    up_to: int,
) -> tuple[np.ndarray, np.ndarray]:
    """One anchor against everything: taken where too many scores tie at the last rank."""
    scores = np.empty((1, len(members)))
    _cosines(vectors, norms, np.array([anchor]), members[None, :], scores)
    return _ordered(members, scores[0], doc_ids, anchor, up_to)


def _index(vectors: np.ndarray, norms: np.ndarray) -> object:
    import faiss

    # As shipped, fewer than 128,000 queries take a path ten times slower.
    faiss.cvar.distance_compute_blas_threshold = 20
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors / norms[:, None], np.float32))
    return index


def _candidates(
    index: object,
    vectors: np.ndarray,
    norms: np.ndarray,
    block: np.ndarray,
    members: np.ndarray,
    up_to: int,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Candidate nodes (A, K) and the float32 score (A,) that no other member exceeds."""
    queries = np.ascontiguousarray(vectors[block] / norms[block, None], np.float32)
    k = min(len(members), up_to + 1 + _SPARE)
    scores, places = index.search(queries, k)
    return members[places], None if k == len(members) else scores[:, -1]
