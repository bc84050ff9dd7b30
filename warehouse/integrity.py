"""Whether downloads are whole: DuckDB reads a damaged gzip file without a word, and loses rows."""

import os
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from warehouse.errors import UserError
from warehouse.states import read_state, write_state

STATE = "whole.json"  # below the build's own raw folder: which files were found whole
BLOCK = 1 << 20
PACKED = (b"\x1f\x8b", b"PK\3\4")  # how gzip files and zips begin


def check_whole(paths: Iterable[Path], raw: Path) -> None:
    """Read every gzip file to its end against its checksums, and the footer of every Parquet file.

    A file is read again only when its size or its time has changed. Reading takes about as long
    as unpacking does, on every core.

    Args:
        paths: raw files; those of other kinds are passed over.
        raw: folder of the build's own, where it keeps what it has found.

    Raises:
        UserError: one message that names each file that is damaged.
    """
    known = read_state(raw / STATE)
    stamps = {str(path): _stamp(path) for path in paths if path.suffix in CHECKS}
    new = [Path(path) for path, stamp in stamps.items() if known.get(path) != stamp]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = dict(zip(new, pool.map(_fault, new), strict=True))
    whole = {path: stamp for path, stamp in stamps.items() if not faults.get(Path(path))}
    if whole != known:
        write_state(raw / STATE, whole)
    lines = [f"{path} is cut short or damaged: {why}." for path, why in faults.items() if why]
    if lines:
        advice = "Get it again from its publisher; lake sources says where."
        raise UserError("\n".join([*lines, advice]))


def _stamp(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]


def _fault(path: Path) -> str | None:
    return CHECKS[path.suffix](path)


def _gzip_fault(path: Path) -> str | None:
    """What is wrong with a gzip file of one or more members, or None."""
    with path.open("rb") as file:
        data = file.read(BLOCK)
        if not data:
            return "it is empty"
        first = True
        while data:
            member = zlib.decompressobj(wbits=31)
            while not member.eof:
                try:
                    made = member.decompress(data, BLOCK)
                except zlib.error as error:
                    return f"it is no whole gzip file: {error}"
                if first and made.startswith(PACKED):
                    return "it holds another packed file"
                if first and made.lstrip().startswith(b"["):
                    return "it is one JSON array, where each line should be an object"
                first = False
                data = member.unused_data if member.eof else member.unconsumed_tail
                if not data and len(made) < BLOCK:
                    data = file.read(BLOCK)
                    if not data and not member.eof:
                        return "it is cut short"
            data = data.lstrip(b"\0") or file.read(BLOCK)  # zeros may fill the end
    return None


def _parquet_fault(path: Path) -> str | None:
    """What is wrong with the footer of a Parquet file, or None."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        return f"it is no whole Parquet file: {str(error).splitlines()[0]}"
    return None


CHECKS = {".gz": _gzip_fault, ".parquet": _parquet_fault}
