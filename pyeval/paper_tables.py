"""The paper's tables from one's own scores: means by category (Table 2), per task (9 to 11)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyeval.grid import Grid, Mean, category_means, ranks
from pyeval.paper_tasks import BENCHMARKS, CATEGORIES, PaperTask, tasks_of
from pyeval.report import CONTAMINATED, NO_CUTOFF
from pyeval.tasks import LABELS

DASH = "\u2013"
_METRICS = LABELS | {"ndcg": "nDCG"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as printed: best of its column, second, or neither."""

    text: str
    place: int = 0  # 1 or 2; 0 for any other


@dataclass(frozen=True, slots=True)
class Row:
    """One system."""

    label: str
    cells: tuple[Cell, ...]
    starts: bool = False  # a line above it: baselines, untuned and tuned vintages stand apart


@dataclass(frozen=True, slots=True)
class Table:
    """A table to be written as Markdown, LaTeX or HTML."""

    key: str  # file name and LaTeX label
    title: str
    caption: str
    groups: tuple[tuple[str, int], ...]  # heads over several columns, with their number
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


_BEST = "Scores are on a 0-100 scale; the best of a column is bold, the second underlined."


def tables(grid: Grid) -> list[Table]:
    """Table 2, then Tables 9, 10 and 11, of what there is; a table without a number is left out."""
    made = [_means_table(grid)]
    for key, title, benchmark, categories in (
        ("table9", "SciRepEval, per task (Table 9)", "Sci", tuple(CATEGORIES)),
        ("table10", "PatRepEval classification, per task (Table 10)", "Pat", ("classify",)),
        (
            "table11",
            "PatRepEval regression and proximity, per task (Table 11)",
            "Pat",
            ("regress", "retrieve"),
        ),
    ):
        parts = [(CATEGORIES[c], tasks_of(benchmark, c)) for c in categories]
        made.append(_task_table(grid, key, title, parts))
    return [table for table in made if table is not None]


def lacking(grid: Grid) -> list[str]:
    """For each mean of Table 2 that is not formed: which systems lack which tasks."""
    said = []
    for category, title in CATEGORIES.items():
        for benchmark in BENCHMARKS:
            parts = tasks_of(benchmark, category)
            held: dict[tuple[str, ...], list[str]] = {}
            for entry in grid.entries:
                mean = category_means(grid, entry.label)[category, benchmark]
                if mean.missing:
                    held.setdefault(mean.missing, []).append(entry.label)
            for missing, labels in held.items():
                what = ", ".join(missing)
                if len(missing) == len(parts):
                    what = f"all {len(parts)} tasks"
                who = "every system" if len(labels) == len(grid.entries) else ", ".join(labels)
                verb = "lacks" if who == "every system" or len(labels) == 1 else "lack"
                said.append(f"No mean of {benchmark} {title.lower()}: {who} {verb} {what}.")
    return said


def _means_table(grid: Grid) -> Table | None:
    columns = [(category, part) for category in CATEGORIES for part in (*BENCHMARKS, "Mean")]
    means = {entry.label: category_means(grid, entry.label) for entry in grid.entries}

    def value(label: str, column: tuple[str, str]) -> float | None:
        mean: Mean = means[label][column]
        return mean.value

    def marks(label: str, column: tuple[str, str]) -> str:
        category, part = column
        parts = BENCHMARKS if part == "Mean" else (part,)
        own = [grid.cells.get((label, t.name)) for b in parts for t in tasks_of(b, category)]
        return CONTAMINATED if any(row and row["contaminated"] for row in own) else ""

    rows = _rows(grid, columns, value, marks)
    if rows is None:
        return None
    return Table(
        "table2",
        "Mean performance by task category (Table 2)",
        "Sci and Pat are the means over the SciRepEval and PatRepEval tasks of each category, and "
        f"Mean averages those means. {_BEST} A mean stands only where every task has a score.",
        tuple((title, 3) for title in CATEGORIES.values()),
        tuple(part for _, part in columns),
        rows,
        tuple(_notes(grid, rows)),
    )


def _task_table(
    grid: Grid, key: str, title: str, parts: Sequence[tuple[str, Sequence[PaperTask]]]
) -> Table | None:
    have = {task.name for task in grid.scored()}
    away = [task.title for _, tasks in parts for task in tasks if task.name not in have]
    kept = [(head, [t for t in tasks if t.name in have]) for head, tasks in parts]
    kept = [(head, tasks) for head, tasks in kept if tasks]
    names = [task.name for _, tasks in kept for task in tasks]

    def marks(label: str, task: str) -> str:
        return CONTAMINATED if grid.cells[label, task]["contaminated"] else ""

    rows = _rows(grid, names, grid.value, marks)
    if rows is None:
        return None
    return Table(
        key,
        title,
        _BEST,
        tuple((head, len(tasks)) for head, tasks in kept),
        tuple(f"{t.title} ({_METRICS.get(t.metric, t.metric)})" for _, ts in kept for t in ts),
        rows,
        (*_notes(grid, rows), *([f"No system was scored on: {', '.join(away)}."] if away else ())),
    )


def _rows(
    grid: Grid,
    columns: Sequence,
    value: Callable[[str, object], float | None],
    marks: Callable[[str, object], str],
) -> tuple[Row, ...] | None:
    """The rows of the entries that have a number in some column; None where none has."""
    held: list[Mapping[str, float]] = []
    for column in columns:
        found = {entry.label: value(entry.label, column) for entry in grid.entries}
        held.append({label: one for label, one in found.items() if one is not None})
    placed = [ranks(found) if len(found) > 1 else {} for found in held]
    rows, before = [], None
    for entry in grid.entries:
        name = entry.label
        if not any(name in found for found in held):
            continue
        cells = []
        for column, found, order in zip(columns, held, placed, strict=True):
            if name not in found:
                cells.append(Cell(DASH))
                continue
            place = order.get(name, 0)
            said = f"{found[name]:.1f}{marks(name, column)}"
            cells.append(Cell(said, place if place < 3 else 0))
        group = (entry.vintage is not None, bool(entry.vintage and entry.tuned))
        shown = name if entry.cutoff or not _states(grid, name) else name + NO_CUTOFF
        rows.append(Row(shown, tuple(cells), before is not None and group != before))
        before = group
    return tuple(rows) or None


def _states(grid: Grid, label: str) -> bool:
    """Whether an entry may know any year."""
    return any(not row["states_cutoff"] for (name, _), row in grid.cells.items() if name == label)


def _notes(grid: Grid, rows: Sequence[Row]) -> list[str]:
    said = []
    if any(CONTAMINATED in cell.text for row in rows for cell in row.cells):
        said.append(f"{CONTAMINATED} tuned on citations that some of these labels are made of.")
    if any(row.label.endswith(NO_CUTOFF) for row in rows):
        said.append(f"{NO_CUTOFF} states no cutoff, so it may know later years.")
    said += [f"Left out: {line}." for line in grid.left_out]
    return said
