"""Training pairs as of the cutoff: neighbours in the graph, and a document's own texts.

(title, abstract) and (abstract, later text) need no citation: a slice without a graph has them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pytrain.graph import Graph
from pytrain.kin import Kin, family_keys
from pytrain.splitmix import key_of, scramble
from warehouse.tables import Lake, empty_slice

if TYPE_CHECKING:
    from pytrain.graph_config import PairSettings

_LATER_SOURCES = ("s2orc", "granted_text", "uspto")
_BATCH = 4_096  # texts read at a time


@dataclass(frozen=True, kw_only=True)
class Documents:
    """Documents of the slice with their texts, by rising `doc_id`."""

    doc_ids: np.ndarray  # (N,) int64
    titles: list[str]
    abstracts: list[str]
    later: list[str]  # from inside the description or the body; "" for none
    in_pairs: np.ndarray  # (N,) bool, drawn for text pairs
    families: np.ndarray  # (N, 4) int64, see pytrain.kin

    def rows_of(self, doc_ids: np.ndarray) -> np.ndarray:
        """Row numbers; every id must be there."""
        return np.searchsorted(self.doc_ids, doc_ids)


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Graph examples by row of `Documents`."""

    anchors: np.ndarray  # (E,)
    positives: np.ndarray  # (E,)
    negatives: np.ndarray  # (E, K), hard ones first, -1 for none
    is_paper: np.ndarray  # (E,) bool, the anchor's type
    is_cross: np.ndarray  # (E,) bool, whether the positive is of the other type


def read_documents(
    lake: Lake,
    cutoff: int,
    settings: "PairSettings",
    *,
    needed: np.ndarray,
    text_pairs: bool,
    later: bool,
) -> Documents:
    """The documents that pairs are made of.

    Args:
        lake: read as of the cutoff only.
        cutoff: the year.
        settings: which part of the later text, and how many documents for text pairs.
        needed: ids of documents that graph examples name.
        text_pairs: also draw documents of the slice for text pairs.
        later: also read later text, for (abstract, later text) pairs.

    Raises:
        UserError: the slice has no document.
    """
    ids = lake.read("documents", ["doc_id"], cutoff=cutoff)["doc_id"].to_numpy()
    if not len(ids):
        raise empty_slice("documents", cutoff, "training pairs")
    drawn = _drawn(ids, settings.max_documents) if text_pairs else np.empty(0, np.int64)
    doc_ids = np.union1d(needed, drawn)
    texts: dict[str, list[str]] = {"title": [""] * len(doc_ids), "abstract": [""] * len(doc_ids)}
    is_patent = np.zeros(len(doc_ids), bool)
    columns = ["doc_id", "doc_type", "title", "abstract"]
    for batch in lake.batches("documents", columns, cutoff=cutoff, rows=_BATCH):
        rows, batch = _known_rows(batch, doc_ids)
        is_patent[rows] = np.array(batch.column("doc_type").to_pylist()) == "patent"
        for name, kept in texts.items():
            for row, text in zip(rows, batch.column(name).to_pylist(), strict=True):
                kept[row] = text
    works = _works(lake, cutoff, doc_ids)
    inner = [""] * len(doc_ids)
    if later:
        _read_later(lake, cutoff, settings, doc_ids, works, texts["abstract"], inner)
    return Documents(
        doc_ids=doc_ids,
        titles=texts["title"],
        abstracts=texts["abstract"],
        later=inner,
        in_pairs=np.isin(doc_ids, drawn),
        families=family_keys(works, is_patent, texts["title"], texts["abstract"], inner),
    )


def _drawn(ids: np.ndarray, most: int | None) -> np.ndarray:
    """The ids with the lowest hashes; an id's place in that order never changes."""
    if most is None or len(ids) <= most:
        return ids
    return ids[np.argsort(scramble(key_of(21) + ids.astype(np.uint64)), kind="stable")[:most]]


def _known_rows(batch: pa.RecordBatch, doc_ids: np.ndarray) -> tuple[np.ndarray, pa.RecordBatch]:
    ids = batch.column("doc_id").to_numpy()
    rows = np.minimum(np.searchsorted(doc_ids, ids), max(0, len(doc_ids) - 1))
    known = doc_ids[rows] == ids if len(doc_ids) else np.zeros(len(ids), bool)
    return rows[known], batch.filter(pa.array(known))


def _works(lake: Lake, cutoff: int, doc_ids: np.ndarray) -> np.ndarray:
    """(N,) the id of each document's work: its own where no link is known by the cutoff."""
    works = doc_ids.copy()
    links = lake.read("same_work", ["doc_id", "work_id"], cutoff=cutoff)
    for batch in links.to_batches():
        rows, kept = _known_rows(batch, doc_ids)
        works[rows] = kept.column("work_id").to_numpy()
    return works


def _read_later(
    lake: Lake,
    cutoff: int,
    settings: "PairSettings",
    doc_ids: np.ndarray,
    works: np.ndarray,
    abstracts: list[str],
    inner: list[str],
) -> None:
    """Fill `inner` with text from inside each document's description or body.

    Pre-grant text stands under the id of its publication, which is the work of the patent.
    """
    by_work = np.argsort(works, kind="stable")
    columns = ["doc_id", "source", "text"]
    for batch in lake.batches("pretrain_text", columns, cutoff=cutoff, rows=_BATCH):
        values = (batch.column(name).to_pylist() for name in columns)
        for doc_id, source, text in zip(*values, strict=True):
            if source not in _LATER_SOURCES:
                continue
            row = int(np.searchsorted(doc_ids, doc_id))
            if row == len(doc_ids) or doc_ids[row] != doc_id:
                place = int(np.searchsorted(works, doc_id, sorter=by_work))
                if place == len(works) or works[by_work[place]] != doc_id:
                    continue
                row = int(by_work[place])
            start = settings.body_start if source == "s2orc" else settings.description_start
            text = text.removeprefix(abstracts[row])
            text = text[start : start + settings.characters]
            if len(text) >= settings.min_characters and not inner[row]:
                inner[row] = text


def example_documents(table: pa.Table) -> np.ndarray:
    """The distinct ids of every document that examples name."""
    lists = table["negative_ids"].combine_chunks().flatten().to_numpy()
    named = [table["anchor_id"].to_numpy(), table["positive_id"].to_numpy(), lists]
    return np.unique(np.concatenate(named))


def read_examples(folder: Path) -> pa.Table:
    """The examples of a neighbours run."""
    return pq.read_table(folder / "examples.parquet")


def examples_of(table: pa.Table, documents: Documents, n_hard: int, n_random: int) -> Examples:
    """The examples by row, with at most so many of their hard and of their random negatives."""
    rows = {
        name: documents.rows_of(table[f"{name}_id"].to_numpy()) for name in ("anchor", "positive")
    }
    negatives = np.full((len(table), n_hard + n_random), -1)
    lists, hard = table["negative_ids"].to_pylist(), table["n_hard"].to_pylist()
    for i, (ids, first) in enumerate(zip(lists, hard, strict=True)):
        chosen = ids[: min(first, n_hard)] + ids[first : first + n_random]
        negatives[i, : len(chosen)] = documents.rows_of(np.array(chosen, np.int64))
    return Examples(
        anchors=rows["anchor"],
        positives=rows["positive"],
        negatives=negatives,
        is_paper=np.array(table["anchor_type"].to_pylist()) == "paper",
        is_cross=np.array(table["anchor_type"]) != np.array(table["positive_type"]),
    )


def kin_of(
    documents: Documents, table: pa.Table | None, graph: Graph | None, settings: "PairSettings"
) -> Kin:
    """Who is never whose negative: an anchor's positives, and as the settings say its kin.

    Args:
        documents: whose rows the answer speaks of.
        table: the examples of the cutoff, all of them; None where only text pairs are used.
        graph: of the cutoff; its edges count where `settings.mask_neighbours`.
        settings: what is masked.
    """
    links = [np.empty((0, 2), np.int64)]
    if table is not None:
        links.append(
            _links(documents, table["anchor_id"].to_numpy(), table["positive_id"].to_numpy())
        )
    if graph is not None and settings.mask_neighbours:
        one = np.repeat(graph.doc_ids, graph.degrees)
        links.append(_links(documents, one, graph.doc_ids[graph.indices]))
    families = documents.families if settings.mask_families else None
    return Kin(len(documents.doc_ids), np.concatenate(links), families)


def _links(documents: Documents, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Pairs of ids as pairs of rows, without those that are not among the documents."""
    here = np.isin(one, documents.doc_ids) & np.isin(other, documents.doc_ids)
    return np.stack([documents.rows_of(one[here]), documents.rows_of(other[here])], axis=1)
