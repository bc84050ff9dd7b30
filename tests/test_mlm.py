"""Masked-language-model pre-training: masking rates, initialisation, learning, determinism."""

import math

import pytest
import torch
from graph_runs import on_two_lakes

from pytrain import mlm, tokenizer
from pytrain.config import load_settings
from pytrain.device import generator
from pytrain.run import read_run
from warehouse.errors import UserError

TINY = load_settings("tiny")


def test_masking_rates_are_those_of_the_paper_and_special_tokens_are_left_alone():
    ids = torch.randint(5, 600, (1000, 128), generator=generator(0, "ids"))
    ids[:, 0], ids[:, 100], ids[:, 101:] = 2, 3, 0
    made = mlm.mask_tokens(ids, generator(0, "mask"), TINY.mlm, 600)
    seen, labels = made["input_ids"], made["labels"]
    chosen = labels != mlm.IGNORED
    n = chosen.sum().item()
    assert not chosen[ids < 5].any() and (seen[ids < 5] == ids[ids < 5]).all()
    assert n / (ids >= 5).sum().item() == pytest.approx(0.30, abs=0.01)
    assert (labels[chosen] == ids[chosen]).all() and (seen[~chosen] == ids[~chosen]).all()
    masked = (seen == tokenizer.MASK) & chosen
    kept = (seen == ids) & chosen
    assert masked.sum().item() / n == pytest.approx(0.80, abs=0.01)
    assert kept.sum().item() / n == pytest.approx(0.10 + 0.10 / 595, abs=0.01)
    other = seen[chosen & ~masked & ~kept]
    assert other.min() >= 5 and other.max() < 600 and len(other.unique()) > 500


def test_a_short_batch_has_something_to_predict():
    for seed in range(50):
        ids = torch.tensor([[2, 7, 3, 0]])
        made = mlm.mask_tokens(ids, generator(seed, "x"), TINY.mlm, 600)
        assert made["labels"].tolist() == [[-100, 7, -100, -100]]


def test_the_model_of_the_paper_has_149_million_parameters_without_memory():
    with torch.device("meta"):
        model = mlm.ModernBertForMaskedLM(mlm.model_config(load_settings("paper")))
    assert mlm.count_parameters(model) == 149_655_232
    assert model.decoder.weight.shape == (50_368, 768)


def test_weights_start_as_truncated_normals_scaled_by_depth():
    chosen = load_settings("tiny", ["mlm.layers=8", "mlm.hidden=128", "mlm.intermediate=192"])
    model = mlm.new_model(chosen, seed=0)
    parameters = dict(model.named_parameters())
    layer = "model.layers.1"
    # A normal cut at two standard deviations has 0.8796 of its standard deviation.
    expected = {
        "model.embeddings.tok_embeddings.weight": 0.02,
        f"{layer}.attn.Wqkv.weight": 0.02,
        f"{layer}.mlp.Wi.weight": 0.02,
        f"{layer}.attn.Wo.weight": 0.02 / math.sqrt(16),
        f"{layer}.mlp.Wo.weight": 0.02 / math.sqrt(16),
        "head.dense.weight": 128**-0.5,
    }
    for name, std in expected.items():
        weight = parameters[name]
        assert weight.std().item() == pytest.approx(0.8796 * std, rel=0.03), name
        assert weight.abs().max().item() <= 2 * std + 1e-6, name
    assert model.decoder.weight is model.model.embeddings.tok_embeddings.weight
    assert (parameters["decoder.bias"] == 0).all()
    assert (parameters["model.final_norm.weight"] == 1).all()
    assert torch.equal(mlm.new_model(chosen, 0).head.dense.weight, parameters["head.dense.weight"])
    changed = ["mlm.embedding_std=0.005", "mlm.head_std=0.01", "mlm.hidden=128"]
    small = mlm.new_model(load_settings("tiny", changed), 0)
    assert small.head.dense.weight.std().item() == pytest.approx(0.8796 * 0.01, rel=0.05)
    table = small.model.embeddings.tok_embeddings.weight
    assert table.std().item() == pytest.approx(0.8796 * 0.005, rel=0.03)
    other = mlm.new_model(chosen, 1).head.dense.weight
    assert not torch.equal(other, parameters["head.dense.weight"])


def test_norms_and_biases_do_not_decay():
    model = mlm.new_model(TINY, 0)
    decayed, free = mlm.optimizer_of(model, TINY.mlm).param_groups
    assert (decayed["weight_decay"], free["weight_decay"]) == (0.05, 0.0)
    assert decayed["betas"] == (0.9, 0.98) and decayed["eps"] == 1e-6
    assert all(p.dim() >= 2 for p in decayed["params"]) and all(p.dim() < 2 for p in free["params"])
    together = sum(p.numel() for group in (decayed, free) for p in group["params"])
    assert together == mlm.count_parameters(model)


def test_the_loss_of_a_fresh_model_is_that_of_guessing_and_padding_is_unseen():
    model = mlm.new_model(TINY, 0).eval()
    ids = torch.randint(5, 600, (4, 20), generator=generator(0, "ids"))
    labels = torch.where(torch.arange(20) < 6, ids, mlm.IGNORED)
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}
    loss = mlm.masked_loss(model, batch).item()
    assert loss == pytest.approx(math.log(600), rel=0.05)
    padded = {
        "input_ids": torch.nn.functional.pad(ids, (0, 9)),
        "attention_mask": torch.nn.functional.pad(batch["attention_mask"], (0, 9)),
        "labels": torch.nn.functional.pad(labels, (0, 9), value=mlm.IGNORED),
    }
    assert mlm.masked_loss(model, padded).item() == pytest.approx(loss, abs=1e-5)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The base model of 2012 from a lake to 2015 and from one to 2012."""
    return on_two_lakes(
        tmp_path_factory.mktemp("mlm"),
        lambda: tokenizer.run(TINY, 2012),
        lambda: mlm.run(TINY, 2012),
    )


def test_rows_after_the_cutoff_leave_the_weights_byte_for_byte(made):
    one, two = (read_run(made / f"runs-{name}" / "tiny-2012") for name in ("whole", "prefix"))
    assert one["artefacts"] == two["artefacts"]
    assert "model/model.safetensors" in one["artefacts"]
    assert one["tables_read"] == two["tables_read"] and one["fingerprint"] == two["fingerprint"]


def test_it_learns_and_says_what_it_read(made):
    import json

    folder = made / "runs-whole" / "tiny-2012"
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert log[0]["loss"] == pytest.approx(math.log(600), rel=0.05)
    assert log[-1]["loss"] < log[0]["loss"] - 0.3
    run = read_run(folder)
    assert [read["latest_known_year"] for read in run["tables_read"]] == [2012]
    assert run["notes"]["steps"] == 20 and run["notes"]["sources"]["abstracts"]["passes"] > 0
    assert "fineweb_edu" in run["notes"]["moved_shares"]
    assert [parent["name"] for parent in run["parents"]] == ["tiny-2012-tokenizer"]


def test_the_folder_opens_as_a_masked_language_model(made):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    folder = made / "runs-whole" / "tiny-2012" / "model"
    model = AutoModelForMaskedLM.from_pretrained(folder)
    tied = model.decoder.weight.data_ptr()
    assert tied == model.model.embeddings.tok_embeddings.weight.data_ptr()
    ids = AutoTokenizer.from_pretrained(folder)("some [MASK] text", return_tensors="pt")
    assert model(**ids, labels=ids["input_ids"]).logits.shape == (*ids["input_ids"].shape, 600)


def test_a_missing_tokenizer_names_its_command(made, tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(made / "whole"))
    with pytest.raises(UserError, match="pytrain tokenizer --year 2012 --preset tiny"):
        mlm.run(TINY, 2012)


def test_bfloat16_products_give_nearly_the_same_loss():
    from pytrain.device import autocast

    model = mlm.new_model(TINY, 0)
    ids = torch.randint(5, 600, (4, 20), generator=generator(0, "ids"))
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids}
    exact = mlm.masked_loss(model, batch).item()
    with autocast(torch.device("cpu"), torch.bfloat16):
        assert mlm.masked_loss(model, batch).item() == pytest.approx(exact, rel=1e-3)


def test_a_text_in_a_padded_batch_has_the_logits_it_has_alone():
    """So a batch without its padding is the same batch; also in layers that see a window."""
    local = load_settings("tiny", ["mlm.layers=3", "mlm.global_attention_every=3",
                                   "mlm.local_window=8"])  # fmt: skip
    model = mlm.new_model(local, 0).eval()
    random = generator(0, "pad")
    texts = [torch.randint(5, 600, (n,), generator=random) for n in (40, 7, 23)]
    ids = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=tokenizer.PAD)
    mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(t) for t in texts], batch_first=True)
    with torch.no_grad():
        together = model(input_ids=ids, attention_mask=mask).logits
        for i, text in enumerate(texts):
            alone = model(input_ids=text[None], attention_mask=torch.ones(1, len(text))).logits
            torch.testing.assert_close(together[i, : len(text)], alone[0], atol=1e-5, rtol=1e-5)


def test_the_decoder_runs_on_the_masked_tokens_alone():
    """Its rows are the tokens that have a label, and the loss is that of all logits."""
    model = mlm.new_model(TINY, 0)
    ids = torch.randint(5, 600, (4, 30), generator=generator(0, "ids"))
    made = mlm.mask_tokens(ids, generator(0, "mask"), TINY.mlm, 600)
    batch = made | {"attention_mask": torch.ones_like(ids)}
    rows = []
    hook = model.decoder.register_forward_hook(lambda *call: rows.append(call[2].shape))
    sparse = mlm.masked_loss(model, batch)
    hook.remove()
    chosen = batch["labels"] != mlm.IGNORED
    assert [shape.numel() // 600 for shape in rows] == [int(chosen.sum())]
    model.config.sparse_prediction = model.sparse_prediction = False
    whole = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    expected = torch.nn.functional.cross_entropy(whole[chosen], ids[chosen])
    torch.testing.assert_close(sparse, expected)
