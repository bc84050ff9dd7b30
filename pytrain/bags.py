"""Texts as bags of tokens, and the encoder of depth 0: the sum of a bag's vectors, scaled."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from pytrain.tokenizer import SPECIAL_TOKENS

_TEXTS = 2_048  # tokenised at a time


@dataclass(frozen=True, kw_only=True)
class Bags:
    """Distinct tokens of many texts, in row (CSR) form."""

    starts: np.ndarray  # (N + 1,) int64
    tokens: np.ndarray  # (M,) int32, rising inside a text
    counts: np.ndarray  # (M,) float32, how often the text has the token

    def __len__(self) -> int:
        """Number of texts."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> np.ndarray:
        """(N,) distinct tokens of each text."""
        return np.diff(self.starts)

    def take(self, rows: np.ndarray) -> "Bags":
        """The texts of some rows, in their order."""
        sizes = self.sizes[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        at = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], sizes)
        return Bags(starts=starts, tokens=self.tokens[at], counts=self.counts[at])


def bags_of(
    tokenizer: Tokenizer, texts: Sequence[str], max_length: int, repeats: int | None = None
) -> Bags:
    """Tokenise, cut at `max_length` tokens and count; a token counts at most `repeats` times.

    The model folder damps words instead, in its tokenizer, for libraries that only add tokens up.
    The two differ where words share a token; counting is some fifty times quicker.
    """
    starts, tokens, counts = [0], [np.empty(0, np.int32)], [np.empty(0, np.float32)]
    for low in range(0, len(texts), _TEXTS):
        chunk = list(texts[low : low + _TEXTS])
        for one in tokenizer.encode_batch_fast(chunk, add_special_tokens=False):
            found, number = np.unique(np.array(one.ids[:max_length], np.int32), return_counts=True)
            tokens.append(found)
            counts.append(np.minimum(number, repeats or len(one.ids)).astype(np.float32))
            starts.append(starts[-1] + len(found))
    return Bags(
        starts=np.array(starts, np.int64),
        tokens=np.concatenate(tokens),
        counts=np.concatenate(counts),
    )


class TokenTable(nn.Module):
    """A vector per token; a text is the sum of its tokens' vectors at unit length.

    Special tokens have the zero vector, so that they never count.
    """

    def __init__(self, table: np.ndarray, *, normalise: bool) -> None:
        """Start from (V, D) float32; `normalise` gives each token the same length."""
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(table.astype(np.float32)))
        self.normalise = normalise

    def forward(self, tokens: Tensor, starts: Tensor, counts: Tensor) -> Tensor:
        """(M,) tokens, (B,) starts, (M,) counts -> (B, D) unit vectors."""
        table = F.normalize(self.weight, dim=1) if self.normalise else self.weight
        summed = F.embedding_bag(tokens, table, starts, mode="sum", per_sample_weights=counts)
        return F.normalize(summed, dim=1)

    def table(self) -> np.ndarray:
        """(V, D) float32, the vectors as they are summed."""
        weight = self.weight.detach()
        return (F.normalize(weight, dim=1) if self.normalise else weight).numpy().copy()


def new_table(size: int, dimensions: int, std: float, random: torch.Generator) -> np.ndarray:
    """(V, D) normal numbers, zero for the special tokens."""
    table = torch.randn(size, dimensions, generator=random) * std
    table[: len(SPECIAL_TOKENS)] = 0
    return table.numpy()


def inverse_frequency(bags: Bags, size: int) -> np.ndarray:
    """(size,) float32 inverse document frequencies of the tokens, with a root mean square of 1.

    ln((1 + n) / (1 + df)) over the n texts; a token that every text has weighs nothing. Where no
    token has a weight all weigh the same.
    """
    frequency = np.bincount(bags.tokens, minlength=size)
    weights = np.log((1 + len(bags)) / (1 + frequency))
    scale = np.sqrt((weights**2).mean())
    return (weights / scale if scale else np.ones(size)).astype(np.float32)


def as_tensors(name: str, bags: Bags) -> dict[str, Tensor]:
    """The arguments of `TokenTable`, with a prefix to tell anchors from candidates."""
    return {
        f"{name}_tokens": torch.from_numpy(bags.tokens.astype(np.int64)),
        f"{name}_starts": torch.from_numpy(bags.starts[:-1]),
        f"{name}_counts": torch.from_numpy(bags.counts),
    }
