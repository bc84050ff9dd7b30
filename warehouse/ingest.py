"""Before the first query: make the sample if it is wanted, unpack zips, find the raw files."""

import gzip
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from warehouse.beside import file_beside, remove_left
from warehouse.errors import UserError
from warehouse.integrity import check_whole
from warehouse.sources import RawTable, check_data_root, data_root, lake_folder, raw_tables
from warehouse.states import read_state, write_state

DELIMITERS = {"tsv": "\t", "csv": ","}
STATE = "unpacked.json"  # beside the unpacked members: what came from which zip


@dataclass(frozen=True, kw_only=True)
class RawFiles:
    """The raw folder and the files of every raw table, by `source.table`; absolute paths.

    `headers` holds the column names of every TSV and CSV file, `delimiters` what parts its fields:
    SQL that reads in parallel has no first line.
    """

    root: Path
    files: dict[str, list[str]]
    headers: dict[str, list[str]]
    delimiters: dict[str, str]

    def missing(self) -> dict[str, str]:
        """What to say about each required table that has no file."""
        return {
            table.key: (
                f"{table.key}: no file matches {' or '.join(table.paths)}\n"
                f"    get it from: {table.get_it_from}"
            )
            for table in raw_tables()
            if table.required and not self.files[table.key]
        }


def prepare() -> RawFiles:
    """Make ready what a build reads: the lake folder, the sample if wanted, unpacked zips.

    Raises:
        UserError: when `DATA_ROOT` is no folder, a file is damaged, or something that is no file
            stands where one should.
    """
    check_data_root()
    lake, root = lake_folder().resolve(), data_root().resolve()
    (lake / "tmp").mkdir(parents=True, exist_ok=True)
    if not root.is_dir():
        from warehouse.sample import generate

        generate(root)
    _check_places(root)
    if root.is_relative_to(lake / "raw"):
        raise UserError(
            f"DATA_ROOT={root} lies where this lake unpacks zips. Build another lake: "
            "SCITLAKE_WAREHOUSE=<folder> lake build"
        )
    unpack(root, lake / "raw")
    members = read_state(lake / "raw" / STATE)
    found = {table.key: table.files(root, lake / "raw", members) for table in raw_tables()}
    delimiters = {
        path: _delimiter(path, table)
        for table in raw_tables()
        if table.file_format in DELIMITERS
        for path in found[table.key]
    }
    check_whole((path for paths in found.values() for path in paths), lake / "raw")
    return RawFiles(
        root=root,
        files={key: [str(path) for path in paths] for key, paths in found.items()},
        headers={str(path): _header(path, mark) for path, mark in delimiters.items()},
        delimiters={str(path): mark for path, mark in delimiters.items()},
    )


def _delimiter(path: Path, table: RawTable) -> str:
    """By the file's own suffix, for releases of one table come in both formats."""
    return DELIMITERS.get(path.suffix.lower()[1:], DELIMITERS[table.file_format])


def _check_places(root: Path) -> None:
    """Raise for folders and dead links that bear the name of a raw file: they would be passed over.

    Raises:
        UserError: one message for all of them.
    """
    lines = set()
    for pattern in {path for table in raw_tables() for path in table.paths}:
        place = PurePosixPath(pattern)
        for folder in root.glob(place.parent.as_posix()):
            for path in folder.iterdir() if folder.is_dir() else ():
                named = fnmatch(path.name, place.name) or fnmatch(path.name, f"{place.name}.zip")
                if named and not path.is_file():
                    what = "a folder" if path.is_dir() else "a pipe, a socket or a device"
                    what = what if path.exists() else "a link to nothing"
                    lines.add(f"{path} is {what}; a file should stand there.")
    if lines:
        raise UserError(
            "\n".join([*sorted(lines), "Put the publisher's file there, or rename it."])
        )


def _header(path: Path, delimiter: str) -> list[str]:
    """The column names of a file's first line, in lower case."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", errors="replace") as lines:
        # A table written with its index has a first column without a name.
        names = lines.readline(1 << 16).strip("\r\n").split(delimiter)
    return [name.strip().strip('"').strip().lower() for name in names]


def unpack(root: Path, raw: Path) -> list[Path]:
    """Unpack the zip members that a raw table reads, each once per size and checksum.

    Members land in `raw/<folder of the zip below root>/<name of the member>`, whatever folder they
    are in inside the zip. A member whose plain file lies beside its zip is left packed, so that
    nothing is read twice. Files in `raw` whose zip is gone or has changed are removed.

    Args:
        root: folder of raw files.
        raw: folder for the members, the build's own.

    Returns:
        The members that were written now.

    Raises:
        UserError: for a zip that is broken, has a member outside its folder, or is named after
            a table that is not in it. The zips are all looked at first, so that nothing is
            written then.
    """
    plan = {
        member: source for zip_file in _zips(root) for member, source in _members(zip_file, root)
    }
    remove_left(raw.rglob("*.partial"))
    done = read_state(raw / STATE)
    for member in sorted(set(done) - set(plan)):
        (raw / member).unlink(missing_ok=True)
    kept = {m: s for m, s in done.items() if plan.get(m) == s and _is_whole(raw / m, s)}
    written = []
    for member, source in plan.items():
        if member not in kept:
            _extract(root / source["zip"], source["member"], raw / member)
            kept[member] = source
            write_state(raw / STATE, kept)
            written.append(raw / member)
    if kept != done:
        write_state(raw / STATE, kept)
    return written


def _is_whole(path: Path, source: Mapping[str, Any]) -> bool:
    return path.is_file() and path.stat().st_size == source["n_bytes"]


def packed(root: Path) -> list[str]:
    """The zip members that `unpack` would read, as paths below the raw folder.

    Raises:
        UserError: for a zip that is broken or has a member outside its folder.
    """
    return [member for path in _zips(root) for member, _ in _members(path, root)]


def _zips(root: Path) -> list[Path]:
    """Every zip in a folder that some raw table reads from."""
    folders = {str(PurePosixPath(path).parent) for table in raw_tables() for path in table.paths}
    return sorted({path for folder in folders for path in root.glob(f"{folder}/*.zip")})


def _members(path: Path, root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The members of one zip that a raw table reads: place below raw, and what it came from."""
    folder = path.parent.relative_to(root)
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise _broken(path, error) from error
    directory = "\n".join(f"{i.filename} {i.CRC} {i.file_size}" for i in infos)
    stamp = {"size": path.stat().st_size, "crc32": zlib.crc32(directory.encode())}
    found: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        name = _name_inside(path, info.filename)
        if name.startswith("._"):
            continue  # a shadow file that a Mac adds
        if name in found and _is_read(folder / name):
            raise UserError(
                f"{path} holds {name} twice, as {found[name].filename!r} and {info.filename!r}. "
                "Keep one."
            )
        found[name] = info
    if _is_read(folder / path.stem) and not any(_is_read(folder / name) for name in found):
        held = ", ".join(map(repr, found)) or "nothing"
        raise UserError(
            f"{path} holds {held}, and no {path.stem}. Download the file again from its "
            "publisher, or remove it."
        )
    source = path.relative_to(root).as_posix()
    for name, info in found.items():
        if _is_read(folder / name) and not (path.parent / name).is_file():
            member = {"zip": source, "member": info.filename, "n_bytes": info.file_size}
            yield (folder / name).as_posix(), {**member, **stamp}


def _name_inside(path: Path, filename: str) -> str:
    """The name of a member without the folders inside the zip."""
    inside = PurePosixPath(filename.replace("\\", "/"))
    if inside.is_absolute() or ".." in inside.parts or ":" in inside.parts[0]:
        raise UserError(
            f"{path} has a member that would land outside its folder: {filename!r}. "
            "Nothing was written. Download the file again from its publisher, or remove it."
        )
    return inside.name


def _is_read(member: PurePath) -> bool:
    """Whether a raw table reads a file of this place below the raw folder."""
    return any(fnmatch(member.as_posix(), path) for t in raw_tables() for path in t.paths)


def _extract(path: Path, member: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            file_beside(target) as partial,
            zipfile.ZipFile(path) as archive,
            archive.open(member) as packed,
            partial.open("wb") as plain,
        ):
            shutil.copyfileobj(packed, plain, 1 << 20)
    # RuntimeError: a password; NotImplementedError: a compression that Python lacks.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise _broken(path, error) from error
    except OSError as error:
        raise UserError(
            f"cannot unpack {member} of {path} to {target}: {error.strerror}. Make room, or pick "
            "another lake folder with SCITLAKE_WAREHOUSE."
        ) from error


def _broken(path: Path, error: Exception) -> UserError:
    return UserError(
        f"{path} cannot be unpacked: {error}. The download may have been cut short; fetch it again."
    )
