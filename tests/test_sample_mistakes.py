"""`lake sample` into a place that cannot hold it: one message, and nothing is touched."""

import fcntl
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from warehouse.beside import WRITING
from warehouse.cli import cli
from warehouse.sample import MARKER

TINY = ("--scale", "0.02")  # the least that is allowed


def run(*arguments):
    """(exit code, all output) of a `lake` command."""
    found = CliRunner().invoke(cli, [str(word) for word in arguments])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.output


def left(folder):
    """Every path below a folder with the bytes of files."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("place", ["/proc/sample", "file/sample", "n" * 300])
def test_a_folder_that_cannot_be_made_is_refused(tmp_path, place):
    (tmp_path / "file").touch()
    before = left(tmp_path)
    code, said = run("sample", *TINY, "--out", tmp_path / place)
    assert (code, said.count("Error: ")) == (2, 1)
    assert f"cannot write a sample to {tmp_path / place}" in said
    assert left(tmp_path) == before


@pytest.mark.parametrize("marker", ["{", "[]", "{}", '{"format": 4}'])
def test_a_folder_whose_marker_says_nothing_is_left_alone(tmp_path, marker):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / MARKER).write_text(marker)
    before = left(tmp_path)
    code, said = run("sample", *TINY, "--out", tmp_path / "raw")
    assert (code, "holds no sample, so it is left alone" in said) == (2, True)
    assert left(tmp_path) == before


def test_the_current_folder_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, said = run("sample", *TINY, "--out", ".")
    assert (code, f"{tmp_path} is the current folder" in said) == (2, True)
    assert not left(tmp_path)


@pytest.mark.parametrize("name", ["thesis.txt", None])
def test_what_happens_to_bear_the_name_of_half_a_sample_is_left_alone(tmp_path, name):
    place = tmp_path / "raw.partial"
    if name:
        place.mkdir()
        place = place / name
    place.write_text("years of work")
    code, said = run("sample", *TINY, "--out", tmp_path / "raw")
    assert (code, f"{tmp_path / 'raw.partial'} is in the way" in said) == (2, True)
    assert place.read_text() == "years of work"
    assert not (tmp_path / "raw").exists()


def test_a_second_generation_into_one_folder_is_told_of_the_first(tmp_path):
    (tmp_path / "raw.partial").mkdir()
    with (tmp_path / "raw.partial" / WRITING).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, said = run("sample", *TINY, "--out", tmp_path / "raw")
    assert (code, "another process is writing" in said) == (2, True)
    assert not (tmp_path / "raw").exists()


def test_a_killed_generation_is_begun_again_and_leaves_nothing(tmp_path):
    (tmp_path / "raw.partial" / "s2ag").mkdir(parents=True)
    for name in ("s2ag/half.gz", "half.json", WRITING):
        (tmp_path / "raw.partial" / name).touch()
    code, said = run("sample", *TINY, "--out", tmp_path / "raw")
    assert code == 0, said
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]
    names = {path.name for path in (tmp_path / "raw").rglob("*")}
    assert MARKER in names and names.isdisjoint({"half.gz", "half.json", WRITING})


def test_a_full_disk_is_one_message_and_nothing_is_left(tmp_path):
    """Files of this process may not grow beyond 4 KB: the system refuses as a full disk does."""
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "from warehouse.cli import cli; cli()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "sample", *TINY, "--out", str(tmp_path / "raw")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert "File too large" in done.stderr
    assert not left(tmp_path)


def test_a_link_to_an_empty_folder_is_followed(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "raw").symlink_to(tmp_path / "disk")
    assert run("sample", *TINY, "--out", tmp_path / "raw")[0] == 0
    assert (tmp_path / "raw").is_symlink()
    assert json.loads((tmp_path / "disk" / MARKER).read_text())["settings"]["scale"] == 0.02


@pytest.mark.parametrize("seed", [0, 2])
def test_the_smallest_sample_without_a_patent_paper_pair_is_written(tmp_path, seed):
    """At this scale these seeds draw no pair, so none can be listed for a plant patent."""
    code, said = run("sample", *TINY, "--seed", seed, "--out", tmp_path / "raw")
    assert code == 0, said
    (path,) = (tmp_path / "raw/patent_paper_pairs").iterdir()
    assert len(Path(path).read_text().splitlines()) == 1
