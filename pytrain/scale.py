"""How large a vintage is, and the machines that it may be made on."""

from dataclasses import dataclass

from warehouse.errors import unknown


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
