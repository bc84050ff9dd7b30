"""The paper's results section from one's own scores: tables, figures and their numbers."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from pyeval import figure_draw
from pyeval.columns import ALL_EXAMPLES, IN_TIME, OUT_OF_TIME
from pyeval.figure_numbers import category_rows, heat_grids, heat_rows, task_rows
from pyeval.grid import Grid, grids
from pyeval.paper_tables import Table, lacking, tables
from pyeval.pictures import Figure

_SAID = {ALL_EXAMPLES: "all test examples", IN_TIME: "in time", OUT_OF_TIME: "out of time"}


@dataclass(frozen=True, slots=True)
class PaperReport:
    """What can be shown of one group of comparable scores."""

    title: str
    tables: list[Table]
    figures: list[Figure]
    lacking: list[str]  # means that are not formed, and why
    suffix: str  # of keys, so that groups do not overwrite each other


def paper_reports(
    rows: list[dict],
    *,
    column: str = ALL_EXAMPLES,
    vintages: Collection[int] = (),
    names: Collection[str] = (),
) -> list[PaperReport]:
    """One report of all examples, or one per year that divides the column.

    Args:
        rows: score rows with their `system`, see `results.read_all`.
        column: all, in_time or out_of_time.
        vintages: years that Figures 2 and 3 draw; the paper's choice when left out.
        names: tasks that Figures 2 and 3 draw; a selection when left out.
    """
    return [_report(grid, vintages, names) for grid in grids(rows, column)]


def figures(grid: Grid, vintages: Collection[int], names: Collection[str]) -> list[Figure]:
    """Those of Figures 1 to 6 that have something to draw."""
    found = [
        Figure(
            "figure1",
            "Mean performance by category (Figure 1)",
            "The mean over the tasks of each category within each benchmark, then the mean of the "
            "two benchmarks, against the last year that a system knows.",
            category_rows(grid),
            figure_draw.scatter,
        )
    ]
    for key, benchmark, title in (
        ("figure2", "Pat", "Selected PatRepEval tasks by vintage (Figure 2)"),
        ("figure3", "Sci", "Selected SciRepEval tasks by vintage (Figure 3)"),
    ):
        rows = task_rows(grid, benchmark, vintages=vintages, names=names)
        said = "Bars are scores on a 0-100 scale, black lines their 95% intervals; * marks scores "
        said += "on citations that the model was tuned on."
        found.append(Figure(key, title, said, rows, figure_draw.bars))
    for key, title, part in heat_grids(grid):
        said = (
            "Standard deviations from the mean of each task over the systems shown; 1, 2 and 3 "
            "mark the best three. Grey: not scored."
        )
        number = key.removeprefix("figure")
        shown = f"{title} on every task (Figure {number})"
        found.append(Figure(key, shown, said, heat_rows(part), figure_draw.heat))
    return [figure for figure in found if figure.rows]


def _report(grid: Grid, vintages: Collection[int], names: Collection[str]) -> PaperReport:
    """One group; where the column is divided, every name and caption says which and when."""
    said, suffix, more = _SAID[grid.column], "", ""
    if grid.divided_at is not None:
        said += f", divided at {grid.divided_at}"
        suffix = f"_{grid.column}_{grid.divided_at}"
        more = f" Test examples: {said}."
    return PaperReport(
        f"The paper's tables and figures: {said}",
        [replace(t, key=t.key + suffix, caption=t.caption + more) for t in tables(grid)],
        [
            replace(one, key=one.key + suffix, caption=one.caption + more)
            for one in figures(grid, vintages, names)
        ],
        lacking(grid),
        suffix,
    )
