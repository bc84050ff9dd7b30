"""Deterministic writers of the publishers' containers: the same rows give the same bytes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# The release day that PatentsView's members carry.
_RELEASED = (2026, 4, 10, 0, 0, 0)


class RawLine(str):
    """A line to be written as it is: how broken rows get into a file."""

    __slots__ = ()


def write_tsv_zip(
    folder: Path, name: str, header: Sequence[str], rows: Iterable[Sequence[Any] | RawLine]
) -> None:
    """`NAME.tsv.zip` with one member, in pandas' QUOTE_NONNUMERIC dialect.

    Strings and the header are quoted, integers bare, inner quotes doubled, a null is `""`.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        if isinstance(row, RawLine):
            text.write(row + "\n")
        else:
            writer.writerow(["" if value is None else value for value in row])
    write_text_zip(folder / f"{name}.tsv.zip", f"{name}.tsv", text.getvalue())


def write_text_zip(path: Path, name: str, text: str) -> None:
    """A zip with one member, whose name need not be the zip's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    member = zipfile.ZipInfo(name, date_time=_RELEASED)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    member.create_system = 3  # Unix, on any system
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, text.encode())


def write_text(path: Path, text: str) -> None:
    """A plain file, with the line ends that the text has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def write_jsonl_gz(path: Path, records: Iterable[dict[str, Any] | RawLine]) -> None:
    """JSON lines, gzipped, without the name and time that gzip keeps by default."""
    path.parent.mkdir(parents=True, exist_ok=True)
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=6) as packed,
    ):
        for record in records:
            line = record if isinstance(record, RawLine) else encode(record)
            packed.write(line.encode() + b"\n")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Plain CSV; a null is an empty field."""
    write_text(path, csv_text(header, rows))


def write_tsv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Plain TSV, quoted only where it must be; a null is an empty field."""
    write_text(path, csv_text(header, rows, delimiter="\t"))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]], *, delimiter: str = ",") -> str:
    """A table as text; a null is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def write_csv_gz(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """CSV, gzipped, without the name and time that gzip keeps by default."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    path.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=6, mtime=0))


def shards(records: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """Cut a list into `count` runs of nearly equal length."""
    size = -(-len(records) // count)
    return [records[start : start + size] for start in range(0, len(records), size or 1)]
