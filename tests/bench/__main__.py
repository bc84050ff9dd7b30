"""Times kernels against a peer on the same work, both in one run: `make bench`.

Run it alone on the machine: CPU seconds are not free of load. Trust the ratios. A peer that is not
installed leaves its row unmeasured, and the row says so.
"""

import json
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np

from tests.bench import graph
from tests.bench.timing import Row, cpu_seconds, product_seconds
from warehouse.versions import versions_of

_PACKAGES = ("numpy", "numba", "torch", "faiss-cpu", "csrgraph", "scipy", "scikit-learn", "duckdb")


def metrics(queries: int = 2_000, depth: int = 200) -> Iterable[Row]:
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


def ridge(rows: int = 50_000, columns: int = 256) -> Iterable[Row]:
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


def dated_edges() -> Iterable[Row]:
    """Citations to sorted, dated edges and 13 yearly graphs, at a tenth of the full size."""
    from tests.bench.edges import FLOORS, FULL, bench

    made = bench(*(full // 10 for full in FULL), lambda line: click.echo(line, err=True))["stages"]
    for kernel, peer in (
        ("dated edges", "pandas"),
        ("dated edges", "polars"),
        ("13 yearly graphs", "13 builds"),
    ):
        own, other = made[kernel]["cpu_s"], made[peer]["cpu_s"]
        yield Row(kernel=kernel, peer=peer, own=own, other=other, floor=FLOORS[peer])


KERNELS: dict[str, Callable[[], Iterable[Row]]] = {
    "edges": dated_edges,
    "rows": graph.rows,
    "uniform": graph.uniform,
    "biased": graph.biased,
    "skip-gram": graph.skip_gram,
    "neighbours": graph.neighbours,
    "metrics": metrics,
    "ridge": ridge,
}


def _shown(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(KERNELS)))
@click.option("--json", "out", type=click.Path(path_type=Path), help="Also write the rows here.")
def main(names: tuple[str, ...], out: Path | None) -> None:
    """Print a line per kernel and peer; all of them, or those named."""
    click.echo("kernel\tpeer\town CPU s\tpeer CPU s\tratio\tfloor\tshare of limit\tverdict\tnote")
    rows = []
    for name in names or KERNELS:
        for row in KERNELS[name]():
            rows.append(row)
            times = f"{_shown(row.own, 3)}\t{_shown(row.other, 3)}\t{_shown(row.ratio, 1)}"
            end = f"{row.floor:g}\t{_shown(row.share, 2)}\t{row.verdict}\t{row.note}"
            click.echo(f"{row.kernel}\t{row.peer}\t{times}\t{end}")
    if out is not None:
        found = [asdict(r) | {"ratio": r.ratio, "verdict": r.verdict} for r in rows]
        machine = {"processor": platform.processor(), "versions": versions_of(_PACKAGES)}
        out.write_text(json.dumps({"machine": machine, "rows": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
