"""The task tables as arrays, checked on the way in."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pyeval.tasks import Task
from warehouse.errors import CheckFailed
from warehouse.tables import ALL, Lake

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Labels:
    """A classification or regression task: one row per document, ascending doc_id."""

    task: Task
    ids: Ints
    years: Ints  # task_year
    label_years: Ints  # first year in which the label could be known
    test: NDArray[np.bool_]
    label: NDArray  # float64 targets, or object: class names, tuples of them if multilabel
    fingerprint: str  # sha256 of the rows; see `with_texts`

    def documents(self) -> Ints:
        """The documents whose text is needed."""
        return self.ids

    def dated(self) -> tuple[Ints, Ints]:
        """(n,) documents that make the examples, and the task_year of each."""
        return self.ids, self.years

    def all_among(self, ids: Ints, seen: Ints) -> NDArray[np.bool_]:
        """(n,) true for the examples `ids` whose documents are all among `seen`."""
        return np.isin(ids, seen)


@dataclass(frozen=True, slots=True)
class Queries:
    """A retrieval task: queries and corpus in ascending doc_id, relevants as index pairs."""

    task: Task
    ids: Ints  # (Q,)
    years: Ints  # (Q,) task_year, of the latest where rows differ
    label_years: Ints  # (Q,)
    parts: tuple[Ints, Ints]  # (P,) position of a query and doc_id of a document it is made of
    corpus: Ints  # (N,)
    relevant: tuple[Ints, Ints]  # (R,) positions of the query and of the document
    overlap: NDArray[np.float64]  # (R,) share of word trigrams shared with the query, or nan
    fingerprint: str

    def documents(self) -> Ints:
        """The documents whose text is needed."""
        return np.union1d(self.parts[1], self.corpus)

    def dated(self) -> tuple[Ints, Ints]:
        """(P,) documents that make the queries, and the task_year of each one's query."""
        return self.parts[1], self.years[self.parts[0]]

    def all_among(self, ids: Ints, seen: Ints) -> NDArray[np.bool_]:
        """(n,) true for the queries `ids` whose documents are all among `seen`."""
        unseen = self.parts[0][~np.isin(self.parts[1], seen)]
        return ~np.isin(ids, self.ids[unseen])


def read_labels(lake: Lake, task: Task) -> Labels | Queries:
    """The rows of a task, every year of them.

    Raises:
        CheckFailed: rows that no score could be honest about (a query in its own corpus, a
            relevant document outside it, a label that is missing, a query without documents).
    """
    if task.format == "retrieve":
        return _read_queries(lake, task)
    columns = ["doc_id", "task_year", "label_year", "split", "label"]
    rows = lake.read(task.table, columns, cutoff=ALL).sort_by("doc_id")
    ids = _ints(rows, "doc_id")
    _refuse(task, "documents listed twice", ids[:-1][np.diff(ids) == 0])
    missing = rows.column("label").is_null().to_numpy()
    _refuse(task, "documents without a label", ids[missing])
    split = rows.column("split").to_pylist()
    _refuse(task, "documents of no split", ids[[s not in ("train", "test") for s in split]])
    test = np.array([s == "test" for s in split], dtype=bool)
    label = _label_array(task, rows.column("label"))
    years, label_years = _ints(rows, "task_year"), _ints(rows, "label_year")
    said = [str(one) for one in label.tolist()]
    digest = _digest(task.name, ids, years, label_years, test, "\n".join(said).encode())
    return Labels(task, ids, years, label_years, test, label, digest)


def with_texts(labels: Labels | Queries, hashes: NDArray[np.bytes_]) -> Labels | Queries:
    """The same with the hashes of its documents' texts in the fingerprint.

    Args:
        labels: read above.
        hashes: of `labels.documents()`, in that order.
    """
    digest = _digest(labels.fingerprint, np.ascontiguousarray(hashes))
    return replace(labels, fingerprint=digest)


def task_settings(lake: Lake, task: Task) -> dict[str, str]:
    """The settings that the build of this task used."""
    rows = lake.read("tasks.task_settings", ["task", "setting", "value"], cutoff=ALL).to_pylist()
    return {row["setting"]: row["value"] for row in rows if row["task"] == task.name}


def hash_order(ids: Ints, *salt: object) -> Ints:
    """Positions of the ids in order of md5(salt, id): a draw that no other row can change."""
    prefix = ":".join(map(str, salt))
    keys = [hashlib.md5(f"{prefix}:{one}".encode()).digest() for one in ids.tolist()]
    return np.argsort(np.array(keys, dtype="S16"), kind="stable")


def _read_queries(lake: Lake, task: Task) -> Queries:
    columns = ["query_id", "doc_id", "task_year", "label_year"]
    columns += ["trigram_overlap"] if task.distinct else []
    rows = lake.read(task.table, columns, cutoff=ALL).sort_by(
        [("query_id", "ascending"), ("doc_id", "ascending")]
    )
    corpus = np.unique(_ints(lake.read(task.corpus_table, ["doc_id"], cutoff=ALL), "doc_id"))
    query_of, doc_of = _ints(rows, "query_id"), _ints(rows, "doc_id")
    twice = (np.diff(query_of) == 0) & (np.diff(doc_of) == 0)
    _refuse(task, "relevant documents listed twice", doc_of[:-1][twice])
    ids, query = np.unique(query_of, return_inverse=True)
    parts = _read_parts(lake, task, ids) if task.parts else (np.arange(len(ids)), ids)
    _refuse(task, "queries that stand in the corpus", np.intersect1d(parts[1], corpus))
    _refuse(task, "relevant documents outside the corpus", np.setdiff1d(doc_of, corpus))
    years, label_years = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)
    np.maximum.at(years, query, _ints(rows, "task_year"))
    np.maximum.at(label_years, query, _ints(rows, "label_year"))
    overlap = np.full(len(doc_of), np.nan)
    if task.distinct:
        overlap = rows.column("trigram_overlap").cast(pa.float64()).to_numpy()
    document = np.searchsorted(corpus, doc_of)
    said = (query_of, doc_of, years, label_years, overlap, corpus)
    digest = _digest(task.name, *said, *(parts if task.parts else ()))
    relevant = (query.astype(np.int64), document)
    return Queries(task, ids, years, label_years, parts, corpus, relevant, overlap, digest)


def _read_parts(lake: Lake, task: Task, ids: Ints) -> tuple[Ints, Ints]:
    """The documents of each query, in ascending order of query and document."""
    rows = lake.read(task.queries_table, ["query_id", "doc_id"], cutoff=ALL).sort_by(
        [("query_id", "ascending"), ("doc_id", "ascending")]
    )
    query_of, doc_of = _ints(rows, "query_id"), _ints(rows, "doc_id")
    _refuse(task, "queries without a document", np.setdiff1d(ids, query_of))
    _refuse(task, "queries without a relevant document", np.setdiff1d(query_of, ids))
    twice = (np.diff(query_of) == 0) & (np.diff(doc_of) == 0)
    _refuse(task, "documents listed twice in a query", doc_of[:-1][twice])
    return np.searchsorted(ids, query_of), doc_of


def _label_array(task: Task, column: pa.ChunkedArray) -> NDArray:
    if task.format == "regress":
        target = column.cast(pa.float64()).to_numpy()
        return np.log1p(target) if task.log1p else target
    label = np.empty(len(column), dtype=object)
    for i, one in enumerate(column.to_pylist()):
        label[i] = tuple(sorted(map(str, one))) if task.multilabel else str(one)
    return label


def _ints(rows: pa.Table, column: str) -> Ints:
    if rows.column(column).null_count:
        raise CheckFailed(f"{column} is missing in {rows.column(column).null_count:,} task rows")
    return rows.column(column).cast(pa.int64()).to_numpy()


def _refuse(task: Task, what: str, ids: NDArray) -> None:
    if len(ids):
        some = ", ".join(map(str, np.unique(ids)[:3].tolist()))
        raise CheckFailed(
            f"task {task.name} has {len(ids):,} {what} (doc_id {some}). Build it again: lake build"
        )


def _digest(*parts: object) -> str:
    """sha256 over names and arrays, each with its length, so that no two lists collide."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else bytes(memoryview(part).cast("B"))
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()
