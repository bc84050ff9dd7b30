"""What `lake sources`, `lake show` and `lake docs` say."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from warehouse.beside import file_beside
from warehouse.errors import CheckFailed, UserError
from warehouse.ingest import packed
from warehouse.locks import only_one
from warehouse.names import SLICES, relation_of, slice_of
from warehouse.runner import run_dbt
from warehouse.sources import (
    RawTable,
    check_data_root,
    data_root,
    lake_file,
    lake_folder,
    raw_tables,
)
from warehouse.states import read_state

WIDEST = 60  # characters of a cell that the terminal gets
# Views of the sample's size only: a row count of one reads raw files from end to end.
NOT_COUNTED = "staging"


@contextmanager
def _lake() -> Iterator[duckdb.DuckDBPyConnection]:
    """The last good lake, read only."""
    file = lake_file()
    if not file.is_file():
        raise UserError(f"no lake at {file}. Make the sample one with: lake sample && lake build")
    try:
        con = duckdb.connect(str(file), read_only=True)
    except duckdb.Error as error:
        raise UserError(
            f"cannot open {file}: {str(error).splitlines()[0]} Wait for its writer, or run: "
            "lake build"
        ) from error
    with con:
        try:
            yield con
        except duckdb.Error as error:
            raise UserError(
                f"{file} cannot be read: {str(error).splitlines()[0]} Build it again with: "
                "lake build --afresh"
            ) from error


def source_rows() -> list[dict[str, Any]]:
    """One row per declared raw table; before a build from the files alone."""
    built: dict[tuple[str, str], dict[str, Any]] = {}
    if lake_file().is_file():
        with _lake() as con:
            try:
                found = con.execute("select * from audit.sources")
                names = [column[0] for column in found.description]
                built = {(row[0], row[1]): dict(zip(names, row, strict=True))
                         for row in found.fetchall()}  # fmt: skip
            except duckdb.CatalogException:
                built = {}  # a lake of some models only
    check_data_root()
    # Members of zips count as the files that they will be once unpacked.
    members = packed(data_root())
    return [
        _source_row(table, members, built.get((table.source, table.name))) for table in raw_tables()
    ]


def _source_row(
    table: RawTable, members: list[str], built: dict[str, Any] | None
) -> dict[str, Any]:
    root = data_root()
    plain = [path.relative_to(root).as_posix() for path in table.files(root)]
    n_files = len(table.chosen({*plain, *members}))
    now = {
        "source": table.source,
        "table_name": table.name,
        "required": table.required,
        "present": n_files > 0,
        "n_files": n_files,
        "n_rows": None,
        "n_rejected": None,
        "latest_year": None,
        "licence": table.licence,
        "switches_on": ", ".join(table.switches_on),
        "get_it_from": table.get_it_from,
    }
    return built or now


def check_snapshots() -> str:
    """One line when every measure of the snapshots lies between its bounds.

    Raises:
        CheckFailed: names each raw table that looks scrambled, what was measured and what the
            bounds are.
        UserError: the lake does not hold the measures.
    """
    with _lake() as con:
        try:
            rows = con.execute(
                "select source, table_name, measure, measured, lowest, highest, n_rows,"
                " is_plausible, looks_like from audit.snapshot_checks"
            ).fetchall()
        except duckdb.CatalogException as error:
            raise UserError("this lake has no measures. Build them with: lake build") from error
    judged = [row for row in rows if row[7] is not None]
    wrong = [
        f"  {source}.{name}: {measure} is {measured:g}, not {lowest:g} to {highest:g} "
        f"(of {n_rows} rows): {looks_like}"
        for source, name, measure, measured, lowest, highest, n_rows, plausible, looks_like in rows
        if plausible is False
    ]
    if wrong:
        raise CheckFailed(
            f"{len(wrong)} of {len(judged)} measures lie outside what is plausible:\n"
            + "\n".join(wrong)
            + "\nGet the files again, or widen dbt_project/seeds/plausibility_bounds.csv."
        )
    few = len(rows) - len(judged)
    said = f"{len(judged)} measures of {len({row[:2] for row in judged})} raw tables are plausible"
    return f"{said}; {few} had too few rows to judge" if few else said


def left_out() -> str:
    """One line on the rows that did not arrive, or nothing when all did."""
    with _lake() as con:
        try:
            malformed, undated, clashing = con.execute(
                "select coalesce(sum(n_rows) filter (counts), 0)::bigint,"
                " coalesce(sum(n_rows) filter (reason = 'undated'), 0)::bigint,"
                " coalesce(sum(n_rows) filter (reason = 'id_collision'), 0)::bigint"
                " from audit.quarantined"
            ).fetchall()[0]
        except duckdb.CatalogException:
            return ""  # a lake of some models only
    if not malformed and not undated and not clashing:
        return ""
    others = f", {clashing} of a doc_id that is taken" if clashing else ""
    return (
        f"quarantined: {malformed} malformed, {undated} undated{others} rows"
        " (lake show quarantined)"
    )


def list_tables() -> tuple[Sequence[str], list[Sequence[Any]]]:
    """Schema, name, rows and description of everything in the lake that one may read."""
    with _lake() as con:
        relations = con.execute(
            """
            select schema_name, table_name, false as is_view, comment from duckdb_tables()
            where not internal
            union all
            select schema_name, view_name, true, comment from duckdb_views() where not internal
            union all
            select schema_name, function_name || '(cutoff)', null, any_value(comment)
            from duckdb_functions() where function_type = 'table_macro' and not internal
            group by all
            order by 1, 2
            """
        ).fetchall()
        rows: list[Sequence[Any]] = []
        for schema, name, is_view, comment in relations:
            if schema == "test_failures" or schema[1:].isdigit():
                continue  # the yearly views are listed by their functions
            counted = is_view is False or (is_view and schema != NOT_COUNTED)
            n_rows = _count(con, schema, name) if counted else None
            if schema != "quarantine" or n_rows:  # most raw tables have nothing in there
                rows.append((schema, name, n_rows, comment))
    return ("schema", "table", "rows", "description"), rows


def _count(con: duckdb.DuckDBPyConnection, schema: str, name: str) -> int:
    return con.execute(f'select count(*) from "{schema}"."{name}"').fetchall()[0][0]


def show_table(
    name: str, asof: int | None, limit: int, licence_at_most: str | None = None
) -> tuple[Sequence[str], list[Sequence[Any]]]:
    """Columns and first rows of a table, or of its slice as of a year.

    Args:
        name: table, with or without its schema.
        asof: the last year seen; None for the table itself.
        limit: rows at most.
        licence_at_most: see `corpus.pretrain_asof`, the one slice that has licences.

    Raises:
        UserError: no such table, a year outside the lake, or a licence that is not known.
    """
    if licence_at_most is not None and (asof is None or "pretrain" not in name):
        raise UserError(
            f"--licence-at-most restricts slices of text, not {name}. Write for example: "
            f"lake show pretrain_text --asof 2013 --licence-at-most {licence_at_most}"
        )
    with _lake() as con:
        if asof is None:
            relation = relation_of(con, name)
            found = con.execute(f"select * from {relation} limit ?", [limit])
        else:
            short = slice_of(name)
            try:
                asked = {"asof": asof, "limit": limit}
                restricted = ""
                if licence_at_most is not None:
                    asked["licence"] = licence_at_most
                    restricted = ", licence_at_most := $licence"
                found = con.execute(
                    f"select * from {SLICES[short]}($asof{restricted}) limit $limit", asked
                )
            except duckdb.CatalogException as error:
                raise UserError(f"this lake has no {short}. Build it with: lake build") from error
            except duckdb.InvalidInputException as error:
                raise UserError(str(error).removeprefix("Invalid Input Error: ")) from error
        columns = [column[0] for column in found.description]
        return columns, found.fetchall()


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns of text: padded and cut on a terminal, tab separated and whole in a pipe."""
    cells = [[_cell(value) for value in row] for row in rows]
    if not sys.stdout.isatty():
        return "\n".join("\t".join(row) for row in [list(columns), *cells])
    cells = [[c if len(c) <= WIDEST else c[: WIDEST - 1] + "…" for c in row] for row in cells]
    widths = [max(len(row[i]) for row in [list(columns), *cells]) for i in range(len(columns))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
             for row in [list(columns), ["-" * w for w in widths], *cells]]  # fmt: skip
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("\t", " ").replace("\n", " ")


def write_docs() -> Path:
    """Write `docs/index.html` in the lake folder: one page that needs no network.

    Returns:
        Its path.
    """
    lake = lake_folder().resolve()
    with _lake():
        pass  # says so when there is no lake
    env = {"SCITLAKE_ACCESS": "read_only"}  # readers of the lake are not in the way
    if root := read_state(lake / "lake.json").get("data_root"):
        env["DATA_ROOT"] = root
    page = lake / "docs" / "index.html"
    with only_one(lake):  # a build writes to the same folder target
        run_dbt(["docs", "generate", "--static"], env=env)
        page.parent.mkdir(exist_ok=True)
        with file_beside(page) as partial:
            shutil.copyfile(lake / "target" / "static_index.html", partial)
    return page
