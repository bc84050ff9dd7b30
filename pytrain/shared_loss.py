"""The contrastive loss of a micro-batch that several processes share out."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pytrain.batching import mean_pool
from pytrain.loop import Batch
from pytrain.objectives import info_nce
from pytrain.parallel import world


def spread(batch: Batch) -> Batch:
    """The batch, marked as one that the processes share out; triplets stay together."""
    return batch if "triplets" in batch else batch | {"spread": torch.ones(())}


def shared_loss(model: nn.Module, batch: Batch, temperature: float) -> Tensor:
    """This process's share of `pytrain.tune.contrastive_loss`; the shares sum to it.

    Each process embeds its part of the anchors and of the candidates and gathers the candidates
    of all, so that an anchor is told from the same documents as in one process.

    Args:
        model: the encoder.
        batch: of `spread`: token ids of B anchors, then of C candidates, the positives first.
        temperature: of InfoNCE.
    """
    everyone = world()
    n, c = batch["shared"].shape
    mine, theirs = everyone.rows(n), everyone.rows(c)
    ids, mask = (
        torch.cat([batch[name][:n][mine], batch[name][n:][theirs]])
        for name in ("input_ids", "attention_mask")
    )
    hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    with torch.autocast(hidden.device.type, enabled=False):
        vectors = F.normalize(mean_pool(hidden, mask), dim=1)
        own = mine.stop - mine.start
        candidates = everyone.gathered(vectors[own:], c)
        if not own:
            return candidates.sum() * 0.0
        # The positive of row i is candidate i: put this part's positives first.
        candidates = candidates.roll(-mine.start, 0)
        shared = batch["shared"][mine].roll(-mine.start, 1)
        return info_nce(vectors[:own], candidates, shared, temperature) * (own / n)
