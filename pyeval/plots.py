"""One picture of a report, and the numbers it drew."""

from pyeval.columns import ALL_EXAMPLES, OUT_OF_TIME
from pyeval.pictures import Figure
from pyeval.report import Section
from warehouse.errors import UserError

Bar = dict[str, object]


def bars(found: list[Section]) -> list[Bar]:
    """The numbers of the picture: each retrieval task's MAP out of time, by system.

    A section without a cutoff has no such column; all of its queries are drawn, and said so.
    """
    drawn = []
    for section in found:
        column = ALL_EXAMPLES if section.cutoff is None else OUT_OF_TIME
        for block in section.main:
            if block.format != "retrieve":
                continue
            for system in section.systems:
                row = block.cells.get((system, column))
                if row is not None and row["value"] is not None:
                    drawn.append(
                        {
                            "cutoff": section.cutoff,
                            "task": block.title,
                            "metric": block.metric,
                            "column": column,
                            "system": section.labels[system],
                            "value": row["value"],
                            "low": row["low"],
                            "high": row["high"],
                            "n": row["n"],
                        }
                    )
    return drawn


def picture(found: list[Section]) -> Figure:
    """The bars with their 95% intervals.

    Raises:
        UserError: nothing to draw.
    """
    drawn = bars(found)
    if not drawn:
        raise UserError(
            "no retrieval score out of time to draw. Make some with: pyeval run MODEL --cutoff 2013"
        )
    return Figure("map", "MAP out of time", "Bars are scores, lines 95% intervals.", drawn, _draw)


def _draw(plt, drawn: list[Bar]):
    panels: dict[tuple, list[Bar]] = {}
    for one in drawn:
        panels.setdefault((one["cutoff"], one["task"]), []).append(one)
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    tall = max(len(one) for one in panels.values())
    figure, axes = plt.subplots(
        down, across, figsize=(5.2 * across, down * (0.9 + 0.26 * tall)), squeeze=False
    )
    for axis, ((cutoff, task), rows) in zip(axes.flat, panels.items(), strict=False):
        _panel(axis, rows)
        when = "all queries" if cutoff is None else f"queries after {cutoff}"
        axis.set_title(f"{task}, {when} (n={rows[0]['n']:,})", fontsize=9, loc="left")
        axis.set_xlabel(f"{rows[0]['metric']} and 95% interval", fontsize=8)
    for axis in list(axes.flat)[len(panels) :]:
        axis.axis("off")
    figure.tight_layout()
    return figure


def _panel(axis, rows: list[Bar]) -> None:
    """Systems from best to worst, top down."""
    ordered = sorted(rows, key=lambda one: (one["value"], one["system"]))
    place = range(len(ordered))
    axis.barh(place, [one["value"] for one in ordered], color="#5b7fa6", height=0.7)
    for at, one in zip(place, ordered, strict=True):
        if one["low"] is not None:
            axis.plot([one["low"], one["high"]], [at, at], color="#222222", linewidth=1)
    axis.set_yticks(list(place), [one["system"] for one in ordered], fontsize=8)
    axis.tick_params(axis="x", labelsize=8)
    axis.set_xlim(left=0)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
