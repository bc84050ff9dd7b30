"""`lake plan`: time and memory of the graph's stages before a build starts, from measured runs.

The figures are those of `python -m tests.bench.edges`, which runs the lake's own SQL with one
thread; they are in measured_edges.json beside this file. Between and above the measured sizes a
stage's time is taken to grow with n log n, as a sort does; its memory stays below DuckDB's limit,
because what does not fit is written to disk.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import UserError

MEASURED = Path(__file__).with_name("measured_edges.json")
PAPER_EDGES = 642_000_000  # paper, Table 3: the graph of 2025
STAGES = ("dated edges", "graph nodes", "13 yearly graphs")
PEERS = ("13 builds", "polars", "pandas")


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What one stage takes."""

    stage: str
    cpu_s: float  # of one thread
    peak_gb: float
    measured_at: int  # edges of the run that it is taken from


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Every stage at a number of edges."""

    edges: int
    stages: tuple[Estimate, ...]
    file_gb: float  # of the DuckDB file: edges, nodes and counts
    disk_gb: float  # free disk that the sort and the distinct rows may need
    memory_limit: str  # under which it was measured


def plan(edges: int = PAPER_EDGES, sizes: list[dict] | None = None) -> Plan:
    """Extrapolate every stage from the measured run whose size is nearest.

    Args:
        edges: distinct citations between documents.
        sizes: measured runs; those that ship with the package when left out.

    Raises:
        UserError: `edges` is not positive.
    """
    if edges < 1:
        raise UserError(f"{edges} edges are none. Example: lake plan --edges 642000000")
    sizes = sizes or json.loads(MEASURED.read_text(encoding="utf-8"))
    near = min(sizes, key=lambda size: abs(math.log(size["edges"] / edges)))
    work = _work(edges) / _work(near["edges"])
    ratio = edges / near["edges"]
    return Plan(
        edges=edges,
        stages=tuple(
            Estimate(
                stage=stage,
                cpu_s=near["stages"][stage]["cpu_s"] * work,
                peak_gb=near["stages"][stage]["peak_gb"],
                measured_at=near["edges"],
            )
            for stage in STAGES
        ),
        file_gb=near["file_gb"] * ratio,
        # Rows of 32 bytes: once in the distinct pairs, once in the sort.
        disk_gb=2 * 32 * edges / 1e9,
        memory_limit=near["memory_limit"],
    )


def _work(edges: int) -> float:
    return edges * math.log2(edges + 1)
