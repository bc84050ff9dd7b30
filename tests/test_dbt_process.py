"""What dbt parsed for one lake serves the next, and names no folder of the first."""

import json

from raw_folder import write_required

from warehouse.dbt_process import keep, parsed_file
from warehouse.runner import run_dbt
from warehouse.sources import project_dir


def run_beside(folder, monkeypatch):
    """A model of a new lake in this folder; the log of dbt."""
    write_required(folder / "data")
    monkeypatch.setenv("DATA_ROOT", str(folder / "data"))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(folder))
    run_dbt(["run", "--select", "stg_s2ag__papers"])
    return (folder / "logs" / "dbt.log").read_text(encoding="utf-8")


def test_the_second_lake_is_not_parsed_anew_and_names_its_own_folder(tmp_path, monkeypatch):
    run_beside(tmp_path / "first", monkeypatch)
    assert parsed_file(project_dir()).is_file()
    log = run_beside(tmp_path / "second", monkeypatch)
    assert "full parse" not in log and "Unable to do partial parsing" not in log
    manifest = (tmp_path / "second" / "target" / "manifest.json").read_text(encoding="utf-8")
    assert str(tmp_path / "first") not in manifest
    assert json.loads(manifest)["nodes"]


def test_a_run_that_ended_before_it_parsed_leaves_what_was_kept(tmp_path):
    (tmp_path / "target").mkdir()
    parsed_file(tmp_path).write_bytes(b"kept")
    keep(tmp_path / "partial_parse.msgpack", tmp_path)
    assert parsed_file(tmp_path).read_bytes() == b"kept"
    (tmp_path / "partial_parse.msgpack").write_bytes(b"newer")
    keep(tmp_path / "partial_parse.msgpack", tmp_path)
    assert parsed_file(tmp_path).read_bytes() == b"newer"
    assert [path.name for path in (tmp_path / "target").iterdir()] == [parsed_file(tmp_path).name]
