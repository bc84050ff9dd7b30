"""Column lineage: by hand on small queries, and the law of leakage on the lake's own models."""

import copy
import csv
import json

import duckdb
import pytest
from click.testing import CliRunner

from warehouse import lineage_show
from warehouse.cli import cli
from warehouse.errors import UserError
from warehouse.leaks import KNOWN_AT, Channel, find_leaks, idle_channels, known_at, register
from warehouse.lineage import (
    EVERY_ROW,
    Column,
    _plan,
    ancestors,
    column_lineage,
    compile_models,
)
from warehouse.lineage_plan import relation_of
from warehouse.sources import project_dir


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path_factory.mktemp("lake")))
        return compile_models()


@pytest.fixture(scope="module")
def steps(manifest):
    return column_lineage(manifest)


@pytest.fixture(scope="module")
def two_tables():
    con = duckdb.connect()
    con.execute("create table t (a integer, b varchar); create table u (a integer, c integer)")
    con.create_function("scored", lambda text: 0.0, ["varchar"], "double")
    return con


def decided(con, sql):
    """What decides each column of a query, then its rows: columns as `t.a`, sorted."""
    found = relation_of(_plan(con, sql), ["scored"])
    said = [" ".join(sorted(f"{c.table}.{c.name}" for c in columns))
            for columns in (*found.columns, found.rows)]  # fmt: skip
    return [text.replace("main.", "") for text in said]


@pytest.mark.parametrize(
    ("sql", "columns", "rows"),
    [
        ("select b as z, a + 1 as y from t", ["t.b", "t.a"], ""),
        ("select * from t where a > 1", ["t.a", "t.b"], "t.a"),
        ("select 7 as seven from t", [""], ""),
        ("select count(*) as n from t group by b", [""], "t.b"),
        ("select b, max(a) filter (where b > 'x') as m from t group by b",
         ["t.b", "t.a t.b"], "t.b"),
        ("select t.b, u.c from t inner join u using (a)", ["t.b", "u.c"], "t.a u.a"),
        ("select t.b from t left join u on t.a < u.c or t.b = 'x'", ["t.b"], "t.a t.b u.c"),
        ("select b from t where a in (select c from u where a = 3)", ["t.b"], "t.a u.a u.c"),
        ("select b, (select max(c) from u where u.a = t.a) as m from t",
         ["t.b", "u.c"], "t.a u.a"),
        ("select row_number() over (partition by b order by a) as n from t", ["t.a t.b"], ""),
        ("select b from t qualify row_number() over (order by a) = 1", ["t.b"], "t.a"),
        ("select distinct a from t", ["t.a"], "t.a"),
        ("select b from t order by a limit 3", ["t.b"], "t.a"),
        ("select a from t union all select c from u", ["t.a u.c"], ""),
        ("select a from t except select c from u", ["t.a u.c"], "t.a u.c"),
        ("with x as (select a, b || 'q' as bb from t where a > 1) select bb from x where bb > ''",
         ["t.b"], "t.a t.b"),
        ("with recursive r as (select a, c from u union all "
         "select u.a, r.c from r inner join u on r.c = u.a) select c from r", ["u.c"], "u.a u.c"),
        ("select unnest([a, 1]) as e from t", ["t.a"], "t.a"),
        ("select x from t, unnest([a, 2]) as z(x)", ["t.a"], "t.a"),
        ("select list_transform([a], lambda k: k + length(b)) as l from t", ["t.a t.b"], ""),
        ("select * from (values (1, 'x'), (2, 'y')) as v(i, j)", ["", ""], ""),
        ("select n from range(3) as r(n)", [""], ""),
        ("select scored(b) as s from t", ["functions.scored t.b"], ""),
    ],
)  # fmt: skip
def test_what_decides_a_query_is_what_a_reader_of_it_says(two_tables, sql, columns, rows):
    assert decided(two_tables, sql) == [*columns, rows]


def test_a_plan_that_is_not_understood_is_an_error_and_no_guess(two_tables):
    with pytest.raises(ValueError, match="LOGICAL_SAMPLE"):
        decided(two_tables, "select a from t using sample 3 rows")


def test_every_declared_column_of_every_model_has_a_step_or_is_a_constant(manifest, steps):
    """A column that nothing decides is a constant in each branch of a union, or counts rows."""
    found = {(step.table, step.column) for step in steps}
    nothing = {
        f"{node['alias']}.{column}"
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node["schema"] in ("corpus", "graph")
        for column in node["columns"]
        if (f"{node['schema']}.{node['alias']}", column) not in found
    }
    constants = {"anchors_asof.pool", "documents.doc_type", "same_work.via"}
    counts = {"anchors_by_year.cutoff", "anchors_by_year.pool", "anchors_by_year.n_drawn"}
    assert nothing == constants | counts


def test_the_date_of_an_edge_is_made_of_the_dates_of_its_ends_and_of_merged_records(steps):
    found = ancestors(steps, "graph.citation_edges", "known_year")
    values = {f"{c.table}.{c.name}" for c, how in found.items() if how == "value"}
    assert values == {
        "corpus.documents.known_year",
        "intermediate.int_citations.link_year",
        "intermediate.int_citations_unioned.link_year",
        "intermediate.int_doi_papers.known_year",
        "intermediate.int_merged_ids.known_year",
        "intermediate.int_papers.abstract_year",
        "intermediate.int_papers.known_year",
        "intermediate.int_patent_paper_links.link_year",
        "intermediate.int_patents.known_year",
        "s2ag.papers.year",
        "patentsview.g_patent.patent_date",
        "staging.stg_s2ag__papers.year",
        "staging.stg_patentsview__patents.grant_year",
    }
    assert found[Column("patentsview.g_patent", "withdrawn")] == "rows"


def test_text_is_followed_through_the_files_that_hold_it(steps):
    found = ancestors(steps, "corpus.pretrain_asof", "text")
    assert found[Column("s2ag.s2orc_v2", "body_text")] == "value"
    assert found[Column("functions", "language_share")] == "rows"


def test_every_source_column_says_when_it_is_known(manifest):
    declared = known_at(manifest)
    assert len(declared) > 90 and set(declared.values()) <= set(KNOWN_AT)
    broken = copy.deepcopy(manifest)
    column = broken["sources"]["source.scitlake.s2ag.papers"]["columns"]["title"]
    column["config"]["meta"] = {"known_at": "soon"}
    with pytest.raises(UserError, match=r"s2ag\.papers\.title: soon"):
        known_at(broken)


def test_everything_that_training_reads_says_what_dates_it(manifest):
    read = {
        name
        for exposure in manifest["exposures"].values()
        if exposure["name"].startswith("pytrain_")
        for name in exposure["depends_on"]["nodes"]
    }
    assert len(read) >= 6
    assert [n for n in read if not manifest["nodes"][n]["config"]["meta"].get("known_by")] == []


def test_no_training_object_draws_on_what_came_later_unless_the_register_says_why(manifest, steps):
    leaks = find_leaks(manifest, steps, register())
    assert [str(leak) for leak in leaks if not leak.channel] == []
    assert {leak.channel for leak in leaks} >= {"withdrawals", "DOI links", "language model"}


def test_the_register_lists_nothing_that_no_table_draws_on(steps):
    channels = register()
    assert idle_channels(steps, channels) == []
    assert all(channel.reason for channel in channels)
    gone = Channel("gone", "corpus.*", "s2ag.papers.no_such_column", "a reason")
    assert idle_channels(steps, [*channels, gone]) == [gone]


@pytest.mark.parametrize(
    ("model", "old", "new", "column", "how"),
    [
        # A label of today's scheme becomes part of the text that is embedded.
        ("documents", "    title,\n    abstract\nfrom candidates",
         "    title,\n    (select any_value(cpc_section) from staging.stg_patentsview__cpc_current "
         "as c where c.patent_id = doc_uri) as abstract\nfrom candidates",
         "patentsview.g_cpc_current.cpc_section", "value"),
        # Only the rows are chosen by it.
        ("citation_edges", "order by known_year, citations.citing_id",
         "where citations.citing_id in "
         "(select doc_id from staging.stg_openalex__works where not is_retracted) "
         "order by known_year, citations.citing_id",
         "openalex.works.is_retracted", "rows"),
        # A grant decides which pre-grant texts there are: dated by filing, it is too late.
        ("int_text_abstracts", "where papers.known_year is not null",
         "where papers.known_year is not null and papers.doc_id in "
         "(select doc_id from staging.stg_patentsview__patents where num_claims > 9)",
         "patentsview.g_patent.num_claims", "rows"),
    ],
)  # fmt: skip
def test_a_planted_leak_is_found(manifest, model, old, new, column, how):
    planted = copy.deepcopy(manifest)
    node = planted["nodes"][f"model.scitlake.{model}"]
    assert node["compiled_code"].count(old) == 1
    node["compiled_code"] = node["compiled_code"].replace(old, new)
    leaks = find_leaks(planted, column_lineage(planted), register())
    found = {(leak.object, leak.source_column, leak.how) for leak in leaks if not leak.channel}
    assert (f"{node['schema']}.{model}", column, how) in found


def test_a_model_without_declared_columns_is_traced_too(manifest):
    """A person's own model, with no YAML, and one above it that reads it as of a year."""
    own = copy.deepcopy(manifest)
    for name, sql, above in (
        ("second", "select n + 1 as m from graph.first_asof(2013)", "first_asof"),
        ("first_asof", "select doc_id as n from audit.zero where doc_id <= cutoff", "zero"),
        ("zero", "select * from corpus.documents where title > ''", "documents"),
    ):
        node = copy.deepcopy(own["nodes"]["model.scitlake.edges_asof"])
        if not name.endswith("_asof"):
            node["config"]["materialized"] = "view"
        node |= {"alias": name, "columns": {}, "compiled_code": sql}
        node |= {"schema": "graph" if name == "first_asof" else "audit"}
        node["depends_on"]["nodes"] = [f"model.scitlake.{above}"]
        own["nodes"][f"model.scitlake.{name}"] = node
    found = ancestors(column_lineage(own), "audit.second", "m")
    assert found[Column("corpus.documents", "doc_id")] == "value"
    assert found[Column("corpus.documents", "title")] == "rows"
    own["nodes"]["model.scitlake.zero"]["compiled_code"] = "select nothing from corpus.documents"
    with pytest.raises((UserError, duckdb.BinderException), match="nothing"):
        column_lineage(own)


def test_a_column_that_turns_out_to_be_known_later_is_found(manifest, steps):
    planted = copy.deepcopy(manifest)
    columns = planted["sources"]["source.scitlake.patentsview.g_patent"]["columns"]
    columns["patent_title"]["config"]["meta"]["known_at"] = "grant+8"
    found = [leak for leak in find_leaks(planted, steps, register()) if not leak.channel]
    assert {leak.source_column for leak in found} == {"patentsview.g_patent.patent_title"}
    assert ("corpus.documents", "value", "grant+8", "grant") in {
        (leak.object, leak.how, leak.known_at, leak.rule) for leak in found
    }


def run(*words):
    return CliRunner().invoke(cli, ["lineage", *words])


@pytest.fixture
def compiled(manifest, monkeypatch):
    monkeypatch.setattr(lineage_show, "compile_models", lambda: manifest)


def test_the_command_names_the_source_columns_of_a_column(compiled):
    found = run("edges_asof.known_year")
    assert found.exit_code == 0
    rows = [line.split("\t") for line in found.output.splitlines()]
    assert ["patentsview.g_patent.patent_date", "value", "grant"] in rows
    assert run("graph.edges_asof.known_year").output == found.output
    wrong = run("edges_asof.known_yaer")
    assert wrong.exit_code == 2 and "known_year" in wrong.output


def test_the_command_lists_every_step(compiled, steps):
    header, *lines = run().output.splitlines()
    assert header.split("\t") == ["table", "column", "from_table", "from_column", "known_at"]
    assert len(lines) == len(steps)


def test_the_check_fails_with_what_is_not_listed_and_what_is_idle(compiled, monkeypatch):
    assert run("--check").exit_code == 0
    kept = [c for c in register() if c.channel != "withdrawals"]
    idle = Channel("gone", "corpus.*", "s2ag.papers.no_such_column", "a reason")
    monkeypatch.setattr(lineage_show, "register", lambda: [*kept, idle])
    found = run("--check")
    assert found.exit_code == 1
    assert "corpus.documents draws on patentsview.g_patent.withdrawn" in found.output
    assert "s2ag.papers.no_such_column" in found.output


def test_the_table_holds_the_steps_with_what_is_declared(manifest, steps, tmp_path):
    lineage_show.write_table(tmp_path / "lake.duckdb", manifest)
    with duckdb.connect(str(tmp_path / "lake.duckdb")) as con:
        rows = con.execute("select * from audit.column_lineage").fetchall()
        late = con.execute(
            "select distinct from_table, from_column from audit.column_lineage "
            "where table_name = 'staging.stg_patentsview__patents' and known_at = 'snapshot'"
        ).fetchall()
    assert [row[:4] for row in rows] == [tuple(step) for step in steps]
    assert late == [("patentsview.g_patent", "withdrawn")]
    assert any(row[1] == EVERY_ROW for row in rows)


def test_the_register_is_a_table_of_the_lake(sample_lake):
    with (project_dir() / "dbt_project/seeds/leakage_channels.csv").open(encoding="utf-8") as file:
        listed = [tuple(row.values()) for row in csv.DictReader(file)]
    with duckdb.connect(str(sample_lake / "lake.duckdb"), read_only=True) as con:
        assert sorted(con.execute("from audit.leakage_channels").fetchall()) == sorted(listed)
    assert json.dumps(listed).count("grant") > 3
