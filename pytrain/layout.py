"""What a model folder says of itself: kind, pooling, layers after it, text template, lengths."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytrain.batching import POOLING_MODES
from warehouse.errors import UserError

# Texts of models that are not ours: the habit of their own kind, recorded in every score row.
HUGGING_FACE_TEMPLATE = "{title}{sep}{abstract}"
SENTENCE_TRANSFORMERS_TEMPLATE = "{title}. {abstract}"
MAX_LENGTH = 512  # tokens; no model is given more unless it says so itself

_OLD_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to go from a title and an abstract to a vector with the model of a folder."""

    folder: Path  # holds the weights and tokenizer.json
    name: str
    kind: str  # "transformer" or "static"
    template: str  # of {title}, {sep} and {abstract}
    max_length: int | None  # tokens, special ones included; None: no limit
    pooling: tuple[str, ...] = ("mean",)
    dense: tuple[Path, ...] = ()  # folders of linear layers after the pooling
    normalise_first: bool = False  # to unit length before the linear layers too
    lowercase: bool = False  # before tokenising
    prompt: str = ""  # put before every text
    cutoff: int | None = None


def read_layout(folder: str | Path) -> Layout:
    """The layout of a model folder, of a run folder that holds `model/`, or of foreign folders.

    Raises:
        UserError: no model there, or one whose pooling or tokenizer we cannot trust.
    """
    asked = Path(folder)
    inner = asked / "model"
    is_run = (inner / "config.json").is_file() or (inner / "modules.json").is_file()
    root = inner if is_run else asked
    if not root.is_dir() or not any((root / f).is_file() for f in ("config.json", "modules.json")):
        raise UserError(
            f"no model at {folder}. Give a run, its model/ folder, or a folder of Hugging Face or "
            "sentence-transformers files, such as: runs/sample-2013-ci"
        )
    named = asked.resolve()
    name = named.parent.name if named.name == "model" else named.name
    own = read_json(root / "scitlake.json")
    base: dict[str, Any] = {"name": name, "cutoff": own.get("cutoff")}
    if own:
        _check_tokenizer(root, own)
        base |= {"template": own["text_template"], "max_length": own.get("max_length")}
    if (root / "modules.json").is_file():
        return _sentence_transformers(root, base)
    base.setdefault("template", HUGGING_FACE_TEMPLATE)
    base.setdefault("max_length", _max_length(root))
    return Layout(folder=root, kind="transformer", **base)


def sha256_of(path: Path) -> str:
    """sha256 of a file, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_tokenizer(root: Path, own: dict[str, Any]) -> None:
    """A tokenizer belongs to its vintage: another one would see other tokens, or the future."""
    if sha256_of(root / "tokenizer.json") != own.get("tokenizer_sha256"):
        fix = f"Put its own back: copy tokenizer.json from the run {_tokenizer_run(own)}"
        if own.get("word_repeats") is not None:  # the vintage's tokenizer with one more step
            fix = f"Train it again: pytrain all --year {own.get('cutoff')} --force"
        raise UserError(
            f"{root / 'tokenizer.json'} is not the tokenizer this model was trained with (cutoff "
            f"{own.get('cutoff')}). {fix}"
        )


def _tokenizer_run(own: dict[str, Any]) -> str:
    return f"{own.get('preset')}-{own.get('cutoff')}-tokenizer"


def _sentence_transformers(root: Path, base: dict[str, Any]) -> Layout:
    modules = json.loads((root / "modules.json").read_text(encoding="utf-8"))
    kinds = [module["type"].rsplit(".", 1)[-1] for module in modules]
    paths = [root / module["path"] for module in modules]
    known = {"Transformer", "StaticEmbedding", "Pooling", "Dense", "Normalize", "Dropout"}
    if kinds[0] not in ("Transformer", "StaticEmbedding") or set(kinds) - known:
        raise UserError(f"{root} has layers we do not run ({', '.join(kinds)}).")
    settings = read_json(paths[0] / "sentence_bert_config.json")
    prompts = read_json(root / "config_sentence_transformers.json")
    prompt = (prompts.get("prompts") or {}).get(prompts.get("default_prompt_name") or "", "")
    base.setdefault("template", SENTENCE_TRANSFORMERS_TEMPLATE)
    static = kinds[0] == "StaticEmbedding"
    limit = None if static else settings.get("max_seq_length") or _max_length(paths[0])
    base.setdefault("max_length", limit)
    dense = tuple(p for p, kind in zip(paths, kinds, strict=True) if kind == "Dense")
    first = kinds.index("Dense") if dense else 0
    return Layout(
        folder=paths[0],
        kind="static" if static else "transformer",
        pooling=_pooling(paths[kinds.index("Pooling")]) if "Pooling" in kinds else ("mean",),
        dense=dense,
        normalise_first="Normalize" in kinds[:first],
        lowercase=bool(settings.get("do_lower_case")),
        prompt=prompt,
        **base,
    )


def _pooling(folder: Path) -> tuple[str, ...]:
    config = read_json(folder / "config.json")
    modes = config.get("pooling_mode")
    if modes is None:
        modes = [mode for key, mode in _OLD_POOLING.items() if config.get(key)] or ["mean"]
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if set(modes) - set(POOLING_MODES):
        known = ", ".join(POOLING_MODES)
        raise UserError(f"{folder} pools by {', '.join(modes)}; we know {known}.")
    return modes


def _max_length(folder: Path) -> int:
    stated = read_json(folder / "tokenizer_config.json").get("model_max_length")
    positions = read_json(folder / "config.json").get("max_position_embeddings")
    return min(int(one) for one in (stated, positions, MAX_LENGTH) if one)


def read_json(path: Path) -> dict[str, Any]:
    """The file as a dictionary; empty where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
