"""dbt as `lake` starts it: what was parsed once serves every lake of a checkout.

dbt reads all SQL again when the connection differs from the one it last parsed with, though no
model is written by where its database stands. `lake build` writes beside the last good file and
`lake docs` reads that file, so each would parse for the other; so would every new lake.

The process ends with the one that started it, even when that one is killed: the starter holds the
other end of standard input, which the system closes for it.
"""

import gc
import os
import sys
import threading
from pathlib import Path

from warehouse.beside import file_beside

PARSED = "lake_parse.msgpack"  # in the project's target folder
# Where the database stands and how much memory it may take; SQL depends on neither.
_OF_THE_PLACE = ("path", "settings", "config_options")


def parsed_file(project: Path) -> Path:
    """What dbt parsed last of this checkout, by whichever lake."""
    return project / "target" / PARSED


def keep(parsed: Path, project: Path) -> None:
    """Put what a run of dbt has parsed where the next run looks, unless the checkout is read-only.

    Args:
        parsed: partial_parse.msgpack of the run; nothing is done where dbt ended before it.
        project: the folder of dbt_project.yml.
    """
    if not parsed.is_file() or not os.access(project, os.W_OK):
        return
    shared = parsed_file(project)
    shared.parent.mkdir(exist_ok=True)
    with file_beside(shared) as partial:
        partial.write_bytes(parsed.read_bytes())


def _end_with_the_starter() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(1)


def main() -> None:
    """`dbt`, whose parse does not depend on the place of the database."""
    threading.Thread(target=_end_with_the_starter, daemon=True).start()
    # dbt makes some million objects that live to its end; looking through them again and again
    # for garbage takes an eighth of its start, and finds 7 MB.
    gc.set_threshold(50_000, 20, 50)
    from dbt.adapters.duckdb.credentials import DuckDBCredentials
    from dbt.cli.main import cli

    every = DuckDBCredentials._connection_keys
    DuckDBCredentials._connection_keys = lambda self: tuple(
        key for key in every(self) if key not in _OF_THE_PLACE
    )
    cli()


if __name__ == "__main__":
    main()
