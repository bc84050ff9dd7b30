"""A raw file to break: its records, its declared columns, and how to write it again."""

import csv
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from raw_cut import Header, container

from warehouse.sources import RawTable, project_dir

_MARK = "\ufeff"
NUMBERS = ("integer", "bigint", "double")
# What may come of a fault. same: the table is as before; changed: the touched record is read as it
# is written now; quarantined: records are missing and all of them listed; message: the build ends.
SAME, CHANGED, QUARANTINED, MESSAGE = "same", "changed", "quarantined", "message"


@dataclass(frozen=True, kw_only=True)
class Broken:
    """One fault, injected: what is written instead of the file, and what may come of it."""

    expect: tuple[str, ...]
    write: Callable[[Path], None]  # puts the broken thing where the file was
    touched: Sequence[int] = ()  # records that the fault lies in
    removed: int = 0  # records that are no longer in the file
    added: int = 0  # records that were not in the file before
    value: str | None = None  # what the touched record holds now, if it is read


@dataclass(frozen=True)
class RawFile:
    """A raw file of a declared table, read."""

    table: RawTable
    path: Path
    rng: random.Random = field(compare=False)

    @cached_property
    def _read(self) -> tuple[Any, list]:
        return container(self.path)[0](self.path)

    @property
    def header(self) -> Any:
        """The header as it is written; the schema of Parquet; None of JSON lines.

        Without the byte order mark that a publisher puts before it: a fault may add its own.
        """
        head = self._read[0]
        return head.text.removeprefix(_MARK) if isinstance(head, Header) else head

    @cached_property
    def records(self) -> list:
        """The records as they are written; dictionaries for Parquet."""
        return [raw for raw, _ in self._read[1]]

    @cached_property
    def rows(self) -> list[dict]:
        """The records by column; {} for one that does not parse."""
        return [
            {self._declared(name): value for name, value in row.items()} for _, row in self._read[1]
        ]

    def _declared(self, name: str) -> str:
        """The name that a column is declared by: releases differ in case, and the lake does not."""
        name = name.removeprefix(_MARK)
        return name.lower() if name.lower() in self.columns else name

    @cached_property
    def columns(self) -> dict[str, dict]:
        """The declared columns: type, whether it is the key, whether it is optional."""
        for path in (project_dir() / "models_sql/sources").glob("*.yml"):
            for source in yaml.safe_load(path.read_text())["sources"]:
                for table in source["tables"]:
                    if f"{source['name']}.{table['name']}" == self.table.key:
                        return {
                            column["name"]: {
                                "type": column["data_type"],
                                **column.get("config", {}).get("meta", {}),
                            }
                            for column in table["columns"]
                        }
        raise LookupError(self.table.key)

    def first(self, *types: str, key: bool = False) -> str | None:
        """The first declared column of these types that stands at the top level of a row."""
        for name, column in self.columns.items():
            if column["type"] in types and bool(column.get("key")) == key and "json" not in column:
                return name
        return None

    @property
    def delimiter(self) -> str:
        """What parts the fields."""
        return {"tsv": "\t", "csv": ","}[self.table.file_format]

    @cached_property
    def names(self) -> list[str]:
        """The columns of the header, in its order."""
        written = next(csv.reader([self.header], delimiter=self.delimiter))
        return [self._declared(name) for name in written]

    @cached_property
    def place(self) -> int:
        """A record to break: it parses, is not alone, and stands in the middle of the file."""
        whole = [
            place
            for place, row in enumerate(self.rows)
            if row and (self.header is None or len(row) == len(self._width))
        ]
        third = len(whole) // 3
        return self.rng.choice(whole[third : 2 * third + 1] or whole)

    @cached_property
    def _width(self) -> Sequence[str]:
        return self.names if isinstance(self.header, str) else self.rows[0].keys()

    def line(self, place: int, **changed: str) -> str:
        """A record written again, as its publisher writes it, with other values."""
        out = io.StringIO()
        quoting = csv.QUOTE_ALL if self.delimiter == "\t" else csv.QUOTE_MINIMAL
        csv.writer(out, delimiter=self.delimiter, quoting=quoting, lineterminator="\n").writerow(
            [changed.get(name, self.rows[place][name]) for name in self.names]
        )
        return out.getvalue()[:-1]

    def text(self, records: Sequence[str] | None = None, header: str | None = None) -> str:
        """The file's text with other records or another header."""
        lines = list(self.records if records is None else records)
        if self.header is not None:
            lines.insert(0, self.header if header is None else header)
        return "".join(f"{line}\n" for line in lines)

    def with_record(self, *records: str) -> str:
        """The file's text with the chosen record replaced by these."""
        place = self.place
        return self.text([*self.records[:place], *records, *self.records[place + 1 :]])

    def packed(self, text: str | bytes) -> Callable[[Path], None]:
        """Writes a text in the container that the file comes in."""
        data = text if isinstance(text, bytes) else text.encode()

        def write(path: Path) -> None:
            if path.suffix == ".gz":
                path.write_bytes(gzip.compress(data, mtime=0))
            elif path.suffix == ".zip":
                with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                    archive.writestr(path.stem, data)
            else:
                path.write_bytes(data)

        return write

    def object(self, **changed: Any) -> dict:
        """The chosen record of JSON lines with other values."""
        return {**self.rows[self.place], **changed}

    def marks(self, places: Sequence[int]) -> set[str]:
        """What the staged rows of these records can be known by: the values of their keys."""
        keys = [name for name, column in self.columns.items() if column.get("key")]
        keys = keys or [name for name in self.columns if name.endswith("_id")]
        found = (self.rows[place].get(name) for place in places for name in keys)
        return {str(value).rpartition("/")[2].removeprefix("W") for value in found if value}


def as_json(value: object) -> str:
    """One line of JSON."""
    return json.dumps(value, ensure_ascii=False)
