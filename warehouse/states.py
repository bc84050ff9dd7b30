"""Small JSON files in which a build keeps what it has done; a lost one costs time alone."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warehouse.beside import file_beside


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
    with file_beside(file) as partial:
        partial.write_text(json.dumps(state, indent=1, sort_keys=True), encoding="utf-8")
