"""Splitmix64: random numbers from a counter, so that a draw does not depend on threads.

The functions are part of the format of every vintage: another constant would change every
walk and every draw. The numpy half needs no compiler; the numba half is the same arithmetic.

Source: Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators".
"""

from typing import Final

import numpy as np

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def scramble(x: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64 over an array of uint64."""
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


def key_of(*parts: int) -> np.ndarray:
    """One key, a (1,) uint64 array, from whole numbers such as (seed, stage, step)."""
    key = np.zeros(1, np.uint64)
    for part in parts:
        key = scramble(key + GOLDEN + np.array([part % 2**64], np.uint64))
    return key


def bits(*parts: int, n: int, start: int = 0) -> np.ndarray:
    """(n,) uint64: numbers `start` to `start + n` of the stream named by `parts`."""
    counters = np.arange(start + 1, start + n + 1, dtype=np.uint64)
    return scramble(key_of(*parts) + counters * GOLDEN)


def unit(raw: np.ndarray) -> np.ndarray:
    """Uniform float64 in [0, 1) from uint64 bits."""
    return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53


def order_of(ids: np.ndarray, *parts: int) -> np.ndarray:
    """The positions of `ids` in an order that depends on each id and the key alone.

    Removing an id leaves the order of the others as it was; a permutation drawn by position
    would not.
    """
    raw = scramble(key_of(*parts) + np.asarray(ids, np.int64).astype(np.uint64) * GOLDEN)
    return np.lexsort((ids, raw))
