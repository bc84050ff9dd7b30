"""Wrong and odd values, put into one field of one record of any text format."""

import json
from collections.abc import Iterator

from fault_files import (
    CHANGED,
    MESSAGE,
    NUMBERS,
    QUARANTINED,
    SAME,
    Broken,
    RawFile,
    as_json,
)

QUARANTINE = (QUARANTINED,)
READ = (CHANGED, SAME)  # SAME where the staging model leaves the column out
EITHER = (CHANGED, SAME, QUARANTINED)
# Lines that DuckDB takes for JSON, though they are none or hold what text cannot.
LENIENT = ("NaN for a value", "a trailing comma", "a lone surrogate", "a NUL escape",
           "JSON 2,000 levels deep", "the key true")  # fmt: skip
# kind -> (value, what may come of it)
IN_NUMBERS = {
    "a word in a number": ("many", QUARANTINE),
    "thousands separators": ("1,234,567", QUARANTINE),
    "a number in another script": ("٣٤", QUARANTINE),
    "a number of 30 digits": ("9" * 30, QUARANTINE),
    "NULL spelt out": ("NULL", QUARANTINE),
    "\\N for null": ("\\N", QUARANTINE),
    "two numbers in one field": ("12 13", QUARANTINE),
    "a number with its unit": ("12 claims", QUARANTINE),
    "a decimal comma": ("3,5", QUARANTINE),
    "not a number": ("NaN", QUARANTINE),
    "a negative number": ("-5", READ),
    "a plus sign": ("+7", EITHER),
    "blanks around a number": (" 7 ", EITHER),
    "an exponent": ("1e3", EITHER),
    "a whole number with a point": ("20.0", EITHER),
}
IN_DATES = {
    "an impossible day": ("2010-02-30", QUARANTINE),
    "month 13": ("2010-13-01", QUARANTINE),
    "day 00": ("2010-01-00", QUARANTINE),
    "0000-00-00": ("0000-00-00", QUARANTINE),
    "a date in words": ("5 January 2010", QUARANTINE),
    "month and year only": ("2010-01", QUARANTINE),
    "day before month": ("13/01/2010", QUARANTINE),
    "a negative year": ("-500-01-01", (CHANGED, QUARANTINED, SAME)),
    "year 9999": ("9999-12-31", (CHANGED, QUARANTINED, SAME)),
    "a year of eleven digits": ("12345678901-01-01", QUARANTINE),
    "a date with a time": ("2010-01-05 12:30:00", EITHER),
    "no date": ("", READ),
}
IN_TEXTS = {
    "a tab in quotes": "one\ttwo",
    "a line break in quotes": "one\ntwo",
    "doubled quotes": 'a "quoted" word',
    "a backslash before a quote": 'ends in a backslash \\" and goes on',
    "a bell": "one\atwo",
    "an emoji": "one \U0001f9ea two",
    "a zero-width space": "one\u200btwo",
    "a line separator": "one\u2028two",
    "a form feed": "one\ftwo",
    "a byte order mark inside": "one\ufefftwo",
    "the reader's own delimiter": "one\x01\x02\x03\x04two",
    "SQL in a text": "'; drop schema staging cascade; --",
    "Jinja in a text": "{{ 1 / 0 }} {% raw %}",
    "a path in a text": "../../../etc/passwd",
    "markup in a text": "<i>&amp;</i>",
    "only blanks": "   ",
}


def value_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    """(kind, fault) for every wrong or odd value that the file has a column for."""
    number, day = file.first(*NUMBERS), file.first("date")
    text = file.first("varchar")
    key = file.first("varchar", *NUMBERS, key=True)
    for kind, (value, expect) in IN_NUMBERS.items():
        if number and not (value == "NaN" and file.columns[number]["type"] == "double"):
            yield kind, _put(file, number, value, expect, told=False)
    if number and file.columns[number]["type"] != "double":
        yield "a decimal in an integer", _put(file, number, "20.7", QUARANTINE)
    for kind, (value, expect) in IN_DATES.items():
        if day:
            yield kind, _put(file, day, value, expect, told=False)
    for kind, value in IN_TEXTS.items():
        if text:
            expect = EITHER if value == "one\x01\x02\x03\x04two" else READ
            yield kind, _put(file, text, value, expect)
    if text:
        yield "a NUL byte in a text", _put(file, text, "one\0two", EITHER)
        yield "a lone NUL byte", _put(file, text, "\0", EITHER)
        long = "long " * 3_500_000
        yield "a field of 17 MB", _put(file, text, long, QUARANTINE, told=False)
    if key:
        yield "no key", _put(file, key, "", QUARANTINE)
        yield "a blank key", _put(file, key, "   ", QUARANTINE)
        yield "a sentence for a key", _put(file, key, "see the notes", QUARANTINE)


def _put(
    file: RawFile, column: str, value: str, expect: tuple[str, ...], told: bool = True
) -> Broken:
    """The file with a value in one column of the chosen record."""
    if file.table.file_format == "jsonl":
        line = as_json(file.object(**{column: value}))
    else:
        line = file.line(file.place, **{column: value})
    read = value.upper() if column.endswith("patent_id") else value  # the numbers' one spelling
    return Broken(
        expect=expect,
        write=file.packed(file.with_record(line)),
        touched=[file.place],
        value=read if told and value.strip() else None,
    )


def json_faults(file: RawFile) -> Iterator[tuple[str, Broken]]:
    """(kind, fault) for what can be wrong with a line of JSON."""
    whole = as_json(file.object())
    key = file.first("varchar", *NUMBERS, key=True)
    number = next((n for n, c in file.columns.items() if c["type"] in NUMBERS), None)
    text = file.first("varchar") or key
    lines = {
        "half a line": whole[: len(whole) // 2],
        "an array for an object": as_json([1, 2]),
        "an array of the object": f"[{whole}]",
        "a number for an object": "42",
        "null for an object": "null",
        "an empty object": "{}",
        "single quotes": whole.replace('"', "'"),
        "a trailing comma": whole[:-1] + ",}",
        "a comment": "// " + whole,
        "a comma after the object": whole + ",",
        "two objects on a line": whole + whole,
        "NaN for a value": whole[:-1] + ', "x": NaN}',
        "a lone surrogate": whole[:-1] + ', "x": "\\ud800"}',
        "a NUL escape": whole[:-1] + ', "x": "a\\u0000b"}',
        "the key null": as_json(file.object(**{key: None})),
        "the key a list": as_json(file.object(**{key: [1]})),
        "the key an object": as_json(file.object(**{key: {"id": 1}})),
        "the key true": as_json(file.object(**{key: True})),
        "10,000 open brackets": "[" * 10_000,
        "JSON 2,000 levels deep": whole[:-1] + ', "x": ' + "[" * 2000 + "]" * 2000 + "}",
        "blanks around the object": f"  {whole}  ",
        "a field more": whole[:-1] + ', "new_field": {"a": [1, 2]}}',
        "escapes for letters": json.dumps(file.object()),
    }
    if number and "json" not in file.columns[number]:
        lines["a list for a number"] = as_json(file.object(**{number: [1, 2]}))
        lines["an object for a number"] = as_json(file.object(**{number: {"is": 1}}))
    for kind, line in lines.items():
        read = kind in ("blanks around the object", "a field more", "escapes for letters")
        lenient = kind in LENIENT
        expect = (SAME,) if read else (SAME, CHANGED, QUARANTINED) if lenient else QUARANTINE
        yield kind, _lines(file, [line], expect)
    yield "an object over two lines", _lines(file, json.dumps(file.object(), indent=0).split("\n"),
                                            QUARANTINE)  # fmt: skip
    yield (
        "a key twice in an object",
        _lines(file, [whole[:-1] + f', "{key}": 987654321' + "}"], (SAME, CHANGED, QUARANTINED)),
    )
    renamed = {f"{n.title()}_" if n == key else n: v for n, v in file.object().items()}
    yield "the key under another name", _lines(file, [as_json(renamed)], QUARANTINE)
    for kind, value in (("a list for a text", ["one", "two"]), ("a number for a text", 12)):
        if text != key:
            yield kind, _lines(file, [as_json(file.object(**{text: value}))], EITHER)
    yield "the whole file one array", Broken(
        expect=(QUARANTINED, MESSAGE), touched=range(len(file.records)),
        write=file.packed(as_json([row for row in file.rows if row]) + "\n"),
    )  # fmt: skip
    every = [as_json({f"{n.upper()}": v for n, v in row.items()}) for row in file.rows]
    yield "every field in capitals", Broken(
        expect=(QUARANTINED, MESSAGE), touched=range(len(file.records)),
        write=file.packed(file.text(every)),
    )  # fmt: skip
    filled = next((n for n, c in file.columns.items() if c.get("filled")), None)
    if filled:
        top = file.columns[filled].get("json", f"$.{filled}").split(".")[1]
        every = [as_json({n: v for n, v in row.items() if n != top}) for row in file.rows]
        yield "a field that no record has", Broken(
            expect=(MESSAGE,), touched=range(len(file.records)),
            write=file.packed(file.text(every)),
        )  # fmt: skip


def _lines(file: RawFile, lines: list[str], expect: tuple[str, ...]) -> Broken:
    """The file with other lines in the place of the chosen record."""
    return Broken(expect=expect, write=file.packed(file.with_record(*lines)), touched=[file.place],
                  added=len(lines) - 1)  # fmt: skip
