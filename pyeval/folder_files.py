"""The files of a benchmark's folder: which tasks it holds, and their tables in any format."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from pyeval.tasks import TASKS, Task
from warehouse.errors import UserError

META = "meta.json"
FAMILIES = {"classify": "clf", "regress": "rgn", "retrieve": "prx"}  # as the published files say
DOCUMENT_COLUMNS = ("doc_id", "corpus_id", "corpus-id", "patent_id", "paper_id", "id")  # in turn
ENDS = (".parquet", ".jsonl", ".json", ".csv")
_UNREADABLE = (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError)
_YES = ("1", "1.0", "true")


def tasks_in(root: Path) -> Iterator[tuple[str, dict]]:
    """The tasks of a folder by our name; folders that are no task of ours are passed over."""
    for path in sorted(root.glob(f"*/{META}")):
        try:
            meta = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise _damaged(path, error) from error
        if not isinstance(meta, dict):
            raise UserError(f"{path} is no JSON object. Download it again")
        name = str(meta.get("slug", path.parent.name)).replace("-", "_").lower()
        if name in TASKS:
            yield name, {**meta, "folder": path.parent.name}


def files_of(folders: Sequence[Path], stem: str) -> list[Path]:
    """The files of a table: whole, in parts, or in a folder of its name."""
    for folder in folders:
        for end in ENDS:
            if (folder / f"{stem}{end}").is_file():
                return [folder / f"{stem}{end}"]
            found = sorted(folder.glob(f"{stem}-*{end}")) or sorted((folder / stem).glob(f"*{end}"))
            if found:
                return found
    return []


def open_files(files: Sequence[Path]) -> ds.Dataset:
    """One table of files of one format; UserError where they cannot be read."""
    kind = {".parquet": "parquet", ".csv": "csv"}.get(files[0].suffix, "json")
    try:
        return ds.dataset([str(path) for path in files], format=kind)
    except _UNREADABLE as error:
        raise _damaged(files[0], error) from error


def read_files(data: ds.Dataset) -> pa.Table:
    """The whole table; UserError where a file of it is damaged."""
    with _readable(data):
        return data.to_table()


def read_batches(
    data: ds.Dataset, columns: Sequence[str], where: ds.Expression | None
) -> Iterator[pa.RecordBatch]:
    """Some columns of the rows that meet a condition; UserError where a file is damaged."""
    with _readable(data):
        yield from data.to_batches(columns=list(columns), filter=where)


@contextmanager
def _readable(data: ds.Dataset) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise _damaged(Path(data.files[0]), error) from error


def _damaged(path: Path, error: Exception) -> UserError:
    said = (str(error).splitlines() or [type(error).__name__])[0]
    return UserError(f"cannot read {path}: {said}. Download it again")


def numbers(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column of float64; UserError where it holds anything else."""
    try:
        return column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UserError(f"{name} holds what is no number: {error}") from error


def whole_numbers(table: pa.Table, name: str, otherwise: int | None = None) -> pa.Array:
    """A column of whole numbers without nulls; `otherwise` where there is no such column."""
    if name not in table.column_names:
        return pa.array(np.full(len(table), otherwise, np.int64))
    try:
        return table.column(name).cast(pa.int64()).combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UserError(f"{name} holds what is no whole number: {error}") from error


def as_classes(task: Task, said: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array | None:
    """Labels of two classes by our names: as they are, or of ones and zeros; None for others."""
    names = {one for one in pc.unique(said).to_pylist() if one is not None}
    if task.positive in names:
        return said
    if not {str(one).lower() for one in names} <= {*_YES, "0", "0.0", "false"}:
        return None
    other = task.beside or f"not {task.positive}"
    yes = (None if one is None else str(one).lower() in _YES for one in said.to_pylist())
    return pa.array([one if one is None else (task.positive if one else other) for one in yes])
