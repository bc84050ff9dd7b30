"""Groups of micro-batches against what real processes gather; triplets; the dial across types."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.distributed as dist
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.distributed.nn.functional import all_gather
from torch.multiprocessing import start_processes
from torch.nn import functional as F

from pytrain.config import load_settings
from pytrain.graph_config import TuneSettings
from pytrain.kin import Kin
from pytrain.objectives import info_nce, triplet_margin
from pytrain.pairs import Documents, Examples
from pytrain.tune_batches import TuneBatches, triplets_of
from warehouse.errors import UserError

N = 60
OWN = TuneSettings(steps=3, batch=16, micro_batch=4, gather=2, max_length=8)


def batches_of(own: TuneSettings, *, cross: bool = False) -> TuneBatches:
    """Sixty documents; twelve anchors of two examples, with up to three negatives each."""
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(N)]
    documents = Documents(
        doc_ids=np.arange(100, 100 + N),
        titles=words,
        abstracts=words,
        later=words,
        in_pairs=np.ones(N, bool),
        families=np.zeros((N, 4), np.int64),
    )
    negatives = rng.integers(12, N, (24, 3))
    negatives[::5, 2] = -1
    anchors = np.repeat(np.arange(12), 2)
    examples = Examples(
        anchors=anchors,
        positives=rng.integers(12, 20, 24),  # few: second copies are common
        negatives=negatives,
        is_paper=anchors < 8,
        is_cross=(np.arange(24) % 2 == 1) & cross,
    )
    links = np.stack([anchors, examples.positives], axis=1)
    vocabulary = {word: 5 + i for i, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="word0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return TuneBatches(documents, examples, Kin(N, links, None), tokenizer, own, 0)


def table() -> torch.Tensor:
    """(N, 6) a vector of each document, to be trained."""
    return torch.randn(N, 6, generator=torch.Generator().manual_seed(1)).requires_grad_()


def group_loss(batches: TuneBatches, vectors: torch.Tensor, number: int) -> torch.Tensor:
    """Through the very token ids of the batch, which name the documents."""
    batch = batches.group(number)
    unit = F.normalize(vectors[batch["input_ids"][:, 1] - 5], dim=1)
    n = len(batch["shared"])
    return info_nce(unit[:n], unit[n:], batch["shared"], 0.1)


def gathering(rank: int, address: str, mode: str, out: str) -> None:
    """The paper's way: each process embeds its own micro-batch and gathers the candidates."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{address}", rank=rank, world_size=2)
    batches, vectors = batches_of(OWN), table()
    _, anchors, candidates = batches.drawn(2 + rank)
    n = len(anchors)
    sent = {"none": 0, "positives": n, "all": len(candidates)}[mode]
    unit = F.normalize(vectors, dim=1)
    # Every process must send as many rows: the shorter list is filled with repeats of a row.
    width = 4 * n
    rows = np.r_[candidates[:sent], np.full(width - sent, candidates[0])]
    theirs = all_gather(unit[torch.from_numpy(rows)])[1 - rank]
    _, _, other = batches.drawn(2 + 1 - rank)
    other = other[: {"none": 0, "positives": n, "all": len(other)}[mode]]
    mine = unit[torch.from_numpy(candidates)]
    kin = batches._kin.shared(anchors, np.r_[candidates, other])
    loss = info_nce(
        unit[torch.from_numpy(anchors)],
        torch.cat([mine, theirs[: len(other)]]),
        torch.from_numpy(kin),
        0.1,
    )
    (loss / 2).backward()  # the mean over processes
    dist.all_reduce(vectors.grad)
    losses = loss.detach() / 2
    dist.all_reduce(losses)
    if rank == 0:
        torch.save({"loss": losses, "grad": vectors.grad}, out)
    dist.destroy_process_group()


@pytest.mark.parametrize("mode", ["none", "positives", "all"])
def test_a_group_gives_what_two_processes_gather(tmp_path, mode: str):
    """Loss and gradient; a real all-gather sends the gradient of a candidate home."""
    args = (str(tmp_path / "meet"), mode, str(tmp_path / "out.pt"))
    start_processes(gathering, args, nprocs=2, start_method="forkserver")
    found = torch.load(tmp_path / "out.pt", weights_only=True)
    batches, vectors = batches_of(replace(OWN, candidates=mode)), table()
    loss = group_loss(batches, vectors, 1)
    loss.backward()
    assert loss.item() == pytest.approx(found["loss"].item(), rel=1e-6)
    assert torch.allclose(vectors.grad, found["grad"], atol=1e-6)


def test_more_candidates_raise_the_loss():
    losses = [
        group_loss(batches_of(replace(OWN, candidates=mode)), table(), 0).item()
        for mode in ("none", "positives", "all")
    ]
    assert losses[0] < losses[1] < losses[2]


def test_a_group_against_the_definition_with_duplicated_positives():
    """Written out for each anchor: no kin, no copy of the positive, and those sent to it."""
    batches, vectors = batches_of(OWN), table()
    unit = F.normalize(vectors, dim=1).detach().double().numpy()
    known = {(a, p) for a, p in zip(batches._examples.anchors, batches._examples.positives)}  # noqa: B905
    losses, copies = [], 0
    made = [batches.drawn(i) for i in (0, 1)]
    for i, (_, anchors, candidates) in enumerate(made):
        sent = made[1 - i][2][: len(anchors)]
        for j, anchor in enumerate(anchors):
            positive = candidates[j]
            others = [*candidates[:j], *candidates[j + 1 :], *sent]
            copies += others.count(positive)
            kept = [c for c in others if c not in (anchor, positive) and (anchor, c) not in known]
            scores = unit[[positive, *kept]] @ unit[anchor] / 0.1
            losses.append(np.log(np.exp(scores).sum()) - scores[0])
    assert copies > 3
    assert group_loss(batches, vectors, 0).item() == pytest.approx(np.mean(losses), rel=1e-5)


def test_triplets_are_those_of_the_example_or_the_next_stranger():
    """Columns 0-2 are positives; 3 and 4 were drawn for anchor 0, 5 for anchor 1, which is kin."""
    shared = np.zeros((3, 6), bool)
    shared[1, 5] = shared[2, 0] = True
    pairs = triplets_of(np.array([0, 1, 2, 0, 0, 1]), shared).tolist()
    assert pairs == [[0, 3], [0, 4], [1, 2], [2, 3]]


def test_the_triplet_objective_runs_on_the_same_batches():
    from pytrain.tune import contrastive_loss

    batch = batches_of(replace(OWN, objective="triplet")).group(0)
    vectors = table()

    class Lookup(torch.nn.Module):
        def forward(self, input_ids, attention_mask):
            hidden = vectors[(input_ids - 5).clamp(min=0)]
            return type("Output", (), {"last_hidden_state": hidden})

    loss = contrastive_loss(Lookup(), batch, 0.1, 0.5)
    hidden = vectors[(batch["input_ids"] - 5).clamp(min=0)]
    unit = F.normalize((hidden * batch["attention_mask"][..., None]).sum(1), dim=1)
    n = len(batch["shared"])
    sides = [(unit[a], unit[n + a], unit[n + c]) for a, c in batch["triplets"].tolist()]
    expected = torch.stack([triplet_margin(*(s[None] for s in three), 0.5) for three in sides])
    assert loss.item() == pytest.approx(expected.mean().item(), rel=1e-5)
    assert len(sides) >= n


def test_the_dial_is_reached_and_refused_where_it_cannot_be():
    batches = batches_of(replace(OWN, cross_type_share=0.25), cross=True)
    assert batches.summary()["anchors"]["cross_type_share"] == 0.25
    with pytest.raises(UserError, match=r"neighbours\.cross_positives=5"):
        batches_of(replace(OWN, cross_type_share=0.25))


def test_the_paper_gathers_the_positives_of_two_devices():
    own = load_settings("paper").tune
    assert (own.candidates, own.gather, own.objective) == ("positives", 2, "info_nce")
    batch = batches_of(replace(own, steps=1, max_length=8, batch=8, micro_batch=4)).group(0)
    assert batch["shared"].shape[0] == 8
    for bad in ("tune.gather=3", "tune.cross_type_share=0.6"):
        with pytest.raises(UserError):
            load_settings("paper", [bad])
