"""Column lineage of the lake: what decides each column, and which rows there are, of a table.

dbt compiles the models, DuckDB binds each one to empty tables of the declared columns, and the
bound plan says where every column comes from; so stars, aliases and scopes are resolved by the
engine that builds the lake.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

import duckdb
from duckdb.sqltypes import DOUBLE, VARCHAR

from warehouse.errors import UserError
from warehouse.lineage_plan import Column, relation_of
from warehouse.locks import one_at_a_time
from warehouse.runner import run_dbt
from warehouse.sources import lake_folder

EVERY_ROW = "*"  # stands for a column: which rows there are, and their order
# Functions that are known no earlier than the model they run, so that they count as columns.
UNDATED_FUNCTIONS = ("language_share",)
REJECTS = {
    "file": "varchar", "line": "bigint", "column_name": "varchar", "reason": "varchar",
    "raw": "varchar", "counts": "boolean",
}  # fmt: skip
ROWS_READ = {
    "source": "varchar", "table_name": "varchar", "n_files": "bigint", "n_rows": "bigint",
}  # fmt: skip


class Step(NamedTuple):
    """One row of the lineage: a column, or `*` for the rows, and one column that decides it."""

    table: str  # schema.table
    column: str
    from_table: str
    from_column: str


def compile_models() -> dict[str, Any]:
    """The manifest of dbt with compiled SQL in which raw tables stand by name, not by their files.

    Needs no lake and no raw file.
    """
    folder = lake_folder().resolve() / "lineage"
    (folder / "no-files").mkdir(parents=True, exist_ok=True)
    empty = folder / "lake.duckdb"  # models that look into the lake find it empty
    env = {
        "SCITLAKE_LINEAGE": "1",
        "SCITLAKE_WAREHOUSE": str(folder),  # so that the lake's unpacked zips are left alone
        "SCITLAKE_DB": str(empty),
        "DATA_ROOT": str(folder / "no-files"),
    }
    with one_at_a_time(folder / "lineage.lock"):
        empty.unlink(missing_ok=True)
        run_dbt(["compile"], env=env, folder=folder)
        return json.loads((folder / "target" / "manifest.json").read_text(encoding="utf-8"))


def column_lineage(manifest: Mapping[str, Any]) -> list[Step]:
    """Every direct step of the lineage, in order.

    Args:
        manifest: as `compile_models` gives it.

    Raises:
        UserError: a model does not bind to the declared columns, or its plan has an operator
            whose lineage is not known; the model is named.
    """
    steps: set[Step] = set()
    with _empty_lake(manifest) as con:
        for node in _models(manifest):
            table, sql = _table(node), node["compiled_code"]
            if _is_function(node):
                sql = f"select * from {table}(0)"
            try:
                names = [name for name, *_ in con.execute(f"describe {sql}").fetchall()]
                found = relation_of(_plan(con, sql), UNDATED_FUNCTIONS)
            except (duckdb.Error, ValueError) as error:
                raise UserError(
                    f"the columns of {table} cannot be traced: {error}. Write the model "
                    "another way."
                ) from error
            decided = [*zip(names, found.columns, strict=True), (EVERY_ROW, found.rows)]
            steps |= {Step(table, name, *by) for name, columns in decided for by in columns}
    return sorted(steps)


def ancestors(steps: Iterable[Step], table: str, column: str | None = None) -> dict[Column, str]:
    """Every column that decides a column of a table, or with no column anything in the table.

    Returns:
        Column -> "value" when it reaches the asked column through values alone, else "rows": it
        decides which rows there are somewhere on the way.
    """
    below: dict[Column, set[Column]] = {}
    for step in steps:
        to, by = Column(step.table, step.column), Column(step.from_table, step.from_column)
        below.setdefault(to, set()).add(by)
    starts = {c for c in below if c.table == table and c.name != EVERY_ROW}
    starts = {c for c in starts if column in (None, c.name)}
    by_value = _closure(starts, lambda c: below.get(c, ()))
    rows = {Column(table, EVERY_ROW)}
    everything = _closure(starts | rows, lambda c: {*below.get(c, ()), Column(c.table, EVERY_ROW)})
    return {
        c: "value" if c in by_value else "rows"
        for c in sorted(everything - starts)
        if c.name != EVERY_ROW
    }


def _closure(starts: Iterable[Column], below: Any) -> set[Column]:
    seen, todo = set(starts), list(starts)
    while todo:
        for column in below(todo.pop()):
            if column not in seen:
                seen.add(column)
                todo.append(column)
    return seen


def _empty_lake(manifest: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    """A database in memory with every table, as declared and without a row, and every function."""
    con = duckdb.connect()
    con.execute("attach ':memory:' as lake; use lake")
    for name in UNDATED_FUNCTIONS:
        con.create_function(name, lambda text: 0.0, [VARCHAR], DOUBLE)
    for source in manifest["sources"].values():
        _create(con, source["source_name"], source["name"], _declared(source))
        _create(con, "quarantine", f"{source['source_name']}__{source['name']}", REJECTS)
    _create(con, "quarantine", "rows_read", ROWS_READ)
    for node in manifest["nodes"].values():
        if node["resource_type"] in ("model", "seed") and _is_declared(node):
            _create(con, node["schema"], node["alias"], _declared(node))
    for function in manifest["functions"].values():
        names = ", ".join(argument["name"] for argument in function["arguments"])
        body = function["compiled_code"]
        con.execute(f"create macro {function['schema']}.{function['name']}({names}) as ({body})")
    others = {
        name: node["depends_on"]["nodes"]
        for name, node in manifest["nodes"].items()
        if node["resource_type"] == "model" and not _is_declared(node)
    }
    for name in TopologicalSorter(others).static_order():
        if name in others:  # not one that it depends on
            node = manifest["nodes"][name]
            con.execute(f"create schema if not exists {node['schema']}")
            con.execute(_definition(node))
    return con


def _create(
    con: duckdb.DuckDBPyConnection, schema: str, name: str, columns: Mapping[str, str]
) -> None:
    listed = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
    con.execute(f"create schema if not exists {schema}")
    con.execute(f'create table if not exists {schema}."{name}" ({listed})')


def _declared(node: Mapping[str, Any]) -> dict[str, str]:
    return {column["name"]: column["data_type"] for column in node["columns"].values()}


def _models(manifest: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (node for node in manifest["nodes"].values() if node["resource_type"] == "model")


def _is_function(node: Mapping[str, Any]) -> bool:
    return node["config"]["materialized"] == "asof_function"


def _is_declared(node: Mapping[str, Any]) -> bool:
    """True for a table whose columns are all declared with their types."""
    columns = node["columns"].values()
    typed = bool(columns) and all(column["data_type"] for column in columns)
    return typed and not _is_function(node)


def _definition(node: Mapping[str, Any]) -> str:
    """An as-of function, or a view for a model that does not declare its columns."""
    if not _is_function(node):
        return f"create view {_table(node)} as {node['compiled_code']}"
    given = ", ".join(node["config"].get("parameters") or ["cutoff integer"])
    return f"create macro {_table(node)}({given}) as table ({node['compiled_code']})"


def _table(node: Mapping[str, Any]) -> str:
    return f"{node['schema']}.{node['alias']}"


def _plan(con: duckdb.DuckDBPyConnection, sql: str) -> Mapping[str, Any]:
    """The bound plan of one SELECT."""
    asked = (
        "select json_serialize_plan(?, optimize := false, skip_null := true, skip_empty := true)"
    )
    answer = json.loads(con.execute(asked, [sql]).fetchall()[0][0])
    if answer["error"]:
        raise ValueError(answer["error_message"])
    (plan,) = answer["plans"]
    return plan
