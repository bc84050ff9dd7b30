"""Losses by hand, and the rule that no positive is a negative."""

import math

import numpy as np
import pytest
import torch

from pytrain.kin import Kin
from pytrain.objectives import info_nce, triplet_margin


def shared_documents(anchors: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
    nobody = Kin(20, np.empty((0, 2), np.int64), None)
    return torch.from_numpy(nobody.shared(anchors.numpy(), candidates.numpy()))


def test_info_nce_by_hand():
    """Two anchors on the axes; cosines 1 and 0 to the two positives, tau 1/2."""
    eye = torch.eye(2)
    nothing = torch.zeros(2, 2, dtype=torch.bool)
    expected = -math.log(math.exp(2) / (math.exp(2) + 1))
    assert info_nce(eye, eye, nothing, 0.5).item() == pytest.approx(expected, abs=1e-6)


def test_an_explicit_negative_raises_the_loss_by_its_own_term():
    anchors = torch.eye(2)[:1]
    candidates = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    nothing = torch.zeros(1, 2, dtype=torch.bool)
    expected = math.log(1 + math.exp((0.6 - 1.0) / 0.1))
    assert info_nce(anchors, candidates, nothing, 0.1).item() == pytest.approx(expected, rel=1e-4)


def test_a_shared_positive_is_not_a_negative():
    """Two examples of one anchor: each other's positive must not count against it."""
    a = torch.eye(2)[[0, 0]]
    p = torch.eye(2)[[0, 0]]
    shared = torch.tensor([[False, True], [True, False]])
    assert info_nce(a, p, shared).item() == pytest.approx(0.0, abs=1e-6)
    unmasked = info_nce(a, p, torch.zeros_like(shared)).item()
    assert unmasked == pytest.approx(math.log(2), abs=1e-6)


def test_exactly_one_column_with_the_positives_id_is_kept():
    """Documents 7 and 8 share the positive 9, and 9 is an explicit negative as well."""
    anchors = torch.tensor([7, 8, 6])
    candidates = torch.tensor([9, 9, 7, 9, 6])
    shared = shared_documents(anchors, candidates)
    assert shared.tolist() == [
        [False, True, True, True, False],  # the copy of 9, the anchor 7, the copy of 9
        [True, False, False, True, False],
        [False, False, False, False, True],  # the anchor 6 itself
    ]


def test_a_duplicated_positive_does_not_change_the_loss():
    """The loss with a second copy of the positive equals the loss without that copy."""
    torch.manual_seed(0)
    vectors = torch.nn.functional.normalize(torch.randn(6, 8), dim=1)
    anchors, candidates = vectors[:2], vectors[2:5]
    ids, cand = torch.tensor([1, 2]), torch.tensor([3, 4, 5])
    once = info_nce(anchors, candidates, shared_documents(ids, cand), 0.05)
    twice = info_nce(
        anchors,
        torch.cat([candidates, candidates[:1]]),
        shared_documents(ids, torch.tensor([3, 4, 5, 3])),
        0.05,
    )
    second = info_nce(anchors[1:], torch.cat([candidates[1:], candidates[:1]]), _none(1, 3), 0.05)
    extra = info_nce(
        anchors[1:],
        torch.cat([candidates[1:], candidates[:1], candidates[:1]]),
        _none(1, 4),
        0.05,
    )
    assert (twice - once).item() == pytest.approx((extra - second).item() / 2, abs=1e-6)


def _none(rows: int, columns: int) -> torch.Tensor:
    return torch.zeros(rows, columns, dtype=torch.bool)


def test_permuting_the_batch_does_not_change_the_loss():
    torch.manual_seed(1)
    anchors = torch.nn.functional.normalize(torch.randn(5, 8), dim=1)
    positives = torch.nn.functional.normalize(torch.randn(5, 8), dim=1)
    ids, cand = torch.arange(5), torch.tensor([10, 11, 10, 13, 14])
    order = torch.tensor([3, 1, 4, 0, 2])
    first = info_nce(anchors, positives, shared_documents(ids, cand), 0.1)
    second = info_nce(
        anchors[order], positives[order], shared_documents(ids[order], cand[order]), 0.1
    )
    assert first.item() == pytest.approx(second.item(), abs=1e-6)


def test_triplet_margin_by_hand():
    """Distances 5 and 1: the loss is 5 - 1 + 1; a far negative gives none."""
    a = torch.tensor([[0.0, 0.0], [0.0, 0.0]])
    p = torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    n = torch.tensor([[0.0, 1.0], [9.0, 0.0]])
    assert triplet_margin(a, p, n).item() == pytest.approx(2.5)
    assert triplet_margin(a[1:], p[1:], n[1:]).item() == 0.0


def test_triplet_margin_equals_torch():
    torch.manual_seed(2)
    a, p, n = torch.randn(3, 7, 4)
    theirs = torch.nn.functional.triplet_margin_loss(a, p, n, margin=1.0, eps=0.0)
    assert triplet_margin(a, p, n).item() == pytest.approx(theirs.item(), rel=1e-5)
