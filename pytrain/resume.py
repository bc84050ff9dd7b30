"""`pytrain resume`: go on with a run that was stopped, to the result it would have had."""

import json
from pathlib import Path
from typing import Any

import click

from pytrain.stages import run_stage
from warehouse.errors import UserError
from warehouse.sources import runs_root


def partial_of(name: str) -> Path:
    """The folder of a stopped run, by its name or path, with or without ".partial".

    Raises:
        UserError: a path outside the folder of the runs, or nothing to go on with.
    """
    given, root = Path(name), runs_root()
    if len(given.parts) > 1 and given.resolve().parent != root.resolve():
        raise UserError(f"{name} is not in the folder of the runs, {root}. Set RUNS_ROOT.")
    partial = root / f"{given.name.removesuffix('.partial')}.partial"
    if not (partial / "request.json").is_file():
        raise UserError(
            f"no stopped run {partial}. Give the command that makes it, or see what there is: "
            f"ls {root}"
        )
    return partial


def resume_run(name: str) -> Path:
    """Finish a stopped run with the settings it was begun with; its folder.

    Raises:
        UserError: no such run, or what it was made from has changed since.
    """
    from pytrain.config import load_settings
    from pytrain.digests import REQUEST

    partial = partial_of(name)
    asked = json.loads((partial / REQUEST).read_text(encoding="utf-8"))
    settings = load_settings(str(partial / "config.yaml"))
    return run_stage(
        asked["stage"], settings, asked["cutoff"], asked["seed"], asked["force"], resume=True
    )


def can_resume(stage: str, settings: Any, year: int, seed: int) -> bool:
    """Whether a stopped run of this name was begun with these settings and parents."""
    from pytrain.config import load_settings, section
    from pytrain.digests import REQUEST
    from pytrain.run import STAGES, run_path

    final = run_path(settings.preset, year, stage, seed)
    partial, key = final.with_name(f"{final.name}.partial"), STAGES[stage][1]
    inputs = partial / "checkpoints" / "inputs.json"
    if not (partial / REQUEST).is_file() or not inputs.is_file():
        return False
    begun = section(load_settings(str(partial / "config.yaml")), key)
    parents = json.loads(inputs.read_text(encoding="utf-8"))["parents"]
    return begun == section(settings, key) and all(
        json.loads((final.parent / one["name"] / "run.json").read_text())["fingerprint"]
        == one["fingerprint"]
        for one in parents
        if (final.parent / one["name"] / "run.json").is_file()
    )


@click.command(epilog="Example: pytrain resume paper-2013")
@click.argument("run")
def resume(run: str) -> None:
    """Go on with RUN, which was stopped, from its last checkpoint.

    On CPU the weights are those of a run that was never stopped, bit for bit, with the same number
    of processes and threads. Start it by torchrun to go on with more processes.
    """
    finished = runs_root() / Path(run).name
    if (finished / "run.json").is_file() and not Path(f"{finished}.partial").exists():
        click.echo(f"{finished.name}: was finished", err=True)
        click.echo(str(finished))
        return
    resume_run(run)
