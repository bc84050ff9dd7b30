"""The model folder: what Hugging Face and sentence-transformers open, with the card of the run."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytrain.config import section
from pytrain.layout import sha256_of
from pytrain.quiet import quiet_transformers
from pytrain.run import STAGES, Run, parent_lines
from pytrain.tokenizer import damped, load_tokenizer, write_tokenizer
from warehouse.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TEXT_TEMPLATE = "{title}{sep}{abstract}"  # the habit of SPECTER and SciNCL; saved with the model
STATIC_TEMPLATE = "{title} {abstract}"  # a bag of tokens needs no separator
_MODULES = "sentence_transformers.models."  # names that every version of the library opens


def export_model(
    run: Run,
    model: "PreTrainedModel",
    tokenizer_folder: Path,
    *,
    max_length: int,
    repeats: int | None = None,
) -> Path:
    """Write `model/` in a run's folder.

    Args:
        run: its cutoff, preset, stage and parents are saved with the model.
        model: a masked-language model or an encoder; saved in float32.
        tokenizer_folder: the tokenizer it was trained with, of the run's own cutoff.
        max_length: tokens that `Encoder` and sentence-transformers read of a text.
        repeats: how often a word counts in a text, see `pytrain.tokenizer.damped`.

    Raises:
        UserError: the tokenizer is of another cutoff, or larger than the model's vocabulary.
    """
    folder = run.folder / "model"
    size = _bind(run, tokenizer_folder, folder, max_length, repeats)
    if size > model.config.vocab_size:
        raise UserError(
            f"the tokenizer has {size:,} tokens, the model rows for {model.config.vocab_size:,}. "
            "Train both with the same settings: --set tokenizer.vocab_size=..."
        )
    sparse, model.config.sparse_prediction = model.config.sparse_prediction, False
    with quiet_transformers():
        model.float().save_pretrained(folder)
    model.config.sparse_prediction = sparse
    dim = model.config.hidden_size
    pooling = {"word_embedding_dimension": dim, "pooling_mode_mean_tokens": True}
    _write_json(folder / "1_Pooling" / "config.json", pooling)
    limits = {"max_seq_length": max_length, "do_lower_case": False}
    _write_json(folder / "sentence_bert_config.json", limits)
    _write_modules(folder, ["Transformer", "Pooling", "Normalize"])
    _finish(run, folder, "transformer", TEXT_TEMPLATE, max_length, repeats)
    return folder


def export_static(
    run: Run,
    table: np.ndarray,
    tokenizer_folder: Path,
    *,
    subfolder: str = "model",
    repeats: int | None = None,
) -> Path:
    """Write a static vintage: one vector per token, averaged and scaled to unit length.

    Args:
        run: as for `export_model`.
        table: (V, D) a row per token id.
        tokenizer_folder: the tokenizer of the run's cutoff.
        subfolder: of the run's folder.
        repeats: how often a word counts in a text, see `pytrain.tokenizer.damped`.
    """
    import torch
    from safetensors.torch import save_file

    folder = run.folder / subfolder
    if _bind(run, tokenizer_folder, folder, None, repeats) != len(table):
        raise UserError(f"the table has {len(table):,} rows, another number than the tokenizer.")
    weights = torch.from_numpy(np.ascontiguousarray(table, np.float32))
    save_file({"embedding.weight": weights}, folder / "model.safetensors")
    _write_modules(folder, ["StaticEmbedding", "Normalize"])
    _finish(run, folder, "static", STATIC_TEMPLATE, None, repeats)
    return folder


def add_dense(folder: Path, matrix: np.ndarray, bias: np.ndarray) -> None:
    """Put a linear layer, pooled @ matrix + bias, between pooling and scaling.

    Args:
        folder: a model folder written by `export_model`.
        matrix: (D, E).
        bias: (E,).
    """
    import torch
    from safetensors.torch import save_file

    inner = folder / "2_Dense"
    inner.mkdir()
    weights = {"linear.weight": matrix.T, "linear.bias": bias}
    save_file(
        {key: torch.from_numpy(np.ascontiguousarray(v, np.float32)) for key, v in weights.items()},
        inner / "model.safetensors",
    )
    config = {"in_features": matrix.shape[0], "out_features": matrix.shape[1], "bias": True}
    config["activation_function"] = "torch.nn.modules.linear.Identity"
    _write_json(inner / "config.json", config)
    _write_modules(folder, ["Transformer", "Pooling", "Dense", "Normalize"])


def _bind(
    run: Run, tokenizer_folder: Path, folder: Path, max_length: int | None, repeats: int | None
) -> int:
    """Copy the tokenizer of the run's own vintage into a new model folder; its size."""
    own = json.loads((tokenizer_folder / "scitlake.json").read_text(encoding="utf-8"))
    if own["cutoff"] != run.year:
        raise UserError(
            f"{tokenizer_folder.name} is a tokenizer of {own['cutoff']}, the run is of {run.year}. "
            f"Train its own: pytrain tokenizer --year {run.year} --preset {run.settings.preset}"
        )
    folder.mkdir(parents=True)
    tokenizer = load_tokenizer(tokenizer_folder)
    write_tokenizer(tokenizer, folder, max_length or run.settings.mlm.max_length)
    if repeats is None:
        shutil.copyfile(tokenizer_folder / "tokenizer.json", folder / "tokenizer.json")
    else:
        damped(tokenizer, repeats).save(str(folder / "tokenizer.json"))
    return tokenizer.get_vocab_size()


def _write_modules(folder: Path, kinds: list[str]) -> None:
    modules = []
    for index, kind in enumerate(kinds):
        path = "" if index == 0 else f"{index}_{kind}"
        name = f"{_MODULES}{kind}"
        modules.append({"idx": index, "name": str(index), "path": path, "type": name})
        (folder / path).mkdir(exist_ok=True)
    _write_json(folder / "modules.json", modules)


def _finish(
    run: Run,
    folder: Path,
    kind: str,
    template: str,
    max_length: int | None,
    repeats: int | None,
) -> None:
    from pytrain.card import card_text

    own: dict[str, Any] = {
        "kind": kind,
        "cutoff": run.year,
        "preset": run.settings.preset,
        "stage": run.stage,
        "seed": run.seed,
        "text_template": template,
        "pooling": "mean",
        "max_length": max_length,
        "word_repeats": repeats,
        "tokenizer_sha256": sha256_of(folder / "tokenizer.json"),
        "parents": parent_lines(run.parents),
    }
    _write_json(folder / "scitlake.json", own)
    settings = section(run.settings, STAGES[run.stage][1])
    text = card_text(run.summary(), own, settings)
    (folder / "README.md").write_text(text, encoding="utf-8")


def _write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
