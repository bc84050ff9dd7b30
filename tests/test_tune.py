"""Contrastive tuning: what is in a batch, what it starts from, and what it must not depend on."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from graph_runs import YEAR, make_parents, settings_of, use
from safetensors.torch import load_file

from pytrain import mlm, static, tune
from pytrain.config import load_settings
from pytrain.encoder import Encoder
from pytrain.graph_config import TuneSettings
from pytrain.kin import Kin
from pytrain.objectives import info_nce
from pytrain.pairs import Documents, Examples
from pytrain.run import read_run, run_path
from pytrain.tokenizer import CLS, PAD, SEP, load_tokenizer
from pytrain.tune_batches import KINDS, TuneBatches
from warehouse.errors import UserError
from warehouse.tables import Lake

SETTINGS = settings_of("mlm.tokens=4000", "static.epochs=1", "tune.steps=6")


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    """Everything up to the two tuned encoders of 2012, on a lake to 2015 and on one to 2012."""
    made = [make_parents(tmp_path_factory.mktemp(f"to{last}"), last) for last in (2015, 2012)]
    for root in made:
        with pytest.MonkeyPatch.context() as patch:
            use(patch, root)
            for stage in (mlm, static):
                stage.run(SETTINGS, YEAR, seed=0, force=False)
            for init in ("base", "static"):
                tune.run(SETTINGS, YEAR, seed=0, force=False, init=init)
    return made


@pytest.fixture
def root(roots, monkeypatch):
    use(monkeypatch, roots[0])
    return roots[0]


def batches_of(own: TuneSettings, stage: str = "neighbours") -> TuneBatches:
    folder = run_path("tiny", YEAR, stage)
    with Lake() as lake:
        return tune._batches(lake, YEAR, own, folder, run_path("tiny", YEAR, "tokenizer"), 0)


def test_weights_do_not_change_when_later_rows_are_added(roots):
    for name in ("tiny-2012-ci", "tiny-2012-static-ci"):
        files = [read_run(root / "runs" / name)["artefacts"] for root in roots]
        assert files[0] == files[1] and "model/model.safetensors" in files[0]


@pytest.mark.parametrize("stage", ["ci", "static-ci"])
def test_the_tuned_folder_opens_everywhere_and_says_its_cutoff(root, stage):
    from transformers import AutoModel

    folder = run_path("tiny", YEAR, stage)
    encoder = Encoder.load(folder, dtype="fp32")
    assert encoder.cutoff == YEAR
    text = encoder.texts(["a title"], ["an abstract of some words"])
    ids = torch.tensor([encoder.tokenizer.encode(text[0]).ids])
    with torch.no_grad():
        hidden = AutoModel.from_pretrained(folder / "model").eval()(ids).last_hidden_state
    pooled = torch.nn.functional.normalize(hidden.mean(1), dim=1).numpy()
    assert np.allclose(encoder.embed(["a title"], ["an abstract of some words"]), pooled, atol=1e-5)


def test_tuning_moves_the_weights_and_lowers_the_loss_on_its_own_examples(root):
    own = replace(SETTINGS.tune, graph_share=1.0, title_share=0.0, description_share=0.0)
    batches = batches_of(own)
    folder = run_path("tiny", YEAR, "tokenizer")
    model = tune.base_encoder(run_path("tiny", YEAR, "pretrain"), folder).train()
    optimizer, losses = mlm.optimizer_of(model, own), []
    for step in [0] * 12:  # the same step again and again: it must be learnt by heart
        loss = tune.contrastive_loss(model, batches.group(step), own.temperature)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]
    assert read_run(run_path("tiny", YEAR, "ci"))["notes"]["init"] == "base"


def test_a_micro_batch_holds_one_kind_and_the_negatives_of_its_examples(root):
    own = replace(SETTINGS.tune, hard_negatives=2, random_negatives=1)
    batches = batches_of(own)
    table = pq.read_table(run_path("tiny", YEAR, "neighbours") / "examples.parquet").to_pylist()
    rows = {(r["anchor_id"], r["positive_id"]): r for r in table}
    ids, n = batches._documents.doc_ids, own.micro_batch
    for number in np.flatnonzero(batches.kinds == KINDS.index("graph"))[:6]:
        kind, anchors, candidates = batches.drawn(int(number))
        pairs = zip(ids[anchors].tolist(), ids[candidates[:n]].tolist(), strict=True)
        expected = [one for pair in pairs for one in rows[pair]["negative_ids"]]
        assert kind == "graph" and ids[candidates[n:]].tolist() == expected
        batch = batches.group(int(number))
        assert batch["shared"].shape == (n, len(candidates))
        assert not batch["shared"][torch.arange(n), torch.arange(n)].any()
        assert len(batch["input_ids"]) == n + len(candidates)


def test_three_in_four_graph_anchors_are_papers_over_the_whole_training(root):
    counts = read_run(run_path("tiny", YEAR, "ci"))["notes"]["anchors"]
    total = counts["paper"]["draws"] + counts["patent"]["draws"]
    assert counts["paper"]["draws"] == total * 3 // 4
    assert read_run(run_path("tiny", YEAR, "ci"))["notes"]["micro_batches"]["title"] > 0


def test_no_known_positive_or_neighbour_of_an_anchor_is_its_negative(root):
    batches = batches_of(SETTINGS.tune)
    with Lake() as lake:
        edges = lake.read("edges", ["citing_id", "cited_id"], cutoff=YEAR)
    table = pq.read_table(run_path("tiny", YEAR, "neighbours") / "examples.parquet")
    barred, met = set(), 0
    for pairs, one, other in (
        (edges, "citing_id", "cited_id"),
        (edges, "cited_id", "citing_id"),
        (table, "anchor_id", "positive_id"),
    ):
        barred |= set(zip(pairs[one].to_pylist(), pairs[other].to_pylist(), strict=True))
    ids = batches._documents.doc_ids
    for number in range(len(batches.kinds)):
        _, anchors, candidates = batches.drawn(number)
        shared = batches.group(number)["shared"]
        for i, a in enumerate(ids[anchors].tolist()):
            for j, c in enumerate(ids[candidates].tolist()):
                if i != j and (a, c) in barred:
                    assert shared[i, j]
                    met += 1
    assert met > 20


def test_texts_are_read_as_the_exported_model_reads_them(root):
    """[CLS] title [SEP] abstract [SEP], cut to the length: equal to the encoder's own ids."""
    own = replace(SETTINGS.tune, max_length=20)
    batches = batches_of(own)
    encoder = Encoder.load(run_path("tiny", YEAR, "ci"), max_length=20)
    documents = batches._documents
    ours = batches._ids(np.arange(5), ("titles", "abstracts"))
    theirs = encoder._ids(encoder.texts(documents.titles[:5], documents.abstracts[:5]))
    assert [a.tolist() for a in ours] == [b.tolist() for b in theirs]
    assert all(a[0] == CLS and a[-1] == SEP and len(a) == 20 for a in ours)


def test_padding_does_not_change_the_loss(root):
    batches = batches_of(SETTINGS.tune)
    batch = batches.group(0)
    model = tune.base_encoder(
        run_path("tiny", YEAR, "pretrain"), run_path("tiny", YEAR, "tokenizer")
    ).eval()
    with torch.no_grad():
        short = tune.contrastive_loss(model, batch, 0.05)
        wider = {
            "input_ids": torch.nn.functional.pad(batch["input_ids"], (0, 9), value=PAD),
            "attention_mask": torch.nn.functional.pad(batch["attention_mask"], (0, 9)),
            "shared": batch["shared"],
        }
        long = tune.contrastive_loss(model, wider, 0.05)
    assert short.item() == pytest.approx(long.item(), rel=1e-4)


def test_an_encoder_seeded_by_the_static_vintage_starts_as_the_mean_of_its_tokens(root):
    table = load_file(run_path("tiny", YEAR, "static") / static.SEED_TABLE)["embedding.weight"]
    model = tune.seeded_encoder(SETTINGS, table.numpy(), 0).eval()
    held = model.embeddings.tok_embeddings.weight.detach()
    scale = SETTINGS.seeded.table_std * table.shape[1] ** 0.5
    assert torch.allclose(held[5 : len(table)], table[5:] * scale, atol=1e-6)
    tokenizer = load_tokenizer(run_path("tiny", YEAR, "tokenizer"))
    ids = tokenizer.encode("some words of a text", add_special_tokens=False).ids
    with torch.no_grad():
        hidden = model(torch.tensor([ids])).last_hidden_state[0].mean(0)
    mean = torch.nn.functional.layer_norm(held[ids], (held.shape[1],)).mean(0)
    assert torch.cosine_similarity(hidden, mean, dim=0) > 0.97
    blurred = replace(SETTINGS, seeded=replace(SETTINGS.seeded, output_scale=10.0))
    with torch.no_grad():
        other = tune.seeded_encoder(blurred, table.numpy(), 0).eval()
        far = other(torch.tensor([ids])).last_hidden_state[0].mean(0)
    assert torch.cosine_similarity(far, mean, dim=0) < torch.cosine_similarity(hidden, mean, dim=0)


def test_a_tokenizer_of_another_vintage_is_refused(root, tmp_path):
    other = tmp_path / "tiny-2011-tokenizer"
    other.mkdir()
    own = (run_path("tiny", YEAR, "tokenizer") / "tokenizer.json").read_text()
    (other / "tokenizer.json").write_text(own.replace('"min_frequency"', '"min_frequency" ') + " ")
    with pytest.raises(UserError, match="another tokenizer than tiny-2011-tokenizer"):
        tune.base_encoder(run_path("tiny", YEAR, "pretrain"), other)


def test_what_it_builds_on_must_be_there(root):
    with pytest.raises(UserError, match="pytrain tokenizer --year 2011"):
        tune.run(SETTINGS, 2011, seed=0, force=False)
    with pytest.raises(UserError, match="pytrain pretrain|pytrain tokenizer"):
        tune.run(SETTINGS, YEAR, seed=7, force=False)
    with pytest.raises(UserError, match="--force"):
        tune.run(SETTINGS, YEAR, seed=0, force=False, init="static")


def test_the_preset_paper_has_the_published_values():
    own = load_settings("paper").tune
    assert (own.steps, own.batch, own.micro_batch, own.peak_lr) == (3_000, 64, 16, 1e-5)
    assert (own.temperature, own.paper_share, own.phases) == (0.01, 0.75, (1, 40, 6))
    assert (own.hard_negatives, own.random_negatives, own.graph_share) == (2, 1, 1.0)
    assert own.title_share == own.description_share == 0
    assert not own.pairs.mask_neighbours and not own.pairs.mask_families


def test_in_the_paper_a_micro_batch_has_sixteen_positives_and_forty_eight_negatives():
    n = 400
    rng = np.random.default_rng(0)
    blank = ["a"] * n
    documents = Documents(
        doc_ids=np.arange(n),
        titles=blank,
        abstracts=blank,
        later=blank,
        in_pairs=np.zeros(n, bool),
        families=np.zeros((n, 4), np.int64),
    )
    examples = Examples(
        anchors=np.repeat(np.arange(40), 5),
        positives=rng.integers(40, n, 200),
        negatives=rng.integers(40, n, (200, 3)),
        is_paper=np.repeat(np.arange(40) < 20, 5),
        is_cross=np.zeros(200, bool),
    )
    own = replace(TuneSettings(), steps=2)
    kin = Kin(n, np.empty((0, 2), np.int64), None)
    batches = TuneBatches(documents, examples, kin, None, own, 0)
    assert batches.per_step == 4
    kind, anchors, candidates = batches.drawn(3)
    assert kind == "graph" and len(anchors) == 16 and len(candidates) == 64
    vectors = torch.nn.functional.normalize(torch.randn(n, 8), dim=1)
    shared = torch.from_numpy(kin.shared(anchors, candidates))
    assert torch.isfinite(info_nce(vectors[anchors], vectors[candidates], shared))
    assert json.dumps(batches.summary())
