"""Loss on documents that training never reads, by source and year.

A document is held out by a hash of its id alone: the same ones in every vintage and with every
seed, so that losses can be compared between them. The tokenizer still reads them.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from pytrain.splitmix import GOLDEN, key_of, scramble, unit
from pytrain.token_cache import TokenCache
from warehouse.tables import Lake

if TYPE_CHECKING:
    from torch import nn

    from pytrain.config import MlmSettings

MASK_SHARE = 0.15  # T57 of the requirements: as BERT was scored; all of them become [MASK]
_KEY = 104  # of the draw


def is_held_out(doc_ids: np.ndarray, share: float) -> np.ndarray:
    """(N,) bool: which of the documents are never trained on."""
    raw = scramble(key_of(_KEY) + np.asarray(doc_ids, np.int64).astype(np.uint64) * GOLDEN)
    return unit(raw) < share


def years_of(lake: Lake, year: int, cache: TokenCache, settings: "MlmSettings") -> np.ndarray:
    """(N,) int: `known_year` of each text of the cache, which was made with these settings."""
    text = {"basis": settings.basis, "licence_at_most": settings.licence_at_most}
    table = lake.read("pretrain_text", ("doc_id", "known_year"), cutoff=year, **text)
    if not np.array_equal(table["doc_id"].to_numpy(), cache.doc_ids):
        raise RuntimeError("the token cache is not in the order of its slice")
    return table["known_year"].to_numpy().astype(np.int64)


def evaluate(
    model: "nn.Module",
    cache: TokenCache,
    years: np.ndarray,
    settings: "MlmSettings",
    vocabulary: int,
    dtype: torch.dtype,
) -> list[dict[str, Any]]:
    """Mean loss and pseudo-perplexity of the held-out documents, a row per source and year.

    Args:
        model: the masked-language model; its mode is put back.
        cache: the slice as token ids.
        years: (N,) of `years_of`.
        settings: share held out, length of a piece, tokens of a forward pass.
        vocabulary: tokens of the vintage.
        dtype: of matrix products.

    Returns:
        Rows with `source`, `year`, `documents`, `tokens` (those predicted), `loss` (nats per
        predicted token) and `pseudo_perplexity`, its exponential; last a row of all, whose
        source is "all" and year 0. Empty when no document is held out.
    """
    from pytrain.corpus import cut

    pieces = cut(cache, settings.max_length, settings.min_tokens)
    ids = cache.doc_ids[pieces.texts]
    held = np.flatnonzero(is_held_out(ids, settings.held_out_share))
    codes, when = cache.sources[pieces.texts[held]], years[pieces.texts[held]]
    rows: list[dict[str, Any]] = []
    was_training = model.training
    model.eval()
    for code, year in sorted(set(zip(codes.tolist(), when.tolist(), strict=True))):
        here = held[(codes == code) & (when == year)]
        name = cache.source_names[code]
        total, n = _loss(model, cache, pieces, here, settings, vocabulary, dtype, (name, year))
        rows.append(_row(name, year, len(np.unique(ids[here])), total, n))
    model.train(was_training)
    if rows:
        total = sum(row["loss"] * row["tokens"] for row in rows)
        n = sum(row["tokens"] for row in rows)
        rows.append(_row("all", 0, len(np.unique(ids[held])), total, n))
    return rows


def _row(source: str, year: int, documents: int, total: float, tokens: int) -> dict[str, Any]:
    loss = total / tokens
    return {
        "source": source,
        "year": year,
        "documents": documents,
        "tokens": tokens,
        "loss": round(loss, 6),
        "pseudo_perplexity": round(float(np.exp(loss)), 4),
    }


def _loss(
    model: "nn.Module",
    cache: TokenCache,
    pieces: Any,
    chosen: np.ndarray,
    settings: "MlmSettings",
    vocabulary: int,
    dtype: torch.dtype,
    group: tuple[str, int],
) -> tuple[float, int]:
    """Summed loss of pieces and the number of tokens predicted; masks depend on the group."""
    from pytrain.batching import by_token_budget, pad
    from pytrain.corpus import framed
    from pytrain.device import autocast, generator
    from pytrain.mlm import IGNORED, mask_tokens, masked_loss
    from pytrain.tokenizer import PAD

    masking = replace(settings, mask_share=MASK_SHARE, mask_token_share=1.0, random_token_share=0.0)
    device, random = next(model.parameters()).device, generator(0, "held-out", *group)
    total, n = 0.0, 0
    for rows in by_token_budget(pieces.lengths[chosen], settings.micro_tokens):
        batch = pad((framed(cache, pieces, piece) for piece in chosen[rows]), PAD)
        batch |= mask_tokens(batch["input_ids"], random, masking, vocabulary)
        predicted = int((batch["labels"] != IGNORED).sum())
        with torch.inference_mode(), autocast(device, dtype):
            on_device = {name: value.to(device) for name, value in batch.items()}
            total += float(masked_loss(model, on_device)) * predicted
        n += predicted
    return total, n
