"""What can be wrong with the lines, the header or the encoding of a text file."""

import csv
import random
from collections.abc import Iterator

from fault_files import CHANGED, MESSAGE, QUARANTINED, SAME, Broken, RawFile, as_json

REFUSED = (QUARANTINED, MESSAGE)  # either is right: nothing is lost, and it is said


def text_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    """(kind, fault) for faults of lines and encoding, of JSON lines and tables alike."""
    text, every = file.text(), range(len(file.records))
    line, place = file.records[file.place], file.place
    whole = {
        "CRLF": (text.replace("\n", "\r\n"), (SAME, CHANGED)),  # a break in quotes is CRLF too
        "no newline at the end": (text[:-1], (SAME,)),
        "blank lines at the end": (text + "\n\n\n", (SAME, *REFUSED)),
        "a byte order mark": ("\ufeff" + text, (SAME,)),
        "the records backwards": (file.text(file.records[::-1]), (SAME,)),
    }
    for kind, (changed, expect) in whole.items():
        yield kind, Broken(expect=expect, write=file.packed(changed), touched=every)
    one = {
        "a blank line": ([line, ""], (SAME, QUARANTINED), 0),
        "one line ends in CRLF": ([line + "\r"], (SAME, CHANGED, *REFUSED), 0),
        "a record twice": ([line, line], (SAME, CHANGED), 1),
        "a line of prose": ([line, "-- 1,024 rows selected --"], (QUARANTINED,), 1),
        "a merge conflict's mark": ([line, "<<<<<<< HEAD"], (QUARANTINED,), 1),
        "a byte order mark inside": (["\ufeff" + line], (SAME, CHANGED, QUARANTINED), 0),
        "a NUL byte before a line": (["\0" + line], (SAME, CHANGED, QUARANTINED), 0),
        "a line cut short": ([line[: 2 * len(line) // 3]], (QUARANTINED,), 0),
    }
    for kind, (lines, expect, added) in one.items():
        # Cut inside quotes, it takes the next line along.
        end = min(place + 2, len(file.records)) if kind == "a line cut short" else place + 1
        touched = range(place, end)
        yield kind, Broken(expect=expect, write=file.packed(file.with_record(*lines)),
                           touched=touched, added=added)  # fmt: skip
    latin = file.with_record("\0\0").encode().split(b"\0\0")
    odd = (line[:-2] + "é" + line[-2:]).encode("latin-1", "replace")
    yield (
        "a byte that is no UTF-8",
        Broken(
            # SAME where it lies in a column that is not read.
            expect=(QUARANTINED, SAME),
            write=file.packed(latin[0] + odd + latin[1]),
            touched=[place],
        ),
    )
    for encoding in ("utf-16", "utf-32", "cp037"):
        yield (
            f"{encoding} for UTF-8",
            Broken(
                expect=REFUSED, touched=every, write=file.packed(text.encode(encoding, "replace"))
            ),
        )
    middle = text.index(line) + len(line) // 2
    yield "cut in the middle of a record", Broken(
        expect=REFUSED, touched=[place], write=file.packed(text[:middle]),
        removed=len(file.records) - place - 1,
    )  # fmt: skip
    for kind, content in {
        "an empty file": "",
        "an HTML page": "<!DOCTYPE html>\n<html><body>403 Forbidden</body></html>\n",
        "an XML error": '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
        "a pointer of Git LFS": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n",
        "noise": random.Random(7).randbytes(3000),
    }.items():
        # A shard of JSON lines may be empty; a table without its header may not.
        expect = (SAME, MESSAGE) if not content and file.header is None else REFUSED
        yield kind, Broken(expect=expect, write=file.packed(content), removed=len(file.records))


def table_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    """(kind, fault) for faults of TSV and CSV files."""
    place, tab, names = file.place, file.delimiter, file.names
    row, line = file.rows[place], file.line(place)
    cells = line.split(tab)
    one = {
        "a row too short": [tab.join(cells[: len(cells) // 2])],
        "a row too long": [line + tab + "more"],
        "one field, no delimiter": ["lost"],
        "a quote never closed": [line[:-1] if line.endswith('"') else f'"{line}'],
        "a loose quote inside": [_inside(line, tab, '" and "')],
        "a text after the closing quote": [f'"{cells[0].strip(chr(34))}" x{tab}'
                                          + tab.join(cells[1:])],
        "the header again": [line, file.header],
        "other delimiter in a row": [line.replace(tab, ";")],
    }  # fmt: skip
    added = {"the header again": 1}
    following = file.records[place + 1 : place + 2]  # none, where the file has one record
    for kind, lines in one.items():
        # An open quote ends at the next one, in the next line where all fields are in quotes; the
        # reader takes what lies between for one record. Each line must be listed.
        end = place + 2 if following and '"' in following[0] else len(file.records)
        taken = range(place + 1, end) if kind == "a quote never closed" else []
        expect = (QUARANTINED, CHANGED) if "loose" in kind else (QUARANTINED,)
        yield kind, Broken(expect=expect, write=file.packed(file.with_record(*lines)),
                           touched=[place, *taken], added=added.get(kind, 0))  # fmt: skip
    unquoted = tab.join(str(row[n]).replace("\n", " ").replace(tab, " ").replace('"', "'")
                        for n in names)  # fmt: skip
    yield (
        "a row without quotes",
        Broken(
            expect=(SAME, CHANGED), touched=[place], write=file.packed(file.with_record(unquoted))
        ),
    )
    last = file.line(len(file.rows) - 1) if len(file.rows[-1]) == len(names) else line
    yield "a quote never closed in the last row", Broken(
        expect=(QUARANTINED,), touched=[len(file.rows) - 1],
        write=file.packed(file.text([*file.records[:-1], '"' + last.replace('"', "")])),
    )  # fmt: skip
    yield "the file twice, header too", Broken(
        expect=(CHANGED, QUARANTINED), touched=range(len(file.records)),
        added=len(file.records) + 1, write=file.packed(file.text() + file.text()),
    )  # fmt: skip
    yield from _header_faults(file)


def _inside(line: str, tab: str, what: str) -> str:
    """A line with something put into its longest field."""
    cells = line.split(tab)
    longest = max(range(len(cells)), key=lambda n: len(cells[n]))
    middle = len(cells[longest]) // 2
    cells[longest] = cells[longest][:middle] + what + cells[longest][middle:]
    return tab.join(cells)


def _header_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    names, tab = file.names, file.delimiter
    every = range(len(file.records))
    required = [n for n, c in file.columns.items() if not c.get("optional")]
    key = next((n for n, c in file.columns.items() if c.get("key")), required[0])
    other = next(n for n in reversed(names) if n in required and n != key)
    swapped = {key: other, other: key}
    headers = {
        "header in capitals": (file.header.upper(), (SAME,)),
        "header without quotes": (tab.join(names), (SAME,)),
        "header with blanks": (tab.join(f" {name} " for name in names), (SAME,)),
        "two names swapped": (tab.join(swapped.get(n, n) for n in names), REFUSED),
        "a column renamed": (tab.join("id" if n == key else n for n in names), (MESSAGE,)),
        "a name twice": (tab.join(key if n == other else n for n in names), (MESSAGE,)),
        "a name short": (
            tab.join(names[:-1]),
            REFUSED if names[-1] in required else (SAME, *REFUSED),
        ),
        "a name more": (tab.join([*names, "new"]), REFUSED),
        "a comment before the header": ("# exported on Monday\n" + file.header, (MESSAGE,)),
        "a blank line before the header": ("\n" + file.header, (SAME, MESSAGE)),
        "names parted by another delimiter": (";".join(names), (MESSAGE,)),
    }
    for kind, (header, expect) in headers.items():
        yield kind, Broken(expect=expect, touched=every, write=file.packed(file.text(None, header)))
    yield (
        "no header",
        Broken(
            expect=(MESSAGE,), touched=every, write=file.packed(file.text()[len(file.header) + 1 :])
        ),
    )
    yield (
        "only a header",
        Broken(
            expect=(SAME, MESSAGE), write=file.packed(file.header + "\n"), removed=len(file.records)
        ),
    )
    for kind, order in (
        ("columns backwards", names[::-1]),
        ("a column more", ["new", *names, "newer"]),
        ("a required column away", [name for name in names if name != other]),
        ("an optional column away", [n for n in names if not file.columns.get(n, {}).get(
            "optional")]),
        ("an undeclared column away", [name for name in names if name in file.columns]),
    ):  # fmt: skip
        away = set(names) - set(order)
        if order == names:
            continue
        optional = all(n not in file.columns or file.columns[n].get("optional") for n in away)
        yield kind, Broken(
            expect=((SAME, CHANGED) if away else (SAME,)) if optional else (MESSAGE,),
            touched=every, write=file.packed(_columns(file, order)),
        )  # fmt: skip
    yield (
        "semicolons for the delimiter",
        Broken(expect=(MESSAGE,), touched=every, write=file.packed(file.text().replace(tab, ";"))),
    )


def _columns(file: RawFile, order: list[str]) -> str:
    """The file with other columns; a row that does not parse stays as it is."""
    import io

    out = io.StringIO()
    quoting = csv.QUOTE_ALL if file.delimiter == "\t" else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=file.delimiter, quoting=quoting, lineterminator="\n")
    writer.writerow(order)
    for raw, row in zip(file.records, file.rows, strict=True):
        if len(row) == len(file.names):
            writer.writerow([row.get(name, "?") for name in order])
        else:
            out.write(raw + "\n")
    return out.getvalue()


def more_json_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    """(kind, fault) for a file of JSON lines as a whole."""
    pretty = "".join(as_json(row) + ",\n" for row in file.rows if row)
    yield (
        "a comma after every object",
        Broken(expect=REFUSED, touched=range(len(file.records)), write=file.packed(pretty)),
    )
