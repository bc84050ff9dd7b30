"""The slice as token ids on disk, made once per slice and tokenizer, read by memory map."""

import fcntl
import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tokenizers import Tokenizer

from pytrain.layout import sha256_of
from pytrain.tokenizer import load_tokenizer
from warehouse.tables import Lake, empty_slice

_COLUMNS = ("source", "doc_id", "text")
_ROWS = 2_048  # texts encoded at a time: enough that every core has work


@dataclass(frozen=True, kw_only=True)
class TokenCache:
    """Every text of a slice as token ids without special tokens, in the slice's stored order."""

    tokens: np.ndarray  # (T,) uint16, a memory map
    offsets: np.ndarray  # (N + 1,) int64: text i is tokens[offsets[i]:offsets[i + 1]]
    doc_ids: np.ndarray  # (N,) int64
    sources: np.ndarray  # (N,) uint8, an index into source_names
    source_names: tuple[str, ...]  # sorted

    def lengths(self) -> np.ndarray:
        """(N,) tokens per text."""
        return np.diff(self.offsets)


def open_cache(
    lake: Lake,
    year: int,
    tokenizer_folder: Path,
    root: Path,
    *,
    basis: str = "production",
    licence_at_most: str | None = None,
    first_characters: int | None = None,
) -> TokenCache:
    """The token cache of a slice, made when it is not there yet.

    Args:
        lake: read twice when the cache is to be made, else once for its fingerprint; recorded.
        year: the cutoff.
        tokenizer_folder: the run of the cutoff's tokenizer.
        root: folder of the caches; one that is never read again may be deleted.
        basis: what dates patent text; see `Lake.batches`.
        licence_at_most: what no text's licence exceeds; see `Lake.batches`.
        first_characters: of each text; None: all.

    Raises:
        UserError: the slice holds no text.
    """
    text = {"basis": basis, "licence_at_most": licence_at_most}
    read = lake.fingerprint("pretrain_text", _COLUMNS, cutoff=year, **text)
    if not read.rows:
        raise empty_slice("pretrain_text", year, "pre-training")
    parts = (read.fingerprint, sha256_of(tokenizer_folder / "tokenizer.json"), first_characters)
    key = hashlib.sha256(":".join(map(str, parts)).encode()).hexdigest()[:24]
    folder = root / f"tokens-{key}"
    root.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a second process waits, and finds it made
        if (folder / "sources.json").is_file():
            lake.reads.append(read)
        else:
            _make(lake, year, load_tokenizer(tokenizer_folder), folder, text, first_characters)
    return _open(folder)


def _open(folder: Path) -> TokenCache:
    names = json.loads((folder / "sources.json").read_text(encoding="utf-8"))
    size = (folder / "tokens.u16").stat().st_size // 2
    return TokenCache(
        tokens=np.memmap(folder / "tokens.u16", "<u2", "r", shape=(size,)) if size else _NONE,
        offsets=np.load(folder / "offsets.npy"),
        doc_ids=np.load(folder / "doc_ids.npy"),
        sources=np.load(folder / "sources.npy"),
        source_names=tuple(names),
    )


_NONE = np.zeros(0, np.uint16)


def _make(
    lake: Lake,
    year: int,
    tokenizer: Tokenizer,
    folder: Path,
    text_rules: dict,
    first_characters: int | None,
) -> None:
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    lengths, doc_ids, named = [], [], []
    with (partial / "tokens.u16").open("wb") as file:
        for batch in lake.batches("pretrain_text", _COLUMNS, cutoff=year, rows=_ROWS, **text_rules):
            text = batch.column("text")
            if first_characters is not None:
                text = pc.utf8_slice_codeunits(text, 0, first_characters)
            encoded = tokenizer.encode_batch_fast(text.to_pylist(), add_special_tokens=False)
            lengths.append(np.fromiter((len(one.ids) for one in encoded), np.int64))
            for one in encoded:
                file.write(np.array(one.ids, "<u2").tobytes())
            doc_ids.append(batch.column("doc_id").to_numpy())
            named.append(batch.column("source"))
    names = sorted(pc.unique(pa.chunked_array(named)).to_pylist())
    codes = pc.index_in(pa.chunked_array(named), pa.array(names)).to_numpy().astype(np.uint8)
    np.save(partial / "offsets.npy", np.cumsum(np.r_[0, np.concatenate(lengths)]))
    np.save(partial / "doc_ids.npy", np.concatenate(doc_ids))
    np.save(partial / "sources.npy", codes)
    (partial / "sources.json").write_text(json.dumps(names), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
