"""What `lake lineage` says, and the table audit.column_lineage of a lake."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from warehouse.errors import CheckFailed, unknown
from warehouse.leaks import find_leaks, idle_channels, known_at, register
from warehouse.lineage import EVERY_ROW, Step, ancestors, column_lineage, compile_models

TABLE = "audit.column_lineage"
COMMENT = (
    "What decides each column: one row per column and column of another table that its value is "
    "made of; column * stands for which rows there are, and their order. known_at is declared for "
    "source columns. Grain - (table_name, column_name, from_table, from_column)."
)


def lineage_rows(name: str | None) -> tuple[Sequence[str], list[Sequence[Any]]]:
    """Direct steps of everything, or the source columns behind a table or one of its columns.

    Raises:
        UserError: no such table or column.
    """
    manifest = compile_models()
    steps, declared = column_lineage(manifest), known_at(manifest)
    if not name:
        columns = ("table", "column", "from_table", "from_column", "known_at")
        return columns, [(*s, declared.get(f"{s.from_table}.{s.from_column}")) for s in steps]
    table, column = _find(name, steps)
    found = {f"{c.table}.{c.name}": how for c, how in ancestors(steps, table, column).items()}
    rows = [(c, how, declared[c]) for c, how in found.items() if c in declared]
    return ("source_column", "decides", "known_at"), rows


def _find(name: str, steps: Sequence[Step]) -> tuple[str, str | None]:
    """`schema.table`, `table`, `table.column` or `schema.table.column` as a table and a column."""
    columns = {(s.table, s.column) for s in steps if s.column != EVERY_ROW}
    names = {}
    for table, column in sorted(columns):
        for short in (table.split(".")[1], table):
            names[short] = (table, None)
            names[f"{short}.{column}"] = (table, column)
    if name not in names:
        raise unknown("table or column", name, names, "lake lineage")
    return names[name]


def check() -> str:
    """One line when every late column above a training object is listed with a reason.

    Raises:
        CheckFailed: with the columns that are not listed, or rows of the register that fit nothing.
    """
    manifest, channels = compile_models(), register()
    steps = column_lineage(manifest)
    leaks = find_leaks(manifest, steps, channels)
    wrong = [f"  {leak}" for leak in leaks if not leak.channel]
    idle = [f"  {c.object}, {c.source_column}" for c in idle_channels(steps, channels)]
    said = []
    if wrong:
        said.append(
            f"{len(wrong)} late column(s) are not in dbt_project/seeds/leakage_channels.csv. Date "
            "the object by them, or list them with a reason:\n" + "\n".join(wrong)
        )
    if idle:
        said.append(f"{len(idle)} row(s) of the register fit no table:\n" + "\n".join(idle))
    if said:
        raise CheckFailed("\n".join(said))
    objects = {leak.object for leak in leaks}
    return (
        f"{len(leaks)} late columns above {len(objects)} training objects, all listed in "
        f"{len({c.channel for c in channels})} channels (lake show leakage_channels)"
    )


def write_table(file: Path, manifest: Mapping[str, Any] | None = None) -> None:
    """Write audit.column_lineage into a DuckDB file."""
    manifest = manifest or compile_models()
    declared = known_at(manifest)
    columns = list(zip(*column_lineage(manifest), strict=True))
    moments = [declared.get(f"{t}.{c}") for t, c in zip(columns[2], columns[3], strict=True)]
    names = ("table_name", "column_name", "from_table", "from_column", "known_at")
    steps = pa.table(dict(zip(names, [*map(list, columns), pa.array(moments, pa.string())],
                              strict=True)))  # fmt: skip
    with duckdb.connect(str(file)) as con:
        con.register("steps", steps)
        con.execute("create schema if not exists audit")
        con.execute(f"create or replace table {TABLE} as from steps order by all")
        con.execute(f"comment on table {TABLE} is '{COMMENT}'")
