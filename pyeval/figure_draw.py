"""Draws the rows of `figure_numbers`: a scatter, bars and heat maps, the same bytes every time."""

import io
from collections.abc import Callable

from pyeval.figure_numbers import Rows
from pyeval.paper_tasks import PAPER_TASKS

COLOURS = {"baseline": "#8a8f98", "vintage": "#3b6fa5", "tuned vintage": "#d1741f"}
_MARKERS = {"baseline": "s", "vintage": "o", "tuned vintage": "D"}
FORMATS = ("svg", "png", "pdf")
# Without these a picture of the same numbers differs from run to run.
_BARE = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_Z_SHOWN = 2.5  # standard deviations at which the colour is full


def draw(make: Callable, rows: Rows, suffix: str) -> bytes:
    """A picture of the rows in a format of `FORMATS`.

    Args:
        make: `scatter`, `bars`, `heat` or one of `curve_draw`; pyplot and rows to a figure.
        rows: what it draws; at least one.
        suffix: svg, png or pdf.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": "scitlake", "font.size": 8, "font.family": "DejaVu Sans"}):
        figure = make(plt, rows)
        out = io.BytesIO()
        figure.savefig(out, format=suffix, dpi=150, metadata=_BARE[suffix], bbox_inches="tight")
        plt.close(figure)
    return out.getvalue()


def scatter(plt, rows: Rows):
    """Figure 1: a panel per category, each mean against the last year that a system knows."""
    parts = [p for p in ("Mean", "Sci", "Pat") if any(row["mean_of"] == p for row in rows)]
    categories = list(dict.fromkeys(row["category"] for row in rows))
    years = sorted({row["cutoff"] for row in rows if row["cutoff"] is not None})
    # Systems that state no year stand left of the years, with room for their names.
    none_at = years[0] - max(1.0, 0.4 * (years[-1] - years[0])) if years else 0
    ticks = {none_at: "none"} | {year: str(year) for year in some_years(years)}
    figure, axes = plt.subplots(
        len(parts),
        len(categories),
        figsize=(0.6 + 3.3 * len(categories), 0.9 + 2.7 * len(parts)),
        squeeze=False,
        layout="constrained",
    )
    said = {"Mean": "mean of both benchmarks", "Sci": "SciRepEval", "Pat": "PatRepEval"}
    for line, part in zip(axes, parts, strict=True):
        for axis, category in zip(line, categories, strict=True):
            mine = [r for r in rows if (r["mean_of"], r["category"]) == (part, category)]
            _scatter_panel(axis, mine, none_at)
            axis.set_title(f"{category}: {said[part]}", loc="left", fontsize=9)
            plain(axis)
            axis.grid(axis="y", color="#e4e6ea", linewidth=0.6)
            axis.set_axisbelow(True)
            axis.set_xticks(list(ticks), list(ticks.values()))
            axis.set_xlabel("last year known")
    axes[0][0].set_ylabel("mean score")
    _legend(figure, rows)
    return figure


def _scatter_panel(axis, rows: Rows, none_at: float) -> None:
    named = []
    for name, colour in COLOURS.items():
        mine = [row for row in rows if row["kind"] == name]
        at = [none_at if row["cutoff"] is None else row["cutoff"] for row in mine]
        values = [row["value"] for row in mine]
        axis.scatter(at, values, s=26, color=colour, marker=_MARKERS[name], alpha=0.9, linewidths=0)
        if name == "baseline":
            named = sorted(zip(values, at, (row["system"] for row in mine), strict=True))
    low, high = axis.get_ylim()
    heights = spread([value for value, _, _ in named], 0.05 * (high - low))
    for (_, x, system), height in zip(named, heights, strict=True):
        axis.annotate(
            system, (x, height), (6, 0), textcoords="offset points", fontsize=6, va="center"
        )


def spread(heights: list[float], gap: float) -> list[float]:
    """Ascending heights moved apart to at least `gap`, each group about its own middle."""
    groups: list[list[float]] = []  # wanted heights of labels that touch

    def middle(group: list[float]) -> float:
        return sum(group) / len(group)

    for height in heights:
        groups.append([height])
        while len(groups) > 1:
            one, other = groups[-2:]
            apart = middle(other) - middle(one)
            if apart >= gap * (len(one) + len(other)) / 2:
                break
            groups[-2:] = [one + other]
    return [
        middle(group) + gap * (i - (len(group) - 1) / 2)
        for group in groups
        for i in range(len(group))
    ]


def bars(plt, rows: Rows):
    """Figures 2 and 3: a panel per task, a bar per system with its 95% interval."""
    tasks = _in_order(rows)
    systems = list(dict.fromkeys(row["system"] for row in rows))
    across = min(3, len(tasks))
    down = -(-len(tasks) // across)
    figure, axes = plt.subplots(
        down,
        across,
        figsize=(1.2 + 2.5 * across, 0.6 + down * (0.75 + 0.19 * len(systems))),
        squeeze=False,
        sharey=True,
        layout="constrained",
    )
    place = {system: -i for i, system in enumerate(systems)}
    for axis, task in zip(axes.flat, tasks, strict=False):
        mine = [row for row in rows if row["task"] == task]
        _bar_panel(axis, mine, place)
        axis.set_title(mine[0]["title"], loc="left", fontsize=9)
        n = "-".join(f"{count:,}" for count in sorted({row["n"] for row in mine}))
        axis.set_xlabel(f"{mine[0]['metric']} (n={n})", fontsize=7)
    for axis in list(axes.flat)[len(tasks) :]:
        axis.axis("off")
    _legend(figure, rows)
    return figure


def _bar_panel(axis, rows: Rows, place: dict[str, int]) -> None:
    for row in rows:
        at = place[row["system"]]
        axis.barh(at, row["value"], color=COLOURS[row["kind"]], height=0.74)
        if row["low"] is not None:
            axis.plot([row["low"], row["high"]], [at, at], color="#222222", linewidth=0.9)
        end = max(row["value"], row["high"] if row["high"] is not None else row["value"], 0)
        star = "*" if row["contaminated"] else ""
        axis.annotate(
            f"{row['value']:.1f}{star}", (end, at), (2, 0), textcoords="offset points",
            va="center", fontsize=6, color="#444444",
        )  # fmt: skip
    axis.set_yticks(list(place.values()), list(place), fontsize=7)
    axis.set_ylim(min(place.values()) - 0.6, 0.6)
    axis.margins(x=0.14)
    if all(min(row["value"], row["low"] or 0.0) >= 0 for row in rows):
        axis.set_xlim(left=0)
    plain(axis)


def heat(plt, rows: Rows):
    """Figures 4 to 6: z-scores as colour, the three best of a task marked 1, 2 and 3."""
    from matplotlib.colors import Normalize

    first = {row["task"]: row for row in reversed(rows)}
    tasks = {task: first[task] for task in _in_order(rows)}
    systems = list(dict.fromkeys(row["system"] for row in rows))
    column = {task: i for i, task in enumerate(tasks)}
    line = {system: i for i, system in enumerate(systems)}
    figure, axis = plt.subplots(
        figsize=(1.9 + 0.24 * len(tasks), 1.9 + 0.21 * len(systems)), layout="constrained"
    )
    shade, scale = plt.get_cmap("RdBu"), Normalize(-_Z_SHOWN, _Z_SHOWN, clip=True)
    axis.set_facecolor("#ececec")
    for row in rows:
        x, y, z = column[row["task"]], line[row["system"]], row["z"]
        fill = "#f7f7f7" if z is None else shade(scale(z))
        axis.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="white"))
        if row["rank"] <= 3 and z is not None:
            dark = abs(z) > 0.65 * _Z_SHOWN
            axis.text(
                x, y, str(row["rank"]), ha="center", va="center", fontsize=7,
                color="white" if dark else "#222222",
                fontweight="bold" if row["rank"] == 1 else "normal",
            )  # fmt: skip
    axis.set_xlim(-0.5, len(tasks) - 0.5)
    axis.set_ylim(len(systems) - 0.5, -0.5)
    axis.set_xticks(
        range(len(tasks)), [row["title"] for row in tasks.values()], rotation=60, ha="right",
        rotation_mode="anchor", fontsize=7,
    )  # fmt: skip
    axis.set_yticks(range(len(systems)), systems, fontsize=7)
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
    _breaks(axis, list(tasks.values()))
    bar = figure.colorbar(
        plt.cm.ScalarMappable(scale, shade), ax=axis, shrink=0.6, aspect=18, pad=0.01
    )
    bar.set_label("z-score", fontsize=7)
    bar.outline.set_visible(False)
    return figure


def _breaks(axis, tasks: Rows) -> None:
    """A line where the benchmark or the category changes."""
    for i, (one, other) in enumerate(zip(tasks, tasks[1:], strict=False)):
        if (one["benchmark"], one["category"]) != (other["benchmark"], other["category"]):
            wide = 1.8 if one["benchmark"] != other["benchmark"] else 0.8
            axis.axvline(i + 0.5, color="#222222", linewidth=wide)


def _in_order(rows: Rows) -> list[str]:
    """The tasks of the rows in the order of the paper."""
    have = {row["task"] for row in rows}
    return [task for task in PAPER_TASKS if task in have]


def _legend(figure, rows: Rows) -> None:
    from matplotlib.patches import Patch

    shown = [name for name in COLOURS if any(row["kind"] == name for row in rows)]
    figure.legend(
        handles=[Patch(color=COLOURS[name], label=name) for name in shown],
        loc="outside lower center",
        ncols=len(shown),
        frameon=False,
    )


def some_years(years: list[int]) -> list[int]:
    """At most seven years to write below an axis, the last among them."""
    step = -(-len(years) // 7)
    return years[::-1][::step][::-1]


def plain(axis) -> None:
    """Takes off the frame that carries no number."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.tick_params(labelsize=7)
