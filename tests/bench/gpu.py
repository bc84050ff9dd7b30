"""What an accelerator reaches, in at most 12 minutes: `python -m tests.bench.gpu`.

Training of ModernBERT-base in bf16, with its share of the chip's matrix rate as measured in the
same run by bare products; exact neighbours of 10,000 anchors among a million nodes; embedding
beside sentence-transformers. One JSON line per result on stdout. `--dry-run` takes the same path
on a processor, at sizes of seconds: its figures mean nothing.
"""

import gc
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import numpy as np
import torch

from pytrain.config import Settings, load_settings
from pytrain.device import autocast
from pytrain.plan import flops_per_token

TINY = ["mlm.layers=2", "mlm.hidden=64", "mlm.heads=2", "mlm.intermediate=96",
        "tokenizer.vocab_size=600"]  # fmt: skip


def seconds(work: Callable[[], object], device: torch.device, repeats: int) -> float:
    """Median wall time of the repeats, after one that compiles and warms up."""
    taken = []
    for turn in range(repeats + 1):
        _wait(device)
        started = time.perf_counter()
        work()
        _wait(device)
        if turn:
            taken.append(time.perf_counter() - started)
    return float(np.median(taken))


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def matrix_rate(device: torch.device, n: int) -> float:
    """Floating-point operations a second of bare bf16 products of n x n matrices."""
    one, other = (torch.randn(n, n, device=device, dtype=torch.bfloat16) for _ in range(2))
    return 2 * n**3 / seconds(lambda: one @ other, device, 5)


def batch_of(settings: Settings, rows: int, device: torch.device) -> dict[str, torch.Tensor]:
    """A masked batch of full length."""
    from pytrain.device import generator
    from pytrain.mlm import mask_tokens

    random, size = generator(0, "bench"), settings.tokenizer.vocab_size
    ids = torch.randint(5, size, (rows, settings.mlm.max_length), generator=random)
    made = mask_tokens(ids, random, settings.mlm, size)
    made["attention_mask"] = torch.ones_like(ids)
    return {name: value.to(device) for name, value in made.items()}


def training(
    settings: Settings, device: torch.device, rows: int, rate: float, attention: str
) -> dict[str, object]:
    """Tokens a second of forward, backward and AdamW, and their share of the matrix rate.

    Args:
        settings: the shape of the model.
        device: where.
        rows: texts of full length in a micro-batch; one update per micro-batch.
        rate: of `matrix_rate`.
        attention: implementation: sdpa pads, flash_attention_2 takes the tokens alone.
    """
    from pytrain.mlm import masked_loss, new_model, optimizer_of

    model = new_model(settings, 0).to(device).train()
    model.set_attn_implementation(attention)
    optimizer, batch = optimizer_of(model, settings.mlm), batch_of(settings, rows, device)

    def step() -> None:
        with autocast(device, torch.bfloat16):
            loss = masked_loss(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.mlm.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    taken = seconds(step, device, 8)
    tokens = batch["input_ids"].numel() / taken
    work = tokens * flops_per_token(settings, settings.mlm.mask_share)
    peak = torch.cuda.max_memory_allocated() / 1e9 if device.type == "cuda" else None
    return {
        "what": "pre-training",
        "attention": attention,
        "tokens_per_second": round(tokens),
        "tflops": round(work / 1e12, 2),
        "share_of_matrix_rate": round(work / rate, 4),
        "peak_gb": peak and round(peak, 2),
    }


def neighbours(device: torch.device, nodes: int, anchors: int, up_to: int) -> dict[str, object]:
    """Exact neighbours to rank `up_to` of anchors among nodes, 128 dimensions, in blocks."""
    random = torch.Generator(device=device).manual_seed(0)
    table = torch.randn(nodes, 128, generator=random, device=device)
    table = torch.nn.functional.normalize(table, dim=1)
    block = max(1, min(anchors, 2_000_000_000 // nodes))  # scores of a block: at most 8 GB

    def search() -> None:
        for low in range(0, anchors, block):
            (table[low : low + block] @ table.T).topk(up_to + 1, dim=1)

    def products() -> None:
        for low in range(0, anchors, block):
            table[low : low + block] @ table.T

    taken, bare = (seconds(work, device, 2) for work in (search, products))
    return {
        "what": f"neighbours, {anchors:,} x {nodes:,}",
        "seconds": round(taken, 3),
        "anchors_per_second": round(anchors / taken),
        "share_of_bare_product": round(bare / taken, 4),
    }


def _folder(settings: Settings, root: Path) -> Path:
    """A model folder with random weights and a tokenizer of made-up words."""
    from transformers import ModernBertModel

    from pytrain.mlm import new_model
    from pytrain.tokenizer import train_tokenizer, write_tokenizer

    texts = [" ".join(_words(i, 200)) for i in range(300)]
    tokenizer = train_tokenizer([texts], settings.tokenizer)
    folder = root / "model"
    folder.mkdir()
    model: ModernBertModel = new_model(settings, 0).model
    model.config.sparse_prediction = False
    model.save_pretrained(folder)
    write_tokenizer(tokenizer, folder, settings.mlm.max_length)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _words(seed: int, n: int) -> list[str]:
    draws = np.random.default_rng(seed).integers(0, 5_000, n)
    return [f"{'bcdfghklmn'[i % 10]}{'aeiou'[i // 10 % 5]}{i:x}" for i in draws]


def embedding(settings: Settings, device: torch.device, documents: int) -> dict[str, object]:
    """Documents a second of our encoder and of sentence-transformers, lengths as of abstracts."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer

    from pytrain.encoder import Encoder

    lengths = np.random.default_rng(1).integers(20, 200, documents)
    abstracts = [" ".join(_words(i, n)) for i, n in enumerate(lengths)]
    titles = [" ".join(_words(-i - 1 + 10**6, 10)) for i in range(documents)]
    with tempfile.TemporaryDirectory() as root:
        folder = _folder(settings, Path(root))
        length = settings.mlm.max_length
        own = Encoder.load(folder, dtype="bf16", device=device.type, max_length=length)
        word = Transformer(str(folder), max_seq_length=length)
        peer = SentenceTransformer(
            modules=[word, Pooling(word.get_embedding_dimension()), Normalize()],
            device=device.type,
        )
        texts = own.texts(titles, abstracts)
        vectors = own.embed(titles, abstracts)
        other = peer.encode(texts, batch_size=32)
        rates = [
            documents / seconds(work, device, 1)
            for work in (
                lambda: own.embed(titles, abstracts, token_budget=65_536),
                lambda: peer.encode(texts, batch_size=32),
            )
        ]
    return {
        "what": "embedding",
        "documents_per_second": round(rates[0], 1),
        "sentence_transformers": round(rates[1], 1),
        "ratio": round(rates[0] / rates[1], 3),
        "least_cosine": round(float((vectors * other).sum(1).min()), 5),
    }


def results(device: torch.device, dry: bool) -> Iterator[dict[str, object]]:
    """Each measurement in turn; one that does not fit in memory says so and the others go on."""
    settings = load_settings("paper", TINY if dry else [])
    rate = matrix_rate(device, 256 if dry else 8_192)
    yield {"what": "bare bf16 products", "tflops": round(rate / 1e12, 2)}
    rows = 2 if dry else 64
    works: list[Callable[[], dict[str, object]]] = [
        lambda: training(settings, device, rows, rate, "sdpa"),
        lambda: neighbours(device, *((3_000, 100, 50) if dry else (1_000_000, 10_000, 4_000))),
        lambda: embedding(settings, device, 16 if dry else 4_000),
    ]
    if device.type == "cuda" and _has_flash():
        works.insert(1, lambda: training(settings, device, rows, rate, "flash_attention_2"))
    for work in works:
        try:
            yield work()
        except torch.cuda.OutOfMemoryError as error:
            yield {"what": "out of memory", "message": str(error).splitlines()[0]}
        gc.collect()


def _has_flash() -> bool:
    from transformers.utils import is_flash_attn_2_available

    return is_flash_attn_2_available()


@click.command()
@click.option("--dry-run", is_flag=True, help="The same path on a processor, in seconds.")
def main(dry_run: bool) -> None:
    """Measure what the accelerator reaches."""
    if not dry_run and not torch.cuda.is_available():
        raise click.ClickException("torch finds no GPU. Use: python -m tests.bench.gpu --dry-run")
    device = torch.device("cpu" if dry_run else "cuda")
    started = time.perf_counter()
    for one in results(device, dry_run):
        click.echo(json.dumps(one))
    click.echo(json.dumps({"what": "all", "seconds": round(time.perf_counter() - started, 1)}))


if __name__ == "__main__":
    main()
