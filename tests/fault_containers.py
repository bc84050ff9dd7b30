"""What can be wrong with the file itself: its zip, its gzip, its Parquet, its place."""

import gzip
import io
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from fault_files import CHANGED, MESSAGE, QUARANTINED, SAME, Broken, RawFile


def _data(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Writes the file's own bytes, changed."""
    return lambda path: path.write_bytes(change(path.read_bytes()))  # type: ignore[return-value]


def _flipped(data: bytes) -> bytes:
    """A byte in the middle, where the compressed records lie, turned over."""
    half = len(data) // 2
    return data[:half] + bytes([data[half] ^ 0xFF]) + data[half + 1 :]


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "readme.txt").write_text("unpacked here")


def _nowhere(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("gone"))


def place_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    """(kind, fault) for any file: what stands in its place."""
    gone = {"removed": len(file.records)}
    yield "a folder in its place", Broken(expect=(MESSAGE,), write=_folder, **gone)
    yield "a link to nothing", Broken(expect=(MESSAGE,), write=_nowhere, **gone)
    yield "no byte", Broken(expect=(MESSAGE,), write=_data(lambda data: b""), **gone)
    if file.path.suffix != ".csv":
        for kind, change in {
            "cut in half": lambda data: data[: len(data) // 2],
            "the last 20 bytes away": lambda data: data[:-20],
            "zeros at the end": lambda data: data[:-64] + bytes(64),
            "the first bytes away": lambda data: data[10:],
        }.items():
            # A byte in the padding or a comment may be without effect; no record may be lost.
            yield kind, Broken(expect=(MESSAGE,), write=_data(change), **gone)
        yield "a byte turned over", Broken(
            expect=(SAME, MESSAGE) if file.path.suffix == ".parquet" else (MESSAGE,),
            write=_data(_flipped), touched=range(len(file.records)),
        )  # fmt: skip


def gzip_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    """(kind, fault) for gzip files."""
    text = file.text().encode()
    half = text.index(b"\n", len(text) // 2) + 1
    two = gzip.compress(text[:half]) + gzip.compress(text[half:])
    every = range(len(file.records))
    yield "two gzip members", Broken(expect=(SAME,), write=lambda p: _put(p, two))
    yield (
        "gzip of nothing",
        Broken(
            expect=(SAME, MESSAGE), removed=len(every), write=lambda p: _put(p, gzip.compress(b""))
        ),
    )
    yield (
        "plain text named .gz",
        Broken(expect=(SAME, MESSAGE), touched=every, write=lambda p: _put(p, text)),
    )
    yield "gzip in gzip", Broken(
        expect=(MESSAGE, QUARANTINED), touched=every,
        write=_data(gzip.compress),
    )  # fmt: skip
    yield (
        "a zip named .gz",
        Broken(
            expect=(MESSAGE,), touched=every, write=lambda p: _put(p, _zip({"papers.jsonl": text}))
        ),
    )
    yield (
        "bytes after the end",
        Broken(
            expect=(SAME, MESSAGE),
            touched=every,
            write=_data(lambda data: data + b"trailing words"),
        ),
    )
    yield (
        "a second member cut short",
        Broken(expect=(MESSAGE,), touched=every, write=lambda p: _put(p, two[:-30])),
    )


def zip_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    """(kind, fault) for zips of one table."""
    name, text = file.path.stem, file.text().encode()
    every = range(len(file.records))
    # Both are one file to people who unpack it; the records are all there.
    fine = {
        "a folder in the zip": {f"{name.removesuffix('.tsv')}/{name}": text},
        "a readme in the zip": {name: text, "readme.txt": b"about"},
        "a Mac's shadow file": {name: text, f"__MACOSX/._{name}": b"\0\5\26\7"},
        "a folder entry in the zip": {"data/": b"", name: text},
    }
    for kind, members in fine.items():
        yield kind, Broken(expect=(SAME,), write=lambda p, m=members: _put(p, _zip(m)))
    broken = {
        "a member of another name": {"data.tsv": text},
        "a member of another table": {"g_location.tsv": text},
        "a zip of nothing": {},
        "only a readme in the zip": {"readme.txt": b"about"},
        "a zip in the zip": {f"{name}.zip": _zip({name: text})},
        "a member outside": {f"../../{name}": text},
        "a member on another drive": {f"C:/{name}": text},
        "two members of one name": {f"old/{name}": text, name: text},
        "a member in capitals": {name.upper(): text},
    }
    for kind, members in broken.items():
        yield (
            kind,
            Broken(
                expect=(SAME, MESSAGE), touched=every, write=lambda p, m=members: _put(p, _zip(m))
            ),
        )
    for kind, method in (("stored", zipfile.ZIP_STORED), ("bzip2", zipfile.ZIP_BZIP2),
                         ("lzma", zipfile.ZIP_LZMA)):  # fmt: skip
        yield (
            f"a zip by {kind}",
            Broken(expect=(SAME,), write=lambda p, m=method: _put(p, _zip({name: text}, m))),
        )
    yield (
        "bytes before the zip",
        Broken(
            expect=(SAME, MESSAGE), touched=every, write=_data(lambda data: b"#!unzip\n" + data)
        ),
    )
    yield (
        "gzip named .zip",
        Broken(expect=(MESSAGE,), touched=every, write=lambda p: _put(p, gzip.compress(text))),
    )
    yield (
        "plain text named .zip",
        Broken(expect=(MESSAGE,), touched=every, write=lambda p: _put(p, text)),
    )
    yield (
        "a member with a password",
        Broken(
            expect=(MESSAGE,), touched=every, write=lambda p: _put(p, _locked(_zip({name: text})))
        ),
    )
    yield (
        "a checksum that is wrong",
        Broken(expect=(MESSAGE,), touched=every, write=lambda p: _put(p, _mismatched(name, text))),
    )

    def beside(path: Path) -> None:
        """The plain file beside the zip: it is read, and the zip is not."""
        path.with_name(name).write_bytes(text)

    yield "the plain file beside its zip", Broken(expect=(SAME,), write=beside)

    def unpacked_into_a_folder(path: Path) -> None:
        path.unlink()
        path.with_name(name).mkdir()
        (path.with_name(name) / name).write_bytes(text)

    yield (
        "unpacked into a folder of its name",
        Broken(expect=(MESSAGE,), touched=every, write=unpacked_into_a_folder),
    )


def parquet_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    """(kind, fault) for Parquet files."""
    table = pq.read_table(file.path)
    every = range(len(file.records))
    key = file.first("varchar", key=True)
    text = next(n for n, c in file.columns.items() if c["type"] == "varchar" and n != key)
    number = file.first("double") or text
    names = table.column_names

    def other(column: str, values: list, kind: pa.DataType | None = None) -> pa.Table:
        return table.set_column(names.index(column), column, pa.array(values, kind))

    place = file.place
    nulled = [None if n == place else row[key] for n, row in enumerate(file.rows)]
    words = ["high" if n == place else str(row[number]) for n, row in enumerate(file.rows)]
    for kind, made, expect, touched in (
        ("a key null", other(key, nulled, pa.string()), (QUARANTINED,), [place]),
        ("numbers as text", other(number, [str(r[number]) for r in file.rows]), (SAME,), []),
        ("a word among numbers as text", other(number, words), (QUARANTINED, CHANGED), [place]),
        ("large strings", table.cast(pa.schema(
            [(f.name, pa.large_string() if f.type == pa.string() else f.type)
             for f in table.schema])), (SAME,), []),
        ("a dictionary column", other(text, [r[text] for r in file.rows]).set_column(
            names.index(text), text, table[text].dictionary_encode()), (SAME,), []),
        ("bytes for text", other(text, [(r[text] or "").encode() for r in file.rows]),
         (SAME, QUARANTINED, MESSAGE), every),
        ("bytes that are no UTF-8", other(text, [b"\xff\xfe"] * len(every)),
         (QUARANTINED, MESSAGE), every),
        ("a list for a text", other(text, [[r[text]] for r in file.rows]),
         (QUARANTINED, MESSAGE), every),
        ("a required column away", table.drop_columns([text]), (MESSAGE,), every),
        ("a column renamed", table.rename_columns(
            ["page" if n == text else n for n in names]), (MESSAGE,), every),
        ("names in capitals", table.rename_columns([n.upper() for n in names]),
         (SAME, MESSAGE), every),
        ("a column more", table.append_column("new", pa.array(range(len(every)))), (SAME,), []),
        ("columns backwards", table.select(names[::-1]), (SAME,), []),
        ("no row", table.slice(0, 0), (SAME, MESSAGE), []),
        ("a record twice", pa.concat_tables([table, table.slice(place, 1)]), (CHANGED, SAME),
         [place]),
    ):  # fmt: skip
        yield kind, Broken(
            expect=expect, touched=touched,
            removed=len(every) if kind == "no row" else 0,
            added=1 if kind == "a record twice" else 0,
            write=lambda path, made=made: pq.write_table(made, path),
        )  # fmt: skip
    yield (
        "many small row groups",
        Broken(expect=(SAME,), write=lambda path: pq.write_table(table, path, row_group_size=2)),
    )
    yield (
        "noise",
        Broken(
            expect=(MESSAGE,),
            touched=every,
            write=lambda p: _put(p, random.Random(7).randbytes(5000)),
        ),
    )
    yield (
        "a table of text named .parquet",
        Broken(expect=(MESSAGE,), touched=every, write=lambda p: _put(p, b"id\ttext\n1\tone\n")),
    )


def _put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _zip(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def _locked(data: bytes) -> bytes:
    """A zip that says of its members that they need a password."""
    locked = bytearray(data)
    locked[6] |= 1
    directory = data.rindex(b"PK\1\2")
    locked[directory + 8] |= 1
    return bytes(locked)


def _mismatched(name: str, text: bytes) -> bytes:
    """A zip whose member is not what its checksum says."""
    stored = _zip({name: text}, zipfile.ZIP_STORED)
    start = stored.index(text[:50])
    middle = start + len(text) // 2
    return stored[:middle] + bytes([stored[middle] ^ 1]) + stored[middle + 1 :]


def clear(path: Path) -> None:
    """Remove whatever stands in the place of a file."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
