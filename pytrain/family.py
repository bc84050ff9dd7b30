"""`pytrain family`: every stage of every vintage of a range of years, each in a process of its own.

A vintage that fails, or is killed for want of memory, leaves the others running; given again, the
command goes on where it stopped.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from pytrain.stages import RUNNERS
from warehouse.commands import SEED
from warehouse.errors import CheckFailed
from warehouse.sources import runs_root
from warehouse.years import years_of


@dataclass
class Vintage:
    """Where one vintage stands."""

    year: int
    states: dict[str, str] = field(default_factory=lambda: dict.fromkeys(RUNNERS, "waiting"))
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(RUNNERS, 0.0))
    message: str = ""  # of the failure


def make(vintage: Vintage, words: Sequence[str], logs: Path, told: Callable[[], None]) -> None:
    """Run `pytrain all` for a vintage, and follow it stage by stage.

    Args:
        vintage: filled while it runs.
        words: the options of `pytrain all`, without the year.
        logs: folder of what the command says.
        told: called at each change.
    """
    log = logs / f"{vintage.year}.log"
    command = [sys.executable, "-m", "pytrain", "all", "--year", str(vintage.year), *words]
    started, begun = time.time(), time.time()
    stages = iter(RUNNERS)
    stage = next(stages)
    vintage.states[stage] = "running"
    told()
    with log.open("w") as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        for line in child.stdout:  # the folder of each stage, when it is done
            summary = Path(line.strip()) / "run.json"
            vintage.states[stage] = "made" if summary.stat().st_mtime >= begun else "up to date"
            vintage.seconds[stage] = time.time() - started
            started, following = time.time(), next(stages, None)
            if following is not None:
                stage = following
                vintage.states[stage] = "running"
            told()
        code = child.wait()
    if code:
        vintage.states[stage] = "failed"
        said = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        last = said[-1].removeprefix("Error: ") if said else f"exit code {code}"
        vintage.message = f"{last} [{log}]"
        for name, state in vintage.states.items():
            vintage.states[name] = "not run" if state == "waiting" else state
    told()


def lines(vintages: Sequence[Vintage]) -> Iterator[str]:
    """One line per vintage and stage, for a program to read."""
    yield "year\tstage\tstate\tseconds"
    for one in vintages:
        for stage, state in one.states.items():
            yield f"{one.year}\t{stage}\t{state}\t{one.seconds[stage]:.1f}"


def table(vintages: Sequence[Vintage]) -> Any:
    """One row per vintage, for a person to look at."""
    from rich.table import Table

    made = Table("year", *RUNNERS, "note")
    for one in vintages:
        shown = [
            f"{state} {one.seconds[stage]:,.0f} s" if state == "made" else state
            for stage, state in one.states.items()
        ]
        made.add_row(str(one.year), *shown, one.message)
    return made


@contextmanager
def _shown(vintages: Sequence[Vintage]) -> Iterator[Callable[[], None]]:
    """The table on a terminal, redrawn at each change; elsewhere the lines that changed."""
    from rich.console import Console
    from rich.live import Live

    console, lock, seen = Console(stderr=True), threading.Lock(), set(lines(vintages))
    if console.is_terminal:
        with Live(table(vintages), console=console) as live:
            yield lambda: live.update(table(vintages))
        return

    def say() -> None:
        with lock:
            for line in lines(vintages):
                if line not in seen:
                    seen.add(line)
                    click.echo(line, err=True)

    yield say


def make_all(years: Sequence[int], words: Sequence[str], jobs: int) -> list[Vintage]:
    """Make the vintages, `jobs` at a time, in order; where each came to."""
    vintages = [Vintage(year) for year in years]
    logs = runs_root() / "family"
    logs.mkdir(parents=True, exist_ok=True)
    with _shown(vintages) as told, ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(make, one, words, logs, told) for one in vintages]:
            done.result()
    return vintages


@click.command(epilog="Example: pytrain family --years 2013-2025 --preset sample")
@click.option("--years", required=True, help="Cutoffs: 2013-2025, or 2013,2016.")
@click.option("--preset", default="sample", show_default=True, help="paper, sample or tiny.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of every random stream.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change one setting.")
@click.option("--jobs", default=1, show_default=True, help="Vintages made at the same time.")
@click.option(
    "--processes", default=1, show_default=True, help="That share each training, by torchrun."
)
@click.option("--force", is_flag=True, help="Make anew the runs that are out of date.")
def family(
    years: str,
    preset: str,
    seed: int,
    overrides: tuple[str, ...],
    jobs: int,
    processes: int,
    force: bool,
) -> None:
    """Every stage of every vintage; what is up to date stays, what was stopped goes on.

    Up to date means: the same settings, the same parents and the same rows of the lake, by their
    fingerprints. One line per vintage and stage at the end; exit code 1 when a vintage failed.
    """
    from pytrain.config import load_settings

    load_settings(preset, overrides)  # a mistake is said once, before anything starts
    words = ["--preset", preset, "--seed", str(seed), "--processes", str(processes)]
    words += [word for one in overrides for word in ("--set", one)]
    vintages = make_all(years_of(years), words + ["--force"] * force, jobs)
    for line in lines(vintages):
        click.echo(line)
    failed = [f"{one.year}: {one.message}" for one in vintages if one.message]
    if failed:
        raise CheckFailed(f"{len(failed)} of {len(vintages)} vintages failed. {'; '.join(failed)}")
