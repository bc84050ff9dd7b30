"""Which tables are dated, by what, in which stored order; and who may read without a cutoff."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.errors import UserError


class All:
    """The type of `ALL`."""

    def __repr__(self) -> str:
        """The name people write."""
        return "ALL"


ALL: Final = All()  # every year of the lake; for evaluation only


@dataclass(frozen=True)
class TableRead:
    """What was read of a table: enough to read it again and to see whether it changed."""

    name: str
    cutoff: int | None  # None: every year
    columns: tuple[str, ...]
    rows: int
    latest_known_year: int | None
    fingerprint: str  # sha256 of the values in order; see warehouse.content
    basis: str = "production"
    licence_at_most: str | None = None


@dataclass(frozen=True)
class Dated:
    """Where a table stands, the column that dates it, and the keys of its stored order."""

    relation: str
    year: str | None
    order: tuple[str, ...]


# Names as the readers know them. Columns are looked up in the lake itself.
TABLES = {
    "documents": Dated("corpus.documents", "known_year", ("known_year", "doc_id")),
    "pretrain_text": Dated(
        "corpus.pretrain_asof", "known_year", ("known_year", "source", "doc_id")
    ),
    "same_work": Dated("corpus.same_work", "known_year", ("doc_id", "work_id", "via")),
    "edges": Dated("graph.citation_edges", "known_year", ("known_year", "citing_id", "cited_id")),
    "nodes": Dated("graph.graph_nodes", "known_year", ("node_id",)),
    "anchors": Dated("graph.anchors_asof", None, ("doc_id",)),
}
# Written in this order by the build, so that a cutoff is a prefix: read without sorting again.
STORED_IN_ORDER = ("documents", "edges", "nodes")
TASK_KEYS = ("task_year", "query_id", "doc_id", "work_id")
BASES = ("production", "publication", "filing")
DATED_BY_BASIS = ("source", "known_year", "public_year", "filing_year")  # read by `slice_years`
DATED_ALIKE = ("known_year",)  # the same of a table that every basis dates alike


def slice_years(rows: pa.RecordBatch, basis: str) -> pa.Array:
    """(n,) int64, the first cutoff whose slice holds a row; null where none does.

    It says of rows what `corpus.pretrain_asof` says of a slice, so that all slices are told from
    one reading.

    Args:
        rows: with the columns DATED_BY_BASIS, or DATED_ALIKE.
        basis: one of BASES.
    """
    held = dict(zip(rows.schema.names, rows.columns, strict=True))
    known = held["known_year"].cast(pa.int64())
    if basis == "publication" and "public_year" in held:
        public = held["public_year"].cast(pa.int64())
        return pc.max_element_wise(known, public, skip_nulls=False)
    if basis == "filing" and "filing_year" in held:
        filed = pc.min_element_wise(known, held["filing_year"].cast(pa.int64()))
        return pc.if_else(pc.equal(held["source"], "granted_text"), filed, known)
    return known


def empty_slice(table: str, cutoff: int, needed_for: str) -> UserError:
    """The error of a reader that found no row as of its cutoff."""
    return UserError(
        f"{table} holds no row known by {cutoff}, so there is nothing for {needed_for}. "
        "See what this lake has by year: lake show graph.graph_by_year"
    )


def check_order(
    table: str, batch: pa.RecordBatch, keys: Sequence[str], previous: list[int] | None
) -> list[int] | None:
    """Raise unless the rows follow `previous` in the order of `keys`; the last row's keys."""
    if not batch.num_rows:
        return previous
    columns = [batch.column(key).to_numpy() for key in keys]
    if previous is not None:
        columns = [np.r_[before, c] for before, c in zip(previous, columns, strict=True)]
    tied = np.ones(max(len(columns[0]) - 1, 0), bool)
    for column in columns:
        if (tied & (column[:-1] > column[1:])).any():
            raise UserError(f"{table} is not stored by {', '.join(keys)}. Mend it with: lake build")
        tied &= column[:-1] == column[1:]
    return [column[-1] for column in columns]


def refuse_training(what: str) -> None:
    """Raise when any module on the call stack belongs to `pytrain`."""
    frame = sys._getframe(1)
    while frame is not None:
        spec = frame.f_globals.get("__spec__")
        module = getattr(spec, "name", None) or frame.f_globals.get("__name__", "")
        if module.split(".")[0] == "pytrain":
            raise UserError(f"{what} is refused to training ({module}). Pass a cutoff: --year 2013")
        frame = frame.f_back
