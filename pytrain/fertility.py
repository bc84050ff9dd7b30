"""How many tokens a tokenizer makes of a word, by source and year of its slice."""

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from warehouse.tables import Lake

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from pytrain.config import TokenizerSettings

_COLUMNS = ("source", "known_year", "doc_id", "text")
_ROWS = 4_096


def drawn(doc_id: int, share: float) -> bool:
    """Whether a document is counted: by md5 of its id, so that later rows change nothing."""
    digest = hashlib.md5(f"fertility:{doc_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def fertility(
    lake: Lake,
    year: int,
    tokenizer: "Tokenizer",
    settings: "TokenizerSettings",
    *,
    per_group: int = 10_000,
) -> dict[tuple[str, int], tuple[int, int, int]]:
    """Texts, words and tokens by (source, known year), web pages included.

    Words are what stands between white space, as in the paper's count of tokens (Table 5, from
    10,000 documents a source). A group larger than `per_group` texts is read as a sample.

    Args:
        lake: read twice as of the cutoff.
        year: the cutoff.
        tokenizer: of any vintage; an earlier one shows what later words cost it.
        settings: which dates and licences count, and how much of each text is read.
        per_group: texts of a source and year that are counted, on average, at most.
    """
    rules = {"basis": settings.basis, "licence_at_most": settings.licence_at_most}
    sizes: dict[tuple[str, int], int] = {}
    columns = ("source", "known_year")
    for batch in lake.batches("pretrain_text", columns, cutoff=year, **rules):
        for key in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sizes[key] = sizes.get(key, 0) + 1
    counts = {key: np.zeros(3, np.int64) for key in sizes}
    for batch in lake.batches("pretrain_text", _COLUMNS, cutoff=year, rows=_ROWS, **rules):
        text = batch.column("text")
        if settings.first_characters is not None:
            text = pc.utf8_slice_codeunits(text, 0, settings.first_characters)
        values = (*(batch.column(name).to_pylist() for name in _COLUMNS[:3]), text.to_pylist())
        rows = [
            ((source, known), said)
            for source, known, doc_id, said in zip(*values, strict=True)
            if drawn(doc_id, per_group / sizes[source, known])
        ]
        encoded = tokenizer.encode_batch_fast([said for _, said in rows], add_special_tokens=False)
        for (key, said), one in zip(rows, encoded, strict=True):
            counts[key] += (1, len(said.split()), len(one.ids))
    return {key: tuple(map(int, counts[key])) for key in sorted(counts)}


def fertility_lines(
    counts: dict[tuple[str, int], tuple[int, int, int]],
) -> Iterator[str]:
    """One tab-separated line per source and year, and one per source over all its years."""
    yield "source\tyear\ttexts\twords\ttokens\ttokens per word"
    for source in sorted({source for source, _ in counts}):
        years = {year: found for (name, year), found in counts.items() if name == source}
        total = tuple(sum(column) for column in zip(*years.values(), strict=True))
        for label, (texts, words, tokens) in (*years.items(), ("all", total)):
            rate = f"{tokens / words:.3f}" if words else ""
            yield f"{source}\t{label}\t{texts}\t{words}\t{tokens}\t{rate}"
