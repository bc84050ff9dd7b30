"""The stages of a vintage, in order, and how one is run; no heavy import before it runs."""

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from warehouse.errors import UserError

# Stage -> module that runs it, and its further arguments.
RUNNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "tokenizer": ("pytrain.tokenizer", {}),
    "pretrain": ("pytrain.mlm", {}),
    "node2vec": ("pytrain.node2vec", {}),
    "neighbours": ("pytrain.neighbours", {}),
    "static": ("pytrain.static", {}),
    "ci": ("pytrain.tune", {"init": "base"}),
    "static-ci": ("pytrain.tune", {"init": "static"}),
}
# Those that leave checkpoints; the others start again, and come to the same result.
CHECKPOINTED = ("pretrain", "ci", "static-ci")


def run_together(stage: str, words: Sequence[str], processes: int) -> None:
    """Run a stage's command by `torchrun`, in several processes that share the training.

    Args:
        stage: one of `CHECKPOINTED`.
        words: the options of its command.
        processes: how many, on this machine.

    Raises:
        UserError: it failed; what it said stands above.
    """
    init = {"ci": ["--init", "base"], "static-ci": ["--init", "static"]}.get(stage, [])
    command = ["pretrain"] if stage == "pretrain" else ["tune", *init]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    done = subprocess.run([sys.executable, *launch, "-m", "pytrain", *command, *words], check=False)
    if done.returncode:
        raise UserError(f"{stage} failed in one of its {processes} processes; see above.")


def run_stage(
    stage: str, settings: Any, year: int, seed: int, force: bool, *, resume: bool = False
) -> Path:
    """Run a stage, say how long it took, and print the folder.

    Args:
        stage: a key of `RUNNERS`.
        settings: of the vintage.
        year: the cutoff.
        seed: of every random stream.
        force: replace a finished run.
        resume: go on from the last checkpoint, where the stage leaves any.
    """
    module, more = RUNNERS[stage]
    if stage in CHECKPOINTED:
        more = more | {"resume": resume}
    started = time.monotonic()
    folder = importlib.import_module(module).run(settings, year, seed=seed, force=force, **more)
    if os.environ.get("RANK", "0") == "0":  # of the processes of torchrun one speaks
        click.echo(f"{folder.name}: finished in {time.monotonic() - started:,.0f} s", err=True)
        click.echo(str(folder))
    return folder
