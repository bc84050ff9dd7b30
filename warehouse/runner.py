"""Runs dbt on this project from any folder."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.dbt_process import keep, parsed_file
from warehouse.diagnosis import Complaint, diagnose
from warehouse.sources import lake_folder, project_dir


@dataclass(frozen=True, kw_only=True)
class Step:
    """One finished model, test or hook."""

    index: int
    total: int
    kind: str  # model | test | unit_test | seed | operation | function
    name: str
    status: str
    seconds: float


def run_dbt(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> None:
    """Run one dbt command in a process of its own.

    Args:
        command: what follows `dbt`.
        env: variables for dbt beside those of this process.
        folder: where compiled SQL and logs go; the lake's when not given.
        on_step: called as each node finishes.

    Raises:
        UserError: the raw files are not as they must be.
        CheckFailed: a data test failed.
        DbtFailed: anything else; the message names dbt's log.
    """
    lake = lake_folder().resolve()
    folder = folder or lake
    results = folder / "target" / "run_results.json"
    results.unlink(missing_ok=True)
    arguments = [
        *(sys.executable, "-m", "warehouse.dbt_process", *command),
        *("--project-dir", str(project_dir()), "--profiles-dir", str(project_dir())),
        *("--target-path", str(folder / "target"), "--log-path", str(folder / "logs")),
        *("--log-format", "json", "--log-level", "info", "--no-use-colors"),
    ]
    # Relative folders of the caller are made absolute, because dbt runs in the project's folder.
    variables = {**os.environ, "SCITLAKE_WAREHOUSE": str(lake), **(env or {})}
    for name in ("DATA_ROOT", "RUNS_ROOT"):
        if variables.get(name):
            variables[name] = str(Path(variables[name]).resolve())
    shared = "--vars" not in command  # dbt parses for its variables
    if shared and parsed_file(project_dir()).is_file():
        variables["DBT_PARTIAL_PARSE_FILE_PATH"] = str(parsed_file(project_dir()))
    with (
        ended_by_signal(),
        subprocess.Popen(
            arguments,
            cwd=project_dir(),
            env=variables,
            stdin=subprocess.PIPE,
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
    if shared:
        keep(folder / "target" / "partial_parse.msgpack", project_dir())
    if code:
        raise diagnose(_refused(results) or complaints, folder)


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


def _follow(process: subprocess.Popen, on_step: Callable[[Step], None]) -> Iterator[Complaint]:
    """Report steps as they finish; yield what dbt complains about."""
    for line in process.stdout or ():
        try:
            event = json.loads(line)
            info, data = event["info"], event["data"]
        except (ValueError, KeyError, TypeError):
            yield Complaint(line.rstrip())  # not an event: Python's own words
            continue
        node = data.get("node_info") or {}
        if "execution_time" in data and "index" in data and node:
            on_step(_step(data, node))
        elif info["level"] == "error":
            yield Complaint(info["msg"])


def _step(data: Mapping[str, Any], node: Mapping[str, Any]) -> Step:
    return Step(
        index=data["index"],
        total=data.get("total") or data.get("num_models") or 0,
        kind=node["resource_type"],
        name=node["node_name"],
        status=str(data.get("status", node["node_status"])).lower(),
        seconds=data["execution_time"],
    )


def _refused(results: Path) -> list[Complaint]:
    """The nodes that did not pass, as dbt's run_results.json says."""
    if not results.is_file():
        return []
    return [
        Complaint(
            message=found["message"] or "",
            node=found["unique_id"].split(".")[2],
            status=found["status"],
            n_failures=found["failures"] or 0,
        )
        for found in json.loads(results.read_text(encoding="utf-8"))["results"]
        if found["status"] in ("error", "fail")
    ]
