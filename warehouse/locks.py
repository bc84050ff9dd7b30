"""Who may write to a lake folder, and who is reading its text; the kernel lets go at the end."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from warehouse.errors import UserError


@contextmanager
def only_one(lake: Path) -> Iterator[None]:
    """Hold the lake's lock for one build, or another command that writes where a build does.

    Raises:
        UserError: somebody else holds it; says who, and since when.
    """
    with (lake / "build.lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            raise UserError(
                f"{lake} is being built by {holder}. Wait for it, or build another lake: "
                "SCITLAKE_WAREHOUSE=<folder> lake build"
            ) from None
        lock.truncate(0)
        since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        lock.write(f"process {os.getpid()} since {since}")
        lock.flush()
        try:
            yield
        finally:
            lock.truncate(0)


@contextmanager
def one_at_a_time(file: Path) -> Iterator[None]:
    """Wait until nobody else holds a file, and hold it."""
    with file.open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def hold_text(lake: Path) -> IO[str] | None:
    """Keep the text files of a lake in place until what is returned is closed.

    None where nothing can be written, for nobody builds there.
    """
    try:
        lock = (lake / "readers.lock").open("a", encoding="utf-8")
    except OSError:
        return None
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


@contextmanager
def text_is_free(lake: Path) -> Iterator[bool]:
    """Whether no reader holds the text files of a lake; none may begin to meanwhile."""
    with (lake / "readers.lock").open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
