"""Documents' texts, and their vectors: computed once per text, kept on disk, never partial."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pyeval.labels import hash_order
from pyeval.progress import bar
from warehouse.beside import file_beside
from warehouse.errors import CheckFailed
from warehouse.tables import ALL, All, Lake

Ints = NDArray[np.int64]
Vectors = NDArray[np.float32]
EmbedTexts = Callable[[Sequence[str], Sequence[str]], Vectors]

# Where texts stand. What only the benchmark reads is no document of the corpus: it has an id above
# those of papers and patents, and no year that a cutoff could be held against.
_TEXTS = ("documents", "tasks.benchmark_papers", "tasks.benchmark_applications")
_FIRST_OTHER = 2_000_000_000_000
_CHUNK = 2048  # documents embedded between two saves; a killed run loses at most these


@dataclass(frozen=True, slots=True)
class Documents:
    """Titles and abstracts by ascending doc_id."""

    ids: Ints
    titles: pa.Array
    abstracts: pa.Array
    hashes: NDArray[np.bytes_]  # (n,) 16 bytes, of title and abstract

    def at(self, ids: Ints) -> Ints:
        """Positions of these ids, all of which must be held."""
        place = np.searchsorted(self.ids, ids)
        if not np.array_equal(self.ids[place], ids):
            raise KeyError("a document asked for was not read")
        return place

    def texts(self, place: Ints) -> tuple[list[str], list[str]]:
        """Titles and abstracts at these positions."""
        taken = pa.array(place)
        return self.titles.take(taken).to_pylist(), self.abstracts.take(taken).to_pylist()


def read_documents(lake: Lake, ids: Ints, cutoff: int | All = ALL) -> Documents:
    """The text of these documents, ascending and each once.

    Raises:
        CheckFailed: some have none. A harness that skipped them would score another task.
    """
    wanted = np.unique(ids)
    kept: list[pa.Table] = []
    for table in _TEXTS if (wanted >= _FIRST_OTHER).any() else _TEXTS[:1]:
        for batch in lake.batches(table, ["doc_id", "title", "abstract"], cutoff=cutoff):
            mine = np.isin(batch.column("doc_id").to_numpy(), wanted)
            if mine.any():
                kept.append(pa.Table.from_batches([batch.filter(pa.array(mine))]))
    rows = pa.concat_tables(kept) if kept else _no_documents()
    trimmed = [pc.utf8_trim_whitespace(rows.column(name)) for name in ("title", "abstract")]
    full = pc.and_(*(pc.greater(pc.utf8_length(text), 0) for text in trimmed))
    rows = rows.filter(pc.fill_null(full, False)).sort_by("doc_id")
    held = rows.column("doc_id").to_numpy()
    missing = np.setdiff1d(wanted, held)
    if len(missing):
        some = ", ".join(map(str, missing[:3].tolist()))
        raise CheckFailed(
            f"{len(missing):,} of the {len(wanted):,} documents that the tasks name have no title "
            f"and abstract in {' or '.join(_TEXTS)} (doc_id {some}). Build it again: lake build"
        )
    if len(held) != len(wanted):
        raise CheckFailed("a document is listed twice with its text. Build it again: lake build")
    titles, abstracts = (rows.column(name).combine_chunks() for name in ("title", "abstract"))
    pairs = zip(titles.to_pylist(), abstracts.to_pylist(), strict=True)
    hashes = np.array([text_hash(*pair) for pair in pairs], dtype="V16")
    return Documents(held, titles, abstracts, hashes)


def sample_documents(lake: Lake, cutoff: int, at_most: int, salt: str) -> Documents:
    """Documents known by the cutoff, drawn by hash of their ids: no later row changes the draw.

    Raises:
        CheckFailed: none is known by then.
    """
    ids = lake.read("documents", ["doc_id"], cutoff=cutoff).column("doc_id").to_numpy()
    if not len(ids):
        raise CheckFailed(f"no document is known by {cutoff}, so there is nothing to fit on")
    if len(ids) > at_most:
        ids = ids[hash_order(ids, salt)[:at_most]]
    return read_documents(lake, ids, cutoff)


def text_hash(title: str, abstract: str) -> bytes:
    """16 bytes that name a text."""
    return hashlib.md5(f"{title}\x1f{abstract}".encode("utf-8", "surrogatepass")).digest()


class Cache:
    """Vectors on disk by text hash, one folder per encoder and text settings.

    Parts are safetensors files named by their content, written beside and renamed, so that
    two commands may fill one cache at a time and nothing is unpickled.
    """

    def __init__(self, root: Path, fingerprint: str, text_settings: str) -> None:
        """Opens the folder of this encoder; nothing is read or written yet."""
        key = hashlib.sha256(f"{fingerprint}\n{text_settings}".encode()).hexdigest()[:32]
        self.folder = root / ".cache" / "embeddings" / key

    def load(self) -> tuple[NDArray[np.bytes_], Vectors] | None:
        """All hashes kept, ascending, and their vectors; None when there are none."""
        from safetensors.numpy import load_file

        parts = [load_file(path) for path in sorted(self.folder.glob("*.safetensors"))]
        if not parts:
            return None
        hashes = np.concatenate([_as_hashes(part["hashes"]) for part in parts])
        hashes, first = np.unique(hashes, return_index=True)
        return hashes, np.concatenate([part["vectors"] for part in parts])[first]

    def save(self, hashes: NDArray[np.bytes_], vectors: Vectors) -> None:
        """Adds one part."""
        from safetensors.numpy import save_file

        self.folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(hashes.tobytes()).hexdigest()[:32]
        raw = np.frombuffer(hashes.tobytes(), dtype=np.uint8).reshape(-1, 16)
        with file_beside(self.folder / f"{name}.safetensors") as partial:
            save_file({"hashes": raw, "vectors": np.ascontiguousarray(vectors)}, partial)


def embed_documents(
    documents: Documents, embed: EmbedTexts, cache: Cache | None, label: str = "Embedding"
) -> Vectors:
    """(N, D) the vector of every document, in the order of `documents.ids`.

    A text is embedded once, however many documents or tasks share it.

    Raises:
        CheckFailed: the encoder gave too few, or not finite, vectors.
    """
    hashes, first, back = np.unique(documents.hashes, return_index=True, return_inverse=True)
    kept = cache.load() if cache is not None else None
    known = _find(kept[0], hashes) if kept is not None else np.full(len(hashes), -1)
    todo = np.flatnonzero(known < 0)
    fresh: list[Vectors] = []
    if len(todo):
        with bar(label, len(todo)) as advance:
            for start in range(0, len(todo), _CHUNK):
                rows = todo[start : start + _CHUNK]
                fresh.append(_checked(embed(*documents.texts(first[rows])), len(rows)))
                if cache is not None:
                    cache.save(hashes[rows], fresh[-1])
                advance(len(rows))
    dims = (fresh[0] if fresh else kept[1]).shape[1] if len(hashes) else 0
    vectors = np.empty((len(hashes), dims), dtype=np.float32)
    if kept is not None:
        vectors[known >= 0] = kept[1][known[known >= 0]]
    if fresh:
        vectors[todo] = np.concatenate(fresh)
    return vectors[back.reshape(-1)]


def _checked(vectors: Vectors, n: int) -> Vectors:
    if vectors.ndim != 2 or len(vectors) != n:
        raise CheckFailed(f"the encoder gave {vectors.shape} vectors for {n:,} documents")
    if not np.isfinite(vectors).all():
        bad = int((~np.isfinite(vectors).all(axis=1)).sum())
        raise CheckFailed(f"the encoder gave {bad:,} of {n:,} documents a vector with nan or inf")
    return vectors.astype(np.float32, copy=False)


def _find(held: NDArray[np.bytes_], asked: NDArray[np.bytes_]) -> Ints:
    """(n,) position of each asked hash among the held, ascending ones; -1 when absent."""
    place = np.minimum(np.searchsorted(held, asked), len(held) - 1)
    return np.where(held[place] == asked, place, -1)


def _as_hashes(raw: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    return np.frombuffer(raw.tobytes(), dtype="V16")


def _no_documents() -> pa.Table:
    text = pa.array([], pa.string())
    return pa.table({"doc_id": pa.array([], pa.int64()), "title": text, "abstract": text})
