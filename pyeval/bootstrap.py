"""Evidence (what each example contributes to a score) and intervals by resampling it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pyeval.metrics import f1_parts, kendall_tau, macro_f1

Floats = NDArray[np.float64]

# Kendall's tau is no sum over examples; above this many, resamples are this large and the
# interval is scaled by the square root of the ratio (our choice: m out of n bootstrap).
TAU_RESAMPLE_MAX = 20_000


class Evidence(Protocol):
    """Examples of one score. A resample is a weight per example."""

    def __len__(self) -> int:
        """Number of examples."""

    def take(self, rows: NDArray) -> "Evidence":
        """The evidence of these examples only."""

    def statistic(self, weights: NDArray[np.integer]) -> Floats:
        """(B, n) weights -> (B,) scores, 0 to 100; nan where the score is undefined."""


@dataclass(frozen=True, slots=True)
class MeanEvidence:
    """A score that is the mean of per-query values (n,), 0 to 1."""

    values: Floats

    def __len__(self) -> int:
        """Number of examples."""
        return len(self.values)

    def take(self, rows: NDArray) -> "MeanEvidence":
        """The evidence of these queries only."""
        return MeanEvidence(self.values[rows])

    def statistic(self, weights: NDArray[np.integer]) -> Floats:
        """Weighted means, times 100."""
        return 100 * (weights @ self.values) / np.maximum(weights.sum(axis=1), 1)


@dataclass(frozen=True, slots=True)
class F1Evidence:
    """Macro F1, the mean over seeds.

    A class without an example in a resample is left out there, as it would be in a test set
    without one; so intervals are wide and lopsided where a class has very few.

    Attributes:
        truth: (n, C) bool.
        predicted: (n, S, C) bool, one slice per seed.
    """

    truth: NDArray[np.bool_]
    predicted: NDArray[np.bool_]

    def __len__(self) -> int:
        """Number of examples."""
        return len(self.truth)

    def take(self, rows: NDArray) -> "F1Evidence":
        """The evidence of these examples only."""
        return F1Evidence(self.truth[rows], self.predicted[rows])

    def statistic(self, weights: NDArray[np.integer]) -> Floats:
        """Macro F1 over the classes with an example in the resample, times 100."""
        shape = (*self.predicted.shape[1:], 3)
        sums = np.zeros((len(weights), int(np.prod(shape))))
        for start in range(0, len(self), 16_384):
            rows = slice(start, start + 16_384)
            parts = f1_parts(self.truth[rows, None, :], self.predicted[rows])
            sums += weights[:, rows] @ parts.reshape(len(parts), -1)
        return 100 * macro_f1(sums.reshape(len(weights), *shape)).mean(axis=1)


@dataclass(frozen=True, slots=True)
class TauEvidence:
    """Kendall's tau between (n,) targets and predictions."""

    target: Floats
    predicted: Floats

    def __len__(self) -> int:
        """Number of examples."""
        return len(self.target)

    def take(self, rows: NDArray) -> "TauEvidence":
        """The evidence of these examples only."""
        return TauEvidence(self.target[rows], self.predicted[rows])

    def statistic(self, weights: NDArray[np.integer]) -> Floats:
        """Tau-b of each resample, times 100."""
        drawn = (np.repeat(np.arange(len(self)), row) for row in weights)
        return np.array([100 * kendall_tau(self.target[i], self.predicted[i]) for i in drawn])


def value(evidence: Evidence) -> float | None:
    """The score, 0 to 100; None without examples or where it is undefined."""
    if not len(evidence):
        return None
    score = float(evidence.statistic(np.ones((1, len(evidence)), dtype=np.int64))[0])
    return None if np.isnan(score) else score


def interval(
    evidence: Evidence, *, resamples: int = 1_000, seed: int = 0, level: float = 0.95
) -> tuple[float, float] | None:
    """Percentile interval of the score over its examples; None where it is undefined."""
    return bounds(resampled(evidence, resamples=resamples, seed=seed), level)


def resampled(evidence: Evidence, *, resamples: int, seed: int) -> Floats | None:
    """(B,) scores of the resamples, nan where undefined; None where there is no interval."""
    score = value(evidence)
    if score is None or len(evidence) < 2 or resamples < 1:
        return None
    size = resample_size(evidence)
    drawn = np.concatenate(
        [evidence.statistic(w) for w in weights(len(evidence), resamples, seed, size=size)]
    )
    return score + np.sqrt(size / len(evidence)) * (drawn - score)


def bounds(drawn: Floats | None, level: float = 0.95) -> tuple[float, float] | None:
    """Percentile interval of the scores of resamples; None where none is defined."""
    if drawn is None or np.isnan(drawn).all():
        return None
    low, high = np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def weights(
    n: int, resamples: int, seed: int, *, size: int | None = None
) -> Iterator[NDArray[np.int64]]:
    """Blocks of (b, n) how often each of n examples is drawn, `size` draws to a resample.

    The same n, seed and size give the same draws: a paired comparison uses one stream.
    """
    size = n if size is None else size
    rng = np.random.default_rng(seed)
    step = max(1, min(resamples, 2**23 // max(n, 1)))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = rng.integers(0, n, size=(rows, size)) + np.arange(rows)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)


def resample_size(evidence: Evidence) -> int:
    """Examples drawn to a resample; fewer than there are only for a costly statistic."""
    capped = isinstance(evidence, TauEvidence) and len(evidence) > TAU_RESAMPLE_MAX
    return TAU_RESAMPLE_MAX if capped else len(evidence)
