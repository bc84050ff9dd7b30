"""In time, out of time, text seen: which examples a score column covers."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from warehouse.tables import ALL, Lake

Ints = NDArray[np.int64]

ALL_EXAMPLES, IN_TIME, OUT_OF_TIME, TEXT_SEEN = "all", "in_time", "out_of_time", "text_seen"
COLUMNS = (ALL_EXAMPLES, IN_TIME, OUT_OF_TIME, TEXT_SEEN)


def assign(years: Ints, seen: NDArray[np.bool_], cutoff: int | None) -> NDArray[np.str_]:
    """(n,) the column of each example; empty where there is no cutoff to divide by.

    Args:
        years: (n,) task_year of the test document or query.
        seen: (n,) true where its text was in the training slice.
        cutoff: last year of the slice.

    Source: patrepeval.md, "In time, out of time". A patent filed by the cutoff and granted
    after it was read as an application: its label is out of time, its text is not.
    """
    if cutoff is None:
        return np.full(len(years), "", dtype="U11")
    late = np.where(seen, TEXT_SEEN, OUT_OF_TIME)
    return np.where(years <= cutoff, IN_TIME, late)


def within(groups: NDArray[np.str_], column: str) -> NDArray[np.bool_]:
    """(n,) true for the examples of a column."""
    return np.ones(len(groups), dtype=bool) if column == ALL_EXAMPLES else groups == column


class SeenTexts:
    """Which late test documents had been read, asked of the lake once per cutoff."""

    def __init__(self, lake: Lake, ids: Ints, years: Ints) -> None:
        """Takes (n,) doc_id and task_year of everything that may be tested."""
        self._lake, self._ids, self._years = lake, ids, years
        self._known: dict[tuple[int, tuple[str, ...]], Ints] = {}

    def __call__(self, cutoff: int | None, bases: tuple[str, ...]) -> Ints:
        """The documents dated after the cutoff whose text was in its slice."""
        if cutoff is None:
            return self._ids[:0]
        if (cutoff, bases) not in self._known:
            late = np.unique(self._ids[self._years > cutoff])
            found = text_seen(self._lake, late, cutoff, bases)
            self._known[cutoff, bases] = late[found]
        return self._known[cutoff, bases]


def text_seen(
    lake: Lake, ids: Ints, cutoff: int, bases: Sequence[str] = ("production",)
) -> NDArray[np.bool_]:
    """(n,) true where a document's text, under any of its work's ids, was readable by `cutoff`.

    Args:
        lake: the lake that training read.
        ids: (n,) doc_id.
        cutoff: last year of the training slice.
        bases: what dated patent text in training, see `corpus.pretrain_asof`; seen by any
            of them is seen.
    """
    work_of = works_of(lake)
    works = work_of(ids)
    asked = np.unique(works)
    read = np.zeros(len(asked), dtype=bool)
    for table, basis in [("documents", "production"), *(("pretrain_text", b) for b in bases)]:
        for batch in lake.batches(table, ["doc_id"], cutoff=cutoff, basis=basis):
            read |= np.isin(asked, work_of(batch.column("doc_id").to_numpy()))
    return read[np.searchsorted(asked, works)]


def works_of(lake: Lake) -> Callable[[Ints], Ints]:
    """A function from doc_id to the id of its work; a document without a row is its own.

    Which ids name one work is no knowledge that training had, so every year is read.
    """
    rows = lake.read("same_work", ["doc_id", "work_id"], cutoff=ALL).sort_by("doc_id")
    docs, works = (rows.column(name).to_numpy() for name in ("doc_id", "work_id"))
    if not len(docs):
        return lambda ids: ids

    def work_of(ids: Ints) -> Ints:
        place = np.minimum(np.searchsorted(docs, ids), len(docs) - 1)
        return np.where(docs[place] == ids, works[place], ids)

    return work_of
