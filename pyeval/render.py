"""The report as text: Markdown for pages, a table for a terminal or a pipe."""

import io
import json

from pyeval.columns import ALL_EXAMPLES, IN_TIME, OUT_OF_TIME, TEXT_SEEN
from pyeval.compare import Difference
from pyeval.report import Block, Section, cell, n_examples

SHORT = {ALL_EXAMPLES: "all", IN_TIME: "in", OUT_OF_TIME: "out", TEXT_SEEN: "seen"}
LONG = {
    ALL_EXAMPLES: "all",
    IN_TIME: "in time",
    OUT_OF_TIME: "out of time",
    TEXT_SEEN: "text seen",
}


def markdown(found: list[Section]) -> str:
    """One table of values, then each task with its intervals and numbers of examples."""
    lines: list[str] = []
    for section in found:
        lines += [f"## {section.title}", "", *_summary(section), ""]
        lines += [f"{line}\n" for line in section.legend]
        for block in [*section.main, *section.further, *section.apart]:
            if block.format != "mean":
                lines += [*_detail(section, block), ""]
    return "\n".join(lines).rstrip() + "\n"


def terminal(found: list[Section], width: int, *, color: bool) -> str:
    """Tables in as many stacks of columns as the width asks for."""
    out = io.StringIO()
    console = _console(out, width, color)
    for section in found:
        for title, blocks in ((section.title, section.main), ("Reported apart", section.apart)):
            for n, group in enumerate(_fitting(section, blocks, width)):
                console.print(_table(section, group, title if n == 0 else None))
        for line in section.legend:
            console.print(line, markup=False)
    return _trimmed(out)


def differences(found: list[Difference], a: str, b: str, width: int, *, color: bool) -> str:
    """The table of `pyeval compare`."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=f"{a} minus {b}, {LONG[found[0].column]}", box=SIMPLE_HEAD)
    heads = ("task", "metric", "n", "A", "B", "A - B [95%]", "A / B [95%]", "p", "p (Holm)")
    for head in heads:
        side = "left" if head in ("task", "metric") else "right"
        table.add_column(head, justify=side, no_wrap=True)
    for one in found:
        table.add_row(*difference_cells(one))
    out = io.StringIO()
    # A number cut in two is worse than a line that is too long.
    console = _console(out, 1_000, color)
    console.width = max(width, console.measure(table).maximum)
    console.print(table)
    return _trimmed(out)


def differences_markdown(found: list[Difference], a: str, b: str) -> str:
    """The same as a Markdown table."""
    lines = [f"{a} minus {b}, {LONG[found[0].column]}:", ""]
    lines.append("| task | metric | n | A | B | A - B [95%] | A / B [95%] | p | p (Holm) |")
    lines.append("|---" * 9 + "|")
    lines += ["| " + " | ".join(difference_cells(one)) + " |" for one in found]
    return "\n".join(lines) + "\n"


def difference_cells(one: Difference) -> list[str]:
    """One row of the comparison as text."""
    if one.difference is None:
        why = "no examples" if one.n == 0 else "undefined"
        return [one.task, one.metric, f"{one.n:,}", _number(one.a), _number(one.b), why, "", "", ""]
    ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
    if one.ratio_low is not None:
        ratio += f" [{one.ratio_low:.2f}, {one.ratio_high:.2f}]"
    return [
        one.task,
        one.metric,
        f"{one.n:,}",
        _number(one.a),
        _number(one.b),
        f"{one.difference:+.1f} [{one.low:+.1f}, {one.high:+.1f}]",
        ratio,
        f"{one.p:.4f}",
        f"{one.p_holm:.4f}",
    ]


def _number(value: float | None) -> str:
    return "\u2013" if value is None else f"{value:.1f}"


def _summary(section: Section) -> list[str]:
    """One Markdown table: a cell holds a task's columns, divided by slashes."""
    heads = [
        f"{block.title}<br>{block.metric}<br>{' / '.join(LONG[c] for c in block.columns)}"
        for block in section.main
    ]
    lines = ["| system | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for system in section.systems:
        said = [
            " / ".join(cell(block, system, column) for column in block.columns)
            for block in section.main
        ]
        lines.append(f"| {section.labels[system]} | " + " | ".join(said) + " |")
    return lines


def _detail(section: Section, block: Block) -> list[str]:
    """One task with 95% intervals; the head of a column says its number of examples."""
    unit = "queries" if block.format == "retrieve" else "test documents"
    heads = [f"{LONG[c]} ({n_examples(block, c)} {unit})" for c in block.columns]
    lines = [f"### {block.title}: {block.metric}", ""]
    lines += ["| system | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for system in section.systems:
        if any((system, column) in block.cells for column in block.columns):
            said = [cell(block, system, column, interval=True) for column in block.columns]
            lines.append(f"| {section.labels[system]} | " + " | ".join(said) + " |")
    left_out = {
        name
        for row in block.cells.values()
        for name in json.loads(row["settings"]).get("no_test_example", ())
    }
    if left_out:
        lines += ["", f"Left out, no test example: {', '.join(sorted(left_out))}."]
    return lines


def _fitting(section: Section, blocks: list[Block], width: int) -> list[list[Block]]:
    """Blocks in groups that fit the width beside the names of the systems."""
    room = width - max(map(len, ["system", *section.labels.values()])) - 4
    groups: list[list[Block]] = []
    used = 0
    for block in blocks:
        wide = 3 + max(map(len, _head(section, block)))
        if not groups or used + wide > room:
            groups.append([])
            used = 0
        groups[-1].append(block)
        used += wide
    return groups


def _head(section: Section, block: Block) -> list[str]:
    """The lines above a task: its name, metric, columns and numbers of examples."""
    n = {c: "" if block.format == "mean" else f"n={n_examples(block, c)}" for c in block.columns}
    lines = [SHORT, n]
    return [block.title, block.metric, *(_aligned(section, block, one) for one in lines)]


def _aligned(section: Section, block: Block, said: dict[str, str]) -> str:
    """Texts of a task's columns side by side, each as wide as the widest of its column."""
    parts = []
    for column in block.columns:
        texts = [cell(block, system, column) for system in section.systems]
        if block.format != "mean":
            texts.append(f"n={n_examples(block, column)}")
        parts.append(said[column].rjust(max(map(len, [SHORT[column], *texts]))))
    return "  ".join(parts)


def _table(section: Section, blocks: list[Block], title: str | None):
    """One rich column per task, so that its own columns stay close together."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left")
    table.add_column("system", vertical="bottom", no_wrap=True)
    for block in blocks:
        table.add_column("\n".join(_head(section, block)), no_wrap=True)
    for system in section.systems:
        cells = [{c: cell(block, system, c) for c in block.columns} for block in blocks]
        said = [_aligned(section, *pair) for pair in zip(blocks, cells, strict=True)]
        table.add_row(section.labels[system], *said)
    return table


def _console(out: io.StringIO, width: int, color: bool):
    from rich.console import Console

    return Console(file=out, width=width, force_terminal=color, no_color=not color, highlight=False)


def _trimmed(out: io.StringIO) -> str:
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
