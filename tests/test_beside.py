"""What is written beside and renamed is whole or absent, and nobody else's file is touched."""

import os
import signal
import subprocess
import sys

import pytest

from warehouse.beside import WRITING, file_beside, folder_beside
from warehouse.errors import UserError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def gone():
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def killed_while(code, folder):
    """Run code up to its READY in another process, and kill that process."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "READY\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


WRITER = """
import sys, time
from pathlib import Path
from warehouse.beside import {how}
with {how}(Path(sys.argv[1]) / "out") as partial:
    ({target}).write_text("half")
    print("READY", flush=True)
    time.sleep(600)
"""


def test_a_file_takes_its_place_and_leaves_another_of_the_old_name(tmp_path):
    (tmp_path / "out.partial").write_text("a person's")
    (tmp_path / "out").write_text("before")
    with file_beside(tmp_path / "out") as partial:
        partial.write_text("after")
        assert (tmp_path / "out").read_text() == "before"
    assert (tmp_path / "out").read_text() == "after"
    assert names(tmp_path) == ["out", "out.partial"]
    assert (tmp_path / "out.partial").read_text() == "a person's"


def test_a_file_stays_as_it_was_where_writing_fails(tmp_path):
    (tmp_path / "out").write_text("before")
    with pytest.raises(ValueError, match="half way"), file_beside(tmp_path / "out") as partial:
        partial.write_text("half")
        raise ValueError("half way")
    assert names(tmp_path) == ["out"] and (tmp_path / "out").read_text() == "before"


def test_half_a_file_of_a_killed_process_is_removed_by_the_next(tmp_path):
    killed_while(WRITER.format(how="file_beside", target="partial"), tmp_path)
    assert len(names(tmp_path)) == 1
    (tmp_path / f"out.{os.getppid()}.partial").write_text("of a process that lives")
    (tmp_path / f"other.{gone()}.partial").write_text("of another file")
    (tmp_path / "out.draft.partial").write_text("a person's")
    kept = [one for one in names(tmp_path) if (tmp_path / one).read_text() != "half"]
    with file_beside(tmp_path / "out") as partial:
        partial.write_text("whole")
    assert names(tmp_path) == sorted([*kept, "out"])


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path):
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")
    with file_beside(tmp_path / "link") as partial:
        partial.write_text("after")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "after"
    os.mkfifo(tmp_path / "pipe")
    with file_beside(tmp_path / "pipe") as partial:
        assert partial == tmp_path / "pipe"
    assert names(tmp_path) == ["link", "pipe", "real"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_folder_is_not_written_over_what_somebody_has_beside_it(tmp_path, kind):
    place = tmp_path / "out.partial"
    if kind == "folder":
        place.mkdir()
        place = place / "thesis.txt"
    place.write_text("years of work")
    with (
        pytest.raises(UserError, match=r"out\.partial is in the way"),
        folder_beside(tmp_path / "out"),
    ):
        pass
    assert place.read_text() == "years of work" and names(tmp_path) == ["out.partial"]


def test_half_a_folder_of_a_killed_process_is_begun_again(tmp_path):
    killed_while(WRITER.format(how="folder_beside", target='partial / "half"'), tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    (tmp_path / "out.partial" / "link").symlink_to(tmp_path / "elsewhere")
    assert (tmp_path / "out.partial" / "half").is_file()
    with folder_beside(tmp_path / "out") as partial:
        assert names(partial) == [WRITING]
        (partial / "whole").touch()
    assert names(tmp_path) == ["elsewhere", "out"] and names(tmp_path / "out") == ["whole"]
    assert names(tmp_path / "elsewhere") == ["kept"]


def test_a_second_writer_of_a_folder_is_told_of_the_first(tmp_path):
    with folder_beside(tmp_path / "out") as partial:
        (partial / "half").touch()
        with (
            pytest.raises(UserError, match="another process is writing"),
            folder_beside(tmp_path / "out"),
        ):
            pass
        assert names(partial) == [WRITING, "half"]
    assert names(tmp_path / "out") == ["half"]


def test_nothing_is_left_of_a_folder_whose_writing_fails(tmp_path):
    with pytest.raises(ValueError, match="half way"), folder_beside(tmp_path / "out") as partial:
        (partial / "half").touch()
        raise ValueError("half way")
    assert names(tmp_path) == []
    with pytest.raises(OSError), folder_beside(tmp_path / "out"):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "of another").touch()
    assert names(tmp_path) == ["out"] and names(tmp_path / "out") == ["of another"]
