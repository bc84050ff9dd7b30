"""The files of one task of a benchmark's folder, as the lake's task tables."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from pyeval.folder_files import (
    DOCUMENT_COLUMNS,
    ENDS,
    META,
    as_classes,
    files_of,
    numbers,
    open_files,
    read_files,
    whole_numbers,
)
from pyeval.folder_ids import OWN, Ids
from pyeval.tasks import Task
from warehouse.errors import CheckFailed, UserError

# Tried in turn where meta.json does not name a column.
QUERY_COLUMNS = ("query_id", "query-id", "qid")
JUDGED_COLUMNS = ("relevant", "relevance", "score")
YEAR_COLUMNS = ("task_year", "year")
NEVER = 9999  # a label_year that no cutoff reaches, where the files give none


class TaskFiles:
    """The tables of one task; they are read when asked for."""

    def __init__(self, root: Path, task: Task, meta: dict, ids: Ids) -> None:
        """Read no row yet.

        Args:
            root: the benchmark's folder.
            task: ours.
            meta: its meta.json, and `folder`, where that was found.
            ids: the folder's, so that a document has one number in all tasks.
        """
        self.root, self.task, self.meta, self._ids = root, task, meta, ids

    def schema(self, part: str) -> list[str]:
        """The columns of a file of the task, such as "qrels"."""
        return self._dataset(part).schema.names

    def source(self, side: str) -> str:
        """The name of the file of texts: of the "query", or of everything else, the "corpus"."""
        return self.meta.get(f"{side}_text_source") or self.meta.get("text_source", OWN)

    def years(self) -> list[int]:
        """First and last year of each file of examples that holds any."""
        found = []
        for part in ("queries",) if self.task.format == "retrieve" else ("train", "test"):
            table = self._part(part)
            if table.num_rows:
                bounds = pc.min_max(self._years(table))
                found += [bounds["min"].as_py(), bounds["max"].as_py()]
        return found

    def table(self, kind: str) -> pa.Table:
        """The lake's table `<kind>_<task>`: "task", "corpus" or "queries".

        Raises:
            UserError: a file or a column is not there, or cannot be read as what it should be.
            CheckFailed: relevants of a query that is not there.
        """
        if kind == "corpus":
            return pa.table({"doc_id": self._documents("corpus", self._part("corpus"))})
        if kind == "queries":
            return self._parts_of_queries()
        return self._pairs() if self.task.format == "retrieve" else self._examples()

    def edges(self) -> pa.Table | None:
        """Citations between queries and relevants; of a query of several documents, the first.

        None where the files give none.
        """
        if self.task.format != "retrieve" or "edge_year" not in self.schema("qrels"):
            return None
        qrels = self._part("qrels")
        qrels = qrels.filter(pc.is_valid(qrels.column("edge_year")))
        query = self._queries("qrels", qrels).to_numpy()
        if self.task.parts:
            parts = self._parts_of_queries().to_pydict()
            first = dict(zip(parts["query_id"][::-1], parts["doc_id"][::-1], strict=True))
            self._refuse_lost(np.setdiff1d(query, np.array(list(first), np.int64)))
            query = np.array([first[one] for one in query.tolist()], np.int64)
        return pa.table(
            {
                "citing_id": pa.array(query),
                "cited_id": self._documents("qrels", qrels),
                "known_year": whole_numbers(qrels, "edge_year"),
            }
        )

    def _examples(self) -> pa.Table:
        parts = []
        for split in ("train", "test"):
            table = self._part(split)
            columns = {
                "doc_id": self._documents(split, table),
                "task_year": self._years(table),
                "label_year": whole_numbers(table, "label_year", NEVER),
                "split": pa.array([split] * len(table), pa.string()),
                "label": self._labels(table),
            }
            parts.append(pa.table(columns))
        return pa.concat_tables(parts, promote_options="permissive")

    def _labels(self, table: pa.Table) -> pa.ChunkedArray | pa.Array:
        task, name = self.task, self.meta.get("label_field", "label")
        if name not in table.column_names:
            raise self._lacks(f"a column {name}", table.column_names)
        said = table.column(name)
        if task.format == "regress":
            target = numbers(said, name)
            # The task takes the logarithm of a count; files that took it already are undone.
            logged = task.log1p and self.meta.get("label_is", "count") == "log_count"
            return pc.expm1(target) if logged else target
        if task.multilabel:
            if not (pa.types.is_list(said.type) or pa.types.is_large_list(said.type)):
                raise self._lacks(f"a list of labels in {name}", [str(said.type)])
            return said
        if pa.types.is_nested(said.type):
            raise self._lacks(f"one label a row in {name}", [str(said.type)])
        if not task.positive:
            return said.cast(pa.string())
        found = as_classes(task, said)
        if found is None:
            classes = sorted({str(one) for one in pc.unique(said).to_pylist()})
            raise self._lacks(f"the class {task.positive} (or 1 and 0)", classes)
        return found

    def _pairs(self) -> pa.Table:
        queries, qrels = self._part("queries"), self._part("qrels")
        asked = self._queries("queries", queries).to_numpy()
        year_of = dict(zip(asked.tolist(), self._years(queries).to_pylist(), strict=True))
        judged = next((one for one in JUDGED_COLUMNS if one in qrels.column_names), None)
        if judged:
            qrels = qrels.filter(pc.greater(numbers(qrels.column(judged), judged), 0))
        query = self._queries("qrels", qrels).to_numpy()
        self._refuse_lost(np.setdiff1d(query, asked))
        columns = {
            "query_id": pa.array(query),
            "doc_id": self._documents("qrels", qrels),
            "task_year": pa.array([year_of[one] for one in query.tolist()], pa.int64()),
            "label_year": whole_numbers(qrels, "label_year", NEVER),
        }
        if "trigram_overlap" in qrels.column_names:
            columns["trigram_overlap"] = numbers(qrels.column("trigram_overlap"), "trigram_overlap")
        return pa.table(columns)

    def _parts_of_queries(self) -> pa.Table:
        """Of queries made of several documents: one row for each of them."""
        queries = self._part("queries")
        held = queries.column("documents") if "documents" in queries.column_names else None
        if held is None or not (pa.types.is_list(held.type) or pa.types.is_large_list(held.type)):
            raise self._lacks("a column documents (the list of them)", queries.column_names)
        held = held.combine_chunks()
        ids = self._queries("queries", queries).to_numpy()
        return pa.table(
            {
                "query_id": pa.array(ids[pc.list_parent_indices(held).to_numpy()]),
                "doc_id": self._ids.of(self.source("query"), pc.list_flatten(held)),
            }
        )

    def _years(self, table: pa.Table) -> pa.Array:
        return whole_numbers(table, self._first((*self._named("year_field"), *YEAR_COLUMNS), table))

    def _queries(self, part: str, table: pa.Table) -> pa.Array:
        """The numbers of queries; a query of several documents is nobody's document."""
        own = self._named("query_id_field") if part == "queries" else ()
        name = self._first((*own, *QUERY_COLUMNS, *DOCUMENT_COLUMNS), table)
        source = self.source("query")
        return self._ids.of(
            f"{source} {self.task.name}" if self.task.parts else source, table[name]
        )

    def _documents(self, part: str, table: pa.Table) -> pa.Array:
        key = "corpus_id_field" if self.task.format == "retrieve" else "id_field"
        own = self._named(key) if part != "qrels" else ()
        name = self._first((*own, *DOCUMENT_COLUMNS), table)
        return self._ids.of(self.source("corpus"), table[name])

    def _named(self, key: str) -> tuple[str, ...]:
        return (self.meta[key],) if key in self.meta else ()

    def _first(self, names: Sequence[str], table: pa.Table) -> str:
        for name in names:
            if name in table.column_names:
                return name
        raise self._lacks(f"one of the columns {', '.join(names)}", table.column_names)

    def _part(self, part: str) -> pa.Table:
        return read_files(self._dataset(part))

    def _dataset(self, part: str) -> ds.Dataset:
        folder = self.root / self.meta["folder"]
        found = files_of((folder, folder / "data"), part)
        if not found:
            raise UserError(
                f"{folder} has no {part}.parquet ({', '.join(ENDS)}, or parts of it), which "
                f"{self.task.name} needs. It holds "
                f"{', '.join(sorted(path.name for path in folder.iterdir()))}"
            )
        return open_files(found)

    def _refuse_lost(self, queries: np.ndarray) -> None:
        if len(queries):
            raise CheckFailed(
                f"{self.task.name}: {len(queries):,} queries of qrels are not in queries"
            )

    def _lacks(self, what: str, found: Sequence[str]) -> UserError:
        return UserError(
            f"{self.task.name} in {self.root} needs {what}; there is {', '.join(found)}. If it "
            f"goes by another name, say so in its {META}; see dbt_project/docs/benchmark_files.md"
        )
