"""Pre-training batches: pieces of documents, mixed by source, drawn as a function of the step.

Nothing here counts rows of another slice: pieces, shares and draws are computed inside the slice
of the cutoff, so they are the same whether or not the lake holds later years.
"""

from dataclasses import asdict, dataclass

import numpy as np

from pytrain.config import Mixture, MlmSettings
from pytrain.heldout import is_held_out
from pytrain.splitmix import key_of, scramble
from pytrain.token_cache import TokenCache
from pytrain.tokenizer import CLS, SEP
from warehouse.errors import UserError

PRIMARY = ("s2orc", "abstracts", "uspto")  # sources that the token budget exhausts
_SPECIALS = 2  # [CLS] and [SEP] of every piece


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Spans of at most `max_length` tokens, each within one document; special ones included."""

    starts: np.ndarray  # (P,) int64, into the cache's tokens
    lengths: np.ndarray  # (P,) int64, tokens with [CLS] and [SEP]
    texts: np.ndarray  # (P,) int64, number of the text in the cache


def cut(cache: TokenCache, max_length: int, min_tokens: int) -> Pieces:
    """Cut every text into pieces; a last piece under `min_tokens` is left out."""
    room, sizes = max_length - _SPECIALS, cache.lengths()
    counts = -(-sizes // room)
    counts -= (sizes - (counts - 1) * room < min_tokens) & (counts > 0)
    texts = np.repeat(np.arange(len(sizes)), counts)
    ranks = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    lengths = np.minimum(sizes[texts] - ranks * room, room) + _SPECIALS
    return Pieces(starts=cache.offsets[texts] + ranks * room, lengths=lengths, texts=texts)


def shares_at(mixture: Mixture, present: set[str]) -> dict[str, float]:
    """Shares of the sources that have text, summing to one.

    A source without text gives its share to the others in proportion.

    Raises:
        UserError: no source with a share has text.
    """
    kept = {name: share for name, share in asdict(mixture).items() if share and name in present}
    if not kept:
        raise UserError(
            f"no source of the mixture has text at this cutoff; there is only "
            f"{', '.join(sorted(present))}. Give one a share: --set mlm.mixture.abstracts=1"
        )
    return {name: share / sum(kept.values()) for name, share in kept.items()}


def permuted(index: np.ndarray, n: int, *key: int) -> np.ndarray:
    """Where each of the numbers 0..n-1 stands in a keyed permutation of them.

    A four-round Feistel network over the next even number of bits, walked until it falls below
    n: any draw of a permutation of a billion pieces costs no memory and no earlier draw.
    """
    half = max(1, (max(n - 1, 1).bit_length() + 1) // 2)
    low, shift = np.uint64((1 << half) - 1), np.uint64(half)
    keys = [key_of(*key, turn) for turn in range(4)]
    values = np.asarray(index, np.int64).astype(np.uint64)
    outside = np.ones(len(values), bool)
    while outside.any():
        left, right = values[outside] >> shift, values[outside] & low
        for one in keys:
            left, right = right, left ^ (scramble(right + one) & low)
        values[outside] = (left << shift) | right
        outside = values >= np.uint64(n)
    return values.astype(np.int64)


def framed(cache: TokenCache, pieces: Pieces, piece: int) -> np.ndarray:
    """(T,) int64: [CLS] tokens [SEP] of a piece."""
    start = pieces.starts[piece]
    inner = cache.tokens[start : start + pieces.lengths[piece] - _SPECIALS]
    return np.concatenate(([CLS], inner.astype(np.int64), [SEP]))


class Corpus:
    """The pieces of a slice and the draws of every training step.

    Step t takes pieces floor(t r) to floor((t + 1) r) of each source, in an order keyed by seed,
    source and pass, where r is the source's share of the step's tokens over its mean length. So a
    pass ends before a piece comes again, and a run resumes at any step without replaying.
    """

    def __init__(self, cache: TokenCache, settings: MlmSettings, seed: int) -> None:
        """Cut the texts and fix the shares."""
        self.cache, self.settings, self.seed = cache, settings, seed
        self.pieces = cut(cache, settings.max_length, settings.min_tokens)
        codes = cache.sources[self.pieces.texts]
        names = cache.source_names
        read = ~is_held_out(cache.doc_ids[self.pieces.texts], settings.held_out_share)
        self._rows = {n: np.flatnonzero((codes == code) & read) for code, n in enumerate(names)}
        self._rows = {name: rows for name, rows in self._rows.items() if len(rows)}
        self.shares = shares_at(settings.mixture, set(self._rows))
        self.tokens = {n: int(self.pieces.lengths[self._rows[n]].sum()) for n in self.shares}
        self.budget = settings.tokens or self._exhausting()
        self.steps = max(1, round(self.budget / settings.batch_tokens))
        self._rates = {
            name: share * settings.batch_tokens * len(self._rows[name]) / self.tokens[name]
            for name, share in self.shares.items()
        }
        self._window: tuple[int, list[np.ndarray]] = (-1, [])

    def _exhausting(self) -> int:
        """The budget at which the scarcest primary source has been read `passes` times."""
        primary = [name for name in self.shares if name in PRIMARY] or list(self.shares)
        budgets = [self.tokens[name] / self.shares[name] for name in primary]
        return int(self.settings.passes * min(budgets))

    def summary(self) -> dict[str, dict[str, float]]:
        """Per source: tokens there are, share of the mixture asked and given, passes made."""
        asked = asdict(self.settings.mixture)
        found = {}
        for name in sorted({*self._rows, *(n for n, share in asked.items() if share)}):
            given = self.shares.get(name, 0.0)
            drawn = int(self._rates.get(name, 0.0) * self.steps)
            rows = self._rows.get(name, ())
            found[name] = {
                "tokens": int(self.pieces.lengths[rows].sum()) if len(rows) else 0,
                "pieces": len(rows),
                "share_asked": asked.get(name, 0.0),
                "share_given": round(given, 6),
                "passes": round(drawn / len(rows), 4) if len(rows) else 0.0,
            }
        return found

    def moved(self) -> str | None:
        """A sentence on sources that gave their share away; None when none did."""
        asked = asdict(self.settings.mixture)
        absent = sorted(name for name, share in asked.items() if share and name not in self.shares)
        if not absent:
            return None
        return f"no text of {', '.join(absent)} at this cutoff: its share went to the others"

    def drawn(self, step: int) -> np.ndarray:
        """Piece numbers of a step; about `batch_tokens` tokens."""
        width = self.settings.bucket_steps
        window = step // width
        if self._window[0] != window:
            self._window = (window, self._bucketed(window, width))
        return self._window[1][step % width]

    def _bucketed(self, window: int, width: int) -> list[np.ndarray]:
        """The draws of a window of steps, dealt out so that each step's lengths are alike."""
        first = window * width
        rows = np.concatenate([self._draw(n, first, first + width) for n in sorted(self.shares)])
        if width == 1:
            return [rows]
        lengths = self.pieces.lengths[rows]
        rows = rows[np.lexsort((rows, lengths))]
        ends = np.cumsum(self.pieces.lengths[rows])
        groups = np.minimum((ends - 1) * width // max(int(ends[-1]), 1), width - 1)
        places = permuted(np.arange(width), width, self.seed, 101, window)
        return [rows[groups == place] for place in places]

    def _draw(self, name: str, first: int, last: int) -> np.ndarray:
        rate, rows = self._rates[name], self._rows[name]
        counters = np.arange(int(first * rate), int(last * rate))
        passes, places = np.divmod(counters, len(rows))
        picked = np.zeros(len(counters), np.int64)
        for turn in np.unique(passes):
            now = passes == turn
            key = (self.seed, *name.encode(), int(turn))
            picked[now] = permuted(places[now], len(rows), *key)
        return rows[picked]

    def ids(self, piece: int) -> np.ndarray:
        """(T,) int64: [CLS] tokens [SEP] of a piece."""
        return framed(self.cache, self.pieces, piece)

    def doc_ids(self, pieces: np.ndarray) -> np.ndarray:
        """The documents that pieces were cut from."""
        return self.cache.doc_ids[self.pieces.texts[pieces]]
