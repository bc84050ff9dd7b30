"""Settings of every stage: frozen dataclasses whose defaults are the paper's.

A preset is a YAML file of the settings that differ from these; `--set key=value` changes one more.
"Our choice" marks each value on which the papers are silent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import yaml

from pytrain.coerce import changed, flatten, nested, require
from pytrain.graph_config import (
    NeighbourSettings,
    Node2vecSettings,
    SeededSettings,
    StaticSettings,
    TuneSettings,
)
from warehouse.errors import UserError, unknown

PRESET_FOLDER = Path(__file__).parent / "presets"
Basis = Literal["production", "publication", "filing"]


@dataclass(frozen=True, kw_only=True)
class TokenizerSettings:
    """Byte-level BPE on the papers and patents of the slice, never on web pages."""

    vocab_size: int = 50_368  # special tokens and the 256 bytes included
    exact_size: bool = True  # refuse a slice that does not give so many tokens
    min_frequency: int = 2  # pairs seen less often are not merged; our choice
    nfkc: bool = True  # Unicode normalisation NFKC; our choice
    lowercase: bool = False  # our choice
    first_characters: int | None = None  # read of each text; None: all. Our choice
    byte_budget: int = 1_000_000_000  # UTF-8 bytes read at most, drawn by hash; our choice
    basis: Basis = "production"  # dates of patent text: see corpus.pretrain_asof
    licence_at_most: str | None = None  # see corpus.pretrain_asof; None: every text

    def __post_init__(self) -> None:
        """Check the ranges."""
        require(261 <= self.vocab_size <= 65_536, "tokenizer.vocab_size must be 261..65,536.")
        require(self.byte_budget > 0, "tokenizer.byte_budget must be positive.")


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Share of the pre-training tokens by source; our choice (the paper does not print its own).

    A source without text at the cutoff gives its share to the others in proportion.
    """

    s2orc: float = 0.45
    abstracts: float = 0.15
    uspto: float = 0.30
    fineweb_edu: float = 0.10
    granted_text: float = 0.0  # not a source of the paper: granted patents' own text

    def __post_init__(self) -> None:
        """Check that it is a mixture; shares need not sum to one."""
        shares = [getattr(self, f.name) for f in fields(self)]
        require(min(shares) >= 0 < sum(shares), "mlm.mixture needs shares >= 0, one above 0.")


@dataclass(frozen=True, kw_only=True)
class TokenVectorSettings:
    """Skip-gram vectors of tokens, where a token table can start; all values are our choice."""

    tokens: int = 15_000_000  # read at most, in whole texts drawn by hash
    window: int = 6  # tokens on either side
    negatives: int = 5
    lr: float = 0.05  # falls linearly to min_lr
    min_lr: float = 1e-4
    # Of the table; the loss after 120 steps on real records: 5.8 from 0.02, 5.4 from 0.05, and
    # 5.3 from 0.1, whose first gradients are the largest.
    std: float = 0.05

    def __post_init__(self) -> None:
        """Check the ranges."""
        require(self.std > 0, "mlm.token_vectors.std must be positive.")
        require(min(self.tokens, self.window, self.negatives) >= 1, "mlm.token_vectors needs >= 1.")


@dataclass(frozen=True, kw_only=True)
class MlmSettings:
    """Masked-language-model pre-training of a ModernBERT from scratch."""

    layers: int = 22
    hidden: int = 768
    heads: int = 12
    intermediate: int = 1_152  # of the gated unit
    global_attention_every: int = 3  # 1: full attention in all layers
    local_window: int = 128  # tokens a local layer sees, half on either side
    rope_theta_global: float = 10_000.0  # ModernBERT's value for short context
    rope_theta_local: float = 10_000.0
    max_length: int = 512  # tokens
    init_std: float = 0.02  # of input projections, cut at 2 std; outputs: over sqrt(2 layers)
    embedding_std: float = 0.02  # of the tied token table, where it starts at random
    head_std: float | None = None  # of the layer before the decoder; None: hidden ** -0.5
    table: Literal["random", "skip-gram"] = "random"  # where the token table starts; paper: random
    token_vectors: TokenVectorSettings = field(default_factory=TokenVectorSettings)
    mask_share: float = 0.30
    mask_token_share: float = 0.8  # of the masked: become [MASK]
    random_token_share: float = 0.1  # of the masked: become a random token; the rest stay
    tokens: int | None = None  # budget; None: `passes` over the scarcest primary source
    passes: float = 1.0  # our choice; the paper says "roughly exhaust"
    batch_tokens: int = 524_288  # tokens per optimiser step
    micro_tokens: int = 16_384  # tokens, padding included, per forward pass
    # Several pieces in each row of max_length tokens, blind to each other: every batch has one
    # shape. Off by default: rows sorted by length waste as little and attend less. Our choice.
    packing: bool = False
    peak_lr: float = 3e-4
    phases: tuple[int, int, int] = (1, 40, 6)  # warm-up : stable : decay, by tokens
    decay: Literal["cosine", "linear"] = "cosine"
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-6
    weight_decay: float = 0.1  # not on norms and biases
    clip: float = 1.0  # gradient norm
    mixture: Mixture = field(default_factory=Mixture)
    first_characters: int | None = None  # read of each text; None: all. Our choice
    min_tokens: int = 8  # a shorter last piece of a document is left out; our choice
    held_out_share: float = 0.001  # of the documents, by hash: never trained on, but scored
    bucket_steps: int = 1  # steps drawn at once and sorted by length, to save padding; our choice
    basis: Basis = "production"
    licence_at_most: str | None = None  # of the texts read, as in the tokenizer's settings
    whiten_on: int = 0  # documents that a last whitening layer is fitted on; 0: no such layer
    save_every: int = 1_000  # steps between checkpoints; 0: none
    log_every: int = 10  # steps

    def __post_init__(self) -> None:
        """Check the shape."""
        require(self.hidden % self.heads == 0, "mlm.hidden must be a multiple of mlm.heads.")
        require(0 < self.mask_share < 1, "mlm.mask_share must be between 0 and 1.")
        require(0 <= self.held_out_share < 1, "mlm.held_out_share must be in [0, 1).")
        require(self.mask_token_share + self.random_token_share <= 1, "mask shares exceed 1.")
        require(self.micro_tokens >= self.max_length, "mlm.micro_tokens is under mlm.max_length.")
        require(self.batch_tokens >= 2 * self.max_length, "mlm.batch_tokens needs 2 texts or more.")
        require(sum(self.phases) > 0, "mlm.phases needs one number above 0.")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every setting of a vintage."""

    preset: str = "paper"
    threads: int | None = None  # CPU threads; None: all cores
    deterministic: bool = True  # same threads, same bytes, on CPU
    device: Literal["auto", "cpu", "cuda"] = "auto"
    track: Literal["none", "tensorboard"] = "none"  # beside log.jsonl; --track sets it
    dtype: Literal["auto", "fp32", "bf16"] = "auto"  # auto: bf16 where the processor has it
    tokenizer: TokenizerSettings = field(default_factory=TokenizerSettings)
    mlm: MlmSettings = field(default_factory=MlmSettings)
    node2vec: Node2vecSettings = field(default_factory=Node2vecSettings)
    neighbours: NeighbourSettings = field(default_factory=NeighbourSettings)
    static: StaticSettings = field(default_factory=StaticSettings)
    tune: TuneSettings = field(default_factory=TuneSettings)
    seeded: SeededSettings = field(default_factory=SeededSettings)


def presets() -> list[str]:
    """Names of the presets that ship."""
    return sorted(path.stem for path in PRESET_FOLDER.glob("*.yaml"))


def load_settings(preset: str, overrides: Iterable[str] = ()) -> Settings:
    """The settings of a preset, or of a saved config.yaml, after the overrides.

    Args:
        preset: the name of a preset, or the path of a YAML file of settings.
        overrides: "key=value" with dotted keys, "mlm.layers=2"; the value is YAML.

    Raises:
        UserError: no such preset or setting, or a value of the wrong kind.
    """
    if preset in presets():
        path, settings = PRESET_FOLDER / f"{preset}.yaml", Settings(preset=preset)
    elif preset.endswith((".yaml", ".yml")):
        path, settings = Path(preset), Settings()
    else:
        known = " or ".join(f"--preset {name}" for name in presets())
        raise unknown("preset", preset, presets(), f"the command with {known}")
    if not path.is_file():
        raise UserError(f"no settings file at {path}. Presets are: {', '.join(presets())}")
    values = flatten(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
    for item in overrides:
        key, equals, text = item.partition("=")
        if not equals:
            raise UserError(f"--set {item!r} is not key=value. Example: --set mlm.layers=2")
        values[key.strip()] = yaml.safe_load(text)
    return changed(settings, values)


def to_yaml(settings: Settings) -> str:
    """The settings as YAML, defaults included; `load_settings` reads it back."""
    return yaml.safe_dump(nested(settings), sort_keys=False)


def section(settings: Settings, name: str) -> dict[str, Any]:
    """One stage's settings with those that hold for all, for comparing two runs."""
    stage = flatten(nested(getattr(settings, name)), prefix=f"{name}.")
    return stage | {key: getattr(settings, key) for key in ("deterministic", "device", "dtype")}
