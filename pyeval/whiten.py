"""Whitening: an encoder's vectors with their variance evenly spread.

An untuned encoder's raw cosine is nearly blind, because a few directions hold most of its
variance; so beating it says little unless its whitened vectors are beaten too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import CheckFailed


@dataclass(frozen=True, slots=True)
class Whitening:
    """A fitted transform: subtract the mean, spread the variance, scale to unit length.

    Attributes:
        mean: (D,) of the vectors it was fitted on.
        transform: (D, D) symmetric.
        n_fitted: vectors it was fitted on.
    """

    mean: NDArray[np.float64]
    transform: NDArray[np.float64]
    n_fitted: int

    def apply(self, vectors: NDArray[np.floating]) -> NDArray[np.float32]:
        """(N, D) -> (N, D) unit rows; a row equal to the mean stays zero."""
        out = np.empty(vectors.shape, dtype=np.float32)
        for start in range(0, len(vectors), 65_536):
            rows = slice(start, start + 65_536)
            moved = (vectors[rows] - self.mean) @ self.transform
            lengths = np.linalg.norm(moved, axis=1, keepdims=True)
            out[rows] = moved / np.maximum(lengths, 1e-12)
        return out


def fit_whitening(vectors: NDArray[np.floating], shrink: float = 0.3) -> Whitening:
    """Fits the transform on vectors of documents known by the cutoff.

    Args:
        vectors: (N, D).
        shrink: added to each eigenvalue, as a share of their mean (our choice).

    Raises:
        CheckFailed: the vectors do not vary, so there is nothing to whiten.
    """
    exact = vectors.astype(np.float64)
    mean = exact.mean(axis=0)
    centred = exact - mean
    eigenvalues, axes = np.linalg.eigh(centred.T @ centred / max(len(exact), 1))
    spread = np.clip(eigenvalues, 0.0, None)
    if spread.mean() < 1e-12:
        raise CheckFailed(
            f"the {len(exact):,} vectors to whiten are all the same: this encoder sees no "
            "difference between documents. Score it without --whiten, or train it"
        )
    scale = 1.0 / np.sqrt(spread + shrink * spread.mean())
    return Whitening(mean, (axes * scale) @ axes.T, len(exact))
