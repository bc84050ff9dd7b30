"""Stages in processes of their own that can be killed, from a server that imported torch once."""

import contextlib
import multiprocessing
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["stopped_runs", "pytrain.mlm", "pytrain.tune", "pytrain.resume"])


def _begin(root: str, work: Callable, words: tuple) -> None:
    os.environ |= {"SCITLAKE_WAREHOUSE": f"{root}/lake", "RUNS_ROOT": f"{root}/runs"}
    work(*words)


def pretrain(year: int, overrides: tuple[str, ...]) -> None:
    from pytrain import mlm
    from pytrain.config import load_settings

    mlm.run(load_settings("tiny", overrides), year)


def tune(year: int, overrides: tuple[str, ...]) -> None:
    from pytrain import tune
    from pytrain.config import load_settings

    tune.run(load_settings("tiny", overrides), year)


def resume(name: str) -> None:
    from pytrain.resume import resume_run

    resume_run(name)


def process(root: Path, work: Callable, *words: object) -> multiprocessing.Process:
    """A started process that runs `work(*words)` on the lake and the runs of `root`."""
    made = _CONTEXT.Process(target=_begin, args=(str(root), work, words))
    made.start()
    return made


def lines_of(folder: Path) -> int:
    with contextlib.suppress(OSError):
        return (folder / "log.jsonl").read_bytes().count(b"\n")
    return 0


def kill_at(made: multiprocessing.Process, partial: Path, lines: int, more: float) -> bool:
    """Kill it some time after its log has so many lines; whether it was still running."""
    while made.is_alive() and lines_of(partial) < lines:
        time.sleep(0.002)
    time.sleep(more)
    made.kill()
    made.join()
    return made.exitcode == -9


def killed_five_times(root: Path, name: str, steps: int, work: Callable, *words: object) -> int:
    """Begin a run, kill it at five random moments, resuming each time, then let it finish.

    Returns:
        How many of the kills struck a running process.
    """
    draw = random.Random(name)
    moments = sorted(draw.sample(range(steps), 5))
    partial, struck = root / "runs" / f"{name}.partial", 0
    begun = process(root, work, *words)
    for lines in moments:
        struck += kill_at(begun, partial, lines, draw.uniform(0, 0.05))
        assert not (root / "runs" / name).exists()
        whole = [p for p in (partial / "checkpoints").glob("step-*") if p.suffix == ""]
        for path in whole:  # what bears the name is whole
            files = {file.name for file in path.iterdir()}
            assert files == {"model.safetensors", "optimizer.safetensors", "state.json"}
        asked = (partial / "request.json").is_file()
        begun = process(root, resume, name) if asked else process(root, work, *words)
    begun.join()
    assert begun.exitcode == 0
    return struck
