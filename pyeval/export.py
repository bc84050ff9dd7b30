"""`pyeval export`: the lake's benchmark as a folder that anyone can read without the lake."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pyeval.columns import works_of
from pyeval.dataset_card import write_card
from pyeval.embed import Ints, read_documents
from pyeval.folder import text_year
from pyeval.folder_files import FAMILIES, META
from pyeval.labels import Labels, Queries, read_labels, task_settings
from pyeval.progress import say
from pyeval.seen_pairs import NEVER, CitedPairs
from pyeval.tasks import Task
from warehouse.beside import folder_beside
from warehouse.dated import BASES, DATED_ALIKE, DATED_BY_BASIS, slice_years
from warehouse.errors import UserError
from warehouse.tables import ALL, Lake

_WRITTEN_METRICS = {"ndcg_at_10": "ndcg@10", "p_at_5": "p@5", "p_at_10": "p@10"}
_PATENT, _WORK, _PGPUB = 10**12, 2 * 10**12, 10**14  # first ids; see macros/identifiers.sql


def export(lake: Lake, tasks: Sequence[Task], out: Path) -> list[dict]:
    """Write the tasks with their documents; returns what meta.json says of each.

    The folder is made beside its place and renamed, so that it is whole or absent.

    Args:
        lake: a built lake.
        tasks: which of its tasks; those without an example are left out and named.
        out: the folder to make.

    Raises:
        UserError: the folder is there already, its parent is not, `<out>.partial` is something
            else's, or no task has an example.
    """
    if out.exists() or out.is_symlink():
        raise UserError(f"{out} is there already. Name another folder, or remove it first")
    if not out.parent.is_dir():
        raise UserError(f"no folder {out.parent} to write to. Make it with: mkdir -p {out.parent}")
    labels = {task.name: read_labels(lake, task) for task in tasks}
    empty = [name for name, one in labels.items() if not len(one.ids)]
    if empty:
        say(f"left out, without an example in this lake: {', '.join(empty)}. See: pyeval tasks "
            "--sizes")  # fmt: skip
    labels = {name: one for name, one in labels.items() if len(one.ids)}
    if not labels:
        raise UserError("no task has an example in this lake, so there is nothing to export")
    with folder_beside(out) as partial:
        return _write_all(lake, labels, partial)


def _write_all(lake: Lake, labels: dict[str, Labels | Queries], out: Path) -> list[dict]:
    """Fill an empty folder; what meta.json says of each task."""
    wanted = np.unique(np.concatenate([one.documents() for one in labels.values()]))
    n_documents = _write_documents(lake, wanted, out / "documents.parquet")
    metas = []
    cited = CitedPairs(lake, [one for one in labels.values() if isinstance(one, Queries)])
    for one in labels.values():
        folder = out / one.task.name
        folder.mkdir()
        if isinstance(one, Queries):
            counts = _write_queries(lake, one, cited, folder)
        else:
            counts = _write_labels(lake, one, folder)
        meta = _meta(one.task) | counts | {"settings": task_settings(lake, one.task)}
        (folder / META).write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")
        metas.append(meta)
    write_card(lake, metas, n_documents, out / "README.md")
    return metas


def _meta(task: Task) -> dict:
    shared = {
        "slug": task.name,
        "family": FAMILIES[task.format],
        "task_type": {"classify": "classification", "regress": "regression"}.get(
            task.format, "retrieval"
        ),
        "year_field": "task_year",
        "text_fields": ["title", "abstract"],
        "text_source": "documents",
        "metric": [_WRITTEN_METRICS.get(one, one) for one in task.metrics],
        "label_source": task.source,
        "inputs": task.inputs,
    }
    if task.format == "retrieve":
        return shared | {
            "qrels_scale": "binary",
            "query_id_field": "query_id",
            "corpus_id_field": "doc_id",
            "query_text_source": "documents",
            "corpus_text_source": "documents",
        }
    own = {"id_field": "doc_id", "label_field": "label", "multilabel": task.multilabel}
    if task.positive:
        own["positive"] = task.positive
    if task.format == "regress":
        own["label_is"] = "count" if task.log1p else "value"
    return shared | own


def _write_labels(lake: Lake, labels: Labels, folder: Path) -> dict:
    """Train and test rows; how many of each."""
    task = labels.task
    columns = ["doc_id", "task_year", "label_year", "split", "label"]
    rows = lake.read(task.table, columns, cutoff=ALL).sort_by("doc_id")
    counts = {}
    for split in ("train", "test"):
        mine = rows.filter(pc.equal(rows.column("split"), split)).drop_columns("split")
        _write(mine, folder / f"{split}.parquet")
        counts[f"n_{split}"] = len(mine)
    return counts


def _write_queries(lake: Lake, queries: Queries, cited: CitedPairs, folder: Path) -> dict:
    """Queries, corpus and relevants; how many of each."""
    task = queries.task
    asked = {
        "query_id": pa.array(queries.ids),
        "task_year": pa.array(queries.years),
        "label_year": pa.array(queries.label_years),
    }
    if task.parts:
        # Parts ascend by query, so their counts give where each query's list begins.
        counts = np.bincount(queries.parts[0], minlength=len(queries.ids))
        starts = pa.array(np.r_[0, np.cumsum(counts)].astype(np.int32))
        asked["documents"] = pa.ListArray.from_arrays(starts, pa.array(queries.parts[1]))
    _write(pa.table(asked), folder / "queries.parquet")
    _write(pa.table({"doc_id": pa.array(queries.corpus)}), folder / "corpus.parquet")
    columns = ["query_id", "doc_id", "relevant", "label_year"]
    columns += ["trigram_overlap"] if task.distinct else []
    order = [("query_id", "ascending"), ("doc_id", "ascending")]
    qrels = lake.read(task.table, columns, cutoff=ALL).sort_by(order)
    # Relevants of `queries` stand in the same order.
    qrels = qrels.append_column("edge_year", _years(cited.years(queries)))
    _write(qrels, folder / "qrels.parquet")
    return {
        "n_queries": len(queries.ids), "n_corpus": len(queries.corpus), "n_qrels": len(qrels)
    }  # fmt: skip


def _write_documents(lake: Lake, wanted: Ints, path: Path) -> int:
    """Texts by doc_id, with the publisher's id and the years in which each was readable."""
    held = read_documents(lake, wanted)
    known = np.full(len(held.ids), NEVER, np.int64)
    for batch in lake.batches("documents", ["doc_id", "known_year"], cutoff=ALL):
        ids, years = (batch.column(i).to_numpy() for i in range(2))
        mine = np.isin(ids, held.ids)
        known[np.searchsorted(held.ids, ids[mine])] = years[mine]
    columns = {
        "doc_id": pa.array(held.ids),
        "doc_uri": pa.array([doc_uri(one) for one in held.ids.tolist()]),
        "known_year": _years(known),
        "title": held.titles,
        "abstract": held.abstracts,
    }
    readable = text_years(lake, held.ids)
    columns |= {text_year(basis): _years(years) for basis, years in readable.items()}
    _write(pa.table(columns), path)
    return len(held.ids)


def text_years(lake: Lake, ids: Ints) -> dict[str, Ints]:
    """The first year in which training could read a document, by any id of its work.

    Args:
        lake: the lake that training reads.
        ids: (n,) doc_id.

    Returns:
        What dates patent text (see `corpus.pretrain_asof`) -> (n,) years; the largest int32 where
        no year's slice holds the text.
    """
    work_of = works_of(lake)
    works, back = np.unique(work_of(ids), return_inverse=True)
    first = {basis: np.full(len(works), NEVER, np.int64) for basis in BASES}
    for table, columns in (("documents", DATED_ALIKE), ("pretrain_text", DATED_BY_BASIS)):
        for batch in lake.batches(table, ["doc_id", *columns], cutoff=ALL):
            found = work_of(batch.column("doc_id").to_numpy())
            mine = np.isin(found, works)
            place = np.searchsorted(works, found[mine])
            for basis, years in first.items():
                read = slice_years(batch, basis).fill_null(NEVER).to_numpy()
                np.minimum.at(years, place, read[mine])
    return {basis: years[back.reshape(-1)] for basis, years in first.items()}


def doc_uri(doc_id: int) -> str:
    """The publisher's own name of a document, from its id (macros/identifiers.sql)."""
    if doc_id < _PATENT:
        return f"s2:{doc_id}"
    if doc_id >= _PGPUB:
        return f"us-pgpub:{doc_id - _PGPUB}"
    if doc_id >= _WORK:
        return f"openalex:W{doc_id - _WORK}"
    kind, number = divmod(doc_id - _PATENT, 10**10)
    return f"us:{('', 'D', 'PP', 'RE', 'H', 'T')[kind]}{number}"


def _years(years: Ints) -> pa.Array:
    return pa.array(years.astype(np.int32), mask=years == NEVER)


def _write(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, compression="zstd")
