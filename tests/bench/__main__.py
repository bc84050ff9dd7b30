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

from tests.bench import graph, scores, text
from tests.bench.timing import Row
from warehouse.versions import versions_of

_PACKAGES = ("numpy", "numba", "torch", "transformers", "sentence-transformers", "faiss-cpu",
             "csrgraph", "gensim", "datasets", "scipy", "scikit-learn", "duckdb",
             "pytrec-eval-terrier")  # fmt: skip


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
    "mlm": text.mlm_step,
    "embedding": text.embedding,
    "reading": text.reading,
    "probe": scores.probe,
    "ridge": scores.ridge,
    "metrics": scores.metrics,
    "retrieval": scores.retrieval,
}
# Minutes each: run when named.
LARGE: dict[str, Callable[[], Iterable[Row]]] = {"retrieval-full": scores.retrieval_at_full_size}


def _shown(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([*KERNELS, *LARGE]))
@click.option("--json", "out", type=click.Path(path_type=Path), help="Also write the rows here.")
def main(names: tuple[str, ...], out: Path | None) -> None:
    """Print a line per kernel and peer; all but the largest, or those named."""
    click.echo("kernel\tpeer\town CPU s\tpeer CPU s\tratio\tfloor\tshare of limit\tverdict\tnote")
    rows = []
    for name in names or KERNELS:
        for row in (KERNELS | LARGE)[name]():
            rows.append(row)
            times = f"{_shown(row.own, 3)}\t{_shown(row.other, 3)}\t{_shown(row.ratio, 1)}"
            end = f"{row.floor:g}\t{_shown(row.share, 2)}\t{row.verdict}\t{row.note}"
            click.echo(f"{row.kernel}\t{row.peer}\t{times}\t{end}")
    if out is not None:
        found = [asdict(r) | {"ratio": r.ratio, "verdict": r.verdict} for r in rows]
        machine = {"processor": platform.processor(), "versions": versions_of(_PACKAGES)}
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps({"machine": machine, "rows": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
