"""`pyeval embed`: vectors of one's own documents, or one clear message and nothing written."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import tiny_tasks
from click.testing import CliRunner
from tiny_tasks import make_task_lake

from pyeval.cli import cli
from pyeval.own import embed_table, read_rows
from warehouse.errors import UserError

ROWS = [
    {"id": "007", "title": "A lamp", "abstract": "It shines,\nbrightly.", "year": 2010},
    {"id": "b", "title": "Fuel cell", "abstract": "Hydrogen and air.", "year": 2012},
    {"id": "c", "title": "Enzyme", "abstract": 'A "folded" protein.', "year": 2014},
]
SYSTEM = tiny_tasks.system(tiny_tasks.hashed, cutoff=2012)


def write(path, rows=None):
    table = pa.Table.from_pylist(rows or ROWS)
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return path


def embedded(tmp_path, source, system=SYSTEM, **more):
    out = tmp_path / "out.parquet"
    rows = read_rows(source, io.BytesIO())
    assert embed_table(rows, system, out, **more) == len(pq.read_table(out))
    return pq.read_table(out)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_every_format_gives_the_same_ids_vectors_model_and_cutoff(tmp_path, suffix):
    table = embedded(tmp_path, write(tmp_path / f"mine{suffix}"))
    assert table.column_names == ["id", "vector", "model", "cutoff"]
    assert table.column("id").to_pylist() == ["007", "b", "c"]
    assert table.schema.field("vector").type == pa.list_(pa.float32(), 64)
    expected = tiny_tasks.hashed([r["title"] for r in ROWS], [r["abstract"] for r in ROWS])
    np.testing.assert_array_equal(np.stack(table.column("vector").to_numpy()), expected)
    assert set(table.column("model").to_pylist()) == {"probe"}
    assert set(table.column("cutoff").to_pylist()) == {2012}
    assert table.schema.metadata[b"model_fingerprint"] == b"probe"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_standard_input_is_told_apart_by_its_first_bytes(tmp_path, suffix):
    data = write(tmp_path / f"mine{suffix}").read_bytes()
    found = pa.Table.from_batches(list(read_rows(None, io.BytesIO(data))))
    assert found.column("id").to_pylist() == ["007", "b", "c"]


def test_integer_ids_of_a_parquet_file_stay_integers(tmp_path):
    path = write(tmp_path / "mine.parquet", [row | {"id": i} for i, row in enumerate(ROWS)])
    assert embedded(tmp_path, path).column("id").type == pa.int64()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": 1, "title": "t"}], "lacks abstract"),
        ([ROWS[0], ROWS[0]], "id '007' stands twice"),
        ([ROWS[0], ROWS[1] | {"abstract": None}], "no abstract .row 2, id 'b'"),
        ([ROWS[0] | {"title": "  "}], "no title .row 1, id '007'"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_a_bad_table_gets_one_message_and_leaves_nothing(tmp_path, rows, said, suffix):
    path = write(tmp_path / f"mine{suffix}", rows)
    with pytest.raises(UserError, match=said):
        embedded(tmp_path, path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_duplicate_in_a_later_batch_is_found(tmp_path):
    rows = [{"id": str(i % 9000), "title": "t", "abstract": "a"} for i in range(9001)]
    with pytest.raises(UserError, match="id '0' stands twice .row 9001"):
        embedded(tmp_path, write(tmp_path / "mine.jsonl", rows))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("mine.jsonl", "{not json}\n", "line 1 is no JSON object"),
        ("mine.jsonl", '["a"]\n', "line 1 lacks id, title, abstract"),
        ("mine.jsonl", '{"id": "a", "title": 5, "abstract": "b"}\n', "line 1: id, title"),
        ("mine.csv", "id,title,abstract,year\na,b,c,soon\n", "does not read as csv"),
        ("mine.csv", "id,title,abstract\n", "no rows"),
        ("mine.csv", "", "does not read as csv"),
        ("mine.parquet", "PAR1 and no more", "does not read as parquet"),
        ("mine.docx", "x", "no .csv, .parquet or .jsonl"),
    ],
)
def test_a_file_that_does_not_parse_gets_one_message(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(UserError, match=said):
        embedded(tmp_path, tmp_path / name)
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_lookahead_is_said_by_default_and_refused_on_request(tmp_path, capsys):
    """The model knows 2012: it has read what came after the document of 2010."""
    path = write(tmp_path / "mine.csv")
    assert embedded(tmp_path, path).num_rows == 3
    assert "1 of 3 documents are dated before 2012" in capsys.readouterr().err
    (tmp_path / "out.parquet").unlink()
    with pytest.raises(UserError, match="refused: 1 of 3 documents are dated before 2012"):
        embedded(tmp_path, path, refuse_lookahead=True)
    assert not (tmp_path / "out.parquet").exists()
    later = write(tmp_path / "later.csv", ROWS[1:])
    assert embedded(tmp_path, later, refuse_lookahead=True).num_rows == 2
    assert capsys.readouterr().err == ""


def test_refusing_needs_years_and_a_model_that_states_its_own(tmp_path):
    undated = write(tmp_path / "a.csv", [{k: v for k, v in ROWS[0].items() if k != "year"}])
    with pytest.raises(UserError, match="lacks year"):
        embedded(tmp_path, undated, refuse_lookahead=True)
    holes = write(tmp_path / "b.parquet", [ROWS[1], ROWS[2] | {"year": None}])
    with pytest.raises(UserError, match="1 of 2 documents have no year"):
        embedded(tmp_path, holes, refuse_lookahead=True)
    timeless = tiny_tasks.system(tiny_tasks.hashed, cutoff=None, states_cutoff=False)
    with pytest.raises(UserError, match="states no cutoff"):
        embedded(tmp_path, write(tmp_path / "c.csv"), timeless, refuse_lookahead=True)


def test_a_failure_while_embedding_leaves_nothing_half_written(tmp_path):
    def failing(titles, abstracts):
        raise RuntimeError("out of memory")

    path = write(tmp_path / "mine.csv")
    with pytest.raises(RuntimeError):
        embedded(tmp_path, path, tiny_tasks.system(failing))
    assert [one.name for one in tmp_path.iterdir()] == ["mine.csv"]


def invoke(folder, *args, stdin=None):
    env = {"SCITLAKE_WAREHOUSE": str(folder / "lake"), "RUNS_ROOT": str(folder / "runs")}
    return CliRunner(env=env).invoke(cli, ["embed", *args], input=stdin)


def test_minilm_embeds_standard_input_without_a_lake(tmp_path):
    out = tmp_path / "v.parquet"
    stdin = "id,title,abstract\nx,Solar cell,Light to power.\ny,Photovoltaics,Panels and light.\n"
    stdin += "z,Protein,Folding of chains.\n"
    result = invoke(tmp_path, "minilm", "-", "--out", str(out), stdin=stdin)
    assert result.exit_code == 0, result.output
    vectors = np.stack(pq.read_table(out).column("vector").to_numpy())
    assert vectors.shape == (3, 384)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1
    assert "3 vectors in" in result.stderr and "states no cutoff" in result.stderr


def test_a_query_on_the_lake_is_embedded(tmp_path):
    make_task_lake(tmp_path / "lake")
    out = tmp_path / "v.parquet"
    sql = (
        "select doc_id as id, title, abstract, known_year as year from corpus.documents "
        "where known_year <= 2012 order by doc_id limit 10"
    )
    args = ("tfidf-svd", "--cutoff", "2012", "--sql", sql, "--out", str(out))
    result = invoke(tmp_path, *args)
    assert result.exit_code == 0, result.output
    assert pq.read_table(out).num_rows == 10
    for wrong, said in (
        ("drop table corpus.documents", "one SELECT"),
        ("select 1 as id", "lacks title, abstract"),
        ("select doc from corpus.documents", "does not run"),
    ):
        result = invoke(tmp_path, *args[:3], "--sql", wrong, "--out", str(out))
        assert result.exit_code == 2 and said in result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("minilm", "nowhere.csv", "--out", "v.parquet"), "no file nowhere.csv"),
        (("minilm", "x.csv", "--sql", "select 1", "--out", "v.parquet"), "not both"),
        (("bm25", "-", "--out", "v.parquet"), "no vectors"),
        (("minilm", "-", "--out", "no/such/v.parquet"), "no folder no/such"),
        (("nomodel", "-", "--out", "v.parquet"), "no run, folder or baseline"),
    ],
)
def test_a_mistake_on_the_command_line_exits_with_2(tmp_path, monkeypatch, args, said):
    monkeypatch.chdir(tmp_path)
    result = invoke(tmp_path, *args, stdin="id,title,abstract\n1,a,b\n")
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert not list(tmp_path.rglob("*.parquet*"))
