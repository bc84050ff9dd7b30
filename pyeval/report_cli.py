"""The commands `pyeval report` and `pyeval doctor`."""

import json
import sys
from pathlib import Path

import click

from warehouse.commands import RESAMPLES


def terminal() -> tuple[int, bool]:
    """Width of the output and whether to colour it: a pipe or NO_COLOR gets plain text."""
    import os
    import shutil

    if not sys.stdout.isatty():
        return 100, False
    return shutil.get_terminal_size((100, 24)).columns, "NO_COLOR" not in os.environ


@click.command(
    epilog="Examples: pyeval report --format html --out scores.html | pyeval report --format latex "
    "--out tables.tex --figures figures | pyeval report --format markdown --picture scores.png | "
    "pyeval report --years-past 5 --format tsv --out years.tsv --figures figures"
)
@click.argument("systems", nargs=-1)
@click.option("--task", "names", multiple=True, help="Only this task, with its variants.")
@click.option(
    "--format",
    "how",
    type=click.Choice(["terminal", "markdown", "html", "latex", "tsv"]),
    default="terminal",
    show_default=True,
    help="html: one file with tables, figures and their numbers; latex: the paper's tables; tsv: "
    "the scores of --years-past alone.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it here.")
@click.option(
    "--figures",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Draw the paper's Figures 1 to 6 into this folder, a CSV of its numbers beside each.",
)
@click.option(
    "--figure-format",
    "suffix",
    type=click.Choice(["svg", "png", "pdf"]),
    default="svg",
    show_default=True,
)
@click.option(
    "--column",
    type=click.Choice(["all", "in_time", "out_of_time"]),
    default="all",
    show_default=True,
    help="Of the paper's tables and figures.",
)
@click.option("--vintages", help="Years in Figures 2 and 3: 2013,2024. The paper's when left out.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw MAP out of time here (.png, .svg, .pdf), with a CSV of its numbers beside.",
)
@click.option(
    "--years-past",
    type=click.IntRange(1),
    help="Add each task's scores by years past the cutoff, from so many before to so many after; "
    "with --figures also as a picture.",
)
@click.option(
    "--resamples",
    type=RESAMPLES,
    default=1000,
    show_default=True,
    help="Of the intervals of --years-past.",
)
def report(
    systems, names, how, out, folder, suffix, column, vintages, picture, years_past, resamples
) -> None:
    """What was scored: systems by tasks, and the paper's tables and figures of it.

    Of each task all, in time and out of time; then, from the column asked for, the means by
    category (Table 2), each task (Tables 9 to 11), and Figures 1 to 6. A mean is formed only where
    every task of its category has a score. --years-past adds how the scores fall with the years
    after the cutoff; a mean over vintages stands only where each of them has the score.

    SYSTEMS are names under RUNS_ROOT/scores; all of them when left out.
    """
    from pyeval.report_command import ReportRequest, make_report

    width, color = (100, False) if out else terminal()
    asked = ReportRequest(
        systems=systems, tasks=names, how=how, column=column, vintages=vintages, figures=folder,
        suffix=suffix, picture=picture, years_past=years_past, resamples=resamples, out=out,
        width=width, color=color,
    )  # fmt: skip
    text, drawn = make_report(asked)
    if out:
        from warehouse.beside import file_beside

        with file_beside(out) as partial:
            partial.write_text(text, encoding="utf-8")
    else:
        click.echo(text, nl=False)
    for path in drawn:
        click.echo(f"{path}, its numbers in {path.with_suffix('.csv')}", err=True)


@click.command(
    epilog="Examples: pyeval doctor | pyeval doctor --no-text --json | pyeval doctor --check "
    "--picture doctor.svg"
)
@click.argument("vintages", nargs=-1)
@click.option("--documents", type=click.IntRange(2), default=1_000, show_default=True,
              help="That tokens per word and geometry are measured on.")  # fmt: skip
@click.option("--no-text", is_flag=True, help="Only runs and scores: load no model, need no lake.")
@click.option("--json", "as_json", is_flag=True, help="Every measure, one JSON object a line.")
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path),
              help="Draw each measure over the vintages here (.svg, .png, .pdf), the odd ones "
              "ringed, with a CSV of its numbers beside.")  # fmt: skip
@click.option("--check", is_flag=True, help="Exit with 1 when a vintage is odd.")
def doctor(vintages, documents, no_text, as_json, picture, check) -> None:
    """Find vintages that do not fit between their neighbours, and say what is odd of them.

    Compares the vintages of a family by their settings, tokens per word, mixture of sources, loss
    on held-out text, geometry of the vectors, and z-scores on the tasks. VINTAGES are runs or
    scored models; all of them when left out.
    """
    from pyeval import doctor as vintage_doctor
    from pyeval.pictures import check_picture
    from warehouse.errors import CheckFailed

    if picture:
        check_picture(picture)
    series, findings = vintage_doctor.measure(vintages, documents=documents, with_text=not no_text)
    found = vintage_doctor.diagnose(findings + vintage_doctor.odd(series))
    if picture:
        table = vintage_doctor.picture(series).write(picture)
        click.echo(f"{picture}, its numbers in {table}", err=True)
    if as_json:
        for row in vintage_doctor.values(series):
            click.echo(json.dumps(row))
    for line in vintage_doctor.unjudged(series):
        click.echo(line, err=True)
    for one in found:
        for line in one.said():
            click.echo(line, err=as_json)
    if not found:
        click.echo(f"no odd vintage by {len(series)} measures", err=as_json)
    if found and check:
        raise CheckFailed(f"{len(found)} odd vintages")
