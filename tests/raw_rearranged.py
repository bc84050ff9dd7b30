"""Copies a raw folder with the same records in another order, or spread over other files."""

import gzip
import random
import re
import zipfile
from pathlib import Path

from raw_cut import container

YEARLY = re.compile(r"_\d{4}\.tsv\.zip$")  # tables that come in a file per year


def rearrange(source: Path, target: Path, *, shuffle: bool, split: bool, seed: int = 0) -> None:
    """Write every record of a raw folder again.

    Args:
        source: a raw folder in the sample's layout.
        target: the folder to make.
        shuffle: draw the order of the records of each file anew.
        split: cut what may come in several files: JSON lines into two files, of which the first
            has two gzip members; gzipped CSV into two files; yearly tables into two members of
            their zip; Parquet into two files of many small row groups.
        seed: of the draw.
    """
    rng = random.Random(seed)
    for path in sorted(p for p in source.rglob("*") if p.is_file() and p.name != "sample.json"):
        read, write = container(path)
        header, records = read(path)
        rows = [raw for raw, _ in records]
        if shuffle:
            rng.shuffle(rows)
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        write(copy, header, rows)
        if split:
            _split(copy, header, rows)


def _split(path: Path, header: object, rows: list) -> None:
    """Cut a file that was just written."""
    _, write = container(path)
    near, far = len(rows) // 3, 2 * len(rows) // 3
    stem, dot, suffixes = path.name.partition(".")
    other = path.with_name(f"{stem}_b{dot}{suffixes}")
    if path.name.endswith(".csv.gz"):
        write(path, header, rows[:near])
        write(other, header, rows[near:])
    elif path.suffix == ".gz":
        parts = ("\n".join(rows[a:b]) + "\n" for a, b in ((0, near), (near, far)))
        path.write_bytes(b"".join(gzip.compress(part.encode(), mtime=0) for part in parts))
        write(other, header, rows[far:])
    elif YEARLY.search(path.name):
        name = path.name.removesuffix(".tsv.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, part in ((f"{name}.tsv", rows[:near]), (f"{name}_b.tsv", rows[near:])):
                archive.writestr(member, "".join(f"{row}\n" for row in [header.text, *part]))
    elif path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        for name, part in ((path.name, rows[:near]), (f"b_{path.name}", rows[near:])):
            table = pa.Table.from_pylist(part, header)
            pq.write_table(table, path.with_name(name), row_group_size=3)
