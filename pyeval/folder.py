"""A benchmark in a folder, read as a lake is: one's own export, or the published files.

    <folder>/<task>/meta.json                        what the columns are called, and the settings
    <folder>/<task>/{train,test}.parquet             a task that probes read
    <folder>/<task>/{queries,corpus,qrels}.parquet   a retrieval task
    <folder>/<texts>.parquet                         the documents, by the name that meta.json gives

Parquet, JSON lines or CSV, whole or in parts (`test-00000-of-00002.parquet`), in the task's folder
or in its `data`. The keys of meta.json are those of the published benchmark (one of its files was
to be seen; the other names are our choice), and where one is left out the usual names are tried.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from pyeval.folder_files import (
    ENDS,
    META,
    as_classes,
    files_of,
    open_files,
    tasks_in,
    whole_numbers,
)
from pyeval.folder_ids import Ids
from pyeval.tasks import TASKS, Task
from warehouse.content import ContentHash
from warehouse.dated import BASES, All, TableRead
from warehouse.errors import CheckFailed, UserError

# Tried in turn where meta.json does not name a column.
QUERY_COLUMNS = ("query_id", "query-id", "qid")
DOCUMENT_COLUMNS = ("doc_id", "corpus_id", "corpus-id", "patent_id", "paper_id", "id")
JUDGED_COLUMNS = ("relevant", "relevance", "score")
YEAR_COLUMNS = ("task_year", "year")
NEVER = 9999  # a label_year that no cutoff reaches, where the files give none


def text_year(basis: str) -> str:
    """The column for the first year in which a text could be read, dated by this basis."""
    return f"text_year_{basis}"


class BenchmarkFolder:
    """The tasks and documents of a folder, with the reading methods of a `warehouse.Lake`.

    Tables: `tasks.task_<name>`, `tasks.corpus_<name>`, `tasks.queries_<name>`, `documents`,
    `pretrain_text` (which texts could be read, and no text), `edges` (between queries and their
    relevants), `same_work` (no row: years of texts and edges count every id of a work already),
    `tasks.task_settings` and `tasks.task_sizes`.
    """

    def __init__(self, root: Path) -> None:
        """Find the tasks; read no row yet.

        Raises:
            UserError: no task of the 27 (or `paper_cite`) in the folder, or a meta.json that cannot
                be read.
        """
        self.root = Path(root)
        self._meta = dict(tasks_in(self.root))
        if not self._meta:
            found = sorted(path.name for path in self.root.iterdir())[:5]
            raise UserError(
                f"{self.root} holds no task: a folder <task>/{META} for each was looked for, "
                f"{', '.join(found) or 'nothing'} was found. Make one with: pyeval export --out DIR"
            )
        self._ids = Ids()
        self._texts: dict[str, list[Path]] = {}

    def __enter__(self) -> "BenchmarkFolder":
        """For the length of a `with` block, as a lake is."""
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is held open."""

    def close(self) -> None:
        """Nothing is held open."""

    def tasks(self, names: Sequence[str] = ()) -> list[Task]:
        """The folder's tasks, or those of them that are named, as these files allow them.

        A task whose files do not say which relevants are near-copies is not scored without them.

        Raises:
            UserError: a task that the folder lacks.
        """
        for name in names:
            if name not in self._meta:
                raise UserError(
                    f"{self.root} has no task {name}; it has {', '.join(sorted(self._meta))}"
                )
        found = []
        for task in TASKS.values():
            if task.name in self._meta and (not names or task.name in names):
                if task.distinct and "trigram_overlap" not in self._schema(task, "qrels"):
                    task = replace(task, distinct=False)
                found.append(task)
        return found

    def dates_texts(self, tasks: Sequence[Task]) -> bool:
        """Whether the files say when each text could first be read.

        Without it no score is known to be out of time.
        """
        return all(text_year("production") in self._documents_of(task).names for task in tasks)

    def dates_labels(self, tasks: Sequence[Task]) -> list[str]:
        """The tasks that do not say when their labels could first be known."""
        first = {True: "qrels", False: "train"}
        return [
            one.name for one in tasks
            if "label_year" not in self._schema(one, first[one.format == "retrieve"])
        ]  # fmt: skip

    def years(self) -> tuple[int, int]:
        """First and last year of its examples."""
        years = []
        for task in self.tasks():
            parts = ("queries",) if task.format == "retrieve" else ("train", "test")
            for part in parts:
                table = self._part(task, part)
                if table.num_rows:
                    bounds = pc.min_max(self._column(task, part, table, "year"))
                    years += [bounds["min"].as_py(), bounds["max"].as_py()]
        if not years:
            raise UserError(f"{self.root} holds no example. Make it again: pyeval export --out DIR")
        return int(min(years)), int(max(years))

    def read(
        self, table: str, columns: Sequence[str], *, cutoff: int | All, basis: str = "production"
    ) -> pa.Table:
        """A whole table, or its rows known by the cutoff."""
        if table.startswith("tasks.") and table not in _NO_TEXT:
            return self._made(table.removeprefix("tasks.")).select(list(columns))
        found = list(self.batches(table, columns, cutoff=cutoff, basis=basis))
        if found:
            return pa.Table.from_batches(found)
        kinds = {"title": pa.string(), "abstract": pa.string()}
        return pa.table({one: pa.array([], kinds.get(one, pa.int64())) for one in columns})

    def fingerprint(self, table: str, columns: Sequence[str], *, cutoff: int | All) -> TableRead:
        """The hash of a table's content."""
        content = ContentHash(tuple(columns))
        for batch in self.batches(table, columns, cutoff=cutoff):
            content.update(batch)
        year = None if isinstance(cutoff, All) else cutoff
        return TableRead(table, year, tuple(columns), content.rows, None, content.hexdigest())

    def batches(
        self, table: str, columns: Sequence[str], *, cutoff: int | All, basis: str = "production"
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a table in batches; documents ascend by id within a file.

        Raises:
            UserError: the files lack a column that this needs.
        """
        if table == "documents":
            yield from self._documents(columns, cutoff, "known_year")
        elif table == "pretrain_text":
            if basis not in BASES:
                raise ValueError(f"no basis {basis}")
            yield from self._documents(columns, cutoff, text_year(basis))
        elif table == "edges":
            yield from self._edges(columns)
        elif table.startswith("tasks.") and table not in _NO_TEXT:
            yield from self.read(table, columns, cutoff=cutoff).to_batches()
        elif table not in ("same_work", *_NO_TEXT):
            raise ValueError(f"a benchmark folder has no table {table}")

    def _made(self, name: str) -> pa.Table:
        if name == "task_settings":
            rows = [
                {"task": task, "setting": setting, "value": str(value)}
                for task, meta in self._meta.items()
                for setting, value in meta.get("settings", {}).items()
            ]
            names = ("task", "setting", "value")
            return pa.Table.from_pylist(rows, pa.schema([(one, pa.string()) for one in names]))
        if name == "task_sizes":
            rows = [{"task": task, "lacks": meta.get("lacks")} for task, meta in self._meta.items()]
            schema = pa.schema([("task", pa.string()), ("lacks", pa.string())])
            return pa.Table.from_pylist(rows, schema)
        kind, task = name.split("_", 1)[0], TASKS[name.split("_", 1)[1]]
        if kind == "corpus":
            corpus = self._part(task, "corpus")
            return pa.table({"doc_id": self._column(task, "corpus", corpus, "document")})
        if kind == "queries":
            return self._parts_of_queries(task)
        return self._pairs(task) if task.format == "retrieve" else self._examples(task)

    def _examples(self, task: Task) -> pa.Table:
        parts = []
        for split in ("train", "test"):
            table = self._part(task, split)
            ids = self._column(task, split, table, "document")
            years = self._column(task, split, table, "year")
            parts.append(
                pa.table(
                    {
                        "doc_id": ids,
                        "task_year": years,
                        "label_year": whole_numbers(table, "label_year", NEVER),
                        "split": pa.array([split] * len(table)),
                        "label": self._labels(task, table),
                    }
                )
            )
        return pa.concat_tables(parts, promote_options="permissive")

    def _labels(self, task: Task, table: pa.Table) -> pa.ChunkedArray | pa.Array:
        name = self._meta[task.name].get("label_field", "label")
        if name not in table.column_names:
            raise self._lacks(task, f"a column {name}", table.column_names)
        said = table.column(name)
        if task.format == "regress":
            target = said.cast(pa.float64())
            # The task takes the logarithm of a count; files that took it already are undone.
            logged = task.log1p and self._meta[task.name].get("label_is", "count") == "log_count"
            return pc.expm1(target) if logged else target
        if task.multilabel:
            if not (pa.types.is_list(said.type) or pa.types.is_large_list(said.type)):
                raise self._lacks(task, f"a list of labels in {name}", [str(said.type)])
            return said
        if not task.positive:
            return said.cast(pa.string())
        found = as_classes(task, said)
        if found is None:
            classes = sorted({str(one) for one in pc.unique(said).to_pylist()})
            raise self._lacks(task, f"the class {task.positive} (or 1 and 0)", classes)
        return found

    def _pairs(self, task: Task) -> pa.Table:
        queries, qrels = self._part(task, "queries"), self._part(task, "qrels")
        asked = self._column(task, "queries", queries, "query").to_numpy()
        years = self._column(task, "queries", queries, "year").to_numpy()
        year_of = dict(zip(asked.tolist(), years.tolist(), strict=True))
        judged = next((one for one in JUDGED_COLUMNS if one in qrels.column_names), None)
        if judged:
            qrels = qrels.filter(pc.greater(qrels.column(judged), 0))
        query = self._column(task, "qrels", qrels, "query").to_numpy()
        lost = np.setdiff1d(query, asked)
        if len(lost):
            raise CheckFailed(f"{task.name}: {len(lost):,} queries of qrels are not in queries")
        columns = {
            "query_id": pa.array(query),
            "doc_id": self._column(task, "qrels", qrels, "document"),
            "task_year": pa.array([year_of[one] for one in query.tolist()], pa.int64()),
            "label_year": whole_numbers(qrels, "label_year", NEVER),
        }
        if "trigram_overlap" in qrels.column_names:
            columns["trigram_overlap"] = qrels.column("trigram_overlap")
        return pa.table(columns)

    def _parts_of_queries(self, task: Task) -> pa.Table:
        """Of queries made of several documents: one row for each of them."""
        queries = self._part(task, "queries")
        if "documents" not in queries.column_names:
            raise self._lacks(task, "a column documents (the list of them)", queries.column_names)
        held = queries.column("documents").combine_chunks()
        ids = self._column(task, "queries", queries, "query").to_numpy()
        return pa.table(
            {
                "query_id": pa.array(ids[pc.list_parent_indices(held).to_numpy()]),
                "doc_id": self._ids.of(self._source(task, "query"), pc.list_flatten(held)),
            }
        )

    def _edges(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Citations between queries and relevants; of a query of several documents, the first."""
        for task in self.tasks():
            if task.format != "retrieve" or "edge_year" not in self._schema(task, "qrels"):
                continue
            qrels = self._part(task, "qrels")
            qrels = qrels.filter(pc.is_valid(qrels.column("edge_year")))
            query = self._column(task, "qrels", qrels, "query").to_numpy()
            if task.parts:
                parts = self._parts_of_queries(task).to_pydict()
                first = dict(zip(parts["query_id"][::-1], parts["doc_id"][::-1], strict=True))
                query = np.array([first[one] for one in query.tolist()], np.int64)
            made = {
                "citing_id": pa.array(query),
                "cited_id": self._column(task, "qrels", qrels, "document"),
                "known_year": whole_numbers(qrels, "edge_year"),
            }
            yield from pa.table(made).select(list(columns)).to_batches()

    def _column(self, task: Task, part: str, table: pa.Table, what: str) -> pa.Array:
        """Ids as integers, or years, of a part of a task."""
        meta = self._meta[task.name]
        if what == "year":
            asked = [meta["year_field"]] if "year_field" in meta else []
            name = self._first(task, (*asked, *YEAR_COLUMNS), table)
            return whole_numbers(table, name)
        if what == "query":
            own = [meta["query_id_field"]] if part == "queries" and "query_id_field" in meta else []
            name = self._first(task, (*own, *QUERY_COLUMNS, *DOCUMENT_COLUMNS), table)
            source = self._source(task, "query")
            return self._ids.of(f"{source} {task.name}" if task.parts else source, table[name])
        key = "corpus_id_field" if task.format == "retrieve" else "id_field"
        own = [meta[key]] if key in meta and part != "qrels" else []
        name = self._first(task, (*own, *DOCUMENT_COLUMNS), table)
        return self._ids.of(self._source(task, "corpus"), table[name])

    def _first(self, task: Task, names: Sequence[str], table: pa.Table) -> str:
        for name in names:
            if name in table.column_names:
                return name
        raise self._lacks(task, f"one of the columns {', '.join(names)}", table.column_names)

    def _source(self, task: Task, side: str) -> str:
        """The name of the file of texts: of the queries, or of everything else."""
        meta = self._meta[task.name]
        return meta.get(f"{side}_text_source") or meta.get("text_source", "documents")

    def _part(self, task: Task, part: str) -> pa.Table:
        return self._dataset(task, part).to_table()

    def _schema(self, task: Task, part: str) -> list[str]:
        return self._dataset(task, part).schema.names

    def _dataset(self, task: Task, part: str) -> ds.Dataset:
        folder = self.root / self._meta[task.name]["folder"]
        found = files_of((folder, folder / "data"), part)
        if not found:
            raise UserError(
                f"{folder} has no {part}.parquet ({', '.join(ENDS)}, or parts of it), which "
                f"{task.name} needs. It holds {', '.join(sorted(p.name for p in folder.iterdir()))}"
            )
        return open_files(found)

    def _documents_of(self, task: Task) -> pa.Schema:
        return open_files(self._text_files(self._source(task, "corpus"))).schema

    def _text_files(self, source: str) -> list[Path]:
        if source not in self._texts:
            found = files_of((self.root, self.root / "documents", self.root / "data"), source)
            if not found:
                raise UserError(
                    f"{self.root} has no {source}.parquet ({', '.join(ENDS)}, or parts of it), "
                    "which should hold the titles and abstracts. Download the folder again, or "
                    "make it with: pyeval export"
                )
            self._texts[source] = found
        return self._texts[source]

    def _documents(
        self, columns: Sequence[str], cutoff: int | All, dated: str
    ) -> Iterator[pa.RecordBatch]:
        sources = {self._source(TASKS[one], side) for one in self._meta for side in _SIDES}
        for source in sorted(sources):
            data = open_files(self._text_files(source))
            own = next((one for one in DOCUMENT_COLUMNS if one in data.schema.names), None)
            if own is None:
                raise UserError(
                    f"{source} has none of the columns {', '.join(DOCUMENT_COLUMNS)}; it has "
                    f"{', '.join(data.schema.names)}"
                )
            needed = {own, *(one for one in columns if one != "doc_id")}
            if not isinstance(cutoff, All):
                needed.add(dated)
            lacking = sorted(needed - set(data.schema.names))
            if lacking:
                raise UserError(
                    f"{source} has no column {', '.join(lacking)}, which is needed to know what "
                    "was written by a cutoff. Score without --cutoff, --whiten and tfidf"
                )
            where = None if isinstance(cutoff, All) else ds.field(dated) <= cutoff
            for batch in data.to_batches(columns=sorted(needed), filter=where):
                if batch.num_rows:
                    made = [
                        self._ids.of(source, batch.column(own))
                        if one == "doc_id"
                        else batch.column(one)
                        for one in columns
                    ]
                    yield pa.RecordBatch.from_arrays(made, list(columns))

    def _lacks(self, task: Task, what: str, found: Sequence[str]) -> UserError:
        return UserError(
            f"{task.name} in {self.root} needs {what}; there is {', '.join(found)}. If it goes by "
            f"another name, say so in its {META}; see dbt_project/docs/benchmark_files.md"
        )


_SIDES = ("query", "corpus")
# All texts stand in `documents`, those that only the benchmark reads with the others.
_NO_TEXT = ("tasks.benchmark_papers", "tasks.benchmark_applications")
