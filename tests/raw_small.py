"""Copies a raw folder with a few records of a few files of each table."""

import re
from collections import defaultdict
from pathlib import Path

from raw_cut import container

from warehouse.sample import generate

MANY = re.compile(r"_\d{4}\.|CC-MAIN-[^/]*|updated_date=[^/]*")  # what tells files of a table apart


def copy_small(source: Path | None, target: Path, files: int, records: int) -> None:
    """Copy the first records of the smallest files of each table.

    Args:
        source: a raw folder; a small generated sample when it is none.
        target: the folder to make.
        files: how many stay of files that differ in a year or a dump alone.
        records: how many stay of each file.
    """
    if source is None:
        source = target.with_name("sample")
        generate(source, scale=0.05)
    groups: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(p for p in source.rglob("*") if p.is_file() and p.parent != source):
        name = path.relative_to(source).as_posix()
        if path.suffix in (".gz", ".zip", ".csv", ".parquet"):
            groups[re.sub(MANY, "", name)].append(path)
    for paths in groups.values():
        for path in sorted(paths, key=lambda p: (p.stat().st_size, p))[:files]:
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            read, write = container(path)
            header, rows = read(path)
            write(copy, header, [raw for raw, _ in rows[:records]])
