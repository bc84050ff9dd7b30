"""The progress of a build, on standard error."""

import sys
from typing import Any

import click

from warehouse.runner import Step


class Progress:
    """Shows the steps of a build on standard error: a bar on a terminal, else lines."""

    def __init__(self) -> None:
        """Start with no bar; it appears with the first step."""
        self._bar: Any = None
        self._task: Any = None
        self._warned: list[str] = []

    def __enter__(self) -> "Progress":
        """Open a bar when somebody watches."""
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (MofNCompleteColumn(), BarColumn(), TimeElapsedColumn(),
                       TextColumn("{task.description}"))  # fmt: skip
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("starting dbt", total=None)
        return self

    def __exit__(self, *error: object) -> None:
        """Take the bar away, and say what only the log would know."""
        if self._bar:
            self._bar.stop()
        for name in self._warned:
            click.echo(f"warning: {name}; rows are in the schema test_failures", err=True)

    def step(self, step: Step) -> None:
        """Report one finished step."""
        if step.status == "warn":
            self._warned.append(step.name)
        if self._bar:
            self._bar.update(
                self._task, completed=step.index, total=step.total, description=step.name
            )
        elif step.kind == "model" or step.status in ("fail", "error"):
            click.echo(
                f"{step.index} of {step.total} {step.kind} {step.name}: {step.status} "
                f"({step.seconds:.1f} s)",
                err=True,
            )
