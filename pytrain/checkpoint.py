"""Checkpoints: everything a training needs to go on, whole or absent, with nothing pickled."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from warehouse.errors import UserError


def save_checkpoint(
    folder: Path,
    step: int,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    losses: list[float],
    *,
    keep: int = 2,
) -> Path:
    """Write `checkpoints/step-<N>` under a run's folder; N steps are behind it.

    It gets its name when all of it is written, and older ones lose theirs before they are
    removed, so that what bears the name is whole at any moment.

    Args:
        folder: of the run.
        step: N.
        model: its weights.
        optimizer: its moments.
        losses: of the steps so far.
        keep: checkpoints that stay, this one among them.
    """
    final = folder / "checkpoints" / f"step-{step:06d}"
    partial = final.with_name(f"{final.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    weights = {name: value.contiguous() for name, value in unshared(model).items()}
    save_file(weights, partial / "model.safetensors")
    moments, numbers = {}, {}
    for index, state in optimizer.state_dict()["state"].items():
        for name, value in state.items():
            if isinstance(value, torch.Tensor):
                moments[f"{index}.{name}"] = value.contiguous()
            else:
                numbers[f"{index}.{name}"] = value
    moments["rng"] = torch.get_rng_state()
    save_file(moments, partial / "optimizer.safetensors")
    state = {"step": step, "losses": losses, "optimizer_numbers": numbers}
    (partial / "state.json").write_text(json.dumps(state), encoding="utf-8")
    if final.exists():
        _remove(final)
    partial.rename(final)
    for old in _whole(folder)[:-keep]:
        _remove(old)
    return final


def latest_checkpoint(folder: Path) -> Path | None:
    """The last whole checkpoint of a run's folder."""
    return max(_whole(folder), default=None)


def _whole(folder: Path) -> list[Path]:
    found = (folder / "checkpoints").glob("step-*")
    return sorted(path for path in found if path.name.removeprefix("step-").isdigit())


def _remove(folder: Path) -> None:
    gone = folder.with_name(f"{folder.name}.gone")
    shutil.rmtree(gone, ignore_errors=True)
    folder.rename(gone)
    shutil.rmtree(gone)


def load_checkpoint(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer
) -> tuple[int, list[float]]:
    """Put a checkpoint into model, optimizer and the random stream; (steps behind, losses).

    Raises:
        UserError: the folder is not a whole checkpoint, or of another model.
    """
    try:
        state: dict[str, Any] = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        moments = load_file(folder / "optimizer.safetensors")
    except (OSError, ValueError) as error:
        raise UserError(f"{folder} is not a whole checkpoint ({error}). Start again.") from error
    own = unshared(model)
    if {k: v.shape for k, v in own.items()} != {k: v.shape for k, v in weights.items()}:
        raise UserError(f"{folder} is a checkpoint of another model. Use its own settings.")
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(weights[name])
    torch.set_rng_state(moments.pop("rng"))
    restored: dict[int, dict[str, Any]] = {}
    for source in (moments, state["optimizer_numbers"]):
        for key, value in source.items():
            index, name = key.split(".", 1)
            restored.setdefault(int(index), {})[name] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": restored, "param_groups": groups})
    return state["step"], state["losses"]


def unshared(model: nn.Module) -> dict[str, torch.Tensor]:
    """The model's tensors, each storage once: of tied weights the first name stands."""
    seen: set[int] = set()
    kept = {}
    for name, value in model.state_dict().items():
        if value.data_ptr() not in seen or not value.numel():
            kept[name] = value
            seen.add(value.data_ptr())
    return kept
