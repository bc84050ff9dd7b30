"""Skip-gram vectors of the tokens of a slice: where the table of a small model can start.

A small model spends most of a small budget learning which tokens are alike. Skip-gram finds that
out in seconds, from the same slice and nothing else.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from pytrain.corpus import permuted
from pytrain.heldout import is_held_out
from pytrain.skipgram import SkipGram
from pytrain.token_cache import TokenCache
from pytrain.tokenizer import SPECIAL_TOKENS

if TYPE_CHECKING:
    from transformers import ModernBertForMaskedLM

    from pytrain.config import TokenVectorSettings

_FED = 512  # texts given to the kernel at a time: some hundred thousand tokens


def drawn_texts(cache: TokenCache, budget: int, seed: int) -> np.ndarray:
    """Numbers of texts in a keyed order, as many as hold `budget` tokens; at least one."""
    order = permuted(np.arange(len(cache.doc_ids)), len(cache.doc_ids), seed, 102)
    ends = np.cumsum(cache.lengths()[order])
    return order[: 1 + np.searchsorted(ends, budget)]


def token_vectors(
    cache: TokenCache,
    settings: "TokenVectorSettings",
    size: int,
    dimensions: int,
    seed: int,
    *,
    held_out_share: float = 0.0,
) -> np.ndarray:
    """(size, dimensions) float32 vectors of the tokens, with a standard deviation of `std`.

    Source: Mikolov et al. (2013), word2vec.

    Args:
        cache: the slice as token ids.
        settings: window, negatives, rates, tokens read.
        size: of the vocabulary.
        dimensions: of a vector.
        seed: of the order of the texts and of every draw.
        held_out_share: of the documents, which are left out.
    """
    texts = drawn_texts(cache, settings.tokens, seed)
    texts = texts[~is_held_out(cache.doc_ids[texts], held_out_share)]
    counts = np.zeros(size, np.int64)
    for tokens, _ in _joined(cache, texts):
        counts += np.bincount(tokens, minlength=size)
    model = SkipGram(
        counts,
        len(texts),
        dimensions=dimensions,
        window=settings.window,
        negatives=settings.negatives,
        lr=(settings.lr, settings.min_lr),
        seed=seed,
    )
    for tokens, offsets in _joined(cache, texts):
        model.feed(tokens, offsets)
    return model.vectors * np.float32(settings.std / model.vectors.std())


def seed_table(model: "ModernBertForMaskedLM", vectors: np.ndarray) -> None:
    """Put vectors in the token table; the special tokens stay as they were drawn."""
    first = len(SPECIAL_TOKENS)
    with torch.no_grad():
        table = model.model.embeddings.tok_embeddings.weight
        table[first : len(vectors)] = torch.from_numpy(vectors[first:]).to(table.device)


def _joined(cache: TokenCache, texts: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of texts: tokens (T,) int32 and offsets (n + 1,) int64."""
    lengths = cache.lengths()
    for low in range(0, len(texts), _FED):
        block = texts[low : low + _FED]
        spans = [cache.tokens[cache.offsets[text] : cache.offsets[text + 1]] for text in block]
        yield np.concatenate(spans).astype(np.int32), np.r_[0, np.cumsum(lengths[block])]
