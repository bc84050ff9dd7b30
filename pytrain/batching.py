"""From lists of token ids to padded tensors, with little padding and bounded memory."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor


def by_token_budget(lengths: Sequence[int] | np.ndarray, budget: int) -> list[np.ndarray]:
    """Groups of row numbers, alike in length, each of at most `budget` tokens with padding.

    Args:
        lengths: (N,) tokens of each row.
        budget: tokens per group, padding included; a longer row is a group of its own.

    Returns:
        Row numbers, longest first; ties by row number, so the groups are always the same.
    """
    lengths = np.asarray(lengths)
    order = np.lexsort((np.arange(len(lengths)), -lengths))
    groups, start = [], 0
    while start < len(order):
        size = max(1, budget // max(1, int(lengths[order[start]])))
        groups.append(order[start : start + size])
        start += size
    return groups


def pad(rows: Iterable[np.ndarray], pad_id: int) -> dict[str, Tensor]:
    """Rows of token ids as (B, T) `input_ids` and `attention_mask`, padded on the right."""
    rows = list(rows)
    longest = max(map(len, rows))
    ids = np.full((len(rows), longest), pad_id, np.int64)
    mask = np.zeros((len(rows), longest), np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}


def mean_pool(hidden: Tensor, mask: Tensor) -> Tensor:
    """Mean over the real tokens, special ones included: (B, T, D), (B, T) -> (B, D) float32.

    Source: paper, "Evaluation": mean pooling over tokens of the last hidden state.
    """
    weight = mask.unsqueeze(-1).float()
    return (hidden.float() * weight).sum(1) / weight.sum(1).clamp(min=1e-9)


def pool(hidden: Tensor, mask: Tensor, modes: Sequence[str]) -> Tensor:
    """Pooled token vectors, (B, D * len(modes)); padding is on the right."""
    last = mask.sum(1) - 1
    ways = {
        "mean": lambda: mean_pool(hidden, mask),
        "cls": lambda: hidden[:, 0].float(),
        "lasttoken": lambda: hidden[torch.arange(len(hidden)), last].float(),
        "max": lambda: hidden.float().masked_fill(mask.unsqueeze(-1) == 0, -torch.inf).amax(1),
    }
    return torch.cat([ways[mode]() for mode in modes], dim=1)


POOLING_MODES = ("mean", "cls", "lasttoken", "max")
