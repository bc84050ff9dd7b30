"""Skip-gram with negative sampling over any sequences of whole numbers: walks or token ids.

Deterministic mode trains on one thread. In `fast` mode threads write to the same rows without
locks, as word2vec does: quicker by the number of threads, never the same twice.

Source: Mikolov et al. (2013), word2vec; negatives shared over a window after Ji et al. (2016).
"""

import numpy as np
from numba import get_num_threads, njit, prange

from pytrain.splitmix import bits, unit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_CLIP = np.float32(8.0)  # the sigmoid is flat beyond


@njit(inline="always")
def _scramble(x):
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@njit(inline="always", fastmath=True)
def _sigmoid(x):
    x = min(max(x, -_CLIP), _CLIP)
    return np.float32(1.0) / (np.float32(1.0) + np.exp(-x))


@njit(fastmath=True, cache=True)
def _train_rows(tokens, offsets, low, high, vectors, outputs, table, window, negatives, lr, state):
    """Sequences low..high, negatives shared by the pairs of one window.

    `lr` is (2,): the rate at the first and at the last sequence.
    """
    width = vectors.shape[1]
    context = np.empty(2 * window, np.int64)
    moves = np.empty((2 * window, width), np.float32)
    pull = np.empty(width, np.float32)
    for row in range(low, high):
        rate = np.float32(lr[0] + (lr[1] - lr[0]) * (row - low) / (high - low))
        begin, end = offsets[row], offsets[row + 1]
        for at in range(begin, end):
            state += _GOLDEN
            reach = 1 + np.int64(_scramble(state) % np.uint64(window))
            n_context = 0
            for other in range(max(begin, at - reach), min(end, at + reach + 1)):
                if other != at:
                    context[n_context] = tokens[other]
                    n_context += 1
            moves[:n_context] = 0
            centre = np.int64(tokens[at])
            for k in range(negatives + 1):
                target = centre
                label = np.float32(1)
                if k > 0:
                    state += _GOLDEN
                    target = np.int64(table[np.int64(_scramble(state) % np.uint64(table.size))])
                    label = np.float32(0)
                    if target == centre:
                        continue
                output = outputs[target]
                pull[:] = 0
                for t in range(n_context):
                    vector = vectors[context[t]]
                    score = np.float32(0)
                    for j in range(width):
                        score += vector[j] * output[j]
                    step = (label - _sigmoid(score)) * rate
                    move = moves[t]
                    for j in range(width):  # two loops: one alone would not be vectorised
                        move[j] += step * output[j]
                    for j in range(width):
                        pull[j] += step * vector[j]
                for j in range(width):
                    output[j] += pull[j]
            for t in range(n_context):
                vector = vectors[context[t]]
                move = moves[t]
                for j in range(width):
                    vector[j] += move[j]


@njit(fastmath=True, cache=True, parallel=True)
def _train_shared(tokens, offsets, vectors, outputs, table, window, negatives, lr, states):
    """One slice of the sequences per entry of `states`, at the same time, without locks."""
    n_rows = len(offsets) - 1
    for part in prange(len(states)):
        low = n_rows * part // len(states)
        high = n_rows * (part + 1) // len(states)
        _train_rows(
            tokens, offsets, low, high, vectors, outputs, table, window, negatives, lr, states[part]
        )


def negative_table(counts: np.ndarray, power: float = 0.75) -> np.ndarray:
    """Row numbers repeated in proportion to count ** power, for drawing negatives.

    Args:
        counts: (N,) occurrences, counted inside the slice.
        power: word2vec's three quarters.

    Returns:
        int32, ten entries for each row on average, at least a million.
    """
    weights = counts.astype(np.float64) ** power
    size = min(100_000_000, max(1_000_000, 10 * len(counts)))
    edges = np.cumsum(weights) / weights.sum()
    places = (np.arange(size) + 0.5) / size
    return np.minimum(np.searchsorted(edges, places), len(counts) - 1).astype(np.int32)


class SkipGram:
    """Vectors in training: `feed` it sequences in order, then read `vectors`, (N, D) float32."""

    def __init__(
        self,
        counts: np.ndarray,
        total: int,
        *,
        dimensions: int,
        window: int,
        negatives: int,
        lr: tuple[float, float],
        seed: int,
        fast: bool = False,
    ) -> None:
        """Draw the first vectors.

        Args:
            counts: (N,) how often each id occurs in what will be fed.
            total: sequences that will be fed in all, over which the learning rate falls.
            dimensions: width D of a vector.
            window: ids on either side; the reach is drawn from 1..window at each place.
            negatives: per window.
            lr: at the first sequence and at the last.
            seed: of the first vectors and of the draws.
            fast: use every thread, without locks.
        """
        n = len(counts)
        start = unit(bits(seed, 1, n=n * dimensions)).astype(np.float32)
        self.vectors = (start.reshape(n, dimensions) - np.float32(0.5)) / np.float32(dimensions)
        self._outputs = np.zeros((n, dimensions), np.float32)
        self._table = negative_table(counts)
        self._window, self._negatives, self._lr = window, negatives, lr
        self._seed, self._fast = seed, fast
        self._total, self._done, self._calls = max(1, total), 0, 0

    def feed(self, tokens: np.ndarray, offsets: np.ndarray) -> None:
        """Train on sequences tokens[offsets[i]:offsets[i + 1]]; int32 and int64."""
        n_rows = len(offsets) - 1
        ends = [min(1.0, (self._done + n) / self._total) for n in (0, n_rows)]
        rates = np.array([self._lr[0] + (self._lr[1] - self._lr[0]) * end for end in ends])
        parts = get_num_threads() if self._fast else 1
        states = bits(self._seed, 2, self._calls, n=parts)
        shared = (self.vectors, self._outputs, self._table, self._window, self._negatives, rates)
        if self._fast:
            _train_shared(tokens, offsets, *shared, states)
        else:
            _train_rows(tokens, offsets, 0, n_rows, *shared, states[0])
        self._done += n_rows
        self._calls += 1
