"""A build makes anew what depends on what changed, and ends where a build afresh would."""

import json
import os
import shutil
import time

import duckdb
import pytest
from raw_folder import write_required

from warehouse import dependents, ingest, refresh
from warehouse.build import BuildSettings, build
from warehouse.sample import generate

# Builds name their text files by themselves; all else is to be the same.
BUILD_ID = r"[0-9a-f]{12}_0\.parquet"


def contents(lake):
    """Every table, view and function of a lake: a hash of its rows, or of its definition."""
    found = {}
    with duckdb.connect(str(lake / "lake.duckdb"), read_only=True) as con:
        names = con.execute(
            """
            select schema_name || '.' || table_name from duckdb_tables() where not internal
            union all
            select schema_name || '.' || view_name from duckdb_views()
            where not internal and schema_name not like 'staging'
                and not regexp_full_match(schema_name, 'y[0-9]+')
            """
        ).fetchall()
        for (name,) in names:
            found[name] = con.execute(
                "select count(*), md5(string_agg(line, '|' order by line)) from ("
                f"select md5(regexp_replace(whole::varchar, '{BUILD_ID}', '')) as line "
                f"from {name} as whole)"
            ).fetchall()[0]
        defined = con.execute(
            f"""
            select schema_name || '.' || function_name,
                regexp_replace(macro_definition, '{BUILD_ID}', '', 'g')
            from duckdb_functions() where not internal and function_type like '%macro%'
            union all
            select 'view ' || schema_name || '.' || view_name, ''
            from duckdb_views() where not internal
            """
        ).fetchall()
    return found | dict(defined)


def models_built(lake):
    results = json.loads((lake / "target" / "run_results.json").read_text(encoding="utf-8"))
    return {
        r["unique_id"].split(".")[2]
        for r in results["results"]
        if r["unique_id"].startswith("model.")
    }


@pytest.mark.slow
def test_a_refreshed_lake_is_the_lake_that_a_build_afresh_makes(tmp_path, monkeypatch):
    """One more file each of papers' text, claims and web pages; then they are taken away."""
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    monkeypatch.setenv("DATA_ROOT", str(raw))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(lake))
    generate(raw, scale=0.2)
    later = [
        max((raw / "s2orc_v2").glob("*.gz")),
        raw / "patentsview" / "pg_claims_2025.tsv.zip",
        max((raw / "fineweb_edu" / "data").glob("*/*.parquet")),
    ]

    def move(there):
        for path in later:
            kept = tmp_path / "kept" / path.relative_to(raw)
            kept.parent.mkdir(parents=True, exist_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(*((kept, path) if there else (path, kept)))

    move(there=False)
    build(BuildSettings())
    without = contents(lake)
    move(there=True)
    made = build(BuildSettings())
    assert made["changed"] == ["fineweb.pages", "patentsview.pg_claims", "s2ag.s2orc_v2"]
    assert "int_text_uspto" in models_built(lake)
    # Nothing that reads no text was made again.
    assert models_built(lake).isdisjoint({"stg_s2ag__papers", "documents", "citation_edges"})
    refreshed = contents(lake)
    grown = {name for name in without if without[name] != refreshed[name]}
    assert grown >= {"corpus.pretrain_text", "intermediate.int_language_scores", "audit.sources"}
    build(BuildSettings(afresh=True))
    assert contents(lake) == refreshed
    move(there=False)
    build(BuildSettings())
    assert "documents" not in models_built(lake)
    assert contents(lake) == without


@pytest.mark.slow
def test_a_changed_model_and_those_below_it_are_made_anew(tmp_path, monkeypatch):
    """A build of a copy of the project, in which one model is changed and another is removed."""
    import subprocess
    import sys

    from test_plain_dbt import ROOT, files_of_a_clone

    clone = tmp_path / "clone"
    for name in files_of_a_clone():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    write_required(tmp_path / "raw")
    env = {
        **os.environ,
        "PYTHONPATH": str(clone),
        "DATA_ROOT": str(tmp_path / "raw"),
        "SCITLAKE_WAREHOUSE": str(tmp_path / "lake"),
    }

    def run():
        code = "from warehouse.cli import cli; cli(['build'])"
        done = subprocess.run([sys.executable, "-c", code], env=env, cwd=clone,
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run()
    started = time.monotonic()
    assert "nothing has changed" in run()
    assert time.monotonic() - started < 10  # seconds, of which most is Python's start
    unmatched = clone / "models_sql" / "audit" / "unmatched.sql"
    unmatched.write_text(unmatched.read_text() + "limit 3\n")
    (clone / "models_sql" / "extra.sql").write_text(
        "{{ config(schema='audit') }} select 1 as one from {{ ref('unmatched') }}\n"
    )
    run()
    assert models_built(tmp_path / "lake") == {"unmatched", "extra", "lake_span"}
    (clone / "models_sql" / "extra.sql").unlink()
    run()
    with duckdb.connect(str(tmp_path / "lake/lake.duckdb"), read_only=True) as con:
        assert con.execute("select count(*) from audit.unmatched").fetchall() == [(3,)]
        with pytest.raises(duckdb.CatalogException):
            con.execute("from audit.extra")


def node(name, code, macros=(), kind="model", materialized="table", **config):
    return {
        "name": name, "resource_type": kind, "raw_code": code, "unrendered_config": config,
        "config": {"materialized": materialized}, "depends_on": {"macros": list(macros)},
    }  # fmt: skip


def macro(code, *calls):
    return {"macro_sql": code, "depends_on": {"macros": list(calls)}}


MANIFEST = {
    "macros": {
        "macro.scitlake.draw": macro("md5('{{ var(\"seed\") }}')"),
        "macro.scitlake.sample": macro("{{ draw() }}", "macro.scitlake.draw"),
        "macro.scitlake.materialization_store_duckdb": macro("{{ var('min_english') }}"),
        "macro.scitlake.test_few": macro("{{ var('rows_to_judge') }}"),
    },
    "nodes": {
        "a": node("plain", "select 1 as min_cited"),
        "b": node("cited", "where n >= {{ var('min_cited') }}"),
        "c": node("drawn", "{{ sample() }}", ["macro.scitlake.sample"]),
        "d": node("texts", "select 1", materialized="store"),
        "e": node("observed", "{{ var('observed_to_' ~ name) }}"),
        "f": node("catalog", "{{ var(name) }}"),
        "g": node("few", "{{ test_few() }}", ["macro.scitlake.test_few"], kind="test"),
        "h": node("hooked", "select 1", alias="{{ var('test_share') }}"),
        "i": node("on_run_end", "{{ var('min_cited') }}", kind="operation"),
        "j": node("raw", "{{ env_var('min_cited') }} {{ getvar('min_cited') }}"),
    },
    "functions": {"k": node("later", '{{ var("min_citing", 3) }}', kind="function")},
}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A raw folder, and a lake folder that says it was made of it."""
    monkeypatch.setenv("DATA_ROOT", str(write_required(tmp_path / "raw")))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    lake = tmp_path / "lake"
    (lake / "target").mkdir(parents=True)
    (lake / "target" / "manifest.json").write_text(json.dumps(MANIFEST))
    with duckdb.connect(str(lake / "lake.duckdb")) as con:
        con.execute("create schema audit; create table audit.text_files (path varchar)")
    refresh.remember(lake, now())
    return tmp_path


def now(**variables):
    return refresh.made_of(ingest.prepare(), variables)


def test_nothing_changed_is_nothing_to_do(tiny):
    assert refresh.look(tiny / "lake", now()) == refresh.Refresh()


def test_one_more_file_selects_its_table_and_forgets_nothing(tiny):
    shutil.copy(next((tiny / "raw/s2ag/papers").iterdir()), tiny / "raw/s2ag/papers/more.gz")
    todo = refresh.look(tiny / "lake", now())
    assert todo.reasons == ("s2ag.papers",)
    assert todo.selectors == ("source:s2ag.papers+", "lake_span")
    assert not todo.forget


def test_a_file_that_changed_or_is_gone_is_seen_at_the_same_size_and_time(tiny):
    path = next((tiny / "raw/patentsview").glob("g_patent.*"))
    before, bytes_before = path.stat(), path.read_bytes()
    path.write_bytes(bytes_before[:-3] + b"x" + bytes_before[-2:])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    todo = refresh.look(tiny / "lake", now())
    assert todo.reasons == ("patentsview.g_patent",) and todo.forget
    path.write_bytes(bytes_before)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert refresh.look(tiny / "lake", now()) == refresh.Refresh()
    path.unlink()
    assert refresh.look(tiny / "lake", now()).forget


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("everything", "other macros", "the project"),
        ("language", "other model", "the language model"),
    ],
)
def test_what_can_change_any_table_rebuilds_every_table(tiny, key, value, reason):
    todo = refresh.look(tiny / "lake", {**now(), key: value})
    assert todo.reasons == (reason,) and todo.selectors == ()
    assert todo.rescore == (key == "language")


@pytest.mark.parametrize(
    ("setting", "value", "read_by"),
    [
        ("min_cited", 1, ["cited"]),
        ("seed", "other", ["drawn"]),  # through a macro that a macro calls
        ("min_english", 0.5, ["texts"]),  # through its materialization
        ("observed_to_fees", 2020, ["observed"]),  # by a name that is put together
        ("rows_to_judge", 3, ["few"]),  # a test, below which is nothing
        ("test_share", 0.5, ["hooked"]),  # in a configuration
        ("min_citing", 2, ["later"]),
        ("min_inventors", 2, []),
    ],
)
def test_a_changed_setting_selects_what_reads_it(tiny, setting, value, read_by):
    todo = refresh.look(tiny / "lake", now(**{setting: value}))
    selectors = sorted(f"{name}+" for name in ["catalog", *read_by])
    assert todo.selectors == (*selectors, "lake_span")
    assert todo.reasons == (setting,) and not todo.forget


def test_a_setting_given_its_own_value_changes_nothing(tiny):
    assert refresh.look(tiny / "lake", now(min_cited=3)) == refresh.Refresh()


def test_a_setting_that_is_taken_back_is_a_change(tiny):
    lake = tiny / "lake"
    refresh.remember(lake, now(min_cited=1))
    assert refresh.look(lake, now()).reasons == ("min_cited",)
    assert refresh.look(lake, now(min_cited=1)) == refresh.Refresh()


def test_a_setting_that_a_yaml_file_reads_rebuilds_every_table(tiny, monkeypatch):
    text = "columns: [{name: year, data_tests: [{at_most: {value: \"{{ var('first_year') }}\"}}]}]"
    monkeypatch.setattr(dependents, "_yaml_texts", lambda: [text])
    todo = refresh.look(tiny / "lake", now(first_year=1980))
    assert todo.reasons == ("first_year",) and todo.selectors == ()
    assert refresh.look(tiny / "lake", now(min_cited=1)).selectors


@pytest.mark.parametrize("file", ["made_of.json", "manifest.json"])
@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null"])
def test_a_damaged_state_is_none(tiny, file, text):
    (tiny / "lake/state" / file).write_text(text)
    assert refresh.look(tiny / "lake", now()).reasons == ("no whole lake to start from",)


def test_a_changed_model_is_left_to_dbt_to_find(tiny):
    todo = refresh.look(tiny / "lake", {**now(), "models": "other"})
    assert todo.selectors == ("state:modified+", "lake_span")


def test_a_declaration_that_changed_selects_its_table(tiny):
    other = now()
    other["sources"]["ros.pcs_oa"]["declared"] = "other columns"
    assert refresh.look(tiny / "lake", other).selectors == ("source:ros.pcs_oa+", "lake_span")


def test_a_lake_that_something_else_wrote_to_is_not_started_from(tiny):
    with duckdb.connect(str(tiny / "lake/lake.duckdb")) as con:
        con.execute("create table audit.other as from range(1000)")
    assert refresh.look(tiny / "lake", now()).reasons == ("no whole lake to start from",)


def test_text_files_that_are_gone_are_written_again(tiny):
    lake = tiny / "lake"
    with duckdb.connect(str(lake / "lake.duckdb")) as con:
        con.execute("insert into audit.text_files values (?)", [str(lake / "text/gone.parquet")])
    refresh.remember(lake, now())
    assert refresh.look(lake, now()).reasons == ("text files are missing",)


def test_what_no_model_names_is_dropped(tmp_path):
    file = tmp_path / "lake.duckdb"
    manifest = {
        "nodes": {"m": {"schema": "audit", "alias": "kept"}},
        "sources": {"s": {"source_name": "s2ag", "name": "papers"}},
        "functions": {},
    }
    with duckdb.connect(str(file)) as con:
        con.execute(
            """
            create schema audit; create schema quarantine; create schema mine;
            create table audit.kept (a integer); create view audit.gone as select 1 as a;
            create macro audit.gone_asof(cutoff) as table select cutoff as y;
            create table audit.named (a integer); create table mine.own (a integer);
            create table quarantine.s2ag__papers (a integer);
            create table quarantine.s2ag__gone (a integer);
            create table quarantine.rows_read (source varchar, table_name varchar);
            insert into quarantine.rows_read values ('s2ag', 'papers'), ('s2ag', 'gone');
            """
        )
    refresh.drop_strangers(file, manifest, ("audit.named", "quarantine.rows_read"))
    with duckdb.connect(str(file)) as con:
        left = con.execute("select table_name from information_schema.tables order by 1").fetchall()
        read = con.execute("from quarantine.rows_read").fetchall()
        with pytest.raises(duckdb.CatalogException):
            con.execute("from audit.gone_asof(1)")
    assert [name for (name,) in left] == ["kept", "named", "own", "rows_read", "s2ag__papers"]
    assert read == [("s2ag", "papers")]
