"""What of a run folder is its result, and the hashes that name it."""

import hashlib
import subprocess
from pathlib import Path
from typing import Any

REQUEST = "request.json"  # what was asked, for `pytrain resume`
# Files that tell about the making of a run, not its result.
_NOT_ARTEFACTS = ("config.yaml", REQUEST, "run.json", "log.jsonl", "README.md")
WATCHED = ("checkpoints", "tensorboard")  # folders that no result stands in


def hash_files(folder: Path) -> dict[str, str]:
    """sha256 of every file under a run's folder that is a result of it."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.name in _NOT_ARTEFACTS or inner.parts[0] in WATCHED:
            continue
        if path.is_file():
            with path.open("rb") as file:
                found[inner.as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def fingerprint_of(artefacts: dict[str, str]) -> str:
    """One hash of many files' hashes."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(artefacts.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def commit() -> dict[str, Any] | None:
    """The commit of the code that ran, and whether files differed from it; None outside git."""
    try:
        run = {"cwd": Path(__file__).parent, "capture_output": True, "text": True, "timeout": 20}
        head = subprocess.run(["git", "rev-parse", "HEAD"], **run)
        dirty = subprocess.run(["git", "status", "--porcelain", "-uno"], **run)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if head.returncode:
        return None
    return {"commit": head.stdout.strip(), "dirty": bool(dirty.stdout.strip())}
