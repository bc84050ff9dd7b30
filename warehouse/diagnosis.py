"""What went wrong in a dbt run, as the one message that a person can act on."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from warehouse.errors import CheckFailed, UserError

# What DuckDB says of raw files that are damaged, and the file's name in it.
DAMAGED = (
    re.compile(r"Unexpected end of GZIP stream: (?P<file>.+)"),
    re.compile(r"Input is not a GZIP stream: (?P<file>.+)"),
    re.compile(r"No magic bytes found at end of file '(?P<file>[^']+)'"),
    re.compile(r"File '(?P<file>[^']+)' too small to be a Parquet file"),
)
# What it says of damage inside a Parquet file, whose name it keeps to itself.
SPOILT = re.compile(
    r"TProtocolException|TTransportException|decompress\w* fail|don't know what type|corrupt"
    r"|[Ii]nvalid (?:page|dictionary|encoding)|No more data remaining|out of bounds in page",
    re.I,
)
UNREADABLE = re.compile(
    r"CSV Parser state machine reached an invalid state.*?\n\s*file = (?P<file>[^\n]+)", re.S
)
NO_SELECTION = re.compile(r"The selection criterion '(?P<what>[^']*)' does not match")
NO_ROOM = re.compile(r"No space left on device|not enough disk space|max_temp_directory_size", re.I)
NO_MEMORY = re.compile(r"Out of Memory Error", re.I)
BAD_INPUT = "bad input: "  # how the macro bad_input() marks its messages


class Complaint(NamedTuple):
    """One node that did not pass, or (without a node) something that dbt said."""

    message: str
    node: str = ""
    status: str = ""  # dbt's: error, fail
    n_failures: int = 0  # rows that a test returned


class DbtFailed(click.ClickException):
    """dbt failed in a way that is neither bad input nor a failed test: a fault of the project."""

    exit_code = 1


def diagnose(complaints: Sequence[Complaint], lake: Path) -> click.ClickException:
    """The one message: bad input before all, then refused tests, then the first error."""
    log = f"dbt's own words are in {lake / 'logs' / 'dbt.log'}"
    inputs = dict.fromkeys(text for text in map(_bad_input, complaints) if text)
    if inputs:
        return UserError("\n".join(inputs))
    whole = "\n".join(complaint.message for complaint in complaints)
    if match := NO_SELECTION.search(whole):
        return UserError(
            f"no model is selected by {match['what']!r}. Models are listed by: lake show; "
            "example: lake build --select +citation_edges"
        )
    if NO_ROOM.search(whole):
        return UserError(
            f"no room left for the lake at {lake}. Make room, or set another folder: "
            "SCITLAKE_WAREHOUSE=<folder> lake build"
        )
    if NO_MEMORY.search(whole):
        return UserError(
            "the build needs more memory than DUCKDB_MEMORY allows (3GB when not set). "
            f"Raise it: DUCKDB_MEMORY=8GB lake build. {log}"
        )
    failed = [complaint for complaint in complaints if complaint.status == "fail"]
    errors = [complaint for complaint in complaints if complaint.status == "error"]
    if errors:
        first = errors[0]
        return DbtFailed(f"{first.node} could not be built: {_clean(first.message)}\n{log}")
    if failed:
        lines = "\n".join(f"  {test.node}: {test.n_failures} row(s)" for test in failed)
        return CheckFailed(f"{len(failed)} data test(s) failed:\n{lines}\n{log}")
    last = next((said for said in reversed(whole.splitlines()) if said.strip()), "no reason given")
    return DbtFailed(f"dbt stopped: {_clean(last)}\n{log}")


def _bad_input(complaint: Complaint) -> str | None:
    """What is wrong with a raw file, if that is what the complaint is about."""
    if BAD_INPUT in complaint.message:
        return _clean(complaint.message.split(BAD_INPUT, 1)[1])
    for pattern in DAMAGED:
        if match := pattern.search(complaint.message):
            return (
                f"{match['file'].strip()} is cut short or damaged, so it cannot be read to its "
                "end. Get it again from its publisher; lake sources says where."
            )
    if match := UNREADABLE.search(complaint.message):
        return (
            f"{match['file'].strip()} cannot be read to its end: its lines end in several ways, or "
            "a quote is never closed. Get it again from its publisher; lake sources says where."
        )
    if complaint.node.startswith("stg_") and (match := SPOILT.search(complaint.message)):
        table = complaint.node.removeprefix("stg_").replace("__", ".")
        return (
            f"a Parquet file of {table} is damaged inside ({match[0]}) and cannot be read to its "
            "end. Get its files again from their publisher; lake sources says where."
        )
    return None


def _clean(message: str) -> str:
    """A message without dbt's frame: which macro called which, where compiled code lies."""
    lines = []
    for line in message.splitlines():
        if line.lstrip().startswith(("> in macro", "> called by", "compiled code at")):
            break
        lines.append(line.rstrip())
    return "\n".join(lines).strip()
