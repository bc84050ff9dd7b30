"""`lake diff`: which rows of which table and year differ between two builds."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from warehouse.errors import UserError

# What names a row, for tables whose key is not all of these columns that they have.
KEYS = {"corpus.same_work": ("doc_id",)}
KEY_COLUMNS = ("source", "citing_id", "cited_id", "query_id", "doc_id", "ordinal", "section_id")
YEARS = ("known_year", "task_year", "grant_year")
TEXT = "corpus.pretrain_text"
# rows_new = rows_old + added - removed - dated_away + dated_here, for every table and year.
COUNTS = ("rows_old", "added", "removed", "dated_away", "dated_here", "changed", "rows_new")
COLUMNS = ("table", "year", *COUNTS)


@dataclass(frozen=True)
class _Compared:
    """A table that both builds have: its key, its year, the columns that both have."""

    name: str
    key: tuple[str, ...]
    year: str
    others: tuple[str, ...]


def diff(old: Path, new: Path) -> pl.DataFrame:
    """Compare every dated table of two lakes.

    A row is found again by its key. One whose year differs is re-dated: it leaves one year
    (`dated_away`) for another (`dated_here`). `changed` rows have the same key and year, and other
    values.

    Args:
        old: a lake folder, or a DuckDB file of one.
        new: another.

    Returns:
        One row per table and year with a row in either, in order: `COLUMNS`. Tables that only one
        of the two has are left out; `only_in_one` names them.

    Raises:
        UserError: no lake there, or one whose text files are gone.
    """
    before, after = lake_file_of(old), lake_file_of(new)
    with duckdb.connect() as con:
        con.execute("set temp_directory = ?", [str(after.parent / "tmp")])
        tables = _tables(con, before, after)
        shared = _shared_texts(con, before, after)
        for side, file in (("old", before), ("new", after)):
            with _attached(con, file):
                for place, table in enumerate(tables):
                    _copy_keys(con, f"{side}_{place}", table, shared)
        try:
            found = [_compare(con, place, table) for place, table in enumerate(tables)]
        except duckdb.Error as error:
            raise UserError(
                f"{before} and {after} cannot be compared: {str(error).splitlines()[0]} "
                "Build both with one release of SciTLake."
            ) from error
        if shared:
            found.append(_unchanged_texts(con, after, shared))
    schema = {"table": pl.String, "year": pl.Int32, **dict.fromkeys(COUNTS, pl.Int64)}
    counted = pl.concat([pl.DataFrame(schema=schema), *(one.cast(schema) for one in found)])
    # Null stands for rows without a year.
    return counted.group_by("table", "year").sum().select(COLUMNS).sort("table", "year")


def only_in_one(old: Path, new: Path) -> tuple[list[str], list[str]]:
    """Dated tables that only the old lake has, and those that only the new one has."""
    with duckdb.connect() as con:
        before, after = (set(_dated(con, lake_file_of(lake))) for lake in (old, new))
    return sorted(before - after), sorted(after - before)


def lake_file_of(place: Path) -> Path:
    """The DuckDB file of a lake given by its folder or by the file itself."""
    file = place / "lake.duckdb" if place.is_dir() else place
    if not file.is_file():
        raise UserError(
            f"no lake at {place}. Name a lake folder or its DuckDB file; a build keeps the one "
            "before it with: lake build --keep-last"
        )
    return file


def refuse_itself(old: Path, lake: Path) -> None:
    """Raise where a lake alone is named, and it is the one that it would be compared with.

    Raises:
        UserError: says what to name.
    """
    if lake_file_of(old).samefile(lake_file_of(lake)):
        raise UserError(
            f"{old} is this lake itself. Name an older one; a build keeps the one before it as "
            f"{lake / 'last.duckdb'} with: lake build --keep-last"
        )


@contextmanager
def _attached(con: duckdb.DuckDBPyConnection, file: Path) -> Iterator[None]:
    """Attach a lake under the name that its views call it by."""
    try:
        con.execute(f"attach '{str(file).replace(chr(39), chr(39) * 2)}' as lake (read_only)")
    except duckdb.Error as error:
        raise UserError(
            f"cannot open {file}: {str(error).splitlines()[0]} Name a lake folder or its DuckDB "
            "file."
        ) from error
    try:
        yield
    except duckdb.Error as error:
        raise UserError(f"{file} cannot be read: {str(error).splitlines()[0]}") from error
    finally:
        con.execute("detach lake")


def _dated(con: duckdb.DuckDBPyConnection, file: Path) -> dict[str, list[str]]:
    """The tables of a lake that have a key and a year, with their columns in order."""
    with _attached(con, file):
        found = con.execute(
            """
            select schema_name || '.' || table_name, list(column_name order by column_index)
            from duckdb_columns()
            where database_name = 'lake' and schema_name in ('corpus', 'graph', 'tasks')
            group by all
            """
        ).fetchall()
    dated = {
        name: columns
        for name, columns in found
        if any(year in columns for year in YEARS) and any(key in columns for key in KEY_COLUMNS)
    }
    if not dated:
        raise UserError(
            f"{file} has no dated table, so it is no lake. Name a lake folder or its DuckDB file."
        )
    return dated


def _tables(con: duckdb.DuckDBPyConnection, before: Path, after: Path) -> list[_Compared]:
    old, new = _dated(con, before), _dated(con, after)
    tables = []
    for name in sorted(set(old) & set(new)):
        both = [column for column in new[name] if column in old[name]]
        key = KEYS.get(name) or tuple(column for column in both if column in KEY_COLUMNS)
        year = next(column for column in YEARS if column in both)
        others = tuple(column for column in both if column not in (*key, year))
        tables.append(_Compared(name, key, year, others))
    return tables


def _shared_texts(con: duckdb.DuckDBPyConnection, before: Path, after: Path) -> list[str]:
    """Text files that both lakes read: the same file is the same text, so it is not read."""
    listed = []
    for file in (before, after):
        with _attached(con, file):
            has = con.execute(
                "select count(*) from duckdb_tables() where database_name = 'lake' "
                "and schema_name = 'audit' and table_name = 'text_files'"
            ).fetchall()
            rows = con.execute("select path from lake.audit.text_files").fetchall() if has[0][0] \
                else []  # fmt: skip
        gone = [path for (path,) in rows if not Path(path).is_file()]
        if gone:
            raise UserError(
                f"{len(gone)} text file(s) of {file} are gone, the first is {gone[0]}. A later "
                "build has removed them; keep a lake for comparison with: lake build --keep-last"
            )
        listed.append({path for (path,) in rows})
    return sorted(listed[0] & listed[1])


def _copy_keys(
    con: duckdb.DuckDBPyConnection, name: str, table: _Compared, shared: list[str]
) -> None:
    """The keys, the year and a hash of the rest, out of the way of the other lake's name."""
    schema, bare = table.name.split(".", 1)
    source = f'lake."{schema}"."{bare}"'
    if table.name == TEXT and shared:
        rows = con.execute("select path from lake.audit.text_files").fetchall()
        files = [path for (path,) in rows if path not in set(shared)]
        if not files:
            columns = ", ".join((*table.key, table.year, *table.others))
            source = f"(select {columns} from {source} limit 0)"
        else:
            con.execute("set variable text_files = ?", [files])
            source = (
                "read_parquet(getvariable('text_files'), hive_partitioning = true,"
                " hive_types = {'known_year': integer, 'source': varchar})"
            )
    key = ", ".join(f'"{column}"' for column in table.key)
    rest = ", ".join(f'"{column}"' for column in table.others) or "0"
    con.execute(
        f'create temp table {name} as select {key}, "{table.year}" as year, hash({rest}) as rest '
        f"from {source}"
    )


def _compare(con: duckdb.DuckDBPyConnection, place: int, table: _Compared) -> pl.DataFrame:
    same = " and ".join(f'old."{column}" is not distinct from new."{column}"'
                        for column in table.key)  # fmt: skip
    return con.sql(
        f"""
        with paired as (
            select
                old.rest is not null as was, new.rest is not null as is_there,
                old.year as old_year, new.year as new_year,
                old.rest is distinct from new.rest as differs
            from old_{place} as old full outer join new_{place} as new on {same}
        ),

        seen as (
            select
                old_year as year, 1 as rows_old, 0 as added, (not is_there)::int as removed,
                (is_there and old_year is distinct from new_year)::int as dated_away,
                0 as dated_here, 0 as changed, 0 as rows_new
            from paired where was

            union all

            select
                new_year, 0, (not was)::int, 0, 0,
                (was and old_year is distinct from new_year)::int,
                (was and old_year is not distinct from new_year and differs)::int, 1
            from paired where is_there
        )

        select '{table.name}' as table, year, {", ".join(f"sum({c}) as {c}" for c in COUNTS)}
        from seen group by year
        """
    ).pl()


def _unchanged_texts(con: duckdb.DuckDBPyConnection, file: Path, shared: list[str]) -> pl.DataFrame:
    with _attached(con, file):
        counted = con.execute(
            "select known_year, sum(n_rows) from lake.audit.text_files"
            " where list_contains(?, path) group by all",
            [shared],
        ).fetchall()
    nothing: Mapping[str, Any] = dict.fromkeys(COUNTS, 0)
    return pl.DataFrame(
        [
            {"table": TEXT, "year": year, **nothing, "rows_old": int(n), "rows_new": int(n)}
            for year, n in counted
        ]
    )
