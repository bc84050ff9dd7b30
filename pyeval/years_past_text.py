"""Scores by years past the cutoff as Markdown, as lines for a terminal, and as TSV."""

from collections.abc import Callable, Iterable

from pyeval.report import CONTAMINATED, LEGEND, NO_CUTOFF
from pyeval.tasks import LABELS
from pyeval.years_past import Curves, Point, table_rows

TITLE = "Scores by years past the cutoff"
LEGEND_OF_YEARS = (
    "Test items by their year less the cutoff: 0 is the last year that a model read. Later items "
    "whose text was in the training slice are left out. A mean over vintages stands only where "
    "each of them has the score; else those that lack it are named."
)
_DASH = "\u2013"


def markdown(found: Curves) -> str:
    """A table per task: score, 95% interval and number of items, by years past the cutoff."""
    lines = [f"## {TITLE}", ""]
    lines += [f"{line}\n" for line in legend(found)]
    for title, years, rows in _tables(found, _long):
        lines += [f"### {title}", ""]
        lines += ["| system | " + " | ".join(map(_year, years)) + " |"]
        lines += ["|---" + "|--:" * len(years) + "|"]
        lines += [f"| {label} | " + " | ".join(cells) + " |" for label, cells in rows]
        lines += [""]
    return "\n".join(lines)


def terminal(found: Curves) -> str:
    """The same as aligned columns, without the intervals."""
    lines = [TITLE]
    for title, years, rows in _tables(found, _short):
        grid = [["system", *map(_year, years)], *([label, *cells] for label, cells in rows)]
        wide = [max(map(len, column)) for column in zip(*grid, strict=True)]
        lines += ["", title]
        for label, *cells in grid:
            shown = [cell.rjust(w) for cell, w in zip(cells, wide[1:], strict=True)]
            lines.append("  ".join([label.ljust(wide[0]), *shown]).rstrip())
    return "\n".join([*lines, "", *legend(found)]) + "\n"


def tsv(found: Curves) -> str:
    """Every point with all of its numbers; an empty field where there is none."""
    rows = table_rows(found)
    lines = [list(rows[0]), *(map(_field, row.values()) for row in rows)]
    return "".join("\t".join(line) + "\n" for line in lines)


def legend(found: Curves) -> list[str]:
    """What the marks mean, and which scores have no curve."""
    said = [LEGEND_OF_YEARS]
    said += [LEGEND[CONTAMINATED]] if any(one.contaminated for one in found.points) else []
    said += [LEGEND[NO_CUTOFF]] if any(not one.states_cutoff for one in found.points) else []
    return said + [f"Left out: {line}." for line in found.left_out]


def _tables(
    found: Curves, cell: Callable[[Point], str]
) -> Iterable[tuple[str, list[int], list[tuple[str, list[str]]]]]:
    """Of each task: title, years past the cutoff, and a label and cells for each system."""
    for task in dict.fromkeys(one.task for one in found.points):
        own = [one for one in found.points if one.task == task]
        years = sorted({one.years_past for one in own})
        rows: dict[tuple[str, bool], dict[int, Point]] = {}
        for one in own:
            rows.setdefault((one.system, one.is_mean), {})[one.years_past] = one
        title = f"{task}: {LABELS[own[0].metric]} by years past the cutoff"
        cells = [
            (_label(next(iter(row.values()))), [cell(row[k]) if k in row else _DASH for k in years])
            for row in rows.values()
        ]
        yield title, years, cells


def _label(one: Point) -> str:
    name = f"mean of {len(one.cutoffs)}: {one.group}" if one.is_mean else one.system
    return name + NO_CUTOFF * (not one.states_cutoff)


def _short(one: Point) -> str:
    return one.said() if one.value is None else f"{one.said()} ({one.n:,})"


def _long(one: Point) -> str:
    interval = "" if one.low is None else f" [{one.low:.1f}, {one.high:.1f}]"
    return one.said() if one.value is None else f"{one.said()}{interval} ({one.n:,})"


def _year(years_past: int) -> str:
    return f"{years_past:+d}" if years_past else "0"


def _field(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
