"""Documents that are held out: drawn by id alone, never trained on, scored by source and year."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from graph_runs import YEAR, use
from tiny_lake import make_tiny_lake

from pytrain import mlm, tokenizer
from pytrain.config import load_settings
from pytrain.corpus import Corpus
from pytrain.heldout import evaluate, is_held_out
from pytrain.run import read_run
from pytrain.token_cache import TokenCache

SHARE = 0.2
TINY = load_settings("tiny", [f"mlm.held_out_share={SHARE}", "mlm.tokens=8000"])


def _cache(n: int) -> TokenCache:
    lengths = np.full(n, 100)
    return TokenCache(
        tokens=np.tile(np.arange(5, 105, dtype=np.uint16), n),
        offsets=np.r_[0, np.cumsum(lengths)],
        doc_ids=np.arange(n, dtype=np.int64) * 7,
        sources=np.arange(n).astype(np.uint8) % 2,
        source_names=("abstracts", "uspto"),
    )


def test_the_share_is_kept_and_a_document_is_drawn_by_its_id_alone():
    ids = np.arange(200_000)
    held = is_held_out(ids, 0.001)
    assert held.sum() == pytest.approx(200, abs=60)
    assert (is_held_out(ids[::-1], 0.001) == held[::-1]).all()
    assert (is_held_out(ids, 0.01) >= held).all()  # a larger share holds the smaller
    assert not is_held_out(ids, 0.0).any()


def test_no_step_of_the_training_reads_a_held_out_document():
    cache = _cache(400)
    corpus = Corpus(cache, replace(TINY.mlm, tokens=None, passes=1.0), seed=0)
    read = np.concatenate([corpus.doc_ids(corpus.drawn(step)) for step in range(corpus.steps)])
    held = is_held_out(cache.doc_ids, SHARE)
    assert 50 < held.sum() < 110
    assert not is_held_out(read, SHARE).any()
    # One source is gone through once, the other has half its share in the mixture.
    assert len(np.unique(read)) > 0.7 * (400 - held.sum())


class _Uniform(torch.nn.Module):
    """Knows nothing: every token is as likely."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(600))

    def forward(self, input_ids, attention_mask, labels):
        chosen = labels[labels != mlm.IGNORED]
        logits = self.bias.expand(len(chosen), 600)
        self.seen = (input_ids == tokenizer.MASK).sum().item(), len(chosen), attention_mask.sum()
        return SimpleNamespace(loss=torch.nn.functional.cross_entropy(logits, chosen))


def test_a_model_that_knows_nothing_has_the_perplexity_of_the_vocabulary():
    cache, model = _cache(400), _Uniform()
    years = np.where(np.arange(400) < 200, 2001, 2002)
    rows = evaluate(model, cache, years, TINY.mlm, 600, torch.float32)
    assert [(r["source"], r["year"]) for r in rows] == [
        ("abstracts", 2001), ("abstracts", 2002), ("uspto", 2001), ("uspto", 2002), ("all", 0),
    ]  # fmt: skip
    for row in rows:
        assert row["loss"] == pytest.approx(math.log(600), abs=1e-5)
        assert row["pseudo_perplexity"] == pytest.approx(600, abs=0.01)
    held = is_held_out(cache.doc_ids, SHARE)
    assert rows[-1]["documents"] == held.sum() == sum(r["documents"] for r in rows[:-1])
    assert rows[-1]["tokens"] == pytest.approx(0.15 * 100 * held.sum(), rel=0.1)
    masked, predicted, _ = model.seen
    assert masked == predicted  # each is hidden, none is left as it was
    assert model.training


def test_a_base_says_its_held_out_loss(tmp_path, monkeypatch):
    use(monkeypatch, tmp_path)
    make_tiny_lake(tmp_path / "lake")
    tokenizer.run(TINY, YEAR)
    run = read_run(mlm.run(TINY, YEAR))
    rows = run["notes"]["held_out"]
    assert {row["source"] for row in rows} >= {"abstracts", "uspto", "granted_text", "all"}
    assert max(row["year"] for row in rows) == YEAR and rows[-1]["documents"] > 50
    assert 3 < rows[-1]["loss"] < math.log(600)
    assert [read["latest_known_year"] for read in run["tables_read"]] == [YEAR, YEAR]
