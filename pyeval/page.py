"""The report as one HTML file that needs nothing else: tables, pictures, and their numbers."""

import base64
from html import escape

from pyeval.doctor import Finding
from pyeval.paper_report import PaperReport
from pyeval.pictures import Figure
from pyeval.render import LONG
from pyeval.report import Block, Section, cell, n_examples
from pyeval.table_text import html_table

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1c1e21; margin: 2rem auto; max-width: 75rem;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5d8dd; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 2px 8px; text-align: right; vertical-align: bottom; }
tbody th, thead th:first-child { text-align: left; font-weight: normal; white-space: nowrap; }
thead { border-bottom: 1px solid #888; } thead th[colspan] { text-align: center; }
tr.starts > * { border-top: 1px solid #bbb; } tbody tr:hover { background: #f2f4f7; }
.wide { overflow-x: auto; } .note { color: #555; font-size: 13px; margin: .3rem 0; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; } figcaption { color: #333; }
details { font-size: 13px; margin: .4rem 0; } nav a { margin-right: 1rem; }
"""


def page(
    reports: list[PaperReport],
    sections: list[Section],
    findings: list[Finding],
    years_past: tuple[Figure, list[str]] | None = None,
) -> str:
    """The whole page; no part of it is fetched from anywhere.

    Args:
        reports: the paper's tables and figures.
        sections: each task with its columns.
        findings: odd vintages.
        years_past: scores by years past the cutoff, and what is said of them.
    """
    parts, links = [], []
    for report in reports:
        body = [html_table(table) for table in report.tables]
        body += [f"<p class=note>{escape(line)}</p>" for line in report.lacking]
        body += [_figure(figure) for figure in report.figures]
        parts.append(_chapter(f"paper{report.suffix}", report.title, body, links))
    if years_past:
        figure, said = years_past
        body = [f"<p class=note>{escape(line)}</p>" for line in said]
        parts.append(_chapter("past", figure.title, [*body, _figure(figure)], links))
    if findings:
        lines = [f"<li>{escape(one.said())}</li>" for one in findings]
        parts.append(_chapter("odd", "Odd vintages", ["<ul>", *lines, "</ul>"], links))
    for number, section in enumerate(sections):
        parts.append(_chapter(f"scores{number}", section.title, _section(section), links))
    nav = "".join(f'<a href="#{key}">{escape(title)}</a>' for key, title in links)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Scores</title>\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<style>{_STYLE}</style></head>\n<body><h1>Scores</h1>\n<nav>{nav}</nav>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _chapter(key: str, title: str, body: list[str], links: list[tuple[str, str]]) -> str:
    links.append((key, title))
    return f'<section id="{key}"><h2>{escape(title)}</h2>\n' + "\n".join(body) + "\n</section>"


def _figure(figure: Figure) -> str:
    """The picture as a data URI, its numbers as a table and as a file to save."""
    image = base64.b64encode(figure.drawn("svg")).decode()
    numbers = base64.b64encode(figure.numbers().encode()).decode()
    heads = "".join(f"<th>{escape(name)}</th>" for name in figure.rows[0])
    lines = [
        "<tr>" + "".join(f"<td>{_said(value)}</td>" for value in row.values()) + "</tr>"
        for row in figure.rows
    ]
    return (
        f'<figure id="{figure.key}"><h3>{escape(figure.title)}</h3>\n'
        f'<img alt="{escape(figure.title)}" src="data:image/svg+xml;base64,{image}">\n'
        f"<figcaption>{escape(figure.caption)}</figcaption>\n"
        f"<details><summary>Its numbers</summary><p><a download='{figure.key}.csv' "
        f"href='data:text/csv;base64,{numbers}'>{figure.key}.csv</a></p>\n"
        f"<div class=wide><table><thead><tr>{heads}</tr></thead><tbody>\n"
        + "\n".join(lines)
        + "\n</tbody></table></div></details></figure>"
    )


def _section(section: Section) -> list[str]:
    """Each task with its columns and intervals, those of record first."""
    lines = [f"<p class=note>{escape(line)}</p>" for line in section.legend]
    for block in [*section.main, *section.further, *section.apart]:
        lines.append(_block(section, block))
    return lines


def _block(section: Section, block: Block) -> str:
    unit = "queries" if block.format == "retrieve" else "test documents"
    heads = [
        LONG[c] if block.format == "mean" else f"{LONG[c]} ({n_examples(block, c)} {unit})"
        for c in block.columns
    ]
    rows = [
        f'<tr><th scope="row">{escape(section.labels[system])}</th>'
        + "".join(
            f"<td>{escape(cell(block, system, c, interval=True))}</td>" for c in block.columns
        )
        + "</tr>"
        for system in section.systems
        if any((system, column) in block.cells for column in block.columns)
    ]
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    return (
        f"<h3>{escape(block.title)}: {escape(block.metric)}</h3><div class=wide><table><thead><tr>"
        f'<th scope="col">system</th>{head}</tr></thead><tbody>'
        + "\n".join(rows)
        + "</tbody></table></div>"
    )


def _said(value: object) -> str:
    if value is None:
        return "\u2013"
    return f"{value:.2f}" if isinstance(value, float) else escape(str(value))
