"""Which pair stands at which place of the training: from the seed and the place alone.

A place is the running number of an example over all steps. Nothing is kept between places, so
that a training resumes anywhere and the batches do not depend on threads or devices.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from pytrain.splitmix import bits, key_of, order_of, scramble, unit


def kinds_of(shares: Sequence[float], n: int) -> np.ndarray:
    """(n,) int: the kind of each batch, so that every prefix has the shares as nearly as can be.

    Args:
        shares: of each kind, >= 0; they need not sum to one.
        n: batches.
    """
    target = np.array(shares, float) / sum(shares)
    taken, kinds = np.zeros(len(target)), np.empty(n, np.int64)
    for i in range(n):
        lag = np.where(target > 0, target * (i + 1) - taken, -np.inf)
        kinds[i] = np.argmax(np.round(lag, 9))
        taken[kinds[i]] += 1
    return kinds


class ExampleDraws:
    """Graph examples by anchor: a fixed share of papers, with replacement; patents without.

    Of any first n places, `floor(n * share)` are papers. Papers are drawn with replacement;
    patents are gone through in a new order on each pass. An anchor drawn gives one of its
    examples: a paper any, a patent the next on each pass.

    Source: paper, Appendix A "Anchors".
    """

    def __init__(
        self, anchor_ids: np.ndarray, is_paper: np.ndarray, paper_share: float, seed: int
    ) -> None:
        """Group the examples by anchor.

        Args:
            anchor_ids: (E,) document of the anchor of each example.
            is_paper: (E,) bool, its type.
            paper_share: of the places; 1 or 0 where there is no anchor of the other type.
            seed: of the draws.
        """
        self._rows = np.argsort(anchor_ids, kind="stable")  # of one anchor in the order given
        anchors, first, counts = np.unique(
            anchor_ids[self._rows], return_index=True, return_counts=True
        )
        paper = is_paper[self._rows][first]
        self._papers = _Pool(anchors[paper], first[paper], counts[paper])
        self._patents = _Pool(anchors[~paper], first[~paper], counts[~paper])
        if not len(self._patents.ids):
            paper_share = 1.0
        elif not len(self._papers.ids):
            paper_share = 0.0
        self.paper_share = Fraction(paper_share).limit_denominator(1_000_000)
        self._seed = seed
        self._order: tuple[int, np.ndarray] | None = None

    def examples(self, start: int, n: int) -> np.ndarray:
        """(n,) numbers of examples at places start..start + n."""
        place = np.arange(start, start + n)
        above, below = self.paper_share.numerator, self.paper_share.denominator
        papers_before = place * above // below
        is_paper = (place + 1) * above // below > papers_before
        out = np.empty(n, np.int64)
        out[is_paper] = self._some_papers(place[is_paper])
        turn = (place - papers_before)[~is_paper]
        for visit in np.unique(turn // max(1, len(self._patents.ids))):
            here = turn // len(self._patents.ids) == visit
            out[np.flatnonzero(~is_paper)[here]] = self._next_patents(turn[here], int(visit))
        return self._rows[out]

    def _some_papers(self, place: np.ndarray) -> np.ndarray:
        pool = self._papers
        if not len(place):
            return place
        first, last = int(place[0]), int(place[-1])
        raw = bits(self._seed, 11, n=2 * (last - first + 1), start=2 * first).reshape(-1, 2)
        raw = unit(raw[place - first])
        anchor = (raw[:, 0] * len(pool.ids)).astype(np.int64)
        return pool.first[anchor] + (raw[:, 1] * pool.counts[anchor]).astype(np.int64)

    def _next_patents(self, turn: np.ndarray, visit: int) -> np.ndarray:
        pool = self._patents
        if self._order is None or self._order[0] != visit:
            self._order = (visit, order_of(pool.ids, self._seed, 12, visit))
        anchor = self._order[1][turn % len(pool.ids)]
        shift = scramble(key_of(self._seed, 13) + pool.ids[anchor].astype(np.uint64))
        step = (shift % pool.counts[anchor].astype(np.uint64)).astype(np.int64) + visit
        return pool.first[anchor] + step % pool.counts[anchor]


class CrossDraws:
    """`ExampleDraws` with a fixed share of examples whose positive is of the other type.

    Of any first n places, `floor(n * share)` have one; each kind is drawn by its own rule of
    anchors, so that the share of papers holds within both.
    """

    def __init__(
        self,
        anchor_ids: np.ndarray,
        is_paper: np.ndarray,
        is_cross: np.ndarray,
        shares: tuple[float, float],
        seed: int,
    ) -> None:
        """Part the examples.

        Args:
            anchor_ids: (E,) document of the anchor of each example.
            is_paper: (E,) bool, its type.
            is_cross: (E,) bool, whether its positive is of the other type.
            shares: of papers among the anchors, and of examples across types; examples of both
                kinds where the second is neither 0 nor 1.
            seed: of the draws.
        """
        self._share = Fraction(shares[1]).limit_denominator(1_000_000)
        self._rows = [np.flatnonzero(~is_cross), np.flatnonzero(is_cross)]
        self._draws = [
            ExampleDraws(anchor_ids[rows], is_paper[rows], shares[0], seed + (kind << 32))
            for kind, rows in enumerate(self._rows)
        ]

    def examples(self, start: int, n: int) -> np.ndarray:
        """(n,) numbers of examples at places start..start + n."""
        place = np.arange(start, start + n)
        above, below = self._share.numerator, self._share.denominator
        before = place * above // below
        is_cross = (place + 1) * above // below > before
        out = np.empty(n, np.int64)
        for kind, turn in enumerate((place - before, before)):
            here = is_cross == bool(kind)
            if here.any():  # its turns follow one another
                first = int(turn[here][0])
                out[here] = self._rows[kind][self._draws[kind].examples(first, int(here.sum()))]
        return out


class _Pool:
    """Anchors of one type: their ids, the first of their examples and how many they have."""

    def __init__(self, ids: np.ndarray, first: np.ndarray, counts: np.ndarray) -> None:
        self.ids, self.first, self.counts = ids, first, counts


class PassDraws:
    """Rows without replacement, in a new order on each pass; the order is a hash of their ids."""

    def __init__(self, ids: np.ndarray, seed: int, *key: int) -> None:
        """Keep the ids.

        Args:
            ids: (N,) distinct ids of the rows.
            seed: of the orders.
            *key: of this use of the seed.
        """
        self._ids, self._seed, self._key = ids, seed, key
        self._order: tuple[int, np.ndarray] | None = None

    def rows(self, start: int, n: int) -> np.ndarray:
        """(n,) rows at places start..start + n."""
        place, total = np.arange(start, start + n), len(self._ids)
        out = np.empty(n, np.int64)
        for visit in np.unique(place // total):
            if self._order is None or self._order[0] != visit:
                self._order = (int(visit), order_of(self._ids, self._seed, *self._key, int(visit)))
            here = place // total == visit
            out[here] = self._order[1][place[here] % total]
        return out
