"""CPU seconds and memory of the processor stages at three sizes: `python -m tests.bench.stages`.

Writes pytrain/measured_stages.json, which `pytrain plan` extrapolates. One thread; run it alone.
"""

import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pytrain.plan import MEASURED

Work = Callable[[], object]


def _texts(size: int) -> list[str]:
    """About `size` bytes of words whose frequencies fall as in English, 1,000 bytes a text."""
    random = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words = ["".join(letters[random.integers(0, 26, n)]) for n in random.integers(2, 12, 60_000)]
    ranks = np.minimum(random.zipf(1.3, size // 7), len(words)) - 1
    return [
        " ".join(words[rank] for rank in ranks[low : low + 143])
        for low in range(0, len(ranks), 143)
    ]


def tokenizer(size: int) -> Work:
    """Bytes that the merges are learnt from."""
    from pytrain.config import TokenizerSettings
    from pytrain.tokenizer import train_tokenizer

    texts = _texts(size)
    return lambda: train_tokenizer([texts], TokenizerSettings())


def token_cache(size: int) -> Work:
    """Bytes that become token ids."""
    from pytrain.config import TokenizerSettings
    from pytrain.tokenizer import train_tokenizer

    texts = _texts(size)
    made = train_tokenizer([texts[:300]], TokenizerSettings(vocab_size=8_000))
    return lambda: [
        np.array(one.ids, "<u2").tobytes()
        for one in made.encode_batch_fast(texts, add_special_tokens=False)
    ]


def walks(size: int) -> Work:
    """Steps of uniform walks of 80 nodes over a graph of 22 neighbours a node."""
    from pytrain.walks import uniform_walks

    nodes = max(2, size // 80)
    random = np.random.default_rng(0)
    indptr = np.arange(nodes + 1, dtype=np.int64) * 22
    indices = random.integers(0, nodes, nodes * 22).astype(np.int32)
    starts, out = random.permutation(nodes), np.empty((nodes, 80), np.int32)
    return lambda: uniform_walks(indptr, indices, starts, 0, 1, out)


def skip_gram(size: int) -> Work:
    """Nodes of walks that are fed, 128 dimensions, a window of 10."""
    from pytrain.skipgram import SkipGram

    nodes = max(10, size // 100)
    fed = np.random.default_rng(0).integers(0, nodes, size // 80 * 80).astype(np.int32)
    offsets = np.arange(0, len(fed) + 1, 80)
    model = SkipGram(
        np.bincount(fed, minlength=nodes),
        len(offsets) - 1,
        dimensions=128,
        window=10,
        negatives=5,
        lr=(0.025, 1e-4),
        seed=0,
    )
    return lambda: model.feed(fed, offsets)


def neighbours(size: int) -> Work:
    """Anchors times nodes times 128 dimensions; 256 anchors, ranks to 4,000."""
    from pytrain.ranks import nearest

    nodes = max(4_100, size // (256 * 128))
    vectors = np.random.default_rng(0).standard_normal((nodes, 128), np.float32)
    ranks = np.array([*range(21, 26), 3_999, 4_000])
    everyone = np.arange(nodes)
    return lambda: nearest(vectors, everyone, everyone[:256], everyone, ranks)


def static(size: int) -> Work:
    """Pairs of texts of 60 distinct tokens, 1,024 dimensions, 1,024 pairs a step."""
    import torch

    from pytrain.bags import Bags, TokenTable, as_tensors
    from pytrain.objectives import info_nce

    random = np.random.default_rng(0)
    table = random.standard_normal((50_368, 1_024), np.float32)
    model, rows = TokenTable(table, normalise=False), 1_024
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    tokens = random.integers(5, 50_368, rows * 60).astype(np.int32)
    starts = np.arange(0, rows * 60 + 1, 60)
    bags = Bags(starts=starts, tokens=tokens, counts=np.ones(rows * 60, np.float32))
    side = list(as_tensors("one", bags).values())
    shared = torch.zeros(rows, rows, dtype=torch.bool)

    def work() -> None:
        for _ in range(max(1, size // rows)):
            info_nce(model(*side), model(*side), shared, 0.05).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return work


# Stage -> what makes its work, and three sizes of it in its own unit (see its docstring).
MEASURES: dict[str, tuple[Callable[[int], Work], tuple[int, int, int]]] = {
    "tokenizer": (tokenizer, (300_000, 1_000_000, 3_000_000)),
    "token cache": (token_cache, (300_000, 1_000_000, 2_000_000)),
    "walks": (walks, (1_000_000, 4_000_000, 16_000_000)),
    "skip-gram": (skip_gram, (100_000, 200_000, 600_000)),
    "neighbours": (neighbours, (400_000_000, 1_200_000_000, 3_600_000_000)),
    "static": (static, (1_024, 2_048, 4_096)),
}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def _measure(stage: str, size: int, out: "multiprocessing.Queue") -> None:
    make, sizes = MEASURES[stage]
    if stage != "tokenizer":
        make(min(sizes) // 10)()  # compiles
    before = _peak()
    work = make(size)
    started = time.process_time()
    work()
    out.put({"size": size, "cpu_s": round(time.process_time() - started, 4),
             "peak_gb": round(_peak() - before, 4)})  # fmt: skip


def measured(stages: dict[str, tuple[int, ...]]) -> dict[str, list[dict]]:
    """Each stage at some sizes, each in a process of its own; the stages beside each other.

    The memory is what the stage adds to a process that has loaded the program.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytrain.mlm", "pytrain.ranks", "pytrain.walks"])

    def runs(stage: str) -> list[dict]:
        found = []
        for size in stages[stage]:
            queue = context.Queue()
            child = context.Process(target=_measure, args=(stage, size, queue))
            child.start()
            found.append(queue.get(timeout=1800))
            child.join()
            print(stage, found[-1], flush=True)
        return found

    with ThreadPoolExecutor(len(stages)) as pool:
        return dict(zip(stages, pool.map(runs, stages), strict=True))


if __name__ == "__main__":
    made = measured({stage: sizes for stage, (_, sizes) in MEASURES.items()})
    MEASURED.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
