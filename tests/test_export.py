"""A benchmark written to files and read back scores as the lake does, and says what it lacks."""

import json
import shutil

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
import tiny_tasks
from click.testing import CliRunner
from test_score import FAST
from tiny_tasks import CUTOFF, make_task_lake

from pyeval import columns
from pyeval.cli import cli
from pyeval.dataset_card import sources_of
from pyeval.export import doc_uri, export
from pyeval.folder import BenchmarkFolder
from pyeval.folder_ids import Ids
from pyeval.score import load_benchmark, score
from pyeval.tasks import TASKS, pick
from warehouse.errors import UserError
from warehouse.tables import ALL, Lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    with Lake(make_task_lake(tmp_path_factory.mktemp("lake"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def exported(lake, tmp_path_factory):
    """The tiny lake's benchmark as files."""
    out = tmp_path_factory.mktemp("out") / "benchmark"
    export(lake, pick([]), out)
    return out


@pytest.fixture
def copy(exported, tmp_path):
    """The same to change at will."""
    shutil.copytree(exported, tmp_path / "benchmark")
    return tmp_path / "benchmark"


def rows_of(tables, tasks, system, **more):
    benchmark = load_benchmark(tables, tasks)
    return [row for one in score(system, benchmark, tables, FAST, **more) for row in one.rows]


def without_time(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def rewrite(path, change):
    pq.write_table(change(pq.read_table(path)), path)


@pytest.mark.parametrize("whitened", [False, True])
def test_files_score_as_the_lake_does(lake, exported, whitened):
    """Scores, intervals, columns in time and the fingerprints of tasks: all of it."""
    system = tiny_tasks.system(tiny_tasks.hashed, tuned=True)
    names = ["patent_cite", "assignee_patent_match", "cpc_subclass", "us_foreign", "pqr_paper",
             "forward_citation", "patent_paper_citation", "paper_cite"]  # fmt: skip
    tasks = pick(names)
    of_lake = rows_of(lake, tasks, system, cutoff=CUTOFF, whitened=whitened)
    with BenchmarkFolder(exported) as folder:
        assert folder.tasks(names) == tasks
        of_files = rows_of(folder, tasks, system, cutoff=CUTOFF, whitened=whitened)
    if whitened:  # fitted on the folder's own documents, which are not all of the lake's
        of_lake = [row | {"model_fingerprint": ""} for row in of_lake]
        of_files = [row | {"model_fingerprint": ""} for row in of_files]
        assert [r["n"] for r in of_lake] == [r["n"] for r in of_files]
    else:
        assert without_time(of_lake) == without_time(of_files)
    seen = [r for r in of_files if r["column"] == columns.TEXT_SEEN and r["task"] == "us_foreign"]
    assert seen[0]["n"] > 0


def test_every_task_has_its_files_and_sizes(lake, exported):
    with BenchmarkFolder(exported) as folder:
        assert [one.name for one in folder.tasks()] == list(TASKS)
        years = [
            year for task in TASKS.values()
            for year in lake.read(task.table, ["task_year"], cutoff=ALL).column(0).to_pylist()
        ]  # fmt: skip
        assert folder.years() == (min(years), max(years))
    for name, task in TASKS.items():
        meta = json.loads((exported / name / "meta.json").read_text())
        for part in ("train", "test", "queries", "corpus", "qrels"):
            if (exported / name / f"{part}.parquet").is_file():
                rows = pq.read_metadata(exported / name / f"{part}.parquet").num_rows
                assert meta[f"n_{part}"] == rows > 0, (name, part)
        held = lake.read(task.table, ["doc_id"], cutoff=ALL)
        assert meta.get("n_qrels", meta.get("n_train", 0) + meta.get("n_test", 0)) == len(held)


def test_edges_are_read_once_for_all_tasks(lake, tmp_path):
    before = len(lake.reads)
    export(lake, pick(["patent_cite", "paper_cite", "papers_cocite"]), tmp_path / "benchmark")
    assert [one.name for one in lake.reads[before:]].count("edges") == 1


@pytest.mark.parametrize(
    ("doc_id", "uri"),
    [
        (77, "s2:77"),
        (1_000_010_000_036, "us:10000036"),
        (1_030_000_035_000, "us:RE35000"),
        (2_000_000_000_012, "openalex:W12"),
        (100_020_100_273_145, "us-pgpub:20100273145"),
    ],
)
def test_documents_go_by_their_publishers_names(doc_id, uri):
    assert doc_uri(doc_id) == uri


def test_every_task_names_the_licence_of_its_texts():
    rows = [
        {"source": source, "table_name": table, "present": True, "switches_on": on}
        for source, table, on in [
            ("patentsview", "g_patent", "documents, every patent task"),
            ("patentsview", "pg_published_application", "grant_abandon"),
            ("openalex", "works", "same_work"), ("s2ag", "papers", "documents"),
            ("ocpb", "ocpb_assigneeatfiling", "academic_public, vc_backed"),
        ]
    ]  # fmt: skip
    named = {
        name: {f"{row['source']}.{row['table_name']}" for row in sources_of(task, rows)}
        for name, task in TASKS.items()
    }
    assert all(named.values())
    assert named["academic_public"] == {"patentsview.g_patent", "ocpb.ocpb_assigneeatfiling"}
    assert named["paper_cite"] == {"s2ag.papers"}
    assert named["pqr_paper_patent"] == {"patentsview.g_patent", "openalex.works"}


def as_published(folder, name="patent_cite"):
    """Give a task the layout of the published files, as far as one of them is known.

    Ids are text, texts stand in a file of their own, the year is that of filing, and nothing is
    said about near-copies.
    """
    meta = json.loads((folder / name / "meta.json").read_text())
    meta |= {"year_field": "year_filed", "query_id_field": "patent_id", "slug": name,
             "corpus_id_field": "patent_id", "query_text_source": "g_patent",
             "corpus_text_source": "g_patent"}  # fmt: skip
    for key in ("settings", "text_source", "id_field"):
        meta.pop(key, None)
    (folder / name / "meta.json").write_text(json.dumps(meta))

    def named(table, **columns):
        for old, new in columns.items():
            ids = pa.array([f"US{one}" for one in table.column(old).to_pylist()])
            table = table.drop_columns(old).append_column(new, ids)
        return table

    years = {"task_year": "year_filed"}
    rewrite(folder / name / "queries.parquet", lambda t: named(
        t.drop_columns("label_year").rename_columns(
            [years.get(c, c) for c in t.drop_columns("label_year").column_names]
        ), query_id="patent_id"))  # fmt: skip
    rewrite(folder / name / "corpus.parquet", lambda t: named(t, doc_id="patent_id"))
    rewrite(folder / name / "qrels.parquet", lambda t: named(
        t.drop_columns(["label_year", "trigram_overlap"]), query_id="query_id", doc_id="corpus_id"
    ))  # fmt: skip
    texts = pq.read_table(folder / "documents.parquet", columns=["doc_id", "title", "abstract"])
    csv.write_csv(named(texts, doc_id="patent_id"), folder / "g_patent.csv")
    (folder / "documents.parquet").unlink()
    for other in folder.glob("*/meta.json"):
        if other.parent.name != name:
            shutil.rmtree(other.parent)


def test_published_names_score_alike(lake, copy):
    system = tiny_tasks.system(tiny_tasks.hashed)
    of_lake = rows_of(lake, pick(["patent_cite"]), system, cutoff=None)
    as_published(copy)
    with BenchmarkFolder(copy) as folder:
        tasks = folder.tasks()
        assert [(one.name, one.distinct) for one in tasks] == [("patent_cite", False)]
        assert not folder.dates_texts(tasks) and folder.dates_labels(tasks) == ["patent_cite"]
        of_files = rows_of(folder, tasks, system, cutoff=None)
    kept = {
        (row["task"], row["metric"]): (pytest.approx(row["value"]), row["n"])
        for row in of_lake if row["task"] == "patent_cite"
    }  # fmt: skip
    assert {(row["task"], row["metric"]): (row["value"], row["n"]) for row in of_files} == kept


def test_ones_and_zeros_are_the_positive_class_and_the_other(copy):
    path = copy / "us_foreign" / "test.parquet"
    before = pq.read_table(path).column("label").to_pylist()

    def as_numbers(table):
        ones = pa.array([int(one == "us") for one in table.column("label").to_pylist()])
        return table.set_column(table.column_names.index("label"), "label", ones)

    for split in ("train", "test"):
        rewrite(copy / "us_foreign" / f"{split}.parquet", as_numbers)
    with BenchmarkFolder(copy) as folder:
        rows = folder.read("tasks.task_us_foreign", ["split", "label"], cutoff=ALL).to_pylist()
    assert {row["label"] for row in rows} == {"us", "foreign"}
    assert [row["label"] for row in rows if row["split"] == "test"] == before


def test_a_class_of_another_name_is_refused(copy):
    def renamed(table):
        names = pa.array([{"us": "domestic"}.get(x, x) for x in table.column("label").to_pylist()])
        return table.set_column(table.column_names.index("label"), "label", names)

    rewrite(copy / "us_foreign" / "train.parquet", renamed)
    with BenchmarkFolder(copy) as folder, pytest.raises(UserError, match="the class us .*domestic"):
        folder.read("tasks.task_us_foreign", ["label"], cutoff=ALL)


def test_text_ids_keep_their_number_and_their_source():
    ids = Ids()
    first = ids.of("g_patent", pa.array(["7", "8", "7"])).to_pylist()
    assert first[0] == first[2] != first[1]
    assert Ids().of("g_patent", pa.array(["8"])).to_pylist() == [first[1]]
    assert ids.of("works", pa.array(["7"])).to_pylist() != [first[0]]
    assert ids.of("documents", pa.array([7])).to_pylist() == [7]
    with pytest.raises(UserError, match="1 ids of works are missing"):
        ids.of("works", pa.array(["1", None]))


def failing(copy, monkeypatch, *args):
    monkeypatch.setenv("RUNS_ROOT", str(copy.parent / "runs"))
    found = CliRunner().invoke(cli, ["run", "bm25", "--from", str(copy), *args])
    return found.exit_code, found.output


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (lambda f: (f / "patent_cite/corpus.parquet").unlink(), "has no corpus.parquet"),
        (lambda f: (f / "patent_cite/meta.json").write_text("{"), "cannot read"),
        (lambda f: (f / "documents.parquet").unlink(), "has no documents.parquet"),
        (lambda f: (f / "documents.parquet").write_bytes(b"PAR1"), "cannot read"),
        (lambda f: [shutil.rmtree(p) for p in f.iterdir() if p.is_dir()], "holds no task"),
        (
            lambda f: rewrite(f / "patent_cite/qrels.parquet", lambda t: t.drop_columns("doc_id")),
            "one of the columns",
        ),
    ],
)
def test_damaged_files_say_what_is_wrong(copy, monkeypatch, fault, says):
    fault(copy)
    code, said = failing(copy, monkeypatch, "--task", "patent_cite", "--cutoff", str(CUTOFF))
    assert (code, says in said) == (2, True), said
    assert not (copy.parent / "runs" / "scores").exists()


def test_a_folder_that_is_not_there_is_one_message(tmp_path, monkeypatch):
    code, said = failing(tmp_path / "nowhere", monkeypatch)
    assert code == 2 and "no folder" in said and "pyeval export --out" in said


def test_a_document_without_text_fails_the_run(copy, monkeypatch):
    rewrite(copy / "documents.parquet", lambda t: t.slice(0, len(t) // 2))
    code, said = failing(copy, monkeypatch, "--task", "patent_cite", "--cutoff", str(CUTOFF))
    assert code == 1 and "no title and abstract" in said


def test_dates_that_the_files_lack_are_not_made_up(copy, monkeypatch):
    as_published(copy)
    code, said = failing(copy, monkeypatch, "--cutoff", str(CUTOFF))
    assert code == 2 and "--cutoff has nothing to divide by" in said
    code, said = failing(copy, monkeypatch, "--rolling")
    assert code == 2 and "--rolling needs the column label_year" in said
    code, said = failing(copy, monkeypatch)
    assert code == 0 and "nothing is out of time" in said
    assert [line.split("\t")[4] for line in said.splitlines() if line.startswith("bm25\t")] == [
        "all", "all"
    ]  # fmt: skip
    assert (copy.parent / "runs" / "scores" / "bm25~benchmark.parquet").is_file()


def test_export_leaves_what_is_there_alone(lake, exported, monkeypatch):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(lake.folder))
    found = CliRunner().invoke(cli, ["export", "--out", str(exported)])
    assert found.exit_code == 2 and "is there already" in found.output
    found = CliRunner().invoke(cli, ["export", "--out", str(exported / "none" / "deep")])
    assert found.exit_code == 2 and "mkdir -p" in found.output
    assert not (exported / "none").exists()
