"""Exact ranking of a fixed corpus, with one tie rule: score descending, then doc_id ascending.

The corpus is given in ascending doc_id, so that its index order is the tie order.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

# Two fp32 dot products of unit vectors that are equal in exact arithmetic differ by less.
_FP32_SLACK = 1e-5
_BLOCK_SCORES = 2**25  # scores held at a time: 128 MB


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best documents of each query.

    Attributes:
        index: (Q, K) positions in the corpus, best first; -1 past the last one ranked.
        scores: (Q, K) their scores, nan past the last one.
    """

    index: Ints
    scores: NDArray[np.float64]

    @property
    def ranked(self) -> NDArray[np.bool_]:
        """(Q, K) false past the last document ranked."""
        return self.index >= 0


def search(queries: Floats, corpus: Floats, depth: int) -> Ranking:
    """The `depth` nearest documents of each query by cosine, over the whole corpus.

    A block of fp32 scores finds the candidates; these are scored again in fp64, pair by
    pair, so that equal vectors tie exactly whatever the block, thread count or BLAS.

    Args:
        queries: (Q, D) vectors of any length.
        corpus: (N, D) likewise, in ascending doc_id.
        depth: documents kept per query.

    Source: patrepeval.md, "Protocol". Never bf16: its top 200 overlap the exact ones by .99.
    """
    import torch

    unit_queries, unit_corpus = _unit(queries), _unit(corpus)
    keep = min(depth, len(unit_corpus))
    ranking = _empty(len(queries), depth)
    documents = torch.from_numpy(unit_corpus)
    for rows in _blocks(len(queries), len(unit_corpus)):
        scores = torch.from_numpy(unit_queries[rows]) @ documents.T
        bars = scores.topk(keep, dim=1).values[:, -1] - _FP32_SLACK
        candidates = scores >= bars[:, None]
        for row, query in enumerate(range(rows.start, rows.stop)):
            found = candidates[row].nonzero()[:, 0].numpy()
            exact = np.einsum(
                "nd,d->n",
                unit_corpus[found].astype(np.float64),
                unit_queries[query].astype(np.float64),
            )
            _keep_best(ranking, query, found, exact, keep)
    return ranking


def mean_of_parts(vectors: Floats, query_of: Ints, n_queries: int) -> Floats:
    """The vector of each query, from those of the documents that it is made of.

    Args:
        vectors: (P, D) one per document of a query.
        query_of: (P,) position of its query.
        n_queries: Q; every query has a document.

    Returns:
        (Q, D) the mean of the documents' unit vectors; a query of one document is that vector.

    Source: paper, Appendix B.3 "Assignee Patent Match"; embeddings are unit vectors (B.5).
    """
    if np.array_equal(query_of, np.arange(n_queries)):
        return vectors
    sums = np.zeros((n_queries, vectors.shape[1]))
    np.add.at(sums, query_of, _unit(vectors))
    return sums / np.bincount(query_of, minlength=n_queries)[:, None]


def rank_scores(blocks: Iterator[Floats], n_queries: int, depth: int) -> Ranking:
    """The `depth` best documents by given scores.

    Args:
        blocks: (b, N) scores of successive queries over the whole corpus, ascending doc_id.
        n_queries: rows of all blocks together.
        depth: documents kept per query.
    """
    ranking = _empty(n_queries, depth)
    query = 0
    for scores in blocks:
        keep = min(depth, scores.shape[1])
        bars = np.partition(scores, scores.shape[1] - keep, axis=1)[:, scores.shape[1] - keep]
        for row, bar in zip(scores, bars, strict=True):
            found = np.flatnonzero(row >= bar)
            _keep_best(ranking, query, found, row[found].astype(np.float64), keep)
            query += 1
    return ranking


def judge(ranking: Ranking, relevant: tuple[Ints, Ints], n_corpus: int) -> NDArray[np.bool_]:
    """(Q, K) true where the document ranked is relevant to its query.

    Args:
        ranking: of Q queries.
        relevant: query positions and corpus positions, one pair per relevant document.
        n_corpus: documents in the corpus.
    """
    return _pairs_in(ranking, relevant, n_corpus)


def without(ranking: Ranking, excluded: tuple[Ints, Ints], n_corpus: int, depth: int) -> Ranking:
    """The ranking with these (query, document) pairs taken out and the rest moved up.

    The ranking must be deeper than `depth` by each query's number of excluded documents.
    """
    out = _pairs_in(ranking, excluded, n_corpus) | ~ranking.ranked
    order = np.argsort(out, axis=1, kind="stable")[:, :depth]
    index = np.take_along_axis(np.where(out, -1, ranking.index), order, axis=1)
    scores = np.take_along_axis(np.where(out, np.nan, ranking.scores), order, axis=1)
    return Ranking(index, scores)


def _pairs_in(ranking: Ranking, pairs: tuple[Ints, Ints], n_corpus: int) -> NDArray[np.bool_]:
    keys = pairs[0].astype(np.int64) * n_corpus + pairs[1]
    own = np.arange(len(ranking.index))[:, None] * n_corpus + ranking.index
    return np.isin(own, keys) & ranking.ranked


def _keep_best(ranking: Ranking, query: int, found: Ints, scores: Floats, keep: int) -> None:
    """Writes the best of ascending positions `found`; the stable sort keeps ties by id."""
    order = np.argsort(-scores, kind="stable")[:keep]
    ranking.index[query, : len(order)] = found[order]
    ranking.scores[query, : len(order)] = scores[order]


def _empty(n_queries: int, depth: int) -> Ranking:
    return Ranking(np.full((n_queries, depth), -1), np.full((n_queries, depth), np.nan))


def _blocks(n_queries: int, n_corpus: int) -> Iterator[slice]:
    step = max(1, _BLOCK_SCORES // max(n_corpus, 1))
    for start in range(0, n_queries, step):
        yield slice(start, min(start + step, n_queries))


def _unit(vectors: Floats) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
