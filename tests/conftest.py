"""Shared fixtures: no setting of the caller leaks in, and one sample lake serves all tests."""

import os
from pathlib import Path

import duckdb
import pytest
from filelock import FileLock

from warehouse.threads import sleep_when_idle

sleep_when_idle()  # before any test module loads torch
SETTINGS = ("DATA_ROOT", "SCITLAKE_WAREHOUSE", "SCITLAKE_DB", "RUNS_ROOT")


@pytest.fixture(autouse=True)
def _no_settings_of_the_caller(request, monkeypatch):
    """Ordinary tests see no DATA_ROOT; tests of real records need it."""
    if request.node.get_closest_marker("real") is None:
        for name in SETTINGS:
            monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def sample_lake(tmp_path_factory) -> Path:
    """The folder of the lake that `lake sample` and `lake build` make, built once per session."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent  # the workers' common folder
    lake = shared / "sample-lake"
    with FileLock(shared / "sample-lake.lock"):
        if not (lake / "lake.duckdb").is_file():
            build_lake(lake)
    return lake


@pytest.fixture(scope="module")
def table(sample_lake):
    """A function from a table's name to the whole table."""
    with duckdb.connect(str(sample_lake / "lake.duckdb"), read_only=True) as lake:
        yield lambda name: lake.sql(f"select * from {name}").pl()


def build_lake(lake: Path, data_root: Path | None = None) -> None:
    """Run `lake build` on a lake folder, with the generated sample when no raw folder is given."""
    from warehouse.build import BuildSettings, build

    with pytest.MonkeyPatch.context() as patch:
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        patch.setenv("SCITLAKE_WAREHOUSE", str(lake))
        patch.setenv("RUNS_ROOT", str(lake / "runs"))
        if data_root:
            patch.setenv("DATA_ROOT", str(data_root))
        build(BuildSettings())
