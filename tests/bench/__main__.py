"""Times kernels against a peer on the same work, both in one run: `make bench`.

Run it alone on the machine: CPU seconds are not free of load. Trust the ratios.
"""

import time
from collections.abc import Callable

import click
import numpy as np

Timed = tuple[str, str, float, float, float]  # kernel, peer, own and peer CPU s, floor of the ratio


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Median CPU time after a first call that compiles and warms up."""
    work()
    taken = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return float(np.median(taken))


def walks(nodes: int = 100_000, degree: int = 22, length: int = 40) -> Timed:
    """Uniform walks, one from each node of a skewed random graph."""
    from pytrain.graph import Graph, rows_of
    from pytrain.walks import csrgraph_walks, uniform_walks

    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, nodes * degree // 2)) ** 2 // nodes
    ring = np.stack([np.arange(nodes), np.roll(np.arange(nodes), 1)])  # no node is isolated
    pairs = np.unique(np.sort(np.concatenate([ends, ring], axis=1), axis=0), axis=1)
    indptr, indices = rows_of(*pairs[:, pairs[0] < pairs[1]], nodes)
    types = np.zeros(nodes, np.int8)
    graph = Graph(indptr=indptr, indices=indices, doc_ids=np.arange(nodes), doc_types=types)
    out = np.empty((nodes, length), np.int32)
    starts = rng.permutation(nodes)
    own = cpu_seconds(lambda: uniform_walks(indptr, indices, starts, 0, 1, out))
    return "uniform walks", "csrgraph", own, cpu_seconds(
        lambda: csrgraph_walks(graph, length, 1.0, 1.0), 1
    ), 50.0  # fmt: skip


def metrics(queries: int = 2_000, depth: int = 200) -> Timed:
    """MAP of rankings, equal to that of pytrec_eval."""
    from pyeval.metrics import average_precision, trec_eval

    hits = np.random.default_rng(0).random((queries, depth)) < 0.05
    relevant, ranked = hits.sum(axis=1) + 3, np.ones_like(hits)
    np.testing.assert_allclose(
        average_precision(hits, relevant), trec_eval("map", hits, ranked, relevant), atol=1e-6
    )
    own = cpu_seconds(lambda: average_precision(hits, relevant))
    peer = cpu_seconds(lambda: trec_eval("map", hits, ranked, relevant))
    return "MAP", "pytrec_eval", own, peer, 8.0


def ridge(rows: int = 50_000, columns: int = 256) -> Timed:
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
    return "ridge, six penalties", "scikit-learn", own, cpu_seconds(sklearn_fits), 6.0


def dated_edges() -> list[Timed]:
    """Citations to sorted, dated edges and 13 yearly graphs, at a tenth of the full size."""
    from tests.bench.edges import FLOORS, FULL, bench

    made = bench(*(full // 10 for full in FULL), click.echo)["stages"]
    own = made["dated edges"]["cpu_s"]
    return [
        *(("dated edges", peer, own, made[peer]["cpu_s"], FLOORS[peer])
          for peer in ("pandas", "polars")),
        ("13 yearly graphs", "13 builds", made["13 yearly graphs"]["cpu_s"],
         made["13 builds"]["cpu_s"], FLOORS["13 builds"]),
    ]  # fmt: skip


def main() -> None:
    """Print a line per kernel."""
    click.echo("kernel\tpeer\town CPU s\tpeer CPU s\tratio\tfloor")
    for one in (*dated_edges(), walks(), metrics(), ridge()):
        kernel, peer, own, other, floor = one
        click.echo(f"{kernel}\t{peer}\t{own:.3f}\t{other:.3f}\t{other / own:.1f}\t{floor:.1f}")


if __name__ == "__main__":
    main()
