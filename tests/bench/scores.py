"""Probes, ridge, retrieval and metrics beside scikit-learn, torch, faiss and pytrec_eval."""

import resource
from collections.abc import Iterator

import numpy as np

from tests.bench.timing import Row, cpu_seconds, product_seconds


def metrics(queries: int = 2_000, depth: int = 200) -> Iterator[Row]:
    """MAP of rankings, equal to that of pytrec_eval."""
    from pyeval.metrics import average_precision, trec_eval

    hits = np.random.default_rng(0).random((queries, depth)) < 0.05
    relevant, ranked = hits.sum(axis=1) + 3, np.ones_like(hits)
    np.testing.assert_allclose(
        average_precision(hits, relevant), trec_eval("map", hits, ranked, relevant), atol=1e-6
    )
    own = cpu_seconds(lambda: average_precision(hits, relevant))
    peer = cpu_seconds(lambda: trec_eval("map", hits, ranked, relevant))
    yield Row(kernel="MAP", peer="pytrec_eval", own=own, other=peer, floor=8)


def ridge(rows: int = 50_000, columns: int = 256) -> Iterator[Row]:
    """Ridge with six penalties, the choice among them and the fit on all rows."""
    from scipy.stats import kendalltau
    from sklearn.linear_model import Ridge

    from pyeval.probes import RidgeSettings
    from pyeval.probes import ridge as fit

    rng = np.random.default_rng(0)
    features = rng.standard_normal((rows, columns)).astype(np.float32)
    target = features @ rng.standard_normal(columns) + rng.standard_normal(rows)
    held_out, settings = np.arange(rows) % 10 == 0, RidgeSettings()

    def sklearn_fits() -> None:
        taus = {}
        for penalty in settings.penalties:
            model = Ridge(penalty * rows).fit(features[~held_out], target[~held_out])
            taus[penalty] = kendalltau(target[held_out], model.predict(features[held_out]))[0]
        Ridge(max(taus, key=taus.get) * rows).fit(features, target)

    own = cpu_seconds(lambda: fit(features, target, held_out, settings))
    yield Row(
        kernel="ridge, six penalties",
        peer="scikit-learn",
        own=own,
        other=cpu_seconds(sklearn_fits),
        floor=6,
        limit=product_seconds(1.0 * rows * columns**2, columns),  # one triangle of the product
    )


def probe(rows: int = 40_000, width: int = 384, classes: int = 9, epochs: int = 3) -> Iterator[Row]:
    """A linear probe of three seeds, in one weight matrix and in three loops of torch."""
    import torch
    from torch.nn import functional as F

    from pyeval.probes import ProbeSettings, balanced_weights, linear_probe

    rng = np.random.default_rng(0)
    features = rng.standard_normal((rows, width)).astype(np.float32)
    labels = (features @ rng.standard_normal((width, classes))).argmax(axis=1)
    settings = ProbeSettings(epochs=epochs)
    shown = features[: rows // 10]

    def loops() -> np.ndarray:
        inputs, target = torch.from_numpy(features), torch.from_numpy(labels)
        weight = torch.from_numpy(balanced_weights(labels, classes))
        found = []
        for seed in settings.seeds:
            torch.manual_seed(seed)
            layer = torch.nn.Linear(width, classes)
            optimizer = torch.optim.AdamW(
                layer.parameters(), lr=settings.lr, weight_decay=settings.weight_decay
            )
            for _ in range(epochs):
                for batch in torch.randperm(rows).split(settings.batch):
                    loss = F.cross_entropy(layer(inputs[batch]), target[batch], weight=weight)
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            found.append(layer(torch.from_numpy(shown)).argmax(1).numpy())
        return np.stack(found)

    right = labels[: len(shown)]
    ours = linear_probe(features, labels, shown, settings).argmax(axis=2)
    accuracy = [float((found == right).mean()) for found in (ours, loops())]
    own = cpu_seconds(lambda: linear_probe(features, labels, shown, settings), 1)
    other = cpu_seconds(loops, 1)
    seeds = len(settings.seeds)
    yield Row(
        kernel="linear probe, three seeds",
        peer="torch, three loops",
        own=own,
        other=other,
        floor=4,
        limit=product_seconds(4.0 * rows * width * classes * seeds * epochs, width),
        note=f"accuracy {accuracy[0]:.3f}, theirs {accuracy[1]:.3f}",
    )


def retrieval(
    queries: int = 1_000, corpus: int = 50_000, width: int = 384, theirs: int = 64
) -> Iterator[Row]:
    """The 200 best of a corpus by cosine, scores of the best in fp64; faiss on fewer queries."""
    import faiss

    from pyeval.retrieval import search

    rng = np.random.default_rng(0)
    asked, held = (rng.standard_normal((n, width), np.float32) for n in (queries, corpus))
    for one in (asked, held):
        one /= np.linalg.norm(one, axis=1, keepdims=True)
    index = faiss.IndexFlatIP(width)
    index.add(held)
    mended = faiss.cvar.distance_compute_blas_threshold
    faiss.cvar.distance_compute_blas_threshold = 128_000  # as shipped
    few = min(theirs, queries)
    try:
        best = index.search(asked[:few], 200)[1]
        other = cpu_seconds(lambda: index.search(asked[:few], 200), 1) * queries / few
    finally:
        faiss.cvar.distance_compute_blas_threshold = mended
    agree = (search(asked[:few], held, 200).index == best).mean()
    own = cpu_seconds(lambda: search(asked, held, 200), 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    yield Row(
        kernel=f"retrieval, {queries:,} x {corpus:,}",
        peer="faiss as shipped",
        own=own,
        other=other,
        floor=1,
        limit=product_seconds(2.0 * queries * corpus * width, width),
        note=f"{agree:.4f} of the ranks are equal; peak memory of this process {peak:.1f} GiB",
    )


def retrieval_at_full_size() -> Iterator[Row]:
    """As the benchmark's largest task: 13,000 queries, 500,000 documents; minutes."""
    yield from retrieval(13_000, 500_000, 384, 16)
