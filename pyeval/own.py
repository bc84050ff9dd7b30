"""`pyeval embed`: documents of one's own to vectors, refusing what a vintage cannot know."""

import csv
import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pyeval.progress import bar, say
from pyeval.systems import System
from warehouse.beside import file_beside
from warehouse.errors import UserError

NEEDED = ("id", "title", "abstract")
_ROWS = 8_192
_FIX = "Name its columns id, title, abstract and, if there is one, year"


@dataclass(frozen=True, kw_only=True)
class Lookahead:
    """Documents that a model may be too late for."""

    n_rows: int
    n_before: int  # dated before the model's last year: it may have read what came after them
    n_undated: int


def embed_table(
    batches: Iterator[pa.RecordBatch], system: System, out: Path, *, refuse_lookahead: bool = False
) -> int:
    """Writes (id, vector, model, cutoff) for every row; returns the number of rows.

    The rows are checked and laid beside the output first, so that a mistake in the last one
    costs no embedding and leaves nothing behind.

    Args:
        batches: rows with id, title, abstract and optionally year.
        system: what embeds them.
        out: the Parquet file to make.
        refuse_lookahead: raise when a document is older than the model's last year.

    Raises:
        UserError: no row, a missing column, an id twice, a missing text, or lookahead refused.
    """
    if system.embed is None:
        raise UserError(f"{system.name} ranks by words and has no vectors. Name an encoder")
    if not out.parent.is_dir():
        raise UserError(f"no folder {out.parent} to write to. Make it with: mkdir -p {out.parent}")
    with file_beside(out) as partial:
        spool = out.with_name(f"{out.name}.rows.{os.getpid()}.partial")
        try:
            found = _check(batches, spool, system.cutoff, needs_year=refuse_lookahead)
            _judge_lookahead(found, system, refuse=refuse_lookahead)
            _embed(spool, partial, system, found.n_rows)
        finally:
            spool.unlink(missing_ok=True)
    return found.n_rows


def read_rows(path: Path | None, stdin: BinaryIO) -> Iterator[pa.RecordBatch]:
    """Rows of a CSV, Parquet or JSONL file; of standard input when there is no path.

    Ids from CSV and JSONL are text ("007" stays "007"); Parquet keeps its type.

    Raises:
        UserError: no such file, or one that does not parse.
    """
    if path is None:
        data = stdin.read()
        kind = "parquet" if data[:4] == b"PAR1" else "jsonl" if data.lstrip()[:1] == b"{" else "csv"
        source, shown = io.BytesIO(data), "standard input"
    else:
        if not path.is_file():
            raise UserError(f"no file {path}. Give a .csv, .parquet or .jsonl file, or - for stdin")
        kind = {".ndjson": "jsonl", ".pq": "parquet"}.get(path.suffix.lower(), path.suffix[1:])
        source, shown = path, str(path)
    readers = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}
    if kind.lower() not in readers:
        raise UserError(f"{shown} is no .csv, .parquet or .jsonl file. Rename it or convert it")
    try:
        yield from readers[kind.lower()](source)
    except (pa.ArrowInvalid, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{shown} does not read as {kind}: {error}") from error


def _csv(source: Path | io.BytesIO) -> Iterator[pa.RecordBatch]:
    from pyarrow import csv as arrow_csv

    types = {name: pa.string() for name in NEEDED} | {"year": pa.int64()}
    yield from arrow_csv.open_csv(
        source,
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types=types),
    )


def _parquet(source: Path | io.BytesIO) -> Iterator[pa.RecordBatch]:
    file = pq.ParquetFile(source)
    known = [name for name in (*NEEDED, "year") if name in file.schema_arrow.names]
    yield from file.iter_batches(batch_size=_ROWS, columns=known)


def _jsonl(source: Path | io.BytesIO) -> Iterator[pa.RecordBatch]:
    lines = source.open("rb") if isinstance(source, Path) else source
    with lines:
        rows: list[dict] = []
        for number, line in enumerate(lines, start=1):
            if line.strip():
                rows.append(_json_row(line, number))
            if len(rows) == _ROWS:
                yield _from_rows(rows)
                rows = []
        if rows:
            yield _from_rows(rows)


def _json_row(line: bytes, number: int) -> dict:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise UserError(f"line {number} is no JSON object: {error}") from error
    if not isinstance(row, dict) or not set(NEEDED) <= set(row):
        raise UserError(f"line {number} lacks {_missing(row if isinstance(row, dict) else ())}")
    year = row.get("year")
    if not all(isinstance(row[name], str | None) for name in ("title", "abstract")) or not (
        isinstance(year, int | None) and isinstance(row["id"], int | str)
    ):
        raise UserError(f"line {number}: id, title and abstract are texts, and year is a number")
    return {**{name: row[name] for name in NEEDED}, "id": str(row["id"]), "year": year}


def _from_rows(rows: list[dict]) -> pa.RecordBatch:
    texts = [(name, pa.string()) for name in NEEDED]
    batch = pa.RecordBatch.from_pylist(rows, pa.schema([*texts, ("year", pa.int64())]))
    dated = batch.column("year").null_count < batch.num_rows
    return batch if dated else batch.select(list(NEEDED))


def _check(
    batches: Iterator[pa.RecordBatch], spool: Path, cutoff: int | None, *, needs_year: bool
) -> Lookahead:
    """Lays checked rows down as Parquet and counts those the model may look ahead of."""
    ids: set[object] = set()
    n_rows = n_before = n_undated = 0
    writer: pq.ParquetWriter | None = None
    try:
        for batch in batches:
            needed = (*NEEDED, "year") if needs_year else NEEDED
            if set(needed) - set(batch.schema.names):
                raise UserError(f"the input lacks {_missing(batch.schema.names, needed)}. {_FIX}")
            own = batch.column("id").to_pylist()
            _check_rows(own, batch, ids, n_rows)
            n_rows += batch.num_rows
            if "year" in batch.schema.names:
                years = batch.column("year")
                n_undated += years.null_count
                if cutoff is not None:
                    n_before += pc.sum(pc.less(years, cutoff)).as_py() or 0
            kept = pa.table({name: _plain(batch.column(name)) for name in NEEDED})
            writer = writer or pq.ParquetWriter(spool, kept.schema)
            writer.write_table(kept)
    finally:
        if writer is not None:
            writer.close()
    if not n_rows:
        raise UserError(f"the input has no rows. {_FIX}")
    return Lookahead(n_rows=n_rows, n_before=n_before, n_undated=n_undated)


def _check_rows(own: list, batch: pa.RecordBatch, ids: set, before: int) -> None:
    """Raises on a missing id or text and on an id seen before."""
    for name in NEEDED:
        column = batch.column(name)
        if name != "id" and not (
            pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        ):
            raise UserError(f"{name} is {column.type}, not text. {_FIX}")
        blank = column.is_null().to_pylist()
        if name != "id":
            blank = [one is None or not one.strip() for one in column.to_pylist()]
        if any(blank):
            row = blank.index(True)
            raise UserError(
                f"{sum(blank):,} rows have no {name} (row {before + row + 1}, id {own[row]!r}). "
                "Fill them in or leave these rows out"
            )
    for row, one in enumerate(own):
        if one in ids:
            raise UserError(f"id {one!r} stands twice (row {before + row + 1}). Make ids unique")
        ids.add(one)


def _judge_lookahead(found: Lookahead, system: System, *, refuse: bool) -> None:
    """Says what the model may know that a document's time did not, or refuses."""
    told = []
    if system.cutoff is None and (refuse or not system.states_cutoff):
        told.append(f"{system.name} states no cutoff: it may know what came after any document")
    if found.n_before:
        told.append(
            f"{found.n_before:,} of {found.n_rows:,} documents are dated before {system.cutoff}, "
            f"the last year {system.name} knows: their vectors look ahead"
        )
    if refuse and found.n_undated:
        told.append(f"{found.n_undated:,} of {found.n_rows:,} documents have no year")
    if told and refuse:
        raise UserError(f"refused: {'; '.join(told)}. Use an earlier vintage, or leave them out")
    for line in told:
        say(line)


def _embed(spool: Path, partial: Path, system: System, n_rows: int) -> None:
    writer: pq.ParquetWriter | None = None
    about = {"model_fingerprint": system.fingerprint, "text_settings": system.text_settings}
    try:
        with bar(f"Embedding with {system.name}", n_rows) as advance:
            for batch in pq.ParquetFile(spool).iter_batches(batch_size=_ROWS):
                texts = [batch.column(name).to_pylist() for name in ("title", "abstract")]
                vectors = system.embed(*texts)
                flat = pa.array(vectors.ravel(), pa.float32())
                n = batch.num_rows
                table = pa.table(
                    {
                        "id": batch.column("id"),
                        "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
                        "model": pa.array([system.name] * n, pa.string()),
                        "cutoff": pa.array([system.cutoff] * n, pa.int32()),
                    }
                ).replace_schema_metadata(about)
                writer = writer or pq.ParquetWriter(partial, table.schema)
                writer.write_table(table)
                advance(n)
    finally:
        if writer is not None:
            writer.close()


def _plain(column: pa.Array) -> pa.Array:
    """One type for all batches of a column."""
    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def _missing(found, needed=NEEDED) -> str:
    """The columns that are not there, with those that are."""
    lacking = ", ".join(name for name in needed if name not in found)
    return f"{lacking} (it has {', '.join(found) or 'none'})"
