"""Scalars in TensorBoard's own file format, so that following a run needs no further package.

A file is a row of records: the length of the bytes, a checksum of the length, the bytes, a
checksum of the bytes; the bytes are an `Event` message of protocol buffers.

Source: TensorFlow, `record_writer.cc` and `event.proto`.
"""

import os
import struct
import time
from pathlib import Path

import numpy as np

_POLYNOMIAL = 0x82F63B78  # Castagnoli, bits reversed


def _table() -> np.ndarray:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table


_BYTES = [int(one) for one in _table()]


def crc32c(data: bytes) -> int:
    """The Castagnoli checksum."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _BYTES[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def record(data: bytes) -> bytes:
    """One record; checksums are rotated and shifted, as the format has it."""

    def masked(part: bytes) -> bytes:
        crc = crc32c(part)
        turned = ((crc >> 15) | (crc << 17)) & 0xFFFFFFFF
        return struct.pack("<I", (turned + 0xA282EAD8) & 0xFFFFFFFF)

    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def event(when: float, step: int, values: dict[str, float]) -> bytes:
    """An `Event` with one scalar per name."""
    made = b"\x09" + struct.pack("<d", when) + b"\x10" + _varint(step)
    scalars = b""
    for name, value in values.items():
        scalar = _bytes(0x0A, name.encode()) + b"\x15" + struct.pack("<f", value)
        scalars += _bytes(0x0A, scalar)
    return made + _bytes(0x2A, scalars)


def _varint(number: int) -> bytes:
    made = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        made.append(low | (0x80 if number else 0))
        if not number:
            return bytes(made)


def _bytes(tag: int, content: bytes) -> bytes:
    return bytes([tag]) + _varint(len(content)) + content


class Events:
    """A file of events being written; a resumed run writes a further one beside it."""

    def __init__(self, folder: Path) -> None:
        """Begin a file in the folder, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{time.time_ns()}.{os.getpid()}"
        self._file = (folder / name).open("wb")
        version = b"\x09" + struct.pack("<d", time.time()) + _bytes(0x1A, b"brain.Event:2")
        self._file.write(record(version))

    def write(self, step: int, values: dict[str, float]) -> None:
        """Scalars of a step, on disk when this returns."""
        self._file.write(record(event(time.time(), step, values)))
        self._file.flush()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
