"""Threads and memory: how idle threads wait for work, and how much a query may have of both."""

import os

from warehouse.errors import UserError


def sleep_when_idle() -> None:
    """Let an idle thread sleep after some 50 microseconds instead of 15 ms.

    On two cores that others use too, the spinning cost a training four fifths of its speed. The
    variable is read when torch loads, so packages call this before they import anything; a value
    that is set already stays.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")


def query_threads() -> int | None:
    """`DUCKDB_THREADS`: threads of one query of a build; None for every core.

    Raises:
        UserError: it is set to something else than a number of threads.
    """
    asked = os.environ.get("DUCKDB_THREADS", "")
    if not asked:
        return None
    if not asked.isdecimal() or not 1 <= int(asked) <= 1024:
        raise UserError(
            f"DUCKDB_THREADS={asked} is no number of threads from 1 to 1024. Example: "
            "DUCKDB_THREADS=4 lake build"
        )
    return int(asked)


def query_memory() -> str:
    """`DUCKDB_MEMORY`: memory of DuckDB in a build or a reader, in its own words; 3GB when not set.

    Raises:
        UserError: it is no amount of memory.
    """
    import duckdb

    asked = os.environ.get("DUCKDB_MEMORY") or "3GB"
    try:
        duckdb.connect(config={"memory_limit": asked}).close()
    except duckdb.Error as error:
        raise UserError(
            f"DUCKDB_MEMORY={asked} is no amount of memory that DuckDB can work with. Example: "
            "DUCKDB_MEMORY=8GB lake build"
        ) from error
    return asked
