"""Small JSON files in which a build keeps what it has done; a lost one costs time alone."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read_state(file: Path) -> dict[str, Any]:
    """The object in a JSON file; empty when there is no such file, or no whole object in it."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_state(file: Path, state: Mapping[str, Any]) -> None:
    """Replace a JSON file at once, so that no reader sees half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        partial.write_text(json.dumps(state, indent=1, sort_keys=True), encoding="utf-8")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def remove_partials(folder: Path) -> None:
    """Remove what processes that are no more had begun: files called `<name>.<process>.partial`."""
    for path in folder.rglob("*.partial"):
        process = path.name.split(".")[-2]
        if process.isdecimal() and not _lives(int(process)):
            path.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True  # somebody else's
    return True
