"""Write beside, then rename: a file or a folder that is whole or absent.

Nothing is removed but what this module made: a file beside bears its process in its name, a folder
beside holds a mark. A process that is killed leaves them; the next writer of the same removes them.
"""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from warehouse.errors import UserError

WRITING = "being-written"  # in a folder beside, whose writer holds a lock on it


@contextmanager
def file_beside(file: Path) -> Iterator[Path]:
    """A path to write, `<name>.<process>.partial`, that takes the file's place in the end.

    Where the block raises, the file is as it was and nothing is left beside it. A link stays one;
    what is neither a file nor a folder, such as /dev/null, is written to as it is.
    """
    if file.exists() and not file.is_file() and not file.is_dir():
        yield file
        return
    file = file.resolve()
    remove_left(file.parent.glob(f"{escape(file.name)}.*.partial"))
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def folder_beside(folder: Path) -> Iterator[Path]:
    """An empty folder to fill, `<name>.partial`, that takes the folder's name in the end.

    The folder itself must be gone by then. Where the block raises, nothing is left.

    Raises:
        UserError: another process is writing the folder, or what bears the name `<name>.partial`
            is nothing that an earlier one began.
    """
    partial = folder.with_name(f"{folder.name}.partial")
    mark = partial / WRITING
    free = not partial.exists() or partial.is_dir() and not any(partial.iterdir())
    if not free and not mark.is_file():
        raise UserError(f"{partial} is in the way of writing {folder}. Move it away.")
    partial.mkdir(parents=True, exist_ok=True)
    with mark.open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another process is writing {folder}. Wait for it, or name another folder."
            ) from None
        try:
            _empty(partial, mark)
            yield partial
            mark.unlink()
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def remove_left(paths: Iterable[Path]) -> None:
    """Remove, of files called `<name>.<process>.partial`, those whose process is no more."""
    for path in paths:
        process = path.name.split(".")[-2]
        if process.isdecimal() and not lives(int(process)) and path.is_file():
            path.unlink(missing_ok=True)


def lives(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True  # somebody else's
    return True


def _empty(folder: Path, mark: Path) -> None:
    """Remove what a process that was killed had written."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path != mark:
            path.unlink()
