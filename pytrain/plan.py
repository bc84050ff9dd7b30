"""`pytrain plan`: time and memory of every stage before it starts.

What runs on a processor is taken from runs at three sizes, which `python -m tests.bench.stages`
measured and measured_stages.json keeps: a straight line through them, since each stage's work
grows with its size alone. What runs on an accelerator is arithmetic: the products of the model
over the machine's matrix rate, at the share of it that is named with the machine.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytrain.scale import Machine, Scale, machine, scale_of

if TYPE_CHECKING:
    from pytrain.config import MlmSettings, Settings

MEASURED = Path(__file__).with_name("measured_stages.json")
STAGES = ("tokenizer", "token cache", "walks", "skip-gram", "neighbours", "static")
GB = 1e9
_NO_LAKE = "scale\tno lake: sizes are not known. Make one: lake sample && lake build"
PRIMARY = ("s2orc", "abstracts", "uspto")


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a stage takes."""

    stage: str
    size: str  # of its work, for a person
    hours: float  # of wall time on the machine
    peak_gb: float  # of one process


def line(
    stage: str, size: float, sizes: dict[str, list[dict]] | None = None
) -> tuple[float, float]:
    """CPU seconds and peak GB of a stage at a size, by least squares through its three runs.

    Args:
        stage: one of `STAGES`.
        size: in the stage's own unit, see measured_stages.json.
        sizes: the measured runs; those that ship when left out.
    """
    runs = (sizes or json.loads(MEASURED.read_text(encoding="utf-8")))[stage]
    at = np.array([run["size"] for run in runs], float)
    found = []
    for key in ("cpu_s", "peak_gb"):
        slope, start = np.polyfit(at, [run[key] for run in runs], 1)
        found.append(max(float(start), 0.0) + max(float(slope), 0.0) * size)
    return found[0], found[1]


def budget(settings: "MlmSettings", tokens: dict[str, float]) -> float:
    """Tokens of a pre-training: the setting, or `passes` over the scarcest primary source."""
    if settings.tokens is not None:
        return settings.tokens
    shares = {n: s for n, s in vars_of(settings).items() if s and tokens.get(n)}
    whole = sum(shares.values())
    primary = [name for name in shares if name in PRIMARY] or list(shares)
    return settings.passes * min(tokens[name] * whole / shares[name] for name in primary)


def vars_of(settings: "MlmSettings") -> dict[str, float]:
    """Share of each source of the mixture."""
    from dataclasses import asdict

    return asdict(settings.mixture)


def flops_per_token(settings: "Settings", decoded_share: float) -> float:
    """Floating-point operations of one token, forward and backward: three times the forward.

    Args:
        settings: the shape of the model.
        decoded_share: of the tokens that go through the decoder.
    """
    chosen = settings.mlm
    d, wide = chosen.hidden, chosen.intermediate
    matrices = chosen.layers * (4 * d * d + 3 * d * wide)
    full = -(-chosen.layers // chosen.global_attention_every)
    near = min(chosen.local_window, chosen.max_length)
    attention = 2 * d * (full * chosen.max_length + (chosen.layers - full) * near)
    decoder = decoded_share * (d * d + d * settings.tokenizer.vocab_size)
    return 6.0 * (matrices + attention + decoder)


def training_gb(settings: "Settings", parameters: int, tokens: int, decoded_share: float) -> float:
    """Memory of one device: weights, gradients and two moments in fp32, and what backward needs.

    Per token and layer about 12.5 numbers of the width in bf16 and two norms in fp32; per
    decoded token its logits in bf16, fp32, and their gradient.
    """
    chosen = settings.mlm
    layers = chosen.layers * chosen.hidden * (2 * 12.5 + 2 * 4)
    logits = decoded_share * settings.tokenizer.vocab_size * (2 + 4 + 4)
    return (16 * parameters + tokens * (layers + logits)) / GB


def estimates(
    settings: "Settings", scale: Scale, on: Machine, parameters: int
) -> Iterator[Estimate]:
    """Every stage of a vintage on a machine, in order."""
    total, text = sum(scale.tokens.values()), scale.text_bytes

    def cpu(stage: str, size: float, shown: str, spread: bool = True) -> Estimate:
        seconds, peak = line(stage, size)
        hours = seconds / (on.cores if spread else 1) / 3600
        return Estimate(stage=stage, size=shown, hours=hours, peak_gb=peak)

    read = min(text, settings.tokenizer.byte_budget)
    yield cpu("tokenizer", read, f"{read:.3g} bytes")
    # The cache is written as it is read: its memory is that of one batch.
    one = cpu("token cache", text, f"{total:.3g} tokens, {2 * total / GB:,.0f} GB of disk")
    small = line("token cache", 0)[1]
    yield Estimate(stage=one.stage, size=one.size, hours=one.hours, peak_gb=small)
    rate = on.devices * on.tflops * on.share * 1e12
    mlm = settings.mlm
    wanted = budget(mlm, scale.tokens)
    yield Estimate(
        stage="pretrain",
        size=f"{wanted:.3g} tokens",
        hours=wanted * flops_per_token(settings, mlm.mask_share) / rate / 3600,
        peak_gb=training_gb(settings, parameters, mlm.micro_tokens, mlm.mask_share),
    )
    own = settings.node2vec
    steps = scale.nodes * own.walks_per_node * own.walk_length
    # Both directions of an edge as int32, row ends and node ids as int64, two tables of vectors.
    graph_gb = (8 * scale.edges + 17 * scale.nodes) / GB
    vectors_gb = 4 * own.dimensions * scale.nodes / GB
    walks = cpu("walks", steps, f"{steps:.3g} steps")
    yield Estimate(stage="walks", size=walks.size, hours=walks.hours, peak_gb=graph_gb)
    fed = steps * own.epochs
    grams = cpu("skip-gram", fed, f"{fed:.3g} nodes of walks", spread=own.fast)
    yield Estimate(
        stage="skip-gram", size=grams.size, hours=grams.hours, peak_gb=graph_gb + 2 * vectors_gb
    )
    products = 1.0 * scale.anchors * scale.nodes
    near = cpu("neighbours", products * own.dimensions, f"{products:.3g} cosines")
    yield Estimate(stage="neighbours", size=near.size, hours=near.hours, peak_gb=2 * vectors_gb)
    static = settings.static
    pairs = static.epochs * scale.nodes
    # The table, its gradient and two moments were there before the measured work began.
    table_gb = 16 * settings.tokenizer.vocab_size * static.dimensions / GB
    made = cpu("static", pairs, f"{pairs:.3g} pairs", spread=False)
    _, batch_gb = line("static", static.batch)
    yield Estimate(stage="static", size=made.size, hours=made.hours, peak_gb=table_gb + batch_gb)
    for name, one_of in (("tune", settings.tune), ("tune --init static", settings.seeded)):
        texts = one_of.steps * one_of.batch * (2 + one_of.hard_negatives + one_of.random_negatives)
        n = texts * one_of.max_length
        held = one_of.micro_batch * one_of.max_length * texts // (one_of.steps * one_of.batch)
        yield Estimate(
            stage=name,
            size=f"{n:.3g} tokens at most",
            hours=n * flops_per_token(settings, 0.0) / rate / 3600,
            peak_gb=training_gb(settings, parameters, held, 0.0),
        )


def year_lines(settings: "Settings", years: Sequence[int], name: str) -> Iterator[str]:
    """The plan of many vintages, a tab-separated line each: hours of every stage, and all.

    Raises:
        UserError: a year outside the lake.
    """
    from pytrain.terms import parameters_of

    on, parameters, total = machine(name), parameters_of(settings), 0.0
    found = [scale_of(settings, year) for year in years]
    for year, (scale, what) in zip(years, found, strict=True):
        if scale is None or not scale.tokens:
            yield _NO_LAKE
            return
        wanted = budget(settings.mlm, scale.tokens)
        steps = max(1, round(wanted / settings.mlm.batch_tokens))
        parts = list(estimates(settings, scale, on, parameters))
        if year == years[0]:
            heads = [f"{one.stage} h" for one in parts]
            yield "\t".join(["year", "budget tokens", "steps", *heads, "all h", "peak GB", "scale"])
        hours = sum(one.hours for one in parts)
        total += hours
        said = [f"{one.hours:.3g}" for one in parts]
        peak = f"{max(one.peak_gb for one in parts):.3g}"
        yield "\t".join([str(year), f"{wanted:.0f}", str(steps), *said, f"{hours:.3g}", peak, what])
    yield f"all\t{len(years)} vintages, one after another\t{total:.3g} h on {name}"


def plan_lines(settings: "Settings", year: int, name: str) -> Iterator[str]:
    """The plan of a vintage, tab-separated: budget and steps, then a line per stage.

    Args:
        settings: of the preset.
        year: the cutoff.
        name: of the machine.
    """
    on = machine(name)
    scale, what = scale_of(settings, year)
    if scale is None or not scale.tokens:
        yield _NO_LAKE
        return
    from pytrain.terms import parameters_of

    wanted = budget(settings.mlm, scale.tokens)
    shares = vars_of(settings.mlm)
    given = {n: shares.get(n, 0.0) for n in scale.tokens}
    passes = ", ".join(
        f"{n} {wanted * s / sum(given.values()) / scale.tokens[n]:.2f}"
        for n, s in given.items()
        if s
    )
    steps = max(1, round(wanted / settings.mlm.batch_tokens))
    yield f"scale\t{what}: {scale.nodes:,} nodes, {scale.edges:,} edges, {scale.anchors:,} anchors"
    yield f"budget\t{wanted:,.0f} tokens\t{steps:,} steps\tpasses: {passes}"
    rate = f"{on.devices} x {on.tflops:g} TFLOP/s at a share of {on.share:g} (assumed)"
    yield f"machine\t{name}\t{rate}"
    yield "stage\tsize\thours\tpeak GB"
    for one in estimates(settings, scale, on, parameters_of(settings)):
        full = "\tmore than the machine has" if one.peak_gb > on.memory_gb else ""
        yield f"{one.stage}\t{one.size}\t{one.hours:,.3g}\t{one.peak_gb:,.3g}{full}"
