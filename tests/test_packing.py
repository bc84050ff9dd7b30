"""Packed rows: every piece once, none too long, and blind to each other."""

import numpy as np
import pytest
import torch

from pytrain import mlm
from pytrain.batching import best_fit, pack, pad, segment_masks
from pytrain.config import load_settings
from pytrain.corpus import Corpus
from pytrain.device import generator
from pytrain.token_cache import TokenCache

# Local layers too, of a window that the pieces exceed.
SETTINGS = load_settings(
    "tiny", ["mlm.layers=4", "mlm.global_attention_every=2", "mlm.local_window=8"]
)


def test_best_fit_fills_rows_and_loses_nothing():
    lengths = np.random.default_rng(0).integers(1, 33, 500)
    rows = best_fit(lengths, 64)
    assert sorted(piece for row in rows for piece in row) == list(range(500))
    sums = [lengths[row].sum() for row in rows]
    assert max(sums) <= 64 and sum(sums) / (64 * len(rows)) > 0.97
    assert rows == best_fit(lengths.tolist(), 64)


def test_best_fit_by_hand():
    # 6 and 5 open rows of ten; 4 fits the first exactly, 3 the second, 2 the second again.
    assert best_fit([2, 6, 4, 5, 3], 10) == [[1, 2], [3, 4, 0]]


def test_packed_rows_have_the_logits_and_the_loss_of_padded_ones():
    model = mlm.new_model(SETTINGS, seed=0).eval()
    random = np.random.default_rng(0)
    pieces = [random.integers(5, 600, n) for n in (40, 23, 30, 5, 12, 33)]
    rows = best_fit([len(piece) for piece in pieces], 64)
    assert max(map(len, rows)) > 1 < len(rows)
    packed = pack([[pieces[i] for i in row] for row in rows], 0, 64)
    padded = pad(pieces, 0)
    with torch.no_grad():
        alone = model.model(padded["input_ids"], padded["attention_mask"]).last_hidden_state
        masks = segment_masks(packed["segment_ids"], model.config.sliding_window)
        found = model.model(
            packed["input_ids"], attention_mask=masks, position_ids=packed["position_ids"]
        ).last_hidden_state
    for row, members in enumerate(rows):
        for number, piece in enumerate(members, start=1):
            own = found[row][packed["segment_ids"][row] == number]
            torch.testing.assert_close(own, alone[piece, : len(own)], atol=2e-5, rtol=1e-4)
    assert not found.isnan().any()

    labels = mlm.mask_tokens(padded["input_ids"], generator(0, "mask"), SETTINGS.mlm, 600)["labels"]
    padded["labels"] = labels
    packed["labels"] = torch.full_like(packed["input_ids"], mlm.IGNORED)
    for row, members in enumerate(rows):
        for number, piece in enumerate(members, start=1):
            own = packed["segment_ids"][row] == number
            packed["labels"][row, own] = labels[piece, : len(pieces[piece])]
    both = [mlm.masked_loss(model, batch).item() for batch in (padded, packed)]
    assert both[1] == pytest.approx(both[0], rel=1e-5)


def test_a_step_reads_the_same_pieces_packed_or_padded():
    lengths = np.random.default_rng(1).integers(10, 90, 300)
    cache = TokenCache(
        tokens=np.random.default_rng(2).integers(5, 600, lengths.sum()).astype(np.uint16),
        offsets=np.r_[0, np.cumsum(lengths)],
        doc_ids=np.arange(300),
        sources=np.zeros(300, np.uint8),
        source_names=("abstracts",),
    )
    corpus = Corpus(cache, SETTINGS.mlm, seed=0)
    read = {}
    for packed in (False, True):
        made = mlm.batches(corpus, 0, 600, packed=packed)
        read[packed] = sorted(doc for one in made for doc in one["doc_id"].tolist())
        size = max(one["input_ids"].numel() for one in made)
        assert size <= SETTINGS.mlm.micro_tokens
        tokens = sum(int(one["attention_mask"].sum()) for one in made)
        assert tokens == corpus.pieces.lengths[corpus.drawn(0)].sum()
    assert read[True] == read[False]
    widths = {one["input_ids"].shape[1] for one in mlm.batches(corpus, 0, 600, packed=True)}
    assert widths == {SETTINGS.mlm.max_length}
