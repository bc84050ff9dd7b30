"""`pyeval leaderboard` and `pyeval check`: scores that can be made again."""

from pathlib import Path

import click

from warehouse.errors import CheckFailed


@click.command(epilog="Example: pyeval leaderboard --out board.jsonl")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSON lines to write, one score a line.",
)
def leaderboard(models: tuple[str, ...], out: Path) -> None:
    """Write the scores of each MODEL, or of all, with the hashes of model, task and settings."""
    from pyeval.leaderboard import write_board

    click.echo(f"{out}: {write_board(out, models):,} scores")


@click.command(epilog="Example: pyeval check board.jsonl --model bm25 --task patent_cite")
@click.argument("board", type=click.Path(path_type=Path))
@click.option("--model", "models", multiple=True, help="Only this one, as the board names it.")
@click.option("--task", "tasks", multiple=True, help="Only this one, with its variants.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.05,  # our choice: half of the last digit that tables print
    show_default=True,
    help="Points of 100 by which a score may differ.",
)
def check(board: Path, models: tuple[str, ...], tasks: tuple[str, ...], tolerance: float) -> None:
    """Score the rows of a leaderboard file again; exit code 1 when one does not hold.

    A row holds when model and task are the very ones of the board and the score is the same within
    the tolerance. Another model or another build of the task is no drift, and said to be so.
    """
    from pyeval.leaderboard import check_board, read_board

    click.echo("model\twhitened\ttask\tmetric\tcolumn\tboard\tnow\tverdict")
    checked = []
    for one in check_board(read_board(board), models=models, tasks=tasks, tolerance=tolerance):
        row = one.row
        names = (row["model"], str(row["whitened"]).lower(), *(row[k] for k in _NAMES))
        values = ["" if v is None else f"{v:.2f}" for v in (row["value"], one.value)]
        click.echo("\t".join([*names, *values, one.verdict]))
        checked.append(one)
    bad = [one for one in checked if not one.holds]
    if bad:
        kinds = sorted({one.verdict for one in bad})
        raise CheckFailed(
            f"{len(bad):,} of {len(checked):,} scores of {board} do not hold "
            f"({', '.join(kinds)}). Rows that are right now are written by: pyeval leaderboard"
        )


_NAMES = ("task", "metric", "column")
