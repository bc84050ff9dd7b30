"""The names and folders of runs: which stage of which vintage stands where."""

import json
from pathlib import Path
from typing import Any

from pytrain.config import Settings
from warehouse.errors import UserError
from warehouse.sources import runs_root

# Suffix of the run's name, settings section and command of each stage.
STAGES = {
    "tokenizer": ("-tokenizer", "tokenizer", "pytrain tokenizer"),
    "pretrain": ("", "mlm", "pytrain pretrain"),
    "node2vec": ("-node2vec", "node2vec", "pytrain node2vec"),
    "neighbours": ("-neighbours", "neighbours", "pytrain neighbours"),
    "static": ("-static", "static", "pytrain static"),
    "ci": ("-ci", "tune", "pytrain tune"),
    "static-ci": ("-static-ci", "seeded", "pytrain tune --init static"),
}


def run_name(preset: str, year: int, stage: str, seed: int = 0) -> str:
    """The name of a stage's run: "sample-2013-ci", with seed 1 "sample-2013-s1-ci"."""
    return f"{preset}-{year}" + (f"-s{seed}" if seed else "") + STAGES[stage][0]


def run_path(preset: str, year: int, stage: str, seed: int = 0) -> Path:
    """The folder of a stage's run, whether or not it is there."""
    return runs_root() / run_name(preset, year, stage, seed)


def read_run(folder: Path | str) -> dict[str, Any]:
    """What `run.json` says.

    Raises:
        UserError: no finished run there.
    """
    path = Path(folder) / "run.json"
    if not path.is_file():
        raise UserError(f"no finished run at {folder}. See what there is: ls {runs_root()}")
    return json.loads(path.read_text(encoding="utf-8"))


def need_run(settings: Settings, year: int, stage: str, seed: int) -> Path:
    """The folder of a finished run that another stage builds on.

    Raises:
        UserError: not there, with the command that makes it.
    """
    folder = run_path(settings.preset, year, stage, seed)
    if not (folder / "run.json").is_file():
        command = f"{STAGES[stage][2]} --year {year} --preset {settings.preset}"
        more = f" --seed {seed}" if seed else ""
        raise UserError(
            f"this needs the run {folder.name}, which is not there. Run: {command}{more}"
        )
    return folder
