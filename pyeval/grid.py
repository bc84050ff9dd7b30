"""Scores as the paper compares them: systems by tasks, with ranks, z-scores and category means."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, pstdev

from pyeval.columns import ALL_EXAMPLES
from pyeval.paper_tasks import BENCHMARKS, CATEGORIES, PAPER_TASKS, Benchmark, PaperTask, tasks_of
from pyeval.registry import is_tuned

_VINTAGE = re.compile(
    r"(?P<family>.+)-(?P<year>(19|20)\d\d)(?P<seed>-s\d+)?(?P<stage>(-static)?(-ci)?)", re.I
)


@dataclass(frozen=True, slots=True)
class Vintage:
    """What a run's name says: `sample-2013-s1-ci` is of family `sample-s1-ci`, year 2013."""

    family: str
    year: int
    tuned: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a table: one model, in one state of its weights."""

    label: str
    model: str
    fingerprint: str
    whitened: bool
    cutoff: int | None  # the last year it knows; None where it does not say
    vintage: Vintage | None  # None for a baseline
    tuned: bool


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a category's tasks, or what it lacks."""

    value: float | None
    missing: tuple[str, ...]  # tasks without a comparable score


@dataclass(frozen=True)
class Grid:
    """Comparable scores: of each task only those on the build that most entries were scored on."""

    column: str
    divided_at: int | None  # the year that divides the column in time; None for `all`
    entries: tuple[Entry, ...]
    cells: dict[tuple[str, str], dict]  # (label, task) -> score row with a value
    left_out: tuple[str, ...]  # scores that no rank, z-score or mean may use, and why

    def value(self, label: str, task: str) -> float | None:
        """A comparable score, 0 to 100."""
        row = self.cells.get((label, task))
        return None if row is None else row["value"]

    def values(self, task: str) -> dict[str, float]:
        """The scores of a task by entry."""
        return {
            e.label: row["value"] for e in self.entries if (row := self.cells.get((e.label, task)))
        }

    def scored(self, benchmark: Benchmark | None = None) -> tuple[PaperTask, ...]:
        """The tasks that any entry has a score for, in the paper's order."""
        have = {task for _, task in self.cells}
        return tuple(
            task
            for task in PAPER_TASKS.values()
            if task.name in have and benchmark in (None, task.benchmark)
        )

    def only(self, labels: Iterable[str]) -> "Grid":
        """The same of some entries."""
        kept = set(labels)
        return Grid(
            self.column,
            self.divided_at,
            tuple(entry for entry in self.entries if entry.label in kept),
            {key: row for key, row in self.cells.items() if key[0] in kept},
            self.left_out,
        )


def vintage_of(model: str) -> Vintage | None:
    """The vintage that a name says, or None."""
    found = _VINTAGE.fullmatch(model)
    if found is None or model.lower().startswith(("chronobert", "random-", "tfidf")):
        return None  # baselines, whatever year their names hold
    stage = found["stage"].lower()
    return Vintage(found["family"] + (found["seed"] or "") + stage, int(found["year"]), bool(stage))


def grids(rows: Iterable[dict], column: str = ALL_EXAMPLES) -> list[Grid]:
    """The paper's tasks of these score rows (see `results.read_all`), in comparable groups.

    All examples of a task are the same for every model. A column divided in time is not, so it
    gives one grid per year of division.
    """
    mine = [
        row
        for row in rows
        if row["column"] == column
        and not row["variant"]
        and row["task"] in PAPER_TASKS
        and row["metric"] == PAPER_TASKS[row["task"]].metric
    ]
    if column == ALL_EXAMPLES:
        return [_grid(mine, column, None)] if mine else []
    years = sorted({row["cutoff"] for row in mine if row["cutoff"] is not None})
    return [_grid([row for row in mine if row["cutoff"] == year], column, year) for year in years]


def ranks(values: Mapping[str, float]) -> dict[str, int]:
    """1 for the highest; equal scores share the better rank, and the next one is left out."""
    return {
        label: 1 + sum(other > value for other in values.values())
        for label, value in values.items()
    }


def z_scores(values: Mapping[str, float]) -> dict[str, float]:
    """Standard deviations (of the population) from the mean; none where nothing differs.

    Source: scitbert.txt, Figure 4: "in standard deviations from the task mean performance across
    the models". Which deviation is not said; the population's is our choice.
    """
    spread = pstdev(values.values()) if len(values) > 1 else 0.0
    if spread <= 1e-12:
        return {}
    middle = fmean(values.values())
    return {label: (value - middle) / spread for label, value in values.items()}


def category_mean(grid: Grid, label: str, benchmark: Benchmark, category: str) -> Mean:
    """One cell of Table 2; no value unless every task of the category has a score."""
    found = {task.name: grid.value(label, task.name) for task in tasks_of(benchmark, category)}
    missing = tuple(name for name, value in found.items() if value is None)
    return Mean(None if missing else fmean(found.values()), missing)


def category_means(grid: Grid, label: str) -> dict[tuple[str, str], Mean]:
    """(category, "Sci", "Pat" or "Mean") -> the cell of Table 2; Mean is that of the two means."""
    found: dict[tuple[str, str], Mean] = {}
    for category in CATEGORIES:
        parts = {b: category_mean(grid, label, b, category) for b in BENCHMARKS}
        found |= {(category, benchmark): mean for benchmark, mean in parts.items()}
        missing = tuple(name for mean in parts.values() for name in mean.missing)
        whole = None if missing else fmean(mean.value for mean in parts.values())
        found[category, "Mean"] = Mean(whole, missing)
    return found


def _grid(rows: list[dict], column: str, year: int | None) -> Grid:
    common = _common_builds(rows)
    entries = _entries(rows)
    cells: dict[tuple[str, str], dict] = {}
    left_out: dict[str, None] = {}  # each once, in order
    for row in rows:
        key = entries[_key(row)].label, row["task"]
        if row["value"] is None:
            continue
        if row["task_fingerprint"] != common[row["task"]]:
            left_out[f"{key[0]} on {key[1]}: another build of the task than most systems"] = None
            continue
        held = cells.setdefault(key, row)
        if abs(held["value"] - row["value"]) > 1e-6:
            left_out[f"{key[0]} on {key[1]}: scored twice, with different results"] = None
            cells[key] = held | {"twice": True}
    kept = {key: row for key, row in cells.items() if "twice" not in row}
    ordered = sorted(entries.values(), key=_place)
    return Grid(column, year, tuple(ordered), kept, tuple(left_out))


def _common_builds(rows: list[dict]) -> dict[str, str]:
    """Task -> the build that most models were scored on; the first by name of equals."""
    held_by: dict[str, dict[str, set]] = {}
    for row in rows:
        builds = held_by.setdefault(row["task"], {})
        builds.setdefault(row["task_fingerprint"], set()).add(_key(row))
    return {
        task: max(sorted(builds), key=lambda one: len(builds[one]))
        for task, builds in held_by.items()
    }


def _key(row: dict) -> tuple[str, bool, str]:
    return row["model"], bool(row["whitened"]), row["model_fingerprint"]


def _entries(rows: list[dict]) -> dict[tuple[str, bool, str], Entry]:
    """Models that differ in weights are apart, even under one name; the label then says which."""
    held: dict[tuple[str, bool, str], list[dict]] = {}
    for row in rows:
        held.setdefault(_key(row), []).append(row)
    labels = {key: key[0] + ", white" * key[1] for key in held}
    for more in (lambda key: _years(held[key]), lambda key: f" ({key[2][:6]})"):
        often = Counter(labels.values())
        labels = {k: said + more(k) if often[said] > 1 else said for k, said in labels.items()}
    found = {}
    for key, own in held.items():
        model, whitened, fingerprint = key
        vintage = vintage_of(model)
        tuned = vintage.tuned if vintage else is_tuned(model)
        unsure = any(not row["states_cutoff"] for row in own)
        cutoff = None if unsure else _cutoff(own, vintage)
        found[key] = Entry(labels[key], model, fingerprint, whitened, cutoff, vintage, tuned)
    return found


def _years(rows: list[dict]) -> str:
    """The years that a baseline was scored at, as its files are named: tfidf-svd@2013."""
    said = {row["system"].split("+")[0].partition("@")[2] for row in rows} - {""}
    return " @" + ",".join(sorted(said)) if said else ""


def _cutoff(rows: list[dict], vintage: Vintage | None) -> int | None:
    said = (json.loads(row["settings"]).get("model_cutoff") for row in rows)
    return next((year for year in said if year is not None), vintage.year if vintage else None)


def _place(entry: Entry) -> tuple:
    """Baselines, then families of vintages, untuned before tuned, by year."""
    one = entry.vintage
    if one is None:
        return (0, "", 0, entry.label)
    return (1 + one.tuned, one.family, one.year, entry.label)
