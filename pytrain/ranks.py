"""Exact cosine ranks: an engine finds candidates, float64 and the ids put them in order.

Two engines, or two block sizes of one, give float32 scores that differ in the last bit, so
that near-equal neighbours swap ranks. Here every score that could stand at a rank asked for is
taken again in float64, in one fixed order of additions, and ties go to the lower `doc_id`: the
ranks are the vectors' own, whichever engine found the candidates.
"""

from collections.abc import Callable

import numpy as np
from numba import njit, prange

_SPARE = 32  # candidates beyond the rank asked for, against float32 swaps at the edge
_FLOAT32_ERROR = 4e-6  # more than a float32 cosine of unit vectors can be off
_BRUTE = 4_096  # members up to which scoring all of them is cheaper than an index
_BLOCK = 1_024  # anchors per search
_CHUNK = 262_144  # members scored at once by torch: 1 GB of scores per block of anchors
_FEW = 32  # ranks up to which only the scores around each are taken again

# (B, D) unit float32 queries and k -> (B, k) falling float32 scores and places of members.
Search = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]


@njit(inline="always")
def _cosine(vectors, norms, one, other):
    total = 0.0
    for k in range(vectors.shape[1]):
        total += np.float64(vectors[one, k]) * np.float64(vectors[other, k])
    return total / (norms[one] * norms[other])


@njit(parallel=True, cache=True)
def _cosines(vectors, norms, anchors, members, out):
    """Fill out[i, j] with the float64 cosine of anchors[i] and members[i, j]."""
    for i in prange(len(anchors)):
        for j in range(members.shape[1]):
            out[i, j] = _cosine(vectors, norms, anchors[i], members[i, j])


@njit(parallel=True, cache=True)
def _at_ranks(vectors, norms, doc_ids, anchors, found, scores, ranks, error, nodes, exact, sure):
    """Fill nodes and exact at each rank from falling float32 scores; sure[i]: none is missing.

    The exact score at a rank is within `error` of the float32 score there, so whatever is more
    than twice that above or below keeps its side of it, and the few between are scored again.
    """
    width = found.shape[1]
    for i in prange(len(anchors)):
        # The anchor itself moves to the end of its own list.
        near, score, n = np.empty(width, np.int64), np.empty(width, np.float32), 0
        for j in range(width):
            if doc_ids[found[i, j]] != doc_ids[anchors[i]]:
                near[n], score[n] = found[i, j], scores[i, j]
                n += 1
        sure[i] = True
        for r in range(len(ranks)):
            middle = score[ranks[r] - 1]
            low, high = ranks[r] - 1, ranks[r]
            while low > 0 and score[low - 1] <= middle + 2 * error:
                low -= 1
            while high < n and score[high] >= middle - 2 * error:
                high += 1
            if high == n:
                sure[i] = False  # an equal score may stand beyond the candidates
                break
            again = np.empty(high - low)
            for j in range(low, high):
                again[j - low] = _cosine(vectors, norms, anchors[i], near[j])
            for _ in range(ranks[r] - low):  # take the best so often: the last is the answer
                best = 0
                for j in range(1, high - low):
                    if again[j] > again[best] or (
                        again[j] == again[best]
                        and doc_ids[near[low + j]] < doc_ids[near[low + best]]
                    ):
                        best = j
                nodes[i, r], exact[i, r] = near[low + best], again[best]
                again[best] = -np.inf


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
    *,
    device: str | None = None,
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
        device: of torch, which then finds the candidates; None: faiss, on the CPU.

    Returns:
        (A, R) int64 node numbers and (A, R) float64 cosines, the same from every engine.

    Source: paper, Appendix A "Node2vec and neighbors".
    """
    norms, up_to = lengths(vectors) if norms is None else norms, int(ranks[-1])
    nodes = np.empty((len(anchors), len(ranks)), np.int64)
    scores = np.empty((len(anchors), len(ranks)))
    search = None
    if len(members) > max(_BRUTE, up_to + 1 + _SPARE):
        unit = _unit(vectors, norms, members)
        search = faiss_search(unit) if device is None else torch_search(unit, device)
    for low in range(0, len(anchors), _BLOCK):
        block, rows = anchors[low : low + _BLOCK], slice(low, low + _BLOCK)
        if search is None:
            missing = np.arange(len(block))
        else:
            missing = _from_candidates(
                search, vectors, norms, doc_ids, block, members, ranks, nodes[rows], scores[rows]
            )
        for i in missing:
            near, cosines = _all_members(vectors, norms, doc_ids, block[i], members, up_to)
            nodes[low + i], scores[low + i] = near[ranks - 1], cosines[ranks - 1]
    return nodes, scores


def _from_candidates(
    search: Search,
    vectors: np.ndarray,
    norms: np.ndarray,
    doc_ids: np.ndarray,
    block: np.ndarray,
    members: np.ndarray,
    ranks: np.ndarray,
    nodes: np.ndarray,
    exact: np.ndarray,
) -> np.ndarray:
    """Fill `nodes` and `exact`; the rows of `block` where too many scores tie at a rank."""
    scores, places = search(_unit(vectors, norms, block), int(ranks[-1]) + 1 + _SPARE)
    found = members[places]
    sure = np.zeros(len(block), bool)
    if len(ranks) <= _FEW:
        error = np.float32(_FLOAT32_ERROR)
        shared = (vectors, norms, doc_ids, block, found, scores, ranks, error)
        _at_ranks(*shared, nodes, exact, sure)
        return np.flatnonzero(~sure)
    again = np.empty(found.shape)
    _cosines(vectors, norms, block, found, again)
    for i, anchor in enumerate(block):
        near, cosines = _ordered(found[i], again[i], doc_ids, anchor, int(ranks[-1]))
        sure[i] = cosines[-1] > scores[i, -1] + _FLOAT32_ERROR
        nodes[i], exact[i] = near[ranks - 1], cosines[ranks - 1]
    return np.flatnonzero(~sure)


def _unit(vectors: np.ndarray, norms: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """(M, D) float32 unit vectors; a division in float64 would cost more than the search."""
    return vectors[nodes] * (1.0 / norms[nodes]).astype(np.float32)[:, None]


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
    """One anchor against everything: for few members, or where too many scores tie."""
    scores = np.empty((1, len(members)))
    _cosines(vectors, norms, np.array([anchor]), members[None, :], scores)
    return _ordered(members, scores[0], doc_ids, anchor, up_to)


def faiss_search(unit: np.ndarray) -> Search:
    """Candidates among (M, D) unit float32 vectors by faiss, on the CPU."""
    import faiss

    # As shipped, fewer than 128,000 queries take a path ten times slower.
    faiss.cvar.distance_compute_blas_threshold = 20
    index = faiss.IndexFlatIP(unit.shape[1])
    index.add(unit)
    return index.search


def torch_search(unit: np.ndarray, device: str) -> Search:
    """The same by torch: a product and a top-k per chunk of members, then one over the chunks."""
    import torch

    held = torch.from_numpy(unit).to(device)

    def search(queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        asked = torch.from_numpy(queries).to(device)
        best, places = [], []
        for low in range(0, len(held), _CHUNK):
            chunk = held[low : low + _CHUNK]
            top = torch.topk(asked @ chunk.T, min(k, len(chunk)), dim=1)
            best.append(top.values)
            places.append(top.indices + low)
        top = torch.topk(torch.cat(best, 1), k, dim=1)
        found = torch.cat(places, 1).gather(1, top.indices)
        return top.values.cpu().numpy(), found.cpu().numpy()

    return search
