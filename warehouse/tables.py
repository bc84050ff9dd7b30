"""The one reader: a dated table and a cutoff to Arrow batches, in the stored total order.

Every row that could leak the future carries the first year in which it could have been known.
Nobody else writes that filter in Python. Whoever wants every year says `ALL`, which is refused
to training: `Lake` looks up the call stack and raises when any frame of it is a module of the
package `pytrain`, so that no helper can read the future on training's behalf either.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.content import ContentHash
from warehouse.dated import (
    ALL,
    BASES,
    STORED_IN_ORDER,
    TABLES,
    TASK_KEYS,
    All,
    Dated,
    TableRead,
    check_order,
    empty_slice,
    refuse_training,
)
from warehouse.errors import UserError, unknown
from warehouse.locks import hold_text
from warehouse.threads import query_memory

__all__ = ["ALL", "All", "Lake", "TableRead", "empty_slice"]


class Lake:
    """A built lake, opened for reading only; several may be open at once."""

    def __init__(self, folder: Path | None = None, *, threads: int | None = None) -> None:
        """Open the lake of `folder`, or of SCITLAKE_WAREHOUSE.

        Raises:
            UserError: no lake there, or another process is building it.
        """
        if folder is None:
            from warehouse.sources import lake_folder

            folder = lake_folder()
        self.folder = Path(folder)
        self.file = self.folder / "lake.duckdb"
        if not self.file.is_file():
            raise UserError(
                f"no lake at {self.file}. Make the sample one with: lake sample && lake build"
            )
        self.reads: list[TableRead] = []
        self._text = hold_text(self.folder)  # a build meanwhile leaves it in place
        self._connection = self._connect(threads)
        self._years: tuple[int, int] | None = None

    def _connect(self, threads: int | None) -> duckdb.DuckDBPyConnection:
        config = {"memory_limit": query_memory()}
        if threads is not None:
            config["threads"] = str(threads)
        try:
            connection = duckdb.connect(str(self.file), read_only=True, config=config)
        except duckdb.Error as error:
            raise UserError(
                f"cannot open {self.file}: {str(error).splitlines()[0]} "
                "If it is being built, wait for it; if it is damaged, run: lake build"
            ) from error
        connection.sql("set preserve_insertion_order = true")
        connection.execute("set file_search_path = ?", [str(self.folder.resolve())])
        connection.execute("set temp_directory = ?", [str(self.folder.resolve() / "tmp")])
        return connection

    def __enter__(self) -> "Lake":
        """Open for the length of a `with` block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Let go of the file."""
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        if self._text:
            self._text.close()

    def years(self) -> tuple[int, int]:
        """First and last year that may be asked for."""
        if self._years is None:
            rows = self._rows("select first_year, last_year from audit.lake_span")
            if not rows or None in rows[0]:
                raise UserError(f"{self.file} is not a finished lake. Build it with: lake build")
            self._years = (rows[0][0], rows[0][1])
        return self._years

    def check_year(self, year: int) -> int:
        """The year, when this lake holds it.

        Raises:
            UserError: outside the lake's years; names them.
        """
        first, last = self.years()
        if not first <= year <= last:
            raise UserError(
                f"year {year} is outside this lake, which spans {first}-{last}. "
                f"Choose a year in it, for example {min(max(year, first), last)}"
            )
        return year

    def batches(
        self,
        table: str,
        columns: Sequence[str],
        *,
        cutoff: int | All,
        rows: int = 65_536,
        basis: str = "production",
        licence_at_most: str | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream a slice in its stored order, in memory bounded by `rows`.

        Args:
            table: "documents", "pretrain_text", "edges", "nodes", "anchors", "same_work",
                or "<schema>.<name>" of a benchmark or audit table ("tasks.task_cpc_section").
            columns: the columns wanted, in the order wanted.
            cutoff: the last year seen, or `ALL`.
            rows: rows per batch at most.
            basis: what dates patent text; see `corpus.pretrain_asof`. For pretrain_text only.
            licence_at_most: the licence whose demands no row exceeds, as there; None: any or none
                known. For pretrain_text only.

        Raises:
            UserError: an unknown table, column or licence, or a cutoff outside the lake's years.
        """
        dated = self._find(table)
        year = self._checked(table, cutoff)
        if basis not in BASES:
            raise unknown("basis", basis, BASES, f"one of {', '.join(BASES)}")
        text = {"basis": basis, "licence_at_most": licence_at_most}
        parts = self._parts(dated, year, text)
        self._check_columns(table, parts[0], columns)
        return self._stream(table, dated, parts, tuple(columns), year, rows, text)

    def read(
        self,
        table: str,
        columns: Sequence[str],
        *,
        cutoff: int | All,
        basis: str = "production",
        licence_at_most: str | None = None,
    ) -> pa.Table:
        """A whole slice as one table; see `batches`."""
        text = {"basis": basis, "licence_at_most": licence_at_most}
        found = list(self.batches(table, columns, cutoff=cutoff, **text))
        if found:
            return pa.Table.from_batches(found)
        source, params = self._parts(self._find(table), self._checked(table, cutoff), text)[0]
        whole = self._connection.cursor().sql(f"select * from {source} limit 0", params=params)
        return whole.to_arrow_table().select(list(columns))

    def fingerprint(
        self,
        table: str,
        columns: Sequence[str],
        *,
        cutoff: int | All,
        basis: str = "production",
        licence_at_most: str | None = None,
    ) -> TableRead:
        """Read a slice for its hash alone; nothing is kept, and `reads` does not grow."""
        before = len(self.reads)
        text = {"basis": basis, "licence_at_most": licence_at_most}
        for _ in self.batches(table, columns, cutoff=cutoff, **text):
            pass
        read = self.reads[-1]
        del self.reads[before:]
        return read

    def query(self, sql: str) -> pa.RecordBatchReader:
        """The rows of a person's own SELECT; refused to training.

        Raises:
            UserError: not one SELECT, or DuckDB cannot run it.
        """
        refuse_training("SQL of one's own, which has no cutoff,")
        try:
            kinds = [str(one.type) for one in duckdb.extract_statements(sql)]
            if kinds != ["StatementType.SELECT"]:
                raise UserError("the query must be one SELECT. See the tables with: lake show")
            return self._connection.cursor().sql(sql).to_arrow_reader(65_536)
        except duckdb.Error as error:
            raise UserError(
                f"the query does not run: {error} See the tables with: lake show"
            ) from error

    @contextmanager
    def _files(self) -> Iterator[None]:
        """Files of the lake that are gone or damaged, as one message."""
        try:
            yield
        except (duckdb.IOException, duckdb.InvalidInputException) as error:
            if ".parquet" not in str(error):
                raise  # what a table macro says of its arguments
            raise UserError(
                f"the lake of {self.folder} cannot be read: {str(error).splitlines()[0]} Build it "
                "again with: lake build --afresh"
            ) from error

    def _rows(self, sql: str, params: dict[str, object] | None = None) -> list[tuple]:
        try:
            with self._files():
                return self._connection.cursor().sql(sql, params=params or {}).fetchall()
        except duckdb.CatalogException as error:
            raise UserError(
                f"{self.file} lacks a table this command needs "
                f"({str(error).splitlines()[0]}). Build it with: lake build"
            ) from error
        except duckdb.InvalidInputException as error:  # what a table macro says of its arguments
            raise UserError(str(error).removeprefix("Invalid Input Error: ")) from error

    def _find(self, table: str) -> Dated:
        if table in TABLES:
            return TABLES[table]
        sql = """
            select table_schema || '.' || table_name, list(column_name order by ordinal_position)
            from information_schema.columns where table_schema in ('tasks', 'audit') group by 1
        """
        others = dict(self._rows(sql))
        if table not in others:
            raise unknown("table", table, [*TABLES, *others], "lake show")
        keys = [name for name in others[table] if name in TASK_KEYS]
        order = tuple(sorted(keys, key=TASK_KEYS.index)) or tuple(others[table])
        year = next((y for y in ("label_year", "known_year") if y in others[table]), None)
        return Dated(table, year, order)

    def _checked(self, table: str, cutoff: int | All) -> int | None:
        if isinstance(cutoff, All):
            refuse_training(f"every year of {table}")
            if table == "anchors":
                raise UserError("anchors are drawn for one cutoff; ask for a year.")
            return None
        if isinstance(cutoff, bool) or not isinstance(cutoff, int):
            raise TypeError(f"cutoff is a year or ALL, not {cutoff!r}")
        return self.check_year(cutoff)

    def _parts(self, dated: Dated, year: int | None, text: dict) -> list[tuple[str, dict]]:
        """The queries that give the slice one after another: (from and where, parameters)."""
        if dated.relation == "corpus.pretrain_asof":
            asof = {"cutoff": self.years()[1] if year is None else year, **text}
            given = ", ".join(f"{name} := ${name}" for name in text)
            source = f"corpus.pretrain_asof($cutoff, {given})"
            folders = self._rows(
                f"select distinct known_year, source from {source} order by all", asof
            )
            where = f"{source} where known_year = $known_year and source = $source"
            named = [{"known_year": y, "source": s} for y, s in folders]
            return [(where, asof | one) for one in named] or [(source, asof)]
        if dated.relation == "graph.anchors_asof":
            return [("graph.anchors_asof($cutoff)", {"cutoff": year})]
        if year is None:
            return [(dated.relation, {})]
        if dated.year is None:
            raise UserError(f"{dated.relation} has no date, so it cannot be read as of {year}.")
        return [(f"{dated.relation} where {dated.year} <= $cutoff", {"cutoff": year})]

    def _check_columns(self, table: str, part: tuple[str, dict], columns: Sequence[str]) -> None:
        source, params = part
        with self._files():
            known = self._connection.cursor().sql(f"select * from {source}", params=params).columns
        for column in columns:
            if column not in known:
                raise unknown(f"column of {table}", column, known, f"lake show {table}")
        if not columns:
            raise UserError(f"no column of {table} was asked for. See them: lake show {table}")

    def _read_through(self, found: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        """The batches; a file that turns out damaged on the way is one message."""
        while True:
            try:
                with self._files():
                    batch = found.read_next_batch()
            except StopIteration:
                return
            except (OSError, pa.ArrowInvalid) as error:  # what Arrow makes of DuckDB's error
                raise UserError(
                    f"the lake of {self.folder} cannot be read: {str(error).splitlines()[0]} "
                    "Build it again with: lake build --afresh"
                ) from error
            yield batch

    def _stream(
        self,
        table: str,
        dated: Dated,
        parts: list[tuple[str, dict]],
        columns: tuple[str, ...],
        year: int | None,
        rows: int,
        text: dict,
    ) -> Iterator[pa.RecordBatch]:
        content, latest, previous = ContentHash(columns), None, None
        keys = [*dated.order, *([dated.year] if dated.year else [])]
        wanted = ", ".join(f'"{name}"' for name in dict.fromkeys([*columns, *keys]))
        in_order = table in STORED_IN_ORDER
        tail = "" if in_order else " order by " + ", ".join(f'"{key}"' for key in dated.order)
        cursor = self._connection.cursor()
        try:
            for source, params in parts:
                query = f"select {wanted} from {source}{tail}"
                with self._files():
                    found = cursor.sql(query, params=params).to_arrow_reader(rows)
                for batch in self._read_through(found):
                    if in_order:
                        previous = check_order(table, batch, dated.order, previous)
                    if dated.year and batch.num_rows:
                        last = pc.max(batch.column(dated.year)).as_py()
                        latest = last if latest is None else max(latest, last or latest)
                    chosen = batch.select(columns)
                    content.update(chosen)
                    yield chosen
        finally:
            cursor.close()
            self.reads.append(
                TableRead(table, year, columns, content.rows, latest, content.hexdigest(), **text)
            )
