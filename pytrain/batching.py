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


def best_fit(lengths: Sequence[int] | np.ndarray, width: int) -> list[list[int]]:
    """Rows of at most `width` tokens out of shorter ones, by best-fit decreasing.

    Args:
        lengths: (N,) tokens of each piece, none above `width`.
        width: tokens of a row.

    Returns:
        Piece numbers of each row; longest pieces first, ties by number, so always the same.
    """
    rows: list[list[int]] = []
    with_room: list[list[int]] = [[] for _ in range(width + 1)]  # row numbers by tokens free
    for piece in np.lexsort((np.arange(len(lengths)), -np.asarray(lengths))).tolist():
        length = int(lengths[piece])
        free = next((room for room in range(length, width + 1) if with_room[room]), None)
        if free is None:
            rows.append([])
            row, free = len(rows) - 1, width
        else:
            row = with_room[free].pop()
        rows[row].append(piece)
        with_room[free - length].append(row)
    return rows


def pack(rows: Sequence[Sequence[np.ndarray]], pad_id: int, width: int) -> dict[str, Tensor]:
    """Several pieces a row, one after another, each counting its positions from 0.

    Args:
        rows: token ids of the pieces of each row.
        pad_id: of the slots left over.
        width: T, tokens of a row.

    Returns:
        (B, T) `input_ids`, `attention_mask`, `position_ids` and `segment_ids`: the number of the
        piece in its row, from 1; padding is 0.
    """
    made = {name: np.zeros((len(rows), width), np.int64) for name in _PACKED}
    made["input_ids"][:] = pad_id
    for row, pieces in enumerate(rows):
        start = 0
        for number, piece in enumerate(pieces, start=1):
            slots = slice(start, start + len(piece))
            made["input_ids"][row, slots] = piece
            made["attention_mask"][row, slots] = 1
            made["position_ids"][row, slots] = np.arange(len(piece))
            made["segment_ids"][row, slots] = number
            start += len(piece)
    return {name: torch.from_numpy(values) for name, values in made.items()}


_PACKED = ("input_ids", "attention_mask", "position_ids", "segment_ids")


def segment_masks(segment_ids: Tensor, window: int) -> dict[str, Tensor]:
    """Which token sees which in packed rows: those of its own piece, and locally the near ones.

    Args:
        segment_ids: (B, T) number of the piece; padding, 0, sees padding, so that no softmax is
            over nothing.
        window: tokens that a local layer sees on either side.

    Returns:
        (B, 1, T, T) bool for ModernBERT's `full_attention` and `sliding_attention` layers.
    """
    own = (segment_ids[:, :, None] == segment_ids[:, None, :])[:, None]
    places = torch.arange(segment_ids.shape[1], device=segment_ids.device)
    near = (places[:, None] - places[None, :]).abs() <= window
    return {"full_attention": own, "sliding_attention": own & near}


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
