"""Scores by years past the cutoff: how a vintage ages, from the evidence that was kept.

Each test item is put by its task_year less the cutoff, so 0 is the last year that the model read.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pyeval.bootstrap import bounds, resampled, value
from pyeval.columns import ALL_EXAMPLES, TEXT_SEEN
from pyeval.grid import vintage_of
from pyeval.items import examples, from_table
from pyeval.report import base_task, mark_other_builds
from pyeval.tasks import TASKS
from warehouse.errors import UserError

SHOWN = ("", "distinct")  # variants that are shown without being asked for


@dataclass(frozen=True, slots=True)
class Point:
    """One score: a system's items of one year, or the mean of a group's vintages."""

    task: str  # with its variant
    metric: str
    system: str  # as its scores are kept; the group of a mean
    group: str  # vintages that a mean is over: a family, or a baseline at several cutoffs
    cutoffs: tuple[int, ...]  # of the system, or of the vintages in a mean
    years_past: int  # task_year less the cutoff
    value: float | None  # 0 to 100; null without items, undefined, or where a vintage lacks it
    low: float | None  # 95% bootstrap interval over items
    high: float | None
    n: int  # items
    n_text_seen: int  # items after the cutoff left out, because their text had been read
    is_mean: bool = False
    missing: tuple[int, ...] = ()  # cutoffs of the vintages that lack the point
    contaminated: bool = False  # the model was tuned on these labels
    states_cutoff: bool = True  # false: it may know any year

    def said(self) -> str:
        """The score as a cell."""
        if self.missing:
            return f"lacks {', '.join(map(str, self.missing))}"
        if self.n == 0:
            return "no examples"
        if self.value is None:
            return "undefined"
        return f"{self.value:.1f}{'*' * self.contaminated}"


@dataclass(frozen=True, slots=True)
class Curves:
    """The points of all tasks, in the order of tasks, groups, cutoffs and years."""

    points: tuple[Point, ...]
    left_out: tuple[str, ...]  # scores without a curve, and why


def curves(
    rows: Iterable[dict],
    items_of: Callable[[str], pa.Table],
    *,
    around: int,
    tasks: Sequence[str] = (),
    resamples: int = 1_000,
) -> Curves:
    """Scores by years past the cutoff, in the metric that enters the means.

    Args:
        rows: score rows with their `system`, see `results.read_all`.
        items_of: the evidence of a system, see `results.read_items`.
        around: years before and after the cutoff, at most.
        tasks: with their variants; the tasks as published and without near-copies when left out.
        resamples: of the bootstrap; vintages are drawn apart, because at the same distance from
            their cutoffs they are asked about different years.

    Raises:
        UserError: no score has a cutoff, or the evidence is not that of the scores.
    """
    chosen, left_out = _chosen(rows, tasks)
    if not chosen:
        raise UserError(
            "no score here has a cutoff to count years from. Make some with: "
            "pyeval run MODEL --cutoff 2013" + "".join(f"\n{line}" for line in left_out)
        )
    cutoffs: dict[str, set[int]] = {}  # of each group, on any task
    for row in chosen:
        cutoffs.setdefault(group_of(row), set()).add(row["cutoff"])
    held: dict[str, pa.Table] = {}
    points: list[Point] = []
    for task in dict.fromkeys(row["task"] for row in chosen):
        own = [row for row in chosen if row["task"] == task]
        drawn: dict[tuple[str, int], dict[int, tuple[Point, NDArray | None]]] = {}
        for row in own:
            if row["system"] not in held:
                held[row["system"]] = items_of(row["system"])
            found = _points(row, held[row["system"]], around, resamples)
            drawn[group_of(row), row["cutoff"]] = found
        asked = {k for found in drawn.values() for k, (point, _) in found.items() if point.n}
        for group in dict.fromkeys(map(group_of, own)):
            parts = {year: drawn.get((group, year), {}) for year in sorted(cutoffs[group])}
            for found in parts.values():
                points += [found[k][0] for k in sorted(found) if k in asked]
            if len(parts) > 1:
                points += [_mean(group, parts, k) for k in sorted(asked)]
    return Curves(tuple(points), tuple(left_out))


def group_of(row: dict) -> str:
    """The vintages that belong to one curve: a family, or one baseline at several cutoffs."""
    vintage = vintage_of(row["model"])
    name = vintage.family if vintage else row["model"]
    return name + ", white" * bool(row["whitened"])


def table_rows(found: Curves) -> list[dict[str, object]]:
    """The points as rows of a table, which is also what the picture draws."""
    return [
        {
            "task": one.task,
            "metric": one.metric,
            "system": one.system,
            "group": one.group,
            "kind": "mean" if one.is_mean else "system",
            "cutoff": " ".join(map(str, one.cutoffs)),
            "years_past": one.years_past,
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "n": one.n,
            "n_text_seen": one.n_text_seen,
            "missing": " ".join(map(str, one.missing)),
            "contaminated": one.contaminated,
            "states_cutoff": one.states_cutoff,
        }
        for one in found.points
    ]


def _chosen(rows: Iterable[dict], tasks: Sequence[str]) -> tuple[list[dict], list[str]]:
    """One row per system and task, in order, and what has no place on a curve."""
    order, wanted = list(TASKS), set(tasks)
    kept, left_out = [], []
    for row in mark_other_builds(list(rows)):
        base = base_task(row)
        if row["column"] != ALL_EXAMPLES or base not in TASKS:
            continue
        shown = bool({row["task"], base} & wanted) if wanted else row["variant"] in SHOWN
        if not shown or row["metric"] != TASKS[base].metric:
            continue
        own = json.loads(row["settings"]).get("model_cutoff")
        if row["cutoff"] is None:
            left_out.append(f"{row['system']}: states no cutoff, and was scored without one")
        elif own not in (None, row["cutoff"]):
            left_out.append(
                f"{row['system']}: divided at {row['cutoff']}, and its own cutoff is {own}"
            )
        elif row["other_build"]:
            left_out.append(
                f"{row['system']} on {row['task']}: another build of the task than most systems"
            )
        else:
            kept.append(row)
    kept.sort(
        key=lambda row: (
            order.index(base_task(row)), row["variant"], row["task"], group_of(row), row["cutoff"]
        )
    )  # fmt: skip
    return kept, list(dict.fromkeys(left_out))


def _points(
    row: dict, items: pa.Table, around: int, resamples: int
) -> dict[int, tuple[Point, NDArray | None]]:
    """Years past the cutoff -> the system's point, and the scores of its resamples."""
    own = examples(items, row, ALL_EXAMPLES)
    if len(own) != row["n"]:
        raise UserError(
            f"{row['system']} has {len(own):,} examples of {row['task']} kept, and a score of "
            f"{row['n']:,}. Score it again: pyeval run {row['model']} --task {base_task(row)}"
        )
    past = own.column("task_year").to_numpy() - row["cutoff"]
    read = np.array([one == TEXT_SEEN for one in own.column("column").to_pylist()], dtype=bool)
    found = {}
    for k in range(-around, around + 1):
        here = past == k
        evidence = from_table(own.filter(pa.array(here & ~read)), row["format"])
        scores = resampled(evidence, resamples=resamples, seed=row["cutoff"])
        low, high = bounds(scores) or (None, None)
        found[k] = (
            Point(
                task=row["task"],
                metric=row["metric"],
                system=row["system"],
                group=group_of(row),
                cutoffs=(row["cutoff"],),
                years_past=k,
                value=value(evidence),
                low=low,
                high=high,
                n=len(evidence),
                n_text_seen=int((here & read).sum()),
                # Pairs that a citation of the slice joins were seen, whatever the query's year.
                contaminated=bool(row["contaminated"] and (k <= 0 or row["variant"] == "seen")),
                states_cutoff=row["states_cutoff"],
            ),
            scores,
        )
    return found


def _mean(
    group: str, parts: dict[int, dict[int, tuple[Point, NDArray | None]]], years_past: int
) -> Point:
    """The mean over a group's vintages; no value where one of them has none."""
    held = {cutoff: found[years_past] for cutoff, found in parts.items() if found}
    missing = tuple(c for c in parts if c not in held or held[c][0].value is None)
    points = [point for point, _ in held.values()]
    scores = [one for _, one in held.values()]
    low = high = None
    if not missing and all(one is not None for one in scores):
        low, high = bounds(np.mean(scores, axis=0)) or (None, None)
    return Point(
        task=points[0].task,
        metric=points[0].metric,
        system=group,
        group=group,
        cutoffs=tuple(parts),
        years_past=years_past,
        value=None if missing else fmean(point.value for point in points),
        low=low,
        high=high,
        n=sum(point.n for point in points),
        n_text_seen=sum(point.n_text_seen for point in points),
        is_mean=True,
        missing=missing,
        contaminated=any(point.contaminated for point in points),
        states_cutoff=all(point.states_cutoff for point in points),
    )
