"""A last linear layer that spreads a model's variance evenly, fitted on the slice's documents.

An untrained eye on cosine: a few directions hold most of the variance of an encoder that was
never tuned, so its raw cosines hardly differ. Removing the mean does not help; this does.
"""

import hashlib
from pathlib import Path

import numpy as np

from pytrain.encoder import Encoder
from pytrain.export import add_dense
from pytrain.run import Run
from warehouse.tables import Lake, empty_slice

SHRINK = 0.3  # of the mean variance, added to each direction's; our choice


def fit(vectors: np.ndarray, shrink: float = SHRINK) -> tuple[np.ndarray, np.ndarray]:
    """The matrix (D, D) and bias (D,) with which `vectors @ matrix + bias` is white.

    Args:
        vectors: (N, D).
        shrink: share of the mean variance added to each direction; 0: exactly white.
    """
    exact = vectors.astype(np.float64)
    mean = exact.mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov(exact - mean, rowvar=False, bias=True))
    scale = 1.0 / np.sqrt(np.clip(spread, 0, None) + shrink * spread.mean() + 1e-12)
    matrix = (axes * scale) @ axes.T
    return matrix, -mean @ matrix


def whiten_model(run: Run, folder: Path, lake: Lake, documents: int) -> None:
    """Add the layer to a model folder, fitted on documents known by the run's cutoff.

    Args:
        run: of the cutoff.
        folder: its `model/`.
        lake: read as of the cutoff; recorded.
        documents: at most; those whose md5 comes first, so that later rows change nothing.
    """
    columns = ("doc_id", "title", "abstract")
    table = lake.read("documents", columns, cutoff=run.year)
    if not table.num_rows:
        raise empty_slice("documents", run.year, "the whitening")
    draws = [
        hashlib.md5(f"whitening:{one}".encode()).digest() for one in table["doc_id"].to_pylist()
    ]
    chosen = sorted(range(len(draws)), key=draws.__getitem__)[:documents]
    taken = table.take(sorted(chosen))
    encoder = Encoder.load(folder, dtype=run.settings.dtype, device=run.settings.device)
    texts = (taken["title"].to_pylist(), taken["abstract"].to_pylist())
    add_dense(folder, *fit(encoder.embed(*texts, normalise=False)))
    run.note(whitened_on=taken.num_rows)
