"""Skip-gram vectors of tokens: made inside the slice, alike for words used alike, and of use."""

import numpy as np
import pytest
import torch
from graph_runs import on_two_lakes
from tiny_lake import TOPICS, topic_words

from pytrain import mlm, tokenizer
from pytrain.batching import pad
from pytrain.config import TokenVectorSettings, load_settings
from pytrain.corpus import Corpus
from pytrain.device import generator
from pytrain.run import read_run
from pytrain.token_cache import TokenCache, open_cache
from pytrain.token_vectors import drawn_texts, seed_table, token_vectors
from pytrain.tokenizer import PAD, load_tokenizer, tokenizer_run
from warehouse.errors import UserError
from warehouse.sources import runs_root
from warehouse.tables import Lake

COMMON = ("tokenizer.vocab_size=2400", "mlm.tokens=60000")
RANDOM = load_settings("tiny", list(COMMON))
SEEDED = load_settings("tiny", [*COMMON, "mlm.table=skip-gram"])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The base of 2012 with a skip-gram table, from a lake to 2015 and from one to 2012."""
    return on_two_lakes(
        tmp_path_factory.mktemp("vectors"),
        lambda: tokenizer.run(SEEDED, 2012),
        lambda: mlm.run(SEEDED, 2012),
    )


def use(folder, monkeypatch) -> None:
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(folder / "whole"))
    monkeypatch.setenv("RUNS_ROOT", str(folder / "runs-whole"))


def cache_of(year: int) -> TokenCache:
    """The token cache of a year, by the tokenizer of 2012."""
    with Lake() as lake:
        return open_cache(lake, year, tokenizer_run(SEEDED, 2012), runs_root() / ".cache")


def vectors_of(cache: TokenCache, seed: int = 0, **changed) -> np.ndarray:
    size = load_tokenizer(tokenizer_run(SEEDED, 2012)).get_vocab_size()
    return token_vectors(cache, TokenVectorSettings(**changed), size, 32, seed)


def test_texts_are_drawn_whole_until_the_budget_is_reached():
    cache = TokenCache(
        tokens=np.zeros(100, np.uint16),
        offsets=np.arange(0, 101, 10),
        doc_ids=np.arange(10),
        sources=np.zeros(10, np.uint8),
        source_names=("abstracts",),
    )
    everything = drawn_texts(cache, 1_000, 0)
    assert sorted(everything) == list(range(10))
    assert (drawn_texts(cache, 31, 0) == everything[:4]).all()
    assert (drawn_texts(cache, 30, 0) == everything[:3]).all()
    assert (drawn_texts(cache, 1, 0) == everything[:1]).all()
    assert (drawn_texts(cache, 1_000, 1) != everything).any()


def test_words_of_a_topic_have_like_vectors(made, monkeypatch):
    use(made, monkeypatch)
    cache, known = cache_of(2012), load_tokenizer(tokenizer_run(SEEDED, 2012))
    vectors = vectors_of(cache)
    assert vectors.std() == pytest.approx(0.05, rel=1e-5)
    rows, topics = [], []
    for topic in range(TOPICS):
        for word in topic_words(topic):
            row = known.token_to_id(f"Ġ{word}")
            if row is not None:
                rows.append(row)
                topics.append(topic)
    assert len(rows) > 50
    unit = vectors[rows] / np.linalg.norm(vectors[rows], axis=1, keepdims=True)
    cosine, same = unit @ unit.T, np.equal.outer(topics, topics)
    apart = ~np.eye(len(rows), dtype=bool)
    assert cosine[same & apart].mean() > cosine[~same].mean() + 0.3


def test_the_vectors_and_the_weights_depend_on_the_slice_alone(made, monkeypatch):
    one, two = (read_run(made / f"runs-{name}" / "tiny-2012") for name in ("whole", "prefix"))
    assert one["artefacts"] == two["artefacts"] and one["fingerprint"] == two["fingerprint"]
    use(made, monkeypatch)
    assert (vectors_of(cache_of(2012)) == vectors_of(cache_of(2012))).all()
    assert (vectors_of(cache_of(2012)) != vectors_of(cache_of(2012), seed=1)).any()


def test_the_special_tokens_and_unused_rows_stay_as_they_were_drawn():
    model = mlm.new_model(RANDOM, 0)
    before = model.model.embeddings.tok_embeddings.weight.detach().clone()
    vectors = np.full((2_000, 32), 0.25, np.float32)
    seed_table(model, vectors)
    after = model.model.embeddings.tok_embeddings.weight
    assert torch.equal(after[:5], before[:5]) and torch.equal(after[2_000:], before[2_000:])
    assert (after[5:2_000] == 0.25).all()
    assert model.decoder.weight.data_ptr() == after.data_ptr()


def test_the_loss_on_held_out_text_falls_faster(made, monkeypatch):
    """The same steps from a random table; text of 2013 to 2015 was in neither slice."""
    use(made, monkeypatch)
    monkeypatch.setenv("RUNS_ROOT", str(made / "runs-random"))
    tokenizer.run(RANDOM, 2012)
    mlm.run(RANDOM, 2012)
    later = Corpus(cache_of(2015), RANDOM.mlm, 0)
    texts = later.cache.doc_ids[later.pieces.texts]
    known = set(cache_of(2012).doc_ids.tolist())
    pieces = [piece for piece, doc in enumerate(texts.tolist()) if doc not in known][:200]
    batch = pad((later.ids(piece) for piece in pieces), PAD)
    size = load_tokenizer(tokenizer_run(RANDOM, 2012)).get_vocab_size()
    batch |= mlm.mask_tokens(batch["input_ids"], generator(0, "held out"), RANDOM.mlm, size)
    losses = []
    for runs in ("runs-whole", "runs-random"):
        model = mlm.ModernBertForMaskedLM.from_pretrained(made / runs / "tiny-2012" / "model")
        with torch.no_grad():
            losses.append(mlm.masked_loss(model.eval(), batch).item())
    assert losses[0] < losses[1] - 0.05


def test_settings_that_make_no_sense_are_one_message():
    for wrong in ("std=0", "window=0", "tokens=0"):
        with pytest.raises(UserError, match="token_vectors"):
            load_settings("tiny", [f"mlm.token_vectors.{wrong}"])
    with pytest.raises(UserError, match="mlm.table"):
        load_settings("tiny", ["mlm.table=glove"])
