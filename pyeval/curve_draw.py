"""Draws lines over years: scores by years past the cutoff, and the doctor's measures."""

import math

from pyeval.figure_draw import plain, some_years
from pyeval.figure_numbers import Rows
from pyeval.tasks import LABELS

_CYCLE = ("#3b6fa5", "#d1741f", "#4b8b57", "#8a5aa8", "#b23a48", "#6b7280", "#c2a11f", "#2a9d9d")
_ODD = "#b3122a"


def years_past(plt, rows: Rows):
    """A panel per task: a line per system, the mean of a group's vintages thick.

    A group of several vintages shows the interval of their mean; a system by itself its own.
    """
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    groups = list(dict.fromkeys(row["group"] for row in rows))
    colour = {group: _CYCLE[i % len(_CYCLE)] for i, group in enumerate(groups)}
    figure, axes = _panels(plt, len(tasks))
    for axis, task in zip(axes, tasks, strict=True):
        own = [row for row in rows if row["task"] == task]
        several = {row["group"] for row in own if row["kind"] == "mean"}
        lines: dict[tuple, Rows] = {}
        for row in own:
            lines.setdefault((row["group"], row["system"], row["kind"]), []).append(row)
        for (group, _, kind), line in lines.items():
            one_of_several = kind == "system" and group in several
            _line(axis, line, colour[group], thin=one_of_several)
        axis.axvline(0.5, color="#9aa0a6", linewidth=0.8, linestyle=":")
        axis.set_title(task, loc="left", fontsize=9)
        axis.set_ylabel(LABELS[own[0]["metric"]], fontsize=7)
        axis.set_xlabel("years past the cutoff", fontsize=7)
        axis.set_xticks(some_years(sorted({row["years_past"] for row in own})))
        plain(axis)
    _legend(figure, colour)
    return figure


def measures(plt, rows: Rows):
    """A panel per measure: a line per family over its vintages, odd ones ringed and named."""
    names = list(dict.fromkeys((row["cause"], row["measure"]) for row in rows))
    families = list(dict.fromkeys(row["family"] for row in rows))
    colour = {family: _CYCLE[i % len(_CYCLE)] for i, family in enumerate(families)}
    figure, axes = _panels(plt, len(names))
    for axis, name in zip(axes, names, strict=True):
        own = [row for row in rows if (row["cause"], row["measure"]) == name]
        for family in families:
            line = sorted((r for r in own if r["family"] == family), key=lambda row: row["year"])
            years = [row["year"] for row in line]
            axis.plot(
                years, [row["value"] for row in line], color=colour[family], marker="o",
                markersize=3, linewidth=1.2,
            )  # fmt: skip
            wanted = [math.nan if row["expected"] is None else row["expected"] for row in line]
            axis.plot(years, wanted, color=colour[family], linewidth=0.8, linestyle=":")
            for row in line:
                if row["odd"]:
                    _ring(axis, row)
        axis.set_title(f"{name[0]}: {name[1]}", loc="left", fontsize=7)
        axis.set_xlabel("vintage", fontsize=7)
        axis.set_xticks(some_years(sorted({row["year"] for row in own})))
        axis.margins(y=0.18)
        plain(axis)
    _legend(figure, colour)
    return figure


def _line(axis, rows: Rows, colour: str, *, thin: bool) -> None:
    """One system; the line breaks where it has no score."""
    rows = sorted(rows, key=lambda row: row["years_past"])
    at = [row["years_past"] for row in rows]
    values, low, high = (
        [math.nan if row[key] is None else row[key] for row in rows]
        for key in ("value", "low", "high")
    )
    if thin:
        axis.plot(at, values, color=colour, linewidth=0.6, alpha=0.5)
        return
    axis.plot(at, values, color=colour, linewidth=1.8, marker="o", markersize=3)
    axis.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)


def _ring(axis, row: dict) -> None:
    axis.plot(
        row["year"], row["value"], marker="o", markersize=9, markerfacecolor="none",
        markeredgecolor=_ODD, markeredgewidth=1.3,
    )  # fmt: skip
    axis.annotate(
        f"{row['year']}, z {row['z']:+.1f}", (row["year"], row["value"]), (0, 7),
        textcoords="offset points", ha="center", fontsize=6, color=_ODD,
    )  # fmt: skip


def _panels(plt, n: int) -> tuple:
    """A figure of n panels, at most three across, and their axes."""
    across = min(3, n)
    down = -(-n // across)
    figure, axes = plt.subplots(
        down, across, figsize=(0.8 + 3.2 * across, 0.7 + 2.2 * down), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis in list(axes.flat)[n:]:
        axis.axis("off")
    return figure, list(axes.flat)[:n]


def _legend(figure, colour: dict[str, str]) -> None:
    from matplotlib.lines import Line2D

    figure.legend(
        handles=[Line2D([], [], color=shade, label=name) for name, shade in colour.items()],
        loc="outside lower center",
        ncols=min(4, len(colour)),
        frameon=False,
    )
