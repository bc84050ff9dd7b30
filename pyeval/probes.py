"""What is read off frozen embeddings: a linear probe and a ridge regression."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyeval.metrics import kendall_tau

Floats = NDArray[np.floating]


@dataclass(frozen=True, kw_only=True)
class ProbeSettings:
    """The linear probe (patrepeval.md, "Protocol"); the defaults are the paper's."""

    seeds: tuple[int, ...] = (0, 1, 2)  # initialisations; the score is their mean
    epochs: int = 50
    lr: float = 1e-2
    weight_decay: float = 1e-4  # AdamW's, decoupled
    batch: int = 4096  # examples per step
    order_seed: int = 0  # one order of the batches for all seeds (our choice: 4x faster)

    def __post_init__(self) -> None:
        """Refuses settings that train nothing."""
        if not self.seeds or self.epochs < 1 or self.batch < 1:
            raise ValueError("a probe needs a seed, an epoch and a batch of at least one")


@dataclass(frozen=True, kw_only=True)
class RidgeSettings:
    """Ridge in closed form (patrepeval.md, "Protocol"); the defaults are the paper's."""

    penalties: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)  # times n
    held_out_share: float = 0.1  # of the train rows, to choose the penalty by Kendall's tau
    held_out_max: int = 100_000


@dataclass(frozen=True, slots=True)
class RidgeFit:
    """A fitted ridge: prediction = features @ coefficients + intercept, in [0, 1] units."""

    coefficients: NDArray[np.float64]  # (D,)
    intercept: float
    penalty: float  # the chosen multiple of n

    def predict(self, features: Floats) -> NDArray[np.float64]:
        """(N, D) -> (N,)."""
        return features @ self.coefficients + self.intercept


def standardise(train: Floats, *others: Floats) -> list[NDArray[np.float32]]:
    """Unit rows, then each dimension by the mean and standard deviation of `train`.

    A dimension that does not vary in train becomes zero everywhere.
    """
    units = [_unit(part) for part in (train, *others)]
    mean = units[0].mean(axis=0, dtype=np.float64)
    deviation = units[0].std(axis=0, dtype=np.float64)
    varies = deviation > 1e-7
    scale = np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0)
    return [((unit - mean) * scale).astype(np.float32) for unit in units]


def linear_probe(
    train: Floats, labels: NDArray, test: Floats, settings: ProbeSettings
) -> NDArray[np.float32]:
    """Trains one linear layer per seed, all seeds in one weight matrix.

    Args:
        train: (N, D) standardised features.
        labels: (N,) class numbers 0..C-1 with every class present, or (N, C) bool for
            several labels per example.
        test: (M, D) features.
        settings: how to train.

    Returns:
        (S, M, C) logits, one slice per seed.

    Source: paper, Appendix B: cross-entropy with balanced class weights, or binary
    cross-entropy; AdamW.
    """
    import torch
    import torch.nn.functional as F

    multilabel = labels.ndim == 2
    n_classes = labels.shape[1] if multilabel else int(labels.max()) + 1
    weight, bias = _initial(train.shape[1], n_classes, settings.seeds)
    optimizer = torch.optim.AdamW(
        [weight, bias], lr=settings.lr, weight_decay=settings.weight_decay
    )
    features = torch.from_numpy(np.ascontiguousarray(train, dtype=np.float32))
    target = torch.from_numpy(labels.astype(np.float32 if multilabel else np.int64))
    balance = None if multilabel else torch.from_numpy(balanced_weights(labels, n_classes))
    order = torch.Generator().manual_seed(settings.order_seed)
    for _ in range(settings.epochs):
        for rows in torch.randperm(len(features), generator=order).split(settings.batch):
            logits = _logits(features[rows], weight, bias)
            wanted = target[rows]
            if multilabel:
                losses = [F.binary_cross_entropy_with_logits(one, wanted) for one in logits]
            else:
                losses = [F.cross_entropy(one, wanted, weight=balance) for one in logits]
            optimizer.zero_grad(set_to_none=True)
            torch.stack(losses).sum().backward()  # a sum, so that each seed trains as if alone
            optimizer.step()
    with torch.no_grad():
        shown = torch.from_numpy(np.ascontiguousarray(test, dtype=np.float32))
        return _logits(shown, weight, bias).numpy()


def balanced_weights(labels: NDArray[np.integer], n_classes: int) -> NDArray[np.float32]:
    """(C,) n / (C x count), as scikit-learn's class_weight="balanced"."""
    counts = np.bincount(labels, minlength=n_classes)
    return (len(labels) / (n_classes * np.maximum(counts, 1))).astype(np.float32)


def ridge(
    train: Floats, target: Floats, held_out: NDArray[np.bool_], settings: RidgeSettings
) -> RidgeFit:
    """Ridge with the penalty that orders the held-out rows best, refitted on all rows.

    The Gram matrix of the kept rows is that of all rows less that of the held-out ones, so six
    penalties and the refit cost one pass over the features, none of which is copied.

    Args:
        train: (N, D) standardised features.
        target: (N,) in any unit; scaled to [0, 1] here.
        held_out: (N,) true for the rows that choose the penalty.
        settings: penalties, each multiplied by the number of rows fitted.
    """
    low, high = float(target.min()), float(target.max())
    scaled = (target - low) / (high - low) if high > low else np.zeros(len(target))
    whole = _moments(train, scaled)
    held = _moments(train[held_out], scaled[held_out])
    rest = whole.minus(held)
    best_tau, best = -np.inf, settings.penalties[-1]
    for penalty in sorted(settings.penalties, reverse=True):  # a tie goes to the stronger
        if rest.n == 0 or held.n == 0:
            break
        coefficients, intercept = _solve(rest, penalty)
        tau = kendall_tau(scaled[held_out], train[held_out] @ coefficients + intercept)
        if tau > best_tau:
            best_tau, best = tau, penalty
    coefficients, intercept = _solve(whole, best)
    return RidgeFit(coefficients, intercept, best)


@dataclass(frozen=True, slots=True)
class _Moments:
    """Sums from which a ridge follows: n, sum x, sum y, X'X, X'y."""

    n: int
    x: NDArray[np.float64]
    y: float
    xx: NDArray[np.float64]
    xy: NDArray[np.float64]

    def minus(self, part: "_Moments") -> "_Moments":
        """The moments of the rows that are not in the part."""
        return _Moments(
            self.n - part.n,
            self.x - part.x,
            self.y - part.y,
            self.xx - part.xx,
            self.xy - part.xy,
        )


def _moments(features: Floats, target: Floats, block: int = 4_096) -> _Moments:
    """Sums of blocks, added up in fp64, so that the features are never copied whole.

    The products of a block are taken in the features' own precision and for one triangle alone:
    of fp32 features that is four times as fast as in fp64, and differs by 1e-7 of the whole.
    """
    from scipy.linalg.blas import dsyrk, ssyrk

    n, dims = features.shape
    single = features.dtype == np.float32
    product, kind = (ssyrk, np.float32) if single else (dsyrk, np.float64)
    upper, sums = np.zeros((dims, dims), order="F"), np.zeros((2, dims))
    sides = np.stack([target, np.ones(n)]).astype(kind)
    for start in range(0, n, block):
        rows = np.ascontiguousarray(features[start : start + block], kind)
        upper += product(1.0, rows.T)
        sums += sides[:, start : start + block] @ rows
    xx = np.triu(upper) + np.triu(upper, 1).T
    return _Moments(n, sums[1], float(target.sum()), xx, sums[0])


def _solve(sums: _Moments, penalty: float) -> tuple[NDArray[np.float64], float]:
    """Coefficients and intercept; the intercept is not penalised."""
    mean_x, mean_y = sums.x / sums.n, sums.y / sums.n
    gram = sums.xx - sums.n * np.outer(mean_x, mean_x)
    moment = sums.xy - sums.n * mean_x * mean_y
    system = gram + penalty * sums.n * np.eye(len(mean_x))
    coefficients = np.linalg.solve(system, moment)
    return coefficients, mean_y - float(mean_x @ coefficients)


def _initial(dims: int, n_classes: int, seeds: tuple[int, ...]):
    """Weights (S, D, C) and biases (S, 1, C), drawn as torch.nn.Linear draws them."""
    import torch

    bound = dims**-0.5
    weights, biases = [], []
    for seed in seeds:
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.rand((dims + 1, n_classes), generator=generator) * 2 - 1
        weights.append(drawn[:-1] * bound)
        biases.append(drawn[-1:] * bound)
    weight, bias = torch.stack(weights), torch.stack(biases)
    return weight.requires_grad_(), bias.requires_grad_()


def _logits(features, weight, bias):
    """(B, D) features -> (S, B, C), as one product over all seeds."""
    seeds, dims, n_classes = weight.shape
    flat = features @ weight.permute(1, 0, 2).reshape(dims, seeds * n_classes)
    return flat.view(len(features), seeds, n_classes).transpose(0, 1) + bias


def _unit(vectors: Floats) -> Floats:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
