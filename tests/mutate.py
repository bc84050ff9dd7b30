"""Injects faults into raw files one at a time: python -m tests.mutate --out FILE.

Every kind of fault goes into a file of every table that can have it. A table holds one fault at a
time, and staging models read one table each, so the tables of a run do not meet.
"""

import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parent))

from fault_runs import Bench, Outcome, rounds

ABOUT = """# Faults injected into raw files

Made by `python -m tests.mutate`. Each kind of fault is put into one file of each table that can
have it, one at a time, and the staging models are run. A row says in how many tables the fault
ended how:

- *as before*: the staged table is the same, row for row;
- *as written*: the touched record is read as it now stands, all others are as before;
- *quarantined*: records are missing, and each stands in the quarantine (records that the fault
  took out of the file are not counted); all others are as before;
- *message*: one message with the file or the table in it, exit code 2, nothing built.

In no case is a record of another line missing, but for the lines between a quote that is never
closed and the next quote in the file. They are in the quarantine too, each by itself. A share of
malformed records above the build's threshold (`max_malformed_share`) then refuses the lake, which
keeps the last good one.
"""


def run(bench: Bench, seed: int, only: str = "", say=lambda line: None) -> list[Outcome]:
    """Try out every fault whose kind holds `only`."""
    outcomes = []
    for number, one in enumerate(rounds(bench, seed, only)):
        started = time.monotonic()
        made = bench.try_out(one)
        outcomes += made
        wrong = [o for o in made if not o.right]
        say(f"round {number}: {len(made)} faults, {time.monotonic() - started:.0f} s")
        for o in wrong:
            say(f"  WRONG {o.table}: {o.kind}: {o.outcome} missing {o.missing} extra {o.extra}"
                f" listed {o.listed} {o.said[:300]}")  # fmt: skip
    return outcomes


def table(outcomes: list[Outcome]) -> str:
    """The results by kind, as Markdown."""
    by_kind: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_kind[outcome.kind].append(outcome)
    lines = [
        "| fault | tables | as before | as written | quarantined | message | an example |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, found in sorted(by_kind.items()):
        counts = [sum(o.outcome == name for o in found) for name in
                  ("same", "changed", "quarantined", "message")]  # fmt: skip
        said = next((o.said for o in found if o.said), "").split("\n")[0].replace("|", "\\|")
        # A message may quote what stands in a file of another encoding.
        said = "".join(c if c.isprintable() else " " for c in said[:150])
        cells = [kind, len(found), *(n or "" for n in counts), said]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--out", type=click.Path(path_type=Path), help="Markdown file to write.")
@click.option("--data", type=click.Path(path_type=Path), help="A raw folder to do it with too.")
@click.option("--files", default=2, help="Files that stay of a table that has many.")
@click.option("--records", default=1000, help="Records that stay of each file.")
@click.option("--seed", default=0, help="Which records are broken.")
@click.option("--tables", default="", help="Only these tables, as in g_patent,papers.")
@click.option("--only", default="", help="Only kinds with this text in them.")
def main(
    out: Path | None,
    data: Path | None,
    files: int,
    records: int,
    seed: int,
    tables: str,
    only: str,
) -> None:
    """Try out every fault on a small copy of the sample, and of a raw folder."""
    from raw_small import copy_small

    sections, wrong = [ABOUT], 0
    for title, source in {"Generated sample": None, "Real records": data}.items():
        if title == "Real records" and data is None:
            continue
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            copy_small(source, home / "clean", files, records)
            bench = Bench(home / "clean", home, tables.split(",") if tables else ())
            outcomes = run(bench, seed, only, lambda line: click.echo(line, err=True))
        missed = sum(not outcome.right for outcome in outcomes)
        wrong += missed
        kinds = len({outcome.kind for outcome in outcomes})
        names = ", ".join(sorted({outcome.table for outcome in outcomes}))
        head = (
            f"{kinds} kinds, {len(outcomes)} faults, in tables {names}; the first {records} "
            f"records of each of up to {files} files, seed {seed}. Not as it must be: {missed}."
        )
        click.echo(f"{title}: {head}")
        sections.append(f"## {title}\n{head}\n\n{table(outcomes)}")
        if out:
            out.write_text("\n".join(sections), encoding="utf-8")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
