"""Publishers' ids as integers: the lake's own stay, others are numbered."""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.errors import UserError

OWN = "documents"  # the texts of a folder that the lake wrote, whose ids are doc_ids
_NUMBERED = 10**15  # above every doc_id of a paper, patent, work or application


class Ids:
    """Numbers for ids that are text, the same for an id wherever it stands.

    They are drawn from the id itself (the first 8 bytes of its md5), so that neither the order of
    files nor the other ids move them; two that fall together are refused.
    """

    def __init__(self) -> None:
        """No id is known yet."""
        self._held: dict[tuple[str, str], int] = {}
        self._back: dict[int, tuple[str, str]] = {}

    def of(self, source: str, ids: pa.Array | pa.ChunkedArray) -> pa.Array:
        """(n,) int64 for the ids of a source, which keeps a patent 1 apart from a paper 1.

        Raises:
            UserError: an id is missing.
        """
        if isinstance(ids, pa.ChunkedArray):
            ids = ids.combine_chunks()
        if ids.null_count:
            raise UserError(f"{ids.null_count:,} ids of {source} are missing")
        if pa.types.is_integer(ids.type) and source.split(" ")[0] == OWN:
            return ids.cast(pa.int64())
        coded = pc.dictionary_encode(ids.cast(pa.string()))
        numbers = np.array([self._number(source, one) for one in coded.dictionary.to_pylist()])
        return pa.array(numbers.astype(np.int64)[coded.indices.to_numpy(zero_copy_only=False)])

    def _number(self, source: str, said: str) -> int:
        key = (source, said)
        if key not in self._held:
            digest = hashlib.md5(f"{source}\x1f{said}".encode()).digest()
            number = _NUMBERED + int.from_bytes(digest[:8], "big") % (2**62)
            if self._back.setdefault(number, key) != key:
                raise UserError(f"{said} and {self._back[number][1]} fall on one number")
            self._held[key] = number
        return self._held[key]
