"""Evidence as a table and back, so that two systems can be compared example by example."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pyeval.bootstrap import Evidence, F1Evidence, MeanEvidence, TauEvidence
from pyeval.columns import ALL_EXAMPLES
from pyeval.protocol import Measured
from pyeval.results import ITEMS


def to_table(measured: Measured, groups: NDArray[np.str_]) -> pa.Table:
    """One row per example.

    Args:
        measured: a task's evidence.
        groups: (n,) the column of each example, see `columns.assign`.
    """
    n = len(measured.ids)
    empty = {name: pa.nulls(n, ITEMS.field(name).type) for name in ITEMS.names}
    named = {
        "task": pa.array([measured.name] * n, pa.string()),
        "metric": pa.array([measured.metric] * n, pa.string()),
        "item_id": pa.array(measured.ids, pa.int64()),
        "task_year": pa.array(measured.years, pa.int32()),
        "column": pa.array(groups.tolist(), pa.string()),
    }
    return pa.table({**empty, **named, **_payload(measured)}, schema=ITEMS)


def from_table(rows: pa.Table, format: str) -> Evidence:
    """The evidence that `to_table` wrote, in the order of the rows.

    Macro F1 comes back over the classes that occur, as truth or guess; a class that never
    occurs has no F1, so the score is the same.
    """
    if format == "retrieve":
        return MeanEvidence(rows.column("value").to_numpy())
    if format == "regress":
        return TauEvidence(rows.column("target").to_numpy(), rows.column("predicted").to_numpy())
    truth, guesses = rows.column("truth").to_pylist(), rows.column("guesses").to_pylist()
    said = {name for one in truth for name in one}
    said |= {name for seeds in guesses for one in seeds for name in one}
    place = {name: c for c, name in enumerate(sorted(said))}
    n_seeds = len(guesses[0]) if guesses else 1
    true = np.zeros((len(truth), len(place)), dtype=bool)
    guessed = np.zeros((len(truth), n_seeds, len(place)), dtype=bool)
    for i, (one, seeds) in enumerate(zip(truth, guesses, strict=True)):
        true[i, [place[name] for name in one]] = True
        for s, names in enumerate(seeds):
            guessed[i, s, [place[name] for name in names]] = True
    return F1Evidence(true, guessed)


def examples(items: pa.Table, row: dict, column: str) -> pa.Table:
    """The rows of one task and metric in a column, by id.

    Args:
        items: a system's evidence, see `results.read_items`.
        row: one of its score rows.
        column: one of `columns.COLUMNS`.
    """
    mask = pc.and_(pc.equal(items["task"], row["task"]), pc.equal(items["metric"], row["metric"]))
    if column != ALL_EXAMPLES:
        mask = pc.and_(mask, pc.equal(items["column"], column))
    return items.filter(mask).sort_by("item_id").combine_chunks()


def _payload(measured: Measured) -> dict[str, pa.Array]:
    evidence = measured.evidence
    if isinstance(evidence, MeanEvidence):
        return {"value": pa.array(evidence.values, pa.float64())}
    if isinstance(evidence, TauEvidence):
        return {
            "target": pa.array(evidence.target, pa.float64()),
            "predicted": pa.array(evidence.predicted, pa.float64()),
        }
    truth = [_named(row, measured.classes) for row in evidence.truth]
    guesses = [[_named(row, measured.classes) for row in seeds] for seeds in evidence.predicted]
    return {
        "truth": pa.array(truth, ITEMS.field("truth").type),
        "guesses": pa.array(guesses, ITEMS.field("guesses").type),
    }


def _named(row: NDArray[np.bool_], classes: tuple[str, ...]) -> list[str]:
    return [classes[c] for c in np.flatnonzero(row)]
