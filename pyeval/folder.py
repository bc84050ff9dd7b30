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

import pyarrow as pa
import pyarrow.dataset as ds

from pyeval.folder_files import (
    DOCUMENT_COLUMNS,
    ENDS,
    META,
    files_of,
    open_files,
    read_batches,
    tasks_in,
)
from pyeval.folder_ids import Ids
from pyeval.folder_task import TaskFiles
from pyeval.tasks import TASKS, Task
from warehouse.content import ContentHash
from warehouse.dated import BASES, All, TableRead
from warehouse.errors import UserError

_SIDES = ("query", "corpus")
# All texts stand in `documents`, those that only the benchmark reads with the others.
_NO_TEXT = ("tasks.benchmark_papers", "tasks.benchmark_applications")


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
        self._ids = Ids()
        self._tasks = {
            name: TaskFiles(self.root, TASKS[name], meta, self._ids)
            for name, meta in tasks_in(self.root)
        }
        if not self._tasks:
            found = sorted(path.name for path in self.root.iterdir())[:5]
            raise UserError(
                f"{self.root} holds no task: a folder <task>/{META} for each was looked for, "
                f"{', '.join(found) or 'nothing'} was found. Make one with: pyeval export --out DIR"
            )
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
            if name not in self._tasks:
                raise UserError(
                    f"{self.root} has no task {name}; it has {', '.join(sorted(self._tasks))}"
                )
        found = []
        for task in TASKS.values():
            if task.name in self._tasks and (not names or task.name in names):
                if task.distinct and "trigram_overlap" not in self._of(task).schema("qrels"):
                    task = replace(task, distinct=False)
                found.append(task)
        return found

    def dates_texts(self, tasks: Sequence[Task]) -> bool:
        """Whether the files say when each text could first be read.

        Without it no score is known to be out of time.
        """
        wanted = text_year("production")
        schemas = (open_files(self._text_files(self._of(one).source("corpus"))) for one in tasks)
        return all(wanted in one.schema.names for one in schemas)

    def dates_labels(self, tasks: Sequence[Task]) -> list[str]:
        """The tasks that do not say when their labels could first be known."""
        first = {True: "qrels", False: "train"}
        return [
            one.name for one in tasks
            if "label_year" not in self._of(one).schema(first[one.format == "retrieve"])
        ]  # fmt: skip

    def years(self) -> tuple[int, int]:
        """First and last year of its examples."""
        years = [year for files in self._tasks.values() for year in files.years()]
        if not years:
            raise UserError(f"{self.root} holds no example. Make it again: pyeval export --out DIR")
        return min(years), max(years)

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
            for files in self._tasks.values():
                edges = files.edges()
                if edges is not None:
                    yield from edges.select(list(columns)).to_batches()
        elif table.startswith("tasks.") and table not in _NO_TEXT:
            yield from self.read(table, columns, cutoff=cutoff).to_batches()
        elif table not in ("same_work", *_NO_TEXT):
            raise ValueError(f"a benchmark folder has no table {table}")

    def _of(self, task: Task) -> TaskFiles:
        return self._tasks[task.name]

    def _made(self, name: str) -> pa.Table:
        if name == "task_settings":
            rows = [
                {"task": task, "setting": setting, "value": str(value)}
                for task, files in self._tasks.items()
                for setting, value in files.meta.get("settings", {}).items()
            ]
            names = ("task", "setting", "value")
            return pa.Table.from_pylist(rows, pa.schema([(one, pa.string()) for one in names]))
        if name == "task_sizes":
            rows = [
                {"task": task, "lacks": files.meta.get("lacks")}
                for task, files in self._tasks.items()
            ]
            schema = pa.schema([("task", pa.string()), ("lacks", pa.string())])
            return pa.Table.from_pylist(rows, schema)
        kind, task = name.split("_", 1)
        return self._tasks[task].table(kind)

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
        sources = {files.source(side) for files in self._tasks.values() for side in _SIDES}
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
            for batch in read_batches(data, sorted(needed), where):
                if batch.num_rows:
                    made = [
                        self._ids.of(source, batch.column(own))
                        if one == "doc_id"
                        else batch.column(one)
                        for one in columns
                    ]
                    yield pa.RecordBatch.from_arrays(made, list(columns))
