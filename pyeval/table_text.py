"""A table of the paper as Markdown, LaTeX or HTML."""

from collections.abc import Iterable
from html import escape

from pyeval.paper_tables import Cell, Row, Table

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\u2013": "--",
    "\u2020": r"\textsuperscript{\textdagger}",
    "\u2021": r"\textsuperscript{\textdaggerdbl}",
    "*": r"\textsuperscript{*}",
}
LATEX_NEEDS = "% In the preamble: \\usepackage{booktabs,graphicx}"


def markdown_table(table: Table) -> str:
    """A pipe table; the heads of groups stand before each column's own."""
    heads = [f"{group}<br>{head}" for group, head in _full_heads(table)]
    lines = [f"### {table.title}", "", table.caption, ""]
    lines += ["| system | " + " | ".join(heads) + " |", "|---" + "|--:" * len(heads) + "|"]
    for row in table.rows:
        cells = [_marked(cell, "**{}**", "<u>{}</u>") for cell in row.cells]
        lines.append(f"| {_piped(row.label)} | " + " | ".join(cells) + " |")
    lines += [f"\n{note}" for note in table.notes]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """The text with every character of meaning to TeX spelt out."""
    return "".join(_LATEX.get(sign, sign) for sign in text)


def latex_table(table: Table) -> str:
    r"""A `table*` as wide as the page; per-task heads stand upright. Needs booktabs, graphicx."""
    upright = any(len(head) > 6 for head in table.heads)
    heads = [latex(head) for head in table.heads]
    if upright:
        heads = [rf"\rotatebox{{90}}{{{head}}}" for head in heads]
    groups, rules, at = [], [], 2
    for group, span in table.groups:
        groups.append(rf"\multicolumn{{{span}}}{{c}}{{{latex(group)}}}")
        rules.append(rf"\cmidrule(lr){{{at}-{at + span - 1}}}")
        at += span
    lines = [
        r"\begin{table*}[t]",
        r"\centering",
        r"\resizebox{\textwidth}{!}{%",
        rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
        r"\toprule",
        " & ".join(["", *groups]).strip() + r" \\",
        " ".join(rules),
        " & ".join(["Model", *heads]) + r" \\",
        r"\midrule",
        *_latex_rows(table.rows),
        r"\bottomrule",
        r"\end{tabular}}",
        rf"\caption{{{latex(' '.join([table.title + '.', table.caption, *table.notes]))}}}",
        rf"\label{{tab:{table.key}}}",
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def html_table(table: Table) -> str:
    """A `table` element with its caption and notes."""
    groups = "".join(
        f'<th colspan="{span}" scope="colgroup">{escape(group)}</th>'
        for group, span in table.groups
    )
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    body = []
    for row in table.rows:
        cells = [_marked(cell, "<b>{}</b>", "<u>{}</u>") for cell in row.cells]
        start = ' class="starts"' if row.starts else ""
        body.append(
            f'<tr{start}><th scope="row">{escape(row.label)}</th>'
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + "</tr>"
        )
    notes = "".join(f"<p class=note>{escape(note)}</p>" for note in table.notes)
    return (
        f'<h3 id="{table.key}">{escape(table.title)}</h3><p>{escape(table.caption)}</p>\n'
        f'<div class=wide><table><thead><tr><td></td>{groups}</tr><tr><th scope="col">system</th>'
        f"{heads}</tr></thead>\n<tbody>\n"
        + "\n".join(body)
        + f"\n</tbody></table></div>\n{notes}\n"
    )


def _latex_rows(rows: Iterable[Row]) -> Iterable[str]:
    for row in rows:
        if row.starts:
            yield r"\midrule"
        cells = []
        for cell in row.cells:
            said = latex(cell.text)
            wrap = {1: r"\textbf{%s}", 2: r"\underline{%s}"}.get(cell.place, "%s")
            cells.append(wrap % said)
        yield " & ".join([latex(row.label), *cells]) + r" \\"


def _full_heads(table: Table) -> list[tuple[str, str]]:
    groups = [group for group, span in table.groups for _ in range(span)]
    return list(zip(groups, table.heads, strict=True))


def _marked(cell: Cell, best: str, second: str) -> str:
    said = escape(cell.text).replace("*", "&#42;")
    return {1: best, 2: second}.get(cell.place, "{}").format(said)


def _piped(text: str) -> str:
    return text.replace("|", r"\|")
