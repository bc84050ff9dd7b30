"""A mistake by a person ends in one message and exit code 2, and nothing is half-written."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile

import duckdb
import pytest
from click.testing import CliRunner
from raw_folder import PATENT, patent, write_required, write_tsv, write_zip

from warehouse.cli import cli
from warehouse.diagnosis import Complaint, diagnose
from warehouse.locks import only_one
from warehouse.sources import project_dir


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    """One lake folder for all tests: dbt parses the project once and keeps it there."""
    return tmp_path_factory.mktemp("warehouse") / "lake"


@pytest.fixture
def lake(parsed, tmp_path, monkeypatch):
    """A lake folder with no lake in it, and a raw folder of the test's own."""
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(parsed))
    monkeypatch.setenv("DATA_ROOT", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    yield parsed
    for path in parsed.glob("*"):
        if path.is_dir() and path.name != "target":
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()


def run(*arguments):
    """(exit code, all output) of a `lake` command."""
    found = CliRunner().invoke(cli, arguments)
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    assert "Traceback" not in found.output
    return found.exit_code, found.output


def good_lake(lake):
    """Put a lake in place that no command may touch; returns its checksum."""
    lake.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(lake / "lake.duckdb")) as con:
        con.execute("create table kept as select 42 as answer")
    return checksum(lake)


def checksum(lake):
    return hashlib.sha256((lake / "lake.duckdb").read_bytes()).hexdigest()


def test_an_empty_raw_folder_names_every_required_table_at_once(lake):
    code, said = run("build")
    assert code == 2
    for name in ("s2ag.papers", "s2ag.abstracts", "s2ag.citations", "patentsview.g_patent",
                 "patentsview.g_patent_abstract", "patentsview.g_us_patent_citation"):  # fmt: skip
        assert f"{name}: no file matches" in said
    assert "lacks 6 required raw table(s)" in said
    assert not list(lake.glob("*.duckdb"))


def test_a_raw_folder_that_is_not_there_is_named(lake, monkeypatch, tmp_path):
    monkeypatch.setenv("DATA_ROOT", str(tmp_path / "wrong"))
    code, said = run("build")
    assert (code, said.count("\n")) == (2, 1)
    assert f"DATA_ROOT={tmp_path / 'wrong'} is no folder" in said


@pytest.mark.parametrize("damage", ["outside", "cut"])
def test_a_bad_zip_is_named_and_the_last_good_lake_stays(lake, tmp_path, damage):
    before = good_lake(lake)
    write_required(tmp_path / "data")
    path = tmp_path / "data/patentsview/g_cpc_current.tsv.zip"
    member = "../../g_cpc_current.tsv" if damage == "outside" else "g_cpc_current.tsv"
    write_zip(path, member, "patent_id\n" * 500)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    code, said = run("build")
    assert code == 2
    assert str(path) in said
    assert checksum(lake) == before
    assert not list(tmp_path.rglob("g_cpc_current.tsv")) + list(lake.rglob("g_cpc_current.tsv"))


def test_damaged_files_are_named_in_one_message(lake, tmp_path):
    before = good_lake(lake)
    root = write_required(tmp_path / "data")
    papers = root / "s2ag/papers/papers_000.jsonl.gz"
    papers.write_bytes(papers.read_bytes()[:-20])
    works = root / "openalex/works/updated_date=2026-01-01/part_000.gz"
    works.parent.mkdir(parents=True)
    works.write_text("not gzip")
    page = root / "fineweb_edu/data/CC-MAIN-2013-20/000.parquet"
    page.parent.mkdir(parents=True)
    page.write_bytes(b"PAR1" + b"\0" * 100)
    code, said = run("build", "--select", "path:models_sql/staging")
    assert code == 2
    assert said.count("Error: ") == 1
    for path in (papers, works, page):
        assert f"{path} is cut short or damaged" in said
    assert checksum(lake) == before


def test_missing_columns_of_several_files_are_named_in_one_message(lake, tmp_path):
    before = good_lake(lake)
    root = write_required(tmp_path / "data")
    header = [name.replace("patent_date", "grant_day") for name in PATENT]
    table = write_tsv(root / "patentsview/g_patent.tsv", header, [patent(7000001)])
    texts = write_tsv(root / "patentsview/g_patent_abstract.tsv", ("patent_id", "text"), [])
    models = "stg_patentsview__patents stg_patentsview__patent_abstracts"
    code, said = run("build", "--select", models)
    assert code == 2
    assert said.count("Error: ") == 1
    assert f"{table} has no column patent_date." in said
    assert "patent_id, patent_type, grant_day" in said
    assert f"{texts} has no column patent_abstract." in said
    assert "in macro" not in said  # dbt's own frame is taken off
    assert checksum(lake) == before
    assert not (lake / "next").exists()


def test_too_many_malformed_rows_fail_a_test_and_the_last_good_lake_stays(lake, tmp_path):
    """A failed check is exit code 1, and the refused lake is kept to look into."""
    before = good_lake(lake)
    rows = [patent(7000000 + i, claims="many" if i < 6 else 1) for i in range(50)]
    root = write_required(tmp_path / "data")
    write_tsv(root / "patentsview/g_patent.tsv", PATENT, rows)
    code, said = run("build", "--select", "stg_patentsview__patents")
    assert code == 1
    assert "malformed_share_stg_patentsview__patents_" in said
    assert checksum(lake) == before
    with duckdb.connect(str(lake / "failed.duckdb"), read_only=True) as con:
        found = con.execute("select count(*) from quarantine.patentsview__g_patent").fetchall()
        assert found == [(6,)]
    code, said = run(
        "build", "--select", "stg_patentsview__patents", "--set", "malformed_rows_tolerated=6"
    )
    assert code == 0, said
    assert not (lake / "failed.duckdb").exists()


def test_a_second_build_says_who_holds_the_lake_and_since_when(lake, tmp_path):
    write_required(tmp_path / "data")
    lake.mkdir(exist_ok=True)
    with only_one(lake):
        code, said = run("build")
    assert code == 2
    assert f"{lake} is being built by process {os.getpid()} since 20" in said


def test_a_lake_that_is_being_written_by_someone_else_is_left_alone(lake, tmp_path):
    write_required(tmp_path / "data")
    good_lake(lake)
    code = "import duckdb, sys; con = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    command = [sys.executable, "-c", code, str(lake / "lake.duckdb")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as writer:
        assert writer.stdout.readline()
        exit_code, said = run("build")
        writer.kill()
    assert exit_code == 2
    assert "is being written" in said


def test_a_killed_build_leaves_the_last_good_lake_and_no_process(lake, tmp_path):
    before = good_lake(lake)
    write_required(tmp_path / "data")
    command = [sys.executable, "-c", "from warehouse.cli import cli; cli()", "build"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (lake / "next/lake.duckdb").exists() and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.05)
    process.terminate()
    assert process.wait(timeout=60) != 0
    assert checksum(lake) == before
    assert not (lake / "next").exists()
    code, said = run("build", "--set", "min_cited")  # the lock is free: the next mistake is told
    assert (code, "no key=value" in said) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show"], "lake sample && lake build"),
        (["show", "documents", "--asof", "2013"], "lake sample && lake build"),
        (["docs"], "lake sample && lake build"),
        (["build", "--set", "min_citd=1"], "Did you mean 'min_cited'?"),
        (["sample", "--scale", "-1", "--out", "x"], "scale"),
    ],
)
def test_other_mistakes_are_told_in_one_message(lake, arguments, words):
    code, said = run(*arguments)
    assert code == 2
    assert words in said
    assert not list(lake.glob("*.duckdb"))


def test_a_table_or_a_year_that_does_not_exist_is_refused_with_the_nearest_name(lake):
    good_lake(lake)
    code, said = run("show", "kept_")
    assert (code, "Did you mean 'kept'?" in said) == (2, True)
    code, said = run("show", "edgse", "--asof", "2013")
    assert (code, "Did you mean 'edges'?" in said) == (2, True)
    assert run("show", "kept") == (0, "answer\n42\n")


def test_a_selection_that_matches_nothing_is_a_mistake_and_no_success(lake, tmp_path):
    write_required(tmp_path / "data")
    code, said = run("build", "--select", "stg_nothing")
    assert code == 2
    assert "no model is selected by 'stg_nothing'" in said


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("IO Error: could not write: No space left on device", "Make room"),
        ("Out of Memory Error: failed to allocate 2.0 MiB", "DUCKDB_MEMORY=8GB"),
    ],
)
def test_a_full_disk_and_too_little_memory_come_with_advice(tmp_path, words, advice):
    error = diagnose([Complaint(words, "documents", "error")], tmp_path)
    assert error.exit_code == 2
    assert advice in error.message


def test_plain_dbt_says_the_same_in_one_message(lake, tmp_path):
    """The plugin's errors reach the user of `dbt build` without a traceback."""
    write_required(tmp_path / "data")
    with zipfile.ZipFile(tmp_path / "data/patentsview/g_claims_2010.tsv.zip", "w") as archive:
        archive.writestr("../g_claims_2010.tsv", "evil")
    found = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", "run", "--select", "stg_s2ag__papers",
         "--target-path", str(lake / "target"), "--log-path", str(lake / "logs")],
        cwd=project_dir(), env={**os.environ, "SCITLAKE_DB": str(lake / "next/lake.duckdb")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode != 0
    assert found.stdout.count("would land outside its folder") == 1
    assert "Traceback" not in found.stdout + found.stderr
    assert not list(lake.rglob("*.tsv"))


def test_a_number_of_threads_that_is_none_is_refused(lake, tmp_path, monkeypatch):
    write_required(tmp_path / "data")
    monkeypatch.setenv("DUCKDB_THREADS", "many")
    code, said = run("build", "--select", "stg_s2ag__papers")
    assert code == 2
    assert "DUCKDB_THREADS=many is no number of threads" in said
    assert not list(lake.glob("*.duckdb"))
