"""Runs dbt on this project from any folder, and turns its failures into one message."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from warehouse.errors import CheckFailed, UserError
from warehouse.sources import lake_folder, project_dir

# What DuckDB says of raw files that are damaged, and the file's name in it.
DAMAGED = (
    re.compile(r"Unexpected end of GZIP stream:? ?(?P<file>.+)"),
    re.compile(r"Input is not a GZIP stream:? ?(?P<file>.+)"),
    re.compile(r"No magic bytes found at end of file '(?P<file>[^']+)'"),
    re.compile(r"'(?P<file>[^']+)' is too small to be a Parquet file"),
    re.compile(r'(?:file|File|reading) "(?P<file>[^"]+\.parquet)"'),
)
NO_SELECTION = re.compile(r"The selection criterion '(?P<what>[^']*)' does not match")
NO_ROOM = re.compile(r"No space left on device|Could not (?:write|allocate).*space", re.I)
NO_MEMORY = re.compile(r"Out of Memory Error", re.I)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One finished model, test or hook."""

    index: int
    total: int
    kind: str  # model | test | unit_test | seed | operation | function
    name: str
    status: str
    seconds: float


class DbtFailed(click.ClickException):
    """dbt failed in a way that is neither bad input nor a failed test: a fault of the project."""

    exit_code = 1


def run_dbt(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> None:
    """Run one dbt command in a process of its own; its compiled SQL and logs go to the lake.

    Args:
        command: what follows `dbt`.
        env: variables for dbt beside those of this process.
        on_step: called as each node finishes.

    Raises:
        UserError: the raw files are not as they must be.
        CheckFailed: a data test failed.
        DbtFailed: anything else; the message names the log.
    """
    lake = lake_folder().resolve()
    results = lake / "target" / "run_results.json"
    results.unlink(missing_ok=True)
    arguments = [
        *(sys.executable, "-m", "dbt.cli.main", *command),
        *("--project-dir", str(project_dir()), "--profiles-dir", str(project_dir())),
        *("--target-path", str(lake / "target"), "--log-path", str(lake / "logs")),
        *("--log-format", "json", "--log-level", "info", "--no-use-colors"),
    ]
    # Relative folders of the caller are made absolute, because dbt runs in the project's folder.
    variables = {**os.environ, "SCITLAKE_WAREHOUSE": str(lake), **(env or {})}
    if variables.get("DATA_ROOT"):
        variables["DATA_ROOT"] = str(Path(variables["DATA_ROOT"]).resolve())
    with (
        ended_by_signal(),
        subprocess.Popen(
            arguments,
            cwd=project_dir(),
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        try:
            complaints = list(_follow(process, on_step))
            code = process.wait()
        finally:
            process.kill()  # nobody writes on when this process is told to end
    if code:
        raise _diagnosis(_messages(results) or complaints, lake)


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Let a request to end (SIGTERM) unwind as an exception, so that everything is cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may listen
        return
    previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _follow(process: subprocess.Popen, on_step: Callable[[Step], None]) -> Iterator[str]:
    """Report steps as they finish; yield what dbt complains about."""
    for line in process.stdout or ():
        try:
            event = json.loads(line)
            info, data = event["info"], event["data"]
        except (ValueError, KeyError, TypeError):
            yield line.rstrip()  # not an event: Python's own words
            continue
        node = data.get("node_info") or {}
        if "execution_time" in data and "index" in data and node:
            on_step(_step(data, node))
        elif info["level"] == "error":
            yield info["msg"]


def _step(data: Mapping[str, Any], node: Mapping[str, Any]) -> Step:
    return Step(
        index=data["index"],
        total=data.get("total") or data.get("num_models") or 0,
        kind=node["resource_type"],
        name=node["node_name"],
        status=str(data.get("status", node["node_status"])).lower(),
        seconds=data["execution_time"],
    )


def _messages(results: Path) -> list[tuple[str, str, str, int]]:
    """(status, name, message, failures) of the nodes that did not pass."""
    if not results.is_file():
        return []
    return [
        (
            found["status"],
            found["unique_id"].split(".")[2],
            found["message"] or "",
            found["failures"] or 0,
        )
        for found in json.loads(results.read_text(encoding="utf-8"))["results"]
        if found["status"] in ("error", "fail", "runtime error")
    ]


def _diagnosis(found: Sequence[Any], lake: Path) -> click.ClickException:
    """The one message, by what went wrong first."""
    texts = [item if isinstance(item, str) else item[2] for item in found]
    whole = "\n".join(texts)
    log = f"dbt's own words are in {lake / 'logs' / 'dbt.log'}"
    if "bad input: " in whole:
        return UserError(_clean(whole.split("bad input: ", 1)[1]))
    for pattern in DAMAGED:
        if match := pattern.search(whole):
            file = match["file"].strip()
            return UserError(
                f"{file} is cut short or damaged, so it cannot be read to its end. Download it "
                "again from its publisher; lake sources says where."
            )
    if match := NO_SELECTION.search(whole):
        return UserError(
            f"no model is selected by {match['what']!r}. Models are listed by: lake show; "
            "example: lake build --select +citation_edges"
        )
    if NO_ROOM.search(whole):
        return UserError(
            f"no room left for the lake at {lake}. Make room, or set another folder: "
            "SCITLAKE_WAREHOUSE=<folder> lake build"
        )
    if NO_MEMORY.search(whole):
        return UserError(
            "the build needs more memory than DUCKDB_MEMORY allows (3GB when not "
            f"set). Raise it: DUCKDB_MEMORY=8GB lake build. {log}"
        )
    failed = [item for item in found if not isinstance(item, str) and item[0] == "fail"]
    errors = [item for item in found if not isinstance(item, str) and item[0] != "fail"]
    if failed and not errors:
        lines = "\n".join(f"  {name}: {count} row(s)" for _, name, _, count in failed)
        return CheckFailed(f"{len(failed)} data test(s) failed:\n{lines}\n{log}")
    if errors:
        _, name, message, _ = errors[0]
        return DbtFailed(f"{name} could not be built: {_clean(message)}\n{log}")
    last = next((text for text in reversed(texts) if text.strip()), "no reason given")
    return DbtFailed(f"dbt stopped: {_clean(last)}\n{log}")


def _clean(message: str) -> str:
    """A message without dbt's frame: which macro called which, where compiled code lies."""
    kept = []
    for line in message.splitlines():
        if line.lstrip().startswith(("> in macro", "> called by", "compiled code at")):
            break
        kept.append(line.strip() if line.startswith("  ") and not kept else line.rstrip())
    return "\n".join(kept).strip()
