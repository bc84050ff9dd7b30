"""Who must never be whose negative: the anchor itself, its positives, its kin, its neighbours."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

_LETTERS = re.compile(r"[^0-9a-z]+")
_MIN_TITLE_WORDS = 4  # a shorter title ("Semiconductor device") says little about kinship
NO_FAMILY = 0


def text_key(text: str) -> int:
    """A number below 2^63 for the letters and digits of a text, 0 for none."""
    bare = _LETTERS.sub(" ", text.lower()).strip()
    if not bare:
        return NO_FAMILY
    return int.from_bytes(hashlib.md5(bare.encode()).digest()[:8], "big") >> 1 or 1


def family_keys(
    works: np.ndarray,
    is_patent: np.ndarray,
    titles: Sequence[str],
    abstracts: Sequence[str],
    later: Sequence[str],
) -> np.ndarray:
    """Four keys per document; two documents with an equal key are members of one family.

    A family is one work under several ids, or documents that repeat a text word for word, as
    the continuations of a patent do: the work, the abstract, the title (patents, four words or
    more) and the later text.

    Args:
        works: (N,) id of the work of each document.
        is_patent: (N,) bool.
        titles: (N,) texts.
        abstracts: (N,) texts.
        later: (N,) texts, "" for none.

    Returns:
        (N, 4) int64, 0 for no key.
    """
    keys = np.zeros((len(works), 4), np.int64)
    keys[:, 0] = works
    for i, (title, abstract, text) in enumerate(zip(titles, abstracts, later, strict=True)):
        keys[i, 1], keys[i, 3] = text_key(abstract), text_key(text)
        if is_patent[i] and len(title.split()) >= _MIN_TITLE_WORDS:
            keys[i, 2] = text_key(title)
    return keys


class Kin:
    """Which documents may not be negatives of which, by row numbers 0..N-1."""

    def __init__(self, n: int, links: np.ndarray, families: np.ndarray | None) -> None:
        """Sort the links.

        Args:
            n: documents.
            links: (L, 2) rows (anchor, document that is never its negative).
            families: (N, K) keys of `family_keys`, or None.
        """
        order = np.unique(links[:, 0].astype(np.int64) * n + links[:, 1]) if len(links) else links
        self._start = np.searchsorted(order.ravel() // max(1, n), np.arange(n + 1))
        self._other = order.ravel() % max(1, n)
        self._families = families

    def shared(self, anchors: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """Where a candidate is no negative of an anchor.

        Args:
            anchors: (B,) rows of documents.
            candidates: (C,) rows; entry i < B is the positive of anchor i.

        Returns:
            (B, C) bool for `objectives.info_nce`; false at (i, i), which is the positive.
        """
        b = np.arange(len(anchors))
        shared = candidates[None, :] == anchors[:, None]
        shared |= candidates[None, :] == candidates[: len(anchors), None]
        if self._families is not None:
            mine, theirs = self._families[anchors], self._families[candidates]
            for k in range(mine.shape[1]):
                same = mine[:, k, None] == theirs[None, :, k]
                shared |= same & (mine[:, k, None] != NO_FAMILY)
        low, high = self._start[anchors], self._start[anchors + 1]
        rows = np.repeat(b, high - low)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(high - low) - (high - low), high - low)
        self._mark(shared, rows, self._other[low[rows] + within], candidates)
        shared[b, b] = False
        return shared

    @staticmethod
    def _mark(
        shared: np.ndarray, rows: np.ndarray, others: np.ndarray, candidates: np.ndarray
    ) -> None:
        """Set every column that holds the document `others[i]` in row `rows[i]`."""
        order = np.argsort(candidates, kind="stable")
        low = np.searchsorted(candidates[order], others, side="left")
        high = np.searchsorted(candidates[order], others, side="right")
        for k in range(int((high - low).max(initial=0))):
            here = low + k < high
            shared[rows[here], order[low[here] + k]] = True
