"""Two systems, example by example: paired bootstrap, ratio of scores, Holm over tasks."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from pyeval import columns, results
from pyeval.bootstrap import Evidence, resample_size, weights
from pyeval.items import examples, from_table
from pyeval.tasks import TASKS
from warehouse.errors import UserError, unknown


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A minus B on one task and column, scores 0 to 100."""

    task: str
    metric: str
    column: str
    n: int
    a: float | None
    b: float | None
    difference: float | None = None
    low: float | None = None  # 95% interval of the difference
    high: float | None = None
    ratio: float | None = None  # A / B
    ratio_low: float | None = None
    ratio_high: float | None = None
    p: float | None = None  # two-sided, of no difference
    p_holm: float | None = None  # corrected over the tasks compared


def compare(
    a: str,
    b: str,
    *,
    tasks: Iterable[str] = (),
    column: str = columns.OUT_OF_TIME,
    resamples: int = 5_000,
    seed: int = 0,
) -> list[Difference]:
    """The differences of two scored systems on the tasks that both have.

    Args:
        a: a name under RUNS_ROOT/scores, with `+white` for its whitened vectors.
        b: likewise.
        tasks: score names (`patent_cite_distinct`); the tasks as published and without
            near-copies when left out.
        column: which examples.
        resamples: of the paired bootstrap.
        seed: of the paired bootstrap.

    Raises:
        UserError: not scored, scored on different builds of a task, or divided at different
            years; none of these can be compared example by example.
    """
    if column not in columns.COLUMNS:
        raise unknown("column", column, columns.COLUMNS, "pyeval compare --help")
    a, b = results.find(a), results.find(b)
    of_a, of_b = _main_rows(a, column), _main_rows(b, column)
    shared = [name for name in of_a if name in of_b]
    wanted = list(tasks) or [n for n in shared if of_a[n]["variant"] in ("", "distinct")]
    for name in wanted:
        if name not in shared:
            raise unknown(f"task scored for both {a} and {b}", name, shared, f"pyeval run {a} {b}")
    if not wanted:
        raise UserError(f"{a} and {b} have no task in common in column {column}. Run: pyeval run")
    items_a, items_b = results.read_items(a), results.read_items(b)
    found = []
    for name in wanted:
        _check_same(name, column, (a, of_a[name]), (b, of_b[name]))
        rows_a = examples(items_a, of_a[name], column)
        rows_b = examples(items_b, of_b[name], column)
        if not rows_a.column("item_id").equals(rows_b.column("item_id")):
            raise UserError(
                f"{name}: {a} and {b} divide its examples differently (--seen-basis). "
                f"Score both alike: pyeval run {a} {b}"
            )
        kind = of_a[name]["format"]
        pair = from_table(rows_a, kind), from_table(rows_b, kind)
        named = Difference(
            task=name,
            metric=of_a[name]["metric"],
            column=column,
            n=len(pair[0]),
            a=of_a[name]["value"],
            b=of_b[name]["value"],
        )
        found.append(paired(named, *pair, resamples=resamples, seed=seed))
    return holm(found)


def paired(named: Difference, a: Evidence, b: Evidence, *, resamples: int, seed: int) -> Difference:
    """Fills in the interval: the same examples are drawn for both systems."""
    if named.a is None or named.b is None or named.n < 2:
        return named
    size = resample_size(a)
    drawn = [(a.statistic(w), b.statistic(w)) for w in weights(len(a), resamples, seed, size=size)]
    left, right = (np.concatenate(part) for part in zip(*drawn, strict=True))
    point, shrink = named.a - named.b, np.sqrt(size / len(a))
    differences = point + shrink * ((left - right) - point)
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return named
    low, high = np.quantile(differences, [0.025, 0.975])
    tail = min((differences <= 0).sum(), (differences >= 0).sum())
    known = (right > 0) & ~np.isnan(left)
    ratios = left[known] / right[known]
    bounds = np.quantile(ratios, [0.025, 0.975]) if len(ratios) and size == len(a) else None
    return replace(
        named,
        difference=point,
        low=float(low),
        high=float(high),
        ratio=named.a / named.b if named.b else None,
        ratio_low=None if bounds is None else float(bounds[0]),
        ratio_high=None if bounds is None else float(bounds[1]),
        p=min(1.0, 2 * (int(tail) + 1) / (len(differences) + 1)),
    )


def holm(found: list[Difference]) -> list[Difference]:
    """Holm's step-down correction of the p values, over the tasks that have one."""
    tested = sorted(
        (i for i, one in enumerate(found) if one.p is not None), key=lambda i: found[i].p
    )
    corrected, running = list(found), 0.0
    for rank, i in enumerate(tested):
        running = max(running, min(1.0, (len(tested) - rank) * found[i].p))
        corrected[i] = replace(found[i], p_holm=running)
    return corrected


def _main_rows(name: str, column: str) -> dict[str, dict]:
    """Score rows of a column by task, in the metric that enters the means."""
    found = {}
    for row in results.read(name).to_pylist():
        base = row["task"].removesuffix(f"_{row['variant']}") if row["variant"] else row["task"]
        if row["column"] == column and base in TASKS and row["metric"] == TASKS[base].metric:
            found[row["task"]] = row
    return found


def _check_same(task: str, column: str, a: tuple[str, dict], b: tuple[str, dict]) -> None:
    (name_a, row_a), (name_b, row_b) = a, b
    if row_a["task_fingerprint"] != row_b["task_fingerprint"]:
        raise UserError(
            f"{task}: {name_a} and {name_b} were scored on different builds of it. "
            f"Score both again: pyeval run {row_a['model']} {row_b['model']} --task ..."
        )
    if column != columns.ALL_EXAMPLES and row_a["cutoff"] != row_b["cutoff"]:
        raise UserError(
            f"{name_a} is divided at {row_a['cutoff']} and {name_b} at {row_b['cutoff']}. "
            "Give the later year to both: pyeval run ... --cutoff YEAR"
        )
