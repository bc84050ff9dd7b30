"""Which relevant pairs are joined by a citation, and since when: what tuning may have seen.

A tuned model was pulled towards its neighbours in the citation graph of its cutoff. Of a query and
a relevant document whose works cite one another by then it has seen the answer; a second record of
the same work (another id of the paper, the application of the patent) counts as the work.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pyeval.columns import works_of
from pyeval.labels import Queries
from warehouse.tables import ALL, Lake

Ints = NDArray[np.int64]

NEVER = np.iinfo(np.int32).max


class CitedPairs:
    """The first year in which each relevant pair of some tasks was joined by a citation."""

    def __init__(self, lake: Lake, tasks: list[Queries]) -> None:
        """Nothing is read before the first question; then the edges are read once for all tasks."""
        self._lake, self._tasks = lake, tasks
        self._years: dict[str, Ints] | None = None

    def __call__(self, queries: Queries, cutoff: int | None) -> NDArray[np.bool_] | None:
        """(R,) true where a pair's works cite one another by the cutoff; None without a cutoff."""
        if cutoff is None or not len(queries.ids):
            return None
        return self.years(queries) <= cutoff

    def years(self, queries: Queries) -> Ints:
        """(R,) the first year of a citation between each pair's works; `NEVER` without one."""
        if self._years is None:
            self._years = self._read()
        return self._years[queries.task.name]

    def _read(self) -> dict[str, Ints]:
        expanded = {one.task.name: _documents_of_pairs(one) for one in self._tasks}
        sides = [np.concatenate([pairs[i] for pairs in expanded.values()]) for i in range(2)]
        years = first_cited(self._lake, *sides)
        found, start = {}, 0
        for one in self._tasks:
            left, _, pair = expanded[one.task.name]
            first = np.full(len(one.relevant[0]), NEVER, np.int64)
            np.minimum.at(first, pair, years[start : start + len(left)])
            found[one.task.name] = first
            start += len(left)
        return found


def first_cited(lake: Lake, a: Ints, b: Ints) -> Ints:
    """(n,) the first year in which the works of two documents cite one another, either way.

    Args:
        lake: every year of its citations is read.
        a: (n,) doc_id.
        b: (n,) doc_id.

    Returns:
        The largest int32 where they never do, or are one work.
    """
    work_of = works_of(lake)
    left, right = work_of(a), work_of(b)
    works = np.unique(np.concatenate([left, right]))
    keys, back = np.unique(_keys(works, left, right), return_inverse=True)
    first = np.full(len(keys), NEVER, np.int64)
    for batch in lake.batches("edges", ["citing_id", "cited_id", "known_year"], cutoff=ALL):
        citing, cited, years = (_numbers(batch.column(i)) for i in range(3))
        citing, cited = work_of(citing), work_of(cited)
        mine = np.isin(citing, works) & np.isin(cited, works) & (citing != cited)
        found = _keys(works, citing[mine], cited[mine])
        place = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
        hit = keys[place] == found if len(keys) else np.zeros(0, bool)
        np.minimum.at(first, place[hit], years[mine][hit])
    return first[back.reshape(-1)]


def _documents_of_pairs(queries: Queries) -> tuple[Ints, Ints, Ints]:
    """(P,) documents of the query, (P,) the relevant document, (P,) which pair: each combined."""
    query, document = queries.relevant
    counts = np.bincount(queries.parts[0], minlength=len(queries.ids))
    starts = np.r_[0, np.cumsum(counts)]  # parts ascend by query
    pair = np.repeat(np.arange(len(query)), counts[query])
    within = np.arange(len(pair)) - np.repeat(
        np.cumsum(counts[query]) - counts[query], counts[query]
    )
    left = queries.parts[1][starts[query][pair] + within]
    return left, queries.corpus[document][pair], pair


def _keys(works: Ints, a: Ints, b: Ints) -> Ints:
    """One number for each pair, whichever comes first."""
    places = np.searchsorted(works, a), np.searchsorted(works, b)
    return np.minimum(*places) * len(works) + np.maximum(*places)


def _numbers(column: pa.Array) -> Ints:
    return column.to_numpy(zero_copy_only=False).astype(np.int64)
