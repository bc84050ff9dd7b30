"""The reading commands of `lake` and its settings, asked for what cannot be: one message."""

import os
import shutil
import socket

import duckdb
import pytest
from click.testing import CliRunner
from raw_folder import write_required
from tiny_lake import make_tiny_lake

from warehouse.cli import cli

BIG = "99999999999999999999"  # beyond 64 bits


def run(*arguments):
    """(exit code, all output) of a `lake` command."""
    found = CliRunner().invoke(cli, [str(word) for word in arguments])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.output


def refused(*arguments):
    """The one message of a command that a person must mend."""
    code, said = run(*arguments)
    assert (code, [line.startswith("Error: ") for line in said.splitlines()].count(True)) == (2, 1)
    return said


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_tiny_lake(tmp_path_factory.mktemp("lake"))


@pytest.fixture
def lake(made, tmp_path, monkeypatch):
    """A copy of a tiny lake whose corpus has a report; its text stays with the first."""
    folder = tmp_path / "lake"
    folder.mkdir()
    shutil.copyfile(made / "lake.duckdb", folder / "lake.duckdb")
    with duckdb.connect(str(folder / "lake.duckdb")) as con:
        con.execute(
            "create table audit.corpus_by_year as select 2013 as cutoff, 'uspto' as source, "
            "100 as n_words, 130 as n_tokens"
        )
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(folder))
    return folder


@pytest.mark.parametrize(
    "asked",
    [
        ("show", "edges", "--asof", BIG),
        ("show", "edges", "--asof", "0"),
        ("show", "documents", "--limit", BIG),
        ("show", "documents", "--limit", "-1"),
        ("report", "corpus", "--asof", BIG),
        ("plan", "--edges", BIG),
        ("plan", "--edges", "0"),
        ("build", "--threads", BIG),
        ("build", "--threads", "0"),
    ],
)
def test_a_number_out_of_range_is_told_with_the_range(lake, asked):
    assert f"{asked[-1]} is not in the range" in refused(*asked)


def test_the_largest_numbers_that_are_allowed_work(lake):
    assert len(run("show", "documents", "--limit", 2**63 - 1)[1].splitlines()) > 500
    assert run("plan", "--edges", 2**63 - 1)[0] == 0


def test_a_year_outside_the_lake_comes_with_an_option_of_no_other_command(lake):
    said = refused("report", "corpus", "--asof", "1890")
    assert "1890" in said and "1976-2015" in said and "for example 1976" in said
    assert "--year" not in said


@pytest.mark.parametrize(
    ("asked", "ignored"),
    [
        (("show", "--asof", "2013"), "--asof"),
        (("show", "--limit", "3"), "--limit"),
        (("show", "--licence-at-most", "cc-by"), "--licence-at-most"),
        (("lineage", "documents", "--check"), "the name documents"),
        (("sources", "--check", "--json"), "--json"),
    ],
)
def test_an_argument_that_nothing_would_heed_is_refused(lake, asked, ignored):
    assert f"takes no account of {ignored}" in refused(*asked)


@pytest.mark.parametrize("name", ["edges", "graph.edges", "edges_asof", "graph.edges_asof"])
def test_a_slice_is_known_by_its_function_and_no_other_schema(lake, name):
    with duckdb.connect(str(lake / "lake.duckdb")) as con:
        con.execute(
            "create macro graph.edges_asof(cutoff) as table "
            "from graph.citation_edges where known_year <= cutoff"
        )
    assert len(run("show", name, "--asof", "2013", "--limit", "2")[1].splitlines()) == 3
    assert f"{name} takes a cutoff" in refused("show", name)
    said = refused("show", f"unknown.{name.split('.')[-1]}", "--asof", "2013")
    assert f"no slice is called 'unknown.{name.split('.')[-1]}'" in said


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("DOCUMENTS",), "Did you mean 'documents'?"),
        (("Corpus.Documents ",), "Did you mean 'corpus.documents'?"),
        (("graph",), "graph is a schema. Name a table of it, for example: lake show graph."),
        (("Edges", "--asof", "2013"), "Did you mean 'edges'?"),
        (("task_renewal", "--asof", "2013"), "documents, pretrain_text, edges, nodes, anchors"),
    ],
)
def test_a_name_that_is_nearly_right_is_told_the_right_one(lake, asked, says):
    assert says in refused("show", *asked)


@pytest.mark.parametrize("text", [b"", b"{}", b"[1", b"\xff\xfe\0"])
def test_a_file_that_is_no_tokenizer_is_refused(lake, tmp_path, text):
    pytest.importorskip("tokenizers")
    file = tmp_path / "tokenizer.json"
    file.write_bytes(text)
    assert f"{file} is no tokenizer" in refused("report", "corpus", "--tokenizer", tmp_path)
    assert "changes nothing" in refused("report", "graph", "--tokenizer", tmp_path)


def test_what_is_no_lake_is_not_compared(lake, tmp_path):
    (tmp_path / "text").write_text("hello")
    assert f"cannot open {tmp_path / 'text'}" in refused("diff", tmp_path / "text")
    with duckdb.connect(str(tmp_path / "mine.duckdb")) as con:
        con.execute("create schema corpus; create table corpus.documents as select 1 as one")
    said = refused("diff", tmp_path / "mine.duckdb")
    assert f"{tmp_path / 'mine.duckdb'} has no dated table, so it is no lake" in said
    assert "no lake at /dev/null" in refused("diff", "/dev/null")
    with duckdb.connect(str(tmp_path / "odd.duckdb")) as con:
        con.execute(
            "create schema corpus;"
            "create table corpus.documents as select 'a' as doc_id, 2013 as known_year"
        )
    assert "cannot be compared: Conversion Error" in refused("diff", tmp_path / "odd.duckdb")


@pytest.mark.parametrize("name", ["", "lake.duckdb", "../lake"])
def test_a_lake_is_not_compared_with_itself_unasked(lake, name):
    said = refused("diff", lake / name)
    assert "is this lake itself" in said and str(lake / "last.duckdb") in said


def test_texts_that_are_gone_are_told(lake):
    shutil.move(lake / "lake.duckdb", lake / "kept.duckdb")
    make_tiny_lake(lake)
    shutil.rmtree(lake / "text")
    for asked in (["show"], ["show", "pretrain_text"], ["diff", lake, lake]):
        said = refused(*asked)
        assert f"{lake / 'lake.duckdb'} cannot be read: IO Error: No files found" in said


@pytest.mark.parametrize("keep", [0, 100, 5_000])
def test_a_lake_that_was_cut_short_is_refused_by_every_reader(lake, keep):
    whole = (lake / "lake.duckdb").read_bytes()
    (lake / "lake.duckdb").write_bytes(whole[:keep])
    for asked in (["show"], ["report", "graph"], ["sources"], ["sources", "--check"]):
        said = refused(*asked)
        assert str(lake / "lake.duckdb") in said and "lake build" in said


@pytest.mark.parametrize("asked", [["build"], ["lineage"], ["show"], ["report", "graph"]])
@pytest.mark.parametrize("place", ["/proc/lake", "file", "file/lake"])
def test_a_lake_folder_that_cannot_be_is_named(tmp_path, monkeypatch, asked, place):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / place))
    monkeypatch.setenv("DATA_ROOT", str(write_required(tmp_path / "data")))
    assert str(tmp_path / place) in refused(*asked)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("amount", ["abc", "0", "3", "99999999999TB"])
def test_an_amount_of_memory_that_is_none_is_refused(lake, tmp_path, monkeypatch, amount):
    monkeypatch.setenv("DATA_ROOT", str(write_required(tmp_path / "data")))
    monkeypatch.setenv("DUCKDB_MEMORY", amount)
    for asked in (["build"], ["report", "corpus"]):
        assert f"DUCKDB_MEMORY={amount} is no amount of memory" in refused(*asked)
    monkeypatch.setenv("DUCKDB_MEMORY", "")
    assert run("report", "corpus")[0] == 0


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("min_cited=[", "cannot be read"),
        ("min_cited=2026-02-30", "cannot be read"),
        ("min_cited=" + 5_000 * "9", "cannot be read"),
        ("min_cited=", "a whole number from 0 to 2147483647, not null"),
        ("min_cited=many", "a whole number from 0 to 2147483647, not many"),
        ("min_cited=-1", "a whole number"),
        ("min_cited=1.5", "a whole number"),
        ("min_cited=true", "a whole number"),
        ("min_cited=[1]", "a whole number"),
        (f"min_cited={BIG}", "a whole number"),
        ("min_cited=2026-02-03", "a whole number"),
        ("test_share=2", "a number from 0 to 1, not 2"),
        ("test_share=.nan", "a number from 0 to 1, not nan"),
        ("tokens_per_word=-1.3", "a number from 0"),
        ("english_nodes=1", "true or false, not 1"),
        ("english_nodes=maybe", "true or false"),
        ("observed_to_fees=lately", "a year or null"),
        ("observed_to_fees=123456", "a year or null"),
        ("seed=it's", "text of up to 100 letters"),
        ("seed=", "text of up to 100 letters"),
        ("min_citd=1", "Did you mean 'min_cited'?"),
    ],
)
def test_a_setting_of_another_kind_is_refused_before_anything_is_built(
    tmp_path, monkeypatch, pair, said
):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    assert said in refused("build", "--set", pair)
    assert not list(tmp_path.iterdir())


def test_a_setting_given_twice_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    said = refused("build", "--set", "min_cited=1", "--vars", "min_cited=2")
    assert "min_cited is set twice" in said


def test_what_is_no_file_is_named_for_what_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    root = write_required(tmp_path / "data")
    monkeypatch.setenv("DATA_ROOT", str(root))
    monkeypatch.chdir(root / "patentsview")
    (root / "patentsview/g_claims_2010.tsv").mkdir()
    os.mkfifo("g_claims_2011.tsv")
    (root / "patentsview/g_claims_2012.tsv.zip").symlink_to("nowhere")
    (root / "patentsview/g_claims_2013.tsv").symlink_to("g_claims_2013.tsv")  # to itself
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("g_claims_2014.tsv")  # a short name: those of sockets may not be long
        said = refused("build")
    folder = root / "patentsview"
    for name, kind in {
        "g_claims_2010.tsv": "a folder",
        "g_claims_2011.tsv": "a pipe, a socket or a device",
        "g_claims_2012.tsv.zip": "a link to nothing",
        "g_claims_2013.tsv": "a link to nothing",
        "g_claims_2014.tsv": "a pipe, a socket or a device",
    }.items():
        assert f"{folder / name} is {kind}; a file should stand there" in said
    assert not list((tmp_path / "lake").glob("*.duckdb"))


@pytest.mark.parametrize("place", ["nowhere", "loop", "lake/raw"])
def test_a_raw_folder_that_cannot_be_one_is_refused(tmp_path, monkeypatch, place):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lake/raw").mkdir(parents=True)
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    monkeypatch.setenv("DATA_ROOT", str(tmp_path / place))
    assert f"DATA_ROOT={tmp_path / place} " in refused("build")
    if place != "lake/raw":
        assert f"DATA_ROOT={tmp_path / place} is no folder" in refused("sources")
