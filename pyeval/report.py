"""Scores grouped for reading: systems by tasks, divided by when the examples fall."""

from collections.abc import Iterable
from dataclasses import dataclass

from pyeval.columns import ALL_EXAMPLES, COLUMNS, IN_TIME, OUT_OF_TIME, TEXT_SEEN
from pyeval.paper_tasks import tasks_of
from pyeval.tasks import LABELS, TASKS

Cells = dict[tuple[str, str], dict]  # (system, column) -> score row

MEANS = {"classify": "classification", "regress": "regression", "retrieve": "retrieval"}
CONTAMINATED, NO_CUTOFF, OTHER_BUILD = "*", "\u2020", "\u2021"
LEGEND = {
    "": (
        "In time: test items dated up to the cutoff. Out of time: dated after it, and their text "
        "was not in the training slice. Text seen: dated after it, but their text was."
    ),
    CONTAMINATED: (
        "* contaminated: the model was tuned on the citations that these labels are made of."
    ),
    NO_CUTOFF: "\u2020 states no cutoff, so it may know later years.",
    OTHER_BUILD: (
        "\u2021 scored on another build of the task than most systems here: not comparable."
    ),
}


@dataclass(frozen=True, slots=True)
class Block:
    """One task in one metric, or the mean of a format's tasks."""

    title: str
    metric: str  # as printed
    format: str  # "mean" for a mean, which has no examples of its own
    columns: tuple[str, ...]
    cells: Cells


@dataclass(frozen=True, slots=True)
class Section:
    """The systems divided at one cutoff; scores divided at different years do not compare."""

    cutoff: int | None
    systems: tuple[str, ...]
    labels: dict[str, str]  # system -> as printed
    main: list[Block]  # tasks as published, without near-copies, and the means
    further: list[Block]  # other metrics of these tasks
    apart: list[Block]  # few-shot and rolling probes, seen and unseen pairs
    legend: list[str]

    @property
    def title(self) -> str:
        """What the section holds."""
        return "Scores" if self.cutoff is None else f"Scores, cutoff {self.cutoff}"


def sections(rows: Iterable[dict], tasks: Iterable[str] = ()) -> list[Section]:
    """Groups score rows (with their `system`, see `results.read_all`) by cutoff."""
    rows, wanted = list(rows), set(tasks)
    if wanted:
        rows = [row for row in rows if row["task"] in wanted or base_task(row) in wanted]
    cutoffs = sorted({row["cutoff"] for row in rows}, key=lambda year: (year is None, year))
    return [_section(year, [row for row in rows if row["cutoff"] == year]) for year in cutoffs]


def cell(block: Block, system: str, column: str, *, interval: bool = False) -> str:
    """One score as text: 'no examples' for an empty column, never a zero."""
    row = block.cells.get((system, column))
    if row is None:
        return "\u2013"
    if row["n"] == 0:
        return "no examples"
    if row["value"] is None:
        return "undefined"
    marks = CONTAMINATED * row["contaminated"] + OTHER_BUILD * row["other_build"]
    text = f"{row['value']:.1f}{marks}"
    if interval and row["low"] is not None:
        text += f" [{row['low']:.1f}, {row['high']:.1f}]"
    return text


def n_examples(block: Block, column: str) -> str:
    """How many examples a column has: 865, or 860-865 where systems differ."""
    found = {row["n"] for (_, name), row in block.cells.items() if name == column}
    return "-".join(f"{n:,}" for n in sorted({min(found), max(found)})) if found else ""


def base_task(row: dict) -> str:
    """The task of a score row without its variant."""
    return row["task"].removesuffix(f"_{row['variant']}") if row["variant"] else row["task"]


def _section(cutoff: int | None, rows: list[dict]) -> Section:
    rows = mark_other_builds(rows)
    systems = tuple(sorted({row["system"] for row in rows}))
    unsure = {row["system"] for row in rows if not row["states_cutoff"]}
    main, further, apart = [], [], []
    keys = {(row["task"], row["metric"], row["variant"], base_task(row)) for row in rows}
    for task, metric, variant, base in sorted(keys, key=_place):
        mine = [row for row in rows if (row["task"], row["metric"]) == (task, metric)]
        block = _block(task, metric, mine)
        if base in TASKS and metric != TASKS[base].metric:
            further.append(block)
        else:
            (main if variant in ("", "distinct") else apart).append(block)
    found = {
        "": cutoff is not None,
        CONTAMINATED: any(row["contaminated"] for row in rows),
        NO_CUTOFF: bool(unsure),
        OTHER_BUILD: any(row["other_build"] for row in rows),
    }
    return Section(
        cutoff,
        systems,
        {name: _written(name) + NO_CUTOFF * (name in unsure) for name in systems},
        main + _means(rows, systems),
        further,
        apart,
        [line for mark, line in LEGEND.items() if found[mark]],
    )


def _block(task: str, metric: str, rows: list[dict]) -> Block:
    """The columns that any system has; `text seen` only where it has an example."""
    shown = [c for c in COLUMNS if any(row["column"] == c for row in rows)]
    if not any(row["n"] for row in rows if row["column"] == TEXT_SEEN):
        shown = [c for c in shown if c != TEXT_SEEN]
    cells = {(row["system"], row["column"]): row for row in rows}
    return Block(task, LABELS.get(metric, metric), rows[0]["format"], tuple(shown), cells)


def _means(rows: list[dict], systems: tuple[str, ...]) -> list[Block]:
    """The mean of each category of PatRepEval; none where a part is missing.

    Tasks of ours, scorings without near-copies and other metrics are no part of it.
    """
    held = {(row["system"], row["column"], row["task"], row["metric"]): row for row in rows}
    found = []
    for kind, title in MEANS.items():
        parts = tasks_of("Pat", kind)
        cells: Cells = {}
        for system in systems:
            for column in (ALL_EXAMPLES, IN_TIME, OUT_OF_TIME):
                own = [held.get((system, column, task.name, task.metric)) for task in parts]
                if all(row is not None and row["value"] is not None for row in own):
                    cells[system, column] = _mean_row(own)
        if cells:
            shown = tuple(c for c in COLUMNS if any(key[1] == c for key in cells))
            found.append(Block(f"mean {title}", f"{len(parts)} tasks", "mean", shown, cells))
    return found


def _mean_row(rows: list[dict]) -> dict:
    return {
        "value": sum(row["value"] for row in rows) / len(rows),
        "low": None,
        "high": None,
        "n": sum(row["n"] for row in rows),
        "contaminated": any(row["contaminated"] for row in rows),
        "other_build": any(row["other_build"] for row in rows),
    }


def mark_other_builds(rows: list[dict]) -> list[dict]:
    """Says of each row whether its task was built otherwise than for most systems."""
    held_by: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        builds = held_by.setdefault(base_task(row), {})
        builds.setdefault(row["task_fingerprint"], set()).add(row["system"])
    common = {
        task: max(sorted(builds), key=lambda one: len(builds[one]))
        for task, builds in held_by.items()
    }
    return [
        row | {"other_build": row["task_fingerprint"] != common[base_task(row)]} for row in rows
    ]


def _place(key: tuple[str, str, str, str]) -> tuple:
    """Tasks in the order of TASKS, each followed by its variants; 16shot before 64shot."""
    task, metric, variant, base = key
    order = list(TASKS)
    return (order.index(base) if base in order else len(order), variant, task, metric)


def _written(system: str) -> str:
    """minilm@2013+white is written `minilm, white`: the section says the year."""
    name, _, white = system.partition("+")
    return name.split("@")[0] + f", {white}" * bool(white)
