"""Scalars for TensorBoard: checksums of the standard, and bytes that its own reader took."""

import struct

from click.testing import CliRunner
from tiny_lake import make_tiny_lake

from pytrain.cli import cli
from pytrain.events import crc32c, event, record


def test_checksums_are_those_of_the_standard():
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720, appendix B.4, and the catalogue's check
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(bytes([0xFF] * 32)) == 0x62A8AB43


def scalars(data: bytes) -> list[tuple[int, str, float]]:
    """Step, tag and value of the scalars of a file, read from the format's description."""
    found, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        body = data[at + 12 : at + 12 + size]
        assert record(body) == data[at : at + 16 + size]
        at += 16 + size
        assert body[0] == 0x09
        if body[9] != 0x10:
            assert body[9:] == b"\x1a\x0dbrain.Event:2"
            continue
        step, i = 0, 10
        for shift in range(0, 64, 7):
            step |= (body[i] & 0x7F) << shift
            i += 1
            if body[i - 1] < 0x80:
                break
        assert body[i] == 0x2A
        i += 2
        while i < len(body):
            size = body[i + 1]
            inner, i = body[i + 2 : i + 2 + size], i + 2 + size
            name = inner[2 : 2 + inner[1]].decode()
            found.append((step, name, struct.unpack_from("<f", inner, 3 + inner[1])[0]))
    return found


def test_an_event_is_read_back_by_the_description_of_the_format():
    for step in (0, 127, 128, 190_735, 2**40):
        data = record(event(1.5, step, {"loss": 2.5, "lr": 0.25}))
        assert scalars(data) == [(step, "loss", 2.5), (step, "lr", 0.25)]


def test_a_tracked_run_writes_the_log_where_tensorboard_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(make_tiny_lake(tmp_path / "lake")))
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    words = ("--year", "2012", "--preset", "tiny", "--set", "mlm.tokens=8000")
    for command in (("tokenizer", *words), ("pretrain", *words, "--track", "tensorboard")):
        done = CliRunner().invoke(cli, command)
        assert done.exit_code == 0, done.output
    from pytrain.digests import hash_files
    from pytrain.run import read_log

    folder = tmp_path / "runs" / "tiny-2012"
    (file,) = (folder / "tensorboard").glob("events.out.tfevents.*")
    found = scalars(file.read_bytes())
    log = read_log(folder)
    losses = [(step, value) for step, name, value in found if name == "loss"]
    assert [step for step, _ in losses] == [line["step"] for line in log] and len(log) >= 2
    for (_, value), line in zip(losses, log, strict=True):
        assert abs(value - line["loss"]) < 1e-5
    assert not [name for name in hash_files(folder) if "tensorboard" in name]
