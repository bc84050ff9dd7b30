"""CPU time, one row of the table, and the machine's own limits."""

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Row:
    """One kernel beside one peer on the same work, both in this run."""

    kernel: str
    peer: str
    own: float | None  # CPU seconds; None: not measured
    other: float | None  # CPU seconds of the peer; None: not measured
    floor: float  # the ratio that must be reached
    limit: float | None = None  # CPU seconds of the hardware limit on the same work
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Peer over own."""
        return self.other / self.own if self.own and self.other else None

    @property
    def share(self) -> float | None:
        """The limit's share of our time, 1 at the limit."""
        return self.limit / self.own if self.own and self.limit else None

    @property
    def verdict(self) -> str:
        """Whether the floor is reached."""
        if self.ratio is None:
            return "not measured"
        return "met" if self.ratio >= self.floor else "below the floor"


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Median CPU time after a first call that compiles and warms up."""
    work()
    taken = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return float(np.median(taken))


def absent(*modules: str) -> str | None:
    """What to say where a peer is not installed; None where it is."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return f"{', '.join(missing)} is not installed" if missing else None


def product_seconds(flops: float, width: int, dtype: str = "float32") -> float:
    """CPU seconds of so many floating-point operations in bare products of depth `width`.

    The tile is that of a search or a layer, 256 x 4,096, so that it stays in the cache.
    """
    import torch

    one, other = (torch.randn(n, width, dtype=getattr(torch, dtype)) for n in (256, 4_096))
    times = max(8, int(2e10 / (2 * 256 * 4_096 * width)))
    taken = cpu_seconds(lambda: [one @ other.T for _ in range(times)])
    return taken * flops / (2 * 256 * 4_096 * width * times)


def gather_seconds(reads: int, values: np.ndarray) -> float:
    """CPU seconds of so many random reads of an array, the limit of a walk."""
    places = np.random.default_rng(0).integers(0, len(values), 2_000_000)
    return cpu_seconds(lambda: values[places]) * reads / len(places)
