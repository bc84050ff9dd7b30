"""How large a vintage is, and the machines that it may be made on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.errors import unknown

if TYPE_CHECKING:
    from pytrain.config import Settings


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a training runs on."""

    devices: int
    tflops: float  # dense bf16 (CPU: what its kernels reach) of one device, 1e12 a second
    share: float  # of that rate, reached in training
    memory_gb: float  # of one device
    cores: int  # for the stages that run on processors


# Shares of the accelerators are our assumption: tests/bench/gpu.py measures one's own.
MACHINES = {
    "2-cores": Machine(devices=1, tflops=2.1, share=0.15, memory_gb=16, cores=2),
    "a100-40gb-x4": Machine(devices=4, tflops=312, share=0.40, memory_gb=40, cores=32),
    "h100-80gb": Machine(devices=1, tflops=989, share=0.40, memory_gb=80, cores=16),
    "h100-80gb-x8": Machine(devices=8, tflops=989, share=0.40, memory_gb=80, cores=96),
    "h200-141gb": Machine(devices=1, tflops=989, share=0.40, memory_gb=141, cores=16),
}


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large a vintage is."""

    tokens: dict[str, float]  # of the slice, by source
    text_bytes: float
    nodes: int
    edges: int
    anchors: int


# The paper's 2025: 28.1 + 8.1 M nodes, 642 M edges (Table 3), 349,000 anchors (Appendix A). Its
# corpus is of "hundreds of billions of tokens"; the split is our assumption, at which one pass
# of the scarcest primary source is a budget of 100 billion.
PAPER = Scale(
    tokens={"s2orc": 100e9, "abstracts": 15e9, "uspto": 120e9, "fineweb_edu": 1_300e9},
    text_bytes=1_535e9 * 4.3,
    nodes=36_200_000,
    edges=642_000_000,
    anchors=349_000,
)


def machine(name: str) -> Machine:
    """A machine by its name.

    Raises:
        UserError: none of that name.
    """
    if name not in MACHINES:
        raise unknown("machine", name, sorted(MACHINES), "pytrain plan --help")
    return MACHINES[name]


def lake_scale(year: int) -> Scale | None:
    """The size of a cutoff's slice in this lake; None where there is no lake.

    Tokens are taken to be 4.3 bytes long, the mean of English scientific text in a vocabulary of
    50,368; a run counts its own.
    """
    import pyarrow.compute as pc

    from warehouse.sources import lake_folder
    from warehouse.tables import Lake

    if not (lake_folder() / "lake.duckdb").is_file():
        return None
    tokens: dict[str, float] = {}
    with Lake() as lake:
        for batch in lake.batches("pretrain_text", ("source", "text"), cutoff=year):
            lengths = pc.binary_length(batch.column("text"))
            for name in pc.unique(batch.column("source")).to_pylist():
                here = pc.sum(lengths.filter(pc.equal(batch.column("source"), name))).as_py()
                tokens[name] = tokens.get(name, 0.0) + here / 4.3
        counts = [
            lake.read(table, (column,), cutoff=year).num_rows
            for table, column in (
                ("nodes", "node_id"),
                ("edges", "citing_id"),
                ("anchors", "doc_id"),
            )
        ]
    return Scale(
        tokens=tokens,
        text_bytes=4.3 * sum(tokens.values()),
        nodes=counts[0],
        edges=counts[1],
        anchors=counts[2],
    )


def scale_of(settings: "Settings", year: int) -> tuple[Scale | None, str]:
    """The size a vintage is planned at, and where it is from."""
    if settings.preset == "paper":
        return PAPER, "the paper's scale of 2025"
    return lake_scale(year), f"this lake as of {year}"
