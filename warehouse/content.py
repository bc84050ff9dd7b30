"""A hash of what a table says, whatever the batches, chunks and offsets it comes in."""

import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class ContentHash:
    """sha256 over the values of named columns, row after row.

    Each column is hashed by itself, as running streams of its values' bytes, of its nulls or
    texts' lengths, and of its lists' lengths; so where a batch ends leaves no trace.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        """Start with no row."""
        self.rows = 0
        self._columns = tuple(columns)
        self._streams = [[hashlib.sha256() for _ in range(3)] for _ in columns]

    def update(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch that has the columns of this hash."""
        self.rows += batch.num_rows
        if not batch.num_rows:
            return
        for name, (values, shape, lists) in zip(self._columns, self._streams, strict=True):
            column = batch.column(name)
            if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
                lists.update(_bytes_of(pc.fill_null(pc.list_value_length(column), -1)))
                column = column.flatten()
            _update(column, values, shape)

    def hexdigest(self) -> str:
        """The hash of everything so far, 64 hexadecimal digits."""
        whole = hashlib.sha256(str(self.rows).encode())
        for name, streams in zip(self._columns, self._streams, strict=True):
            whole.update(name.encode() + b"\0" + b"".join(one.digest() for one in streams))
        return whole.hexdigest()


def _update(column: pa.Array, values: "hashlib._Hash", shape: "hashlib._Hash") -> None:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        shape.update(_bytes_of(pc.fill_null(pc.binary_length(column), -1)))
        column = column.cast(pa.large_string()).fill_null("")
        _, offsets, data = column.buffers()
        ends = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
        if data is not None:
            values.update(memoryview(data)[ends[0] : ends[-1]])
        return
    shape.update(column.is_null().cast(pa.uint8()).to_numpy(zero_copy_only=False).tobytes())
    if pa.types.is_boolean(kind):
        column = column.fill_null(False).cast(pa.uint8())
    elif pa.types.is_date(kind):
        column = column.cast(pa.int32())
    if pa.types.is_floating(column.type):
        values.update(column.fill_null(0.0).cast(pa.float64()).to_numpy().tobytes())
    else:
        values.update(_bytes_of(column.fill_null(0)))


def _bytes_of(column: pa.Array) -> bytes:
    return column.cast(pa.int64()).to_numpy(zero_copy_only=False).astype("<i8").tobytes()
