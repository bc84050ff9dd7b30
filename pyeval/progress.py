"""Progress on stderr: a bar in a terminal, one line elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Gives a function that is told how many more are done."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if console.is_terminal:
        with Progress(console=console, transient=True) as shown:
            task = shown.add_task(label, total=total)
            yield lambda n: shown.advance(task, n)
        return
    started = time.monotonic()
    yield lambda n: None
    spent = time.monotonic() - started
    if spent > 1.0:
        say(f"{label}: {total:,} in {spent:.1f} s")


def say(line: str) -> None:
    """One line on stderr."""
    from rich.console import Console

    Console(stderr=True, soft_wrap=True, highlight=False).print(line, markup=False)
