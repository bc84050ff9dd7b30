"""What `pyeval report` does, apart from parsing the command line."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyeval import render
from pyeval.report import Section, sections
from pyeval.results import read_all, read_items
from warehouse.errors import UserError
from warehouse.years import years_of

if TYPE_CHECKING:
    from pyeval.pictures import Figure
    from pyeval.years_past import Curves


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """What was asked for."""

    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    how: str  # terminal, markdown, html, latex or tsv
    column: str  # of the paper's tables and figures
    vintages: str | None  # years of Figures 2 and 3, as written
    figures: Path | None  # folder to draw into
    suffix: str  # of the figures
    picture: Path | None
    years_past: int | None  # years before and after the cutoff; None for no such table
    resamples: int  # of their intervals
    out: Path | None  # the report's own file; links in it are relative to its folder
    width: int  # characters of the terminal
    color: bool


def make_report(asked: ReportRequest) -> tuple[str, list[Path]]:
    """The report as text, and the pictures that were drawn.

    Raises:
        UserError: nothing scored, nothing to draw, or no table to write.
    """
    from pyeval.paper_report import paper_reports
    from pyeval.pictures import check_picture, write_figures

    _check(asked)
    if asked.picture:
        check_picture(asked.picture)
    rows = read_all(asked.systems)
    found = sections(rows, asked.tasks)
    if not found:
        raise UserError(f"nothing was scored on {', '.join(asked.tasks)}. See: pyeval tasks")
    years = _years(asked.vintages)
    reports = paper_reports(rows, column=asked.column, vintages=years, names=asked.tasks)
    past = _curves(asked, rows)
    text = _text(asked, rows, found, reports, past)
    figures = [figure for report in reports for figure in report.figures]
    figures += [_figure(past)] if past else []
    drawn = write_figures(figures, asked.figures, asked.suffix) if asked.figures else []
    if asked.picture:
        from pyeval.plots import picture

        picture(found).write(asked.picture)
        drawn.append(asked.picture)
    return text, drawn


def _check(asked: ReportRequest) -> None:
    if asked.how == "tsv" and asked.years_past is None:
        raise UserError(
            "--format tsv is of --years-past. Every score as a file: pyeval leaderboard --out FILE"
        )
    if asked.how == "latex" and asked.years_past is not None:
        raise UserError(
            "--format latex holds the paper's tables, and --years-past is none of them. "
            "Use: --format markdown, html or tsv"
        )


def _curves(asked: ReportRequest, rows: list[dict]) -> "Curves | None":
    from pyeval.years_past import curves

    if asked.years_past is None:
        return None
    return curves(
        rows, read_items, around=asked.years_past, tasks=asked.tasks, resamples=asked.resamples
    )


def _figure(past: "Curves") -> "Figure":
    from pyeval import curve_draw
    from pyeval.pictures import Figure
    from pyeval.years_past import table_rows
    from pyeval.years_past_text import TITLE

    caption = (
        "Thick: a system, or the mean of vintages, with its 95% interval; thin: the vintages. "
        "The dotted line parts what was read from what was not."
    )
    return Figure("years_past", TITLE, caption, table_rows(past), curve_draw.years_past)


def _text(
    asked: ReportRequest,
    rows: list[dict],
    found: list[Section],
    reports: list,
    past: "Curves | None",
) -> str:
    from pyeval import years_past_text

    if asked.how == "tsv":
        return years_past_text.tsv(past)
    if asked.how == "html":
        from pyeval.doctor import odd_scores
        from pyeval.page import page

        own = (_figure(past), years_past_text.legend(past)) if past else None
        return page(reports, found, odd_scores(rows), own)
    if asked.how == "latex":
        return _latex(reports)
    if asked.how == "markdown":
        text = render.markdown(found)
        text += "" if asked.tasks else _markdown(asked, rows, reports)
        return text + _markdown_years(asked, past) if past else text
    text = render.terminal(found, asked.width, color=asked.color)
    text += "" if asked.tasks else _means(reports)
    return f"{text}\n{years_past_text.terminal(past)}" if past else text


def _latex(reports: list) -> str:
    from pyeval.table_text import LATEX_NEEDS, latex_table

    made = [latex_table(table) for report in reports for table in report.tables]
    if not made:
        raise UserError(
            "no score on a task of the papers, so there is no table. Run: pyeval run MODEL"
        )
    return "\n".join([LATEX_NEEDS, *made])


def _markdown(asked: ReportRequest, rows: list[dict], reports: list) -> str:
    """The paper's tables, links to the figures that were drawn, and the odd vintages."""
    from pyeval.doctor import odd_scores
    from pyeval.table_text import markdown_table

    lines: list[str] = []
    for report in reports:
        lines += ["", f"## {report.title}", ""]
        lines += [markdown_table(table) for table in report.tables]
        lines += [f"{line}\n" for line in report.lacking]
        lines += [line for figure in report.figures for line in _linked(asked, figure)]
    odd = odd_scores(rows)
    if odd:
        lines += ["## Odd vintages", "", *(f"- {one.said()}" for one in odd), ""]
    return "\n".join(lines)


def _markdown_years(asked: ReportRequest, past: "Curves") -> str:
    """The tables by years past the cutoff, and a link to their picture where it was drawn."""
    from pyeval.years_past_text import markdown

    return "\n".join(["", markdown(past), *_linked(asked, _figure(past))])


def _linked(asked: ReportRequest, figure: "Figure") -> list[str]:
    """The lines that show a figure, where figures are drawn."""
    if not asked.figures:
        return []
    path = asked.figures / f"{figure.key}.{asked.suffix}"
    path = Path(os.path.relpath(path, asked.out.parent)) if asked.out else path
    return [f"![{figure.title}]({path})", "", figure.caption, ""]


def _means(reports: list) -> str:
    """Table 2 for a terminal, where there is one."""
    lines: list[str] = []
    for report in reports:
        for table in report.tables:
            if table.key.startswith("table2"):
                groups = [group for group, span in table.groups for _ in range(span)]
                heads = [f"{g[:3].upper()} {h}" for g, h in zip(groups, table.heads, strict=True)]
                lines += ["", table.title, *_aligned(heads, table.rows), *report.lacking]
    return "".join(f"{line}\n" for line in lines)


def _aligned(heads: list[str], rows) -> list[str]:
    """Lines of columns, as wide as the widest of each; 1st and 2nd of a column are marked."""
    grid = [["system", *heads]]
    for row in rows:
        cells = [cell.text + {1: " 1st", 2: " 2nd"}.get(cell.place, "    ") for cell in row.cells]
        grid.append([row.label, *cells])
    wide = [max(map(len, column)) for column in zip(*grid, strict=True)]
    return [
        "  ".join(
            [line[0].ljust(wide[0]), *(c.rjust(w) for c, w in zip(line[1:], wide[1:], strict=True))]
        ).rstrip()
        for line in grid
    ]


def _years(said: str | None) -> list[int]:
    return years_of(said) if said else []
