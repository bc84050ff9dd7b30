"""Plain dbt at the root of a fresh clone: no flag, no step before it, nothing outside the clone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from raw_folder import write_required

from warehouse.runner import run_dbt

ROOT = Path(__file__).resolve().parent.parent
# The one line that would load a tracker, switched off by the project's flags.
TRACKING_OFF = '"send_anonymous_usage_stats": false'


def files_of_a_clone() -> list[str]:
    """What a commit of the working tree as it is would hold."""
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture
def clone(tmp_path) -> Path:
    for name in files_of_a_clone():
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "clone" / name)
    return tmp_path / "clone"


def dbt(clone: Path, *words: str, **variables: str) -> str:
    """Run dbt in the clone, with the clone's own package and without any setting of ours."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("SCITLAKE")}
    env = {**kept, "PYTHONPATH": str(clone), **variables}
    done = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", *words],
        cwd=clone, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]
    return done.stdout


def test_docs_are_one_page_before_anything_was_built(clone, tmp_path):
    write_required(tmp_path / "raw")
    dbt(clone, "docs", "generate", "--static", DATA_ROOT=str(tmp_path / "raw"))
    page = (clone / "target" / "static_index.html").read_text(encoding="utf-8")
    for name in ("s2ag", "stg_patentsview__patents", "citation_edges", "task_patent_cite"):
        assert f'"{name}"' in page
    assert TRACKING_OFF in page
    assert "rule_web_pages" in page


@pytest.mark.slow
def test_build_and_docs_of_the_sample_need_no_flag(clone):
    assert "ERROR=0" in dbt(clone, "build")
    with duckdb.connect(str(clone / "warehouse/lake/lake.duckdb"), read_only=True) as lake:
        assert lake.sql("from graph.edges_asof(2013) limit 1").fetchall()
        assert lake.sql("from y2013.pretrain_text limit 1").fetchall()
        with pytest.raises(duckdb.InvalidInputException, match="1890 is outside this lake"):
            lake.sql("from graph.edges_asof(1890)").fetchall()
        counts = lake.sql("select count(*) from corpus.documents").fetchall()
    dbt(clone, "docs", "generate", "--static")
    assert "data_type" in (clone / "target" / "static_index.html").read_text(encoding="utf-8")
    assert "ERROR=0" in dbt(clone, "build")  # again, in place
    with duckdb.connect(str(clone / "warehouse/lake/lake.duckdb"), read_only=True) as lake:
        assert lake.sql("select count(*) from corpus.documents").fetchall() == counts


def test_the_models_do_what_their_unit_tests_say(sample_lake, tmp_path, monkeypatch):
    """On a copy of the sample's lake, where the models that the tests stand on are built."""
    lake = tmp_path / "lake"
    lake.mkdir()
    shutil.copyfile(sample_lake / "lake.duckdb", lake / "lake.duckdb")
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(lake))
    passed: dict[str, str] = {}
    run_dbt(
        ["test", "--select", "test_type:unit", "--threads", "2"],
        on_step=lambda step: passed.update(
            {step.name: step.status} if step.kind == "unit_test" else {}
        ),
    )
    assert len(passed) > 120 and set(passed.values()) == {"pass"}
