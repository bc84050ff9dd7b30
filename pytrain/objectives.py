"""Losses as pure functions of vectors: no model, no settings, no device moves."""

import torch
from torch import Tensor
from torch.nn import functional as F


def info_nce(
    anchors: Tensor, candidates: Tensor, shared: Tensor, temperature: float = 0.01
) -> Tensor:
    """Mean InfoNCE with an anchor's other positives left out of its denominator.

    Args:
        anchors: (B, D) unit vectors, one per example.
        candidates: (C, D) unit vectors, C >= B; row i < B is the positive of anchor i, and
            the rest are explicit negatives or positives gathered from other devices.
        shared: (B, C) bool, true where the candidate is the anchor's own document, another of
            its positives, or a second copy of its positive. Entry (i, i) must be false.
        temperature: divides the cosine, no unit.

    Returns:
        () the mean over anchors, in nats.

    Source: paper, eq. 1 and Appendix A "Negatives".
    """
    logits = (anchors.float() @ candidates.float().T / temperature).masked_fill(shared, -torch.inf)
    target = torch.arange(len(anchors), device=anchors.device)
    return F.cross_entropy(logits, target)


def triplet_margin(
    anchors: Tensor, positives: Tensor, negatives: Tensor, margin: float = 1.0
) -> Tensor:
    """Mean of max(0, |a - p| - |a - n| + margin) with Euclidean distances.

    Args:
        anchors: (B, D) vectors, unit or not.
        positives: (B, D), row i belongs to anchor i.
        negatives: (B, D), row i belongs to anchor i.
        margin: in units of the distance.

    Returns:
        () the mean over triplets.

    Source: SPECTER, PaECTER and Pat-SPECTER: L2 triplet loss with margin 1.
    """
    near = torch.linalg.vector_norm(anchors - positives, dim=1)
    far = torch.linalg.vector_norm(anchors - negatives, dim=1)
    return F.relu(near - far + margin).mean()
