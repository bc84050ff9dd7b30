"""The gate of plausibility: it passes the sample, and names each scrambling that is planted."""

import shutil

import duckdb
import pytest
from click.testing import CliRunner

from warehouse.cli import cli
from warehouse.runner import run_dbt

TABLES = "staging.stg_{}"
# Each scrambling as SQL on a table of the sample lake, and the measures that must see it.
SCRAMBLED = {
    "titles shifted by a row": (
        "openalex__works",
        "select * replace (lead(title, 7) over (order by work_id) as title) from {}",
        {"share of DOIs whose title agrees with Semantic Scholar"},
    ),
    "years of other works": (
        "openalex__works",
        "select * replace (lead(publication_year, 7) over (order by md5(work_id::varchar)) as "
        "publication_year) from {}",
        {"share of DOIs whose year agrees with Semantic Scholar within one"},
    ),
    "citations the wrong way round": (
        "s2ag__citations",
        "select * replace (cited_corpus_id as citing_corpus_id, citing_corpus_id as "
        "cited_corpus_id) from {} where cited_corpus_id is not null",
        {"share that point forward by over a year"},
    ),
    "days of other patents": (
        "patentsview__patents",
        "select * replace (lead(grant_date, 7) over (order by md5(patent_id)) as grant_date) "
        "from {}",
        {"rank correlation of number and day", "share filed before the grant"},
    ),
    "sections in another column": (
        "patentsview__cpc_current",
        "select * replace (cpc_class as cpc_section, cpc_section as cpc_class) from {}",
        {"share in sections A to H and Y"},
    ),
    "years lost": (
        "s2ag__papers",
        "select * replace (case when corpus_id % 3 > 0 then year end as year) from {}",
        {"share without a year"},
    ),
    "cut texts": (
        "s2ag__abstracts",
        "select * replace (left(abstract, 50) as abstract) from {}",
        {"median characters"},
    ),
}


@pytest.fixture(scope="module")
def checked(sample_lake, tmp_path_factory):
    """A copy of the sample lake, and what measures it: the model's compiled SQL."""
    lake = tmp_path_factory.mktemp("checked")
    shutil.copyfile(sample_lake / "lake.duckdb", lake / "lake.duckdb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCITLAKE_WAREHOUSE", str(lake))
        patch.setenv("DATA_ROOT", str(sample_lake / "sample"))
        run_dbt(["compile", "--select", "snapshot_checks"])
    (compiled,) = (lake / "target" / "compiled").rglob("snapshot_checks.sql")
    return lake, compiled.read_text(encoding="utf-8")


def implausible(con, sql):
    return {m for m, plausible in con.execute(f"select measure, is_plausible from ({sql})")
            .fetchall() if plausible is False}  # fmt: skip


def run_check():
    return CliRunner().invoke(cli, ["sources", "--check"])


def test_the_sample_is_plausible(sample_lake, monkeypatch):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(sample_lake))
    found = run_check()
    assert found.exit_code == 0, found.output
    assert "measures of" in found.output


@pytest.mark.parametrize("name", SCRAMBLED)
def test_what_is_scrambled_is_seen(checked, name):
    lake, sql = checked
    table, scramble, seen = SCRAMBLED[name]
    table = TABLES.format(table)
    with duckdb.connect(str(lake / "lake.duckdb")) as con:
        assert implausible(con, sql) == set()
        con.execute("begin")
        con.execute(f"create temp table scrambled as {scramble.format(table)}")
        con.execute(f"delete from {table}")
        con.execute(f"insert into {table} from scrambled")
        found = implausible(con, sql)
        con.execute("rollback")
    assert found >= seen


def test_the_command_names_the_table_and_fails(checked, monkeypatch):
    lake, _ = checked
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(lake))
    with duckdb.connect(str(lake / "lake.duckdb")) as con:
        con.execute(
            "update audit.snapshot_checks set measured = 0.4, is_plausible = false "
            "where measure = 'share of DOIs whose title agrees with Semantic Scholar'"
        )
    found = run_check()
    assert found.exit_code == 1
    assert "openalex.works: share of DOIs whose title agrees" in found.output
    assert "is 0.4, not 0.8 to 1" in found.output


def test_few_rows_are_not_judged(checked):
    lake, sql = checked
    with duckdb.connect(str(lake / "lake.duckdb")) as con:
        con.execute("begin")
        con.execute("delete from staging.stg_s2ag__papers where corpus_id % 50 > 0")
        con.execute("update staging.stg_s2ag__papers set year = null")
        judged = dict(con.execute(
            f"select measure, is_plausible from ({sql}) where table_name = 'papers'"
        ).fetchall())  # fmt: skip
        con.execute("rollback")
    assert judged["share without a year"] is None
