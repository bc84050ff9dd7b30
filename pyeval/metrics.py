"""Metrics on arrays, 0 to 1. Agreement with pytrec_eval, scikit-learn and scipy is tested.

Ties are broken before a ranking gets here, by (score descending, doc_id ascending):
trec_eval breaks them by id descending and ignores the order of its input, so `trec_eval`
below hands it ranks in place of scores.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def average_precision(hits: Bools, n_relevant: NDArray[np.integer]) -> Floats:
    """Average precision of each query over the documents ranked.

    Args:
        hits: (Q, K) true where the document at this rank is relevant.
        n_relevant: (Q,) all relevant documents of the query, ranked or not; at least 1.

    Returns:
        (Q,) the sum of precisions at the hits over *all* relevant documents, as trec_eval
        does: a relevant document below rank K counts as never found.
    """
    _check_relevant(hits, n_relevant)
    ranks = np.arange(1, hits.shape[1] + 1)
    precision = np.cumsum(hits, axis=1) / ranks
    return (precision * hits).sum(axis=1) / n_relevant


def ndcg(hits: Bools, n_relevant: NDArray[np.integer], depth: int = 10) -> Floats:
    """(Q,) nDCG at `depth`, binary gains, discount 1 / log2(1 + rank)."""
    _check_relevant(hits, n_relevant)
    discount = 1.0 / np.log2(np.arange(2, depth + 2))
    best = np.concatenate([[0.0], np.cumsum(discount)])
    found = hits[:, :depth]
    return found @ discount[: found.shape[1]] / best[np.minimum(n_relevant, depth)]


def precision_at(hits: Bools, depth: int) -> Floats:
    """(Q,) hits among the first `depth` over `depth`, also where fewer were ranked."""
    return hits[:, :depth].sum(axis=1) / depth


def ranking_metric(name: str, hits: Bools, n_relevant: NDArray[np.integer]) -> Floats:
    """(Q,) the metric of this name: map, ndcg_at_<k> or p_at_<k>."""
    if name == "map":
        return average_precision(hits, n_relevant)
    kind, depth = name.split("_at_")
    if kind == "ndcg":
        return ndcg(hits, n_relevant, int(depth))
    return precision_at(hits, int(depth))


def trec_eval(name: str, hits: Bools, ranked: Bools, n_relevant: NDArray[np.integer]) -> Floats:
    """The same values from pytrec_eval, the metrics of record (`--metrics pytrec_eval`).

    Args:
        name: map, ndcg_at_<k> or p_at_<k>.
        hits: (Q, K) as above.
        ranked: (Q, K) false past the last document ranked.
        n_relevant: (Q,) as above; relevant documents not ranked are added to the qrels.

    Returns:
        (Q,) per query. pytrec_eval keeps scores as float32 and drops a query without any
        ranked document: it is given K - rank as the score, and such a query counts as 0.
    """
    import pytrec_eval

    _check_relevant(hits, n_relevant)
    measure = {"map": "map", "ndcg": "ndcg_cut", "p": "P"}[name.split("_at_")[0]]
    if "_at_" in name:
        measure = f"{measure}_{name.split('_at_')[1]}"
    depth = hits.shape[1]
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, (found, present) in enumerate(zip(hits, ranked, strict=True)):
        missing = int(n_relevant[query] - found.sum())
        judged = {f"r{rank}": 1 for rank in np.flatnonzero(found)}
        judged |= {f"unranked{i}": 1 for i in range(missing)}
        qrels[str(query)] = judged
        run[str(query)] = {f"r{rank}": float(depth - rank) for rank in np.flatnonzero(present)}
    base = measure.rsplit("_", 1)
    asked = {f"{base[0]}.{base[1]}"} if "_at_" in name else {measure}
    scores = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    return np.array([scores.get(str(q), {}).get(measure, 0.0) for q in range(len(hits))])


def f1_parts(truth: Bools, predicted: Bools) -> Floats:
    """What F1 sums: (..., C, 3) true positives, false positives, false negatives."""
    parts = (truth & predicted, ~truth & predicted, truth & ~predicted)
    return np.stack(parts, axis=-1).astype(np.float64)


def f1(sums: Floats) -> Floats:
    """F1 from summed parts (..., 3); nan for a class without a true example."""
    true_positive, false_positive, false_negative = np.moveaxis(sums, -1, 0)
    total = 2 * true_positive + false_positive + false_negative
    score = 2 * true_positive / np.maximum(total, 1e-300)
    return np.where(true_positive + false_negative > 0, score, np.nan)


def macro_f1(sums: Floats) -> Floats:
    """Mean F1 over the classes that have a true example: (..., C, 3) -> (...).

    nan where no class has one.
    """
    scores = f1(sums)
    present = ~np.isnan(scores)
    total = np.where(present, scores, 0.0).sum(axis=-1)
    n_classes = present.sum(axis=-1)
    return np.where(n_classes > 0, total / np.maximum(n_classes, 1), np.nan)


def kendall_tau(target: NDArray, predicted: NDArray) -> float:
    """Kendall's tau-b.

    nan where the targets are all one value (nothing to order); 0 where only the
    predictions are: an encoder that sees no difference orders nothing.
    """
    from scipy.stats import kendalltau

    if len(target) < 2 or np.all(target == target[0]):
        return float("nan")
    if np.all(predicted == predicted[0]):
        return 0.0
    return float(kendalltau(target, predicted).statistic)


def _check_relevant(hits: Bools, n_relevant: NDArray[np.integer]) -> None:
    """Empty qrels make trec_eval mis-score what follows; they are never scored here."""
    if len(hits) != len(n_relevant):
        raise ValueError(f"{len(hits)} rankings for {len(n_relevant)} queries")
    if len(n_relevant) and int(n_relevant.min()) < 1:
        raise ValueError("a query without a relevant document cannot be scored")
    if np.any(hits.sum(axis=1) > n_relevant):
        raise ValueError("a query has more hits than relevant documents")
