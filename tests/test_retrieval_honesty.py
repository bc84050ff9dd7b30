"""Retrieval tasks cannot be cheated: the oracle, the ignorant and the blind get what they earn."""

import duckdb
import numpy as np
import pytest
import tiny_tasks
from click.testing import CliRunner
from tiny_tasks import CUTOFF, make_task_lake

from pyeval.cli import cli
from pyeval.labels import read_labels
from pyeval.protocol import ScoreSettings
from pyeval.score import load_benchmark, score
from pyeval.tasks import TASKS
from warehouse.errors import CheckFailed
from warehouse.tables import Lake

# Queries of one document and of several, and documents whose text stands in the corpus or not.
NAMES = ("same_inventor", "assignee_patent_match", "papers_cocite", "patent_paper_citation")


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    with Lake(make_task_lake(tmp_path_factory.mktemp("lake"))) as opened:
        yield opened


def scored(lake, embed, name, **more):
    """Score rows by (metric, column)."""
    system = tiny_tasks.system(embed)
    settings = ScoreSettings(resamples=0, seen_pairs=False)
    benchmark = load_benchmark(lake, [TASKS[name]])
    (scores,) = score(system, benchmark, lake, settings, **{"cutoff": CUTOFF} | more)
    return {(row["metric"], row["column"]): row for row in scores.rows}


@pytest.mark.parametrize("name", NAMES)
def test_an_encoder_that_knows_the_relevant_documents_scores_100(lake, name):
    queries = read_labels(lake, TASKS[name])
    vectors = {doc_id: np.eye(len(queries.corpus))[i] for i, doc_id in enumerate(queries.corpus)}
    wanted = np.zeros((len(queries.ids), len(queries.corpus)))
    wanted[queries.relevant] = 1.0
    for query, doc_id in zip(*queries.parts, strict=True):
        vectors[doc_id] = wanted[query]
    rows = scored(lake, tiny_tasks.knowing(vectors), name)
    assert rows["map", "all"]["value"] == pytest.approx(100)
    assert rows["map", "all"]["n"] == len(queries.ids) > 10


@pytest.mark.parametrize("name", NAMES)
def test_an_encoder_that_knows_nothing_scores_at_chance(lake, name):
    queries = read_labels(lake, TASKS[name])
    found = []
    for salt in "abcdef":

        def ignorant(titles, abstracts, salt=salt):
            return tiny_tasks.hashed([salt + title for title in titles], abstracts)

        found.append(scored(lake, ignorant, name)["map", "all"]["value"])
    # Of n documents in random order, r relevant: the one at rank k is relevant with r/n, and of
    # the k-1 before it (k-1)(r-1)/(n-1) are.
    n, r = len(queries.corpus), np.bincount(queries.relevant[0])[:, None]
    k = np.arange(1, n + 1)
    chance = 100 * ((1 + (k - 1) * (r - 1) / (n - 1)) / k).mean()
    assert 0.7 * chance < np.mean(found) < 1.4 * chance < 10


@pytest.mark.parametrize("name", NAMES)
def test_an_encoder_that_sees_no_difference_ranks_by_doc_id(lake, name):
    """All scores tie, and the tie rule does not know what is relevant."""
    queries = read_labels(lake, TASKS[name])
    expected = []
    for query in range(len(queries.ids)):
        ranks = np.sort(queries.relevant[1][queries.relevant[0] == query]) + 1
        found = np.arange(1, len(ranks) + 1) / ranks * (ranks <= 200)
        expected.append(found.mean())
    rows = scored(lake, tiny_tasks.constant, name)
    assert rows["map", "all"]["value"] == pytest.approx(100 * np.mean(expected))


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("same_inventor", "tasks.task_same_inventor"),
        ("assignee_patent_match", "tasks.task_assignee_patent_match"),
        ("assignee_patent_match", "tasks.queries_assignee_patent_match"),
        ("pqr_patent_paper", "tasks.corpus_pqr_patent_paper"),
    ],
)
def test_a_document_without_text_fails_the_run(tmp_path, name, table):
    folder = make_task_lake(tmp_path / "lake")
    with duckdb.connect(str(folder / "lake.duckdb")) as opened:
        doc_id = opened.sql(f"select max(doc_id) from {table}").fetchall()[0][0]
        opened.execute("update corpus.documents set abstract = ' ' where doc_id = ?", [doc_id])
        opened.execute("update tasks.benchmark_papers set title = '' where doc_id = ?", [doc_id])
    with Lake(folder) as lake, pytest.raises(CheckFailed, match=rf"1 of the .* {doc_id}"):
        load_benchmark(lake, [TASKS[name]])


def test_a_query_of_several_documents_is_the_mean_of_their_unit_vectors(lake):
    """Lengths must not weigh: a long vector beside a short one, both in the mean alike."""
    task = TASKS["assignee_patent_match"]
    queries = read_labels(lake, task)
    rng = np.random.default_rng(0)
    held = np.union1d(queries.parts[1], queries.corpus)
    vectors = {one: rng.normal(size=24) * rng.choice([0.1, 30.0]) for one in held.tolist()}
    unit = {one: v / np.linalg.norm(v) for one, v in vectors.items()}
    corpus = np.stack([unit[one] for one in queries.corpus.tolist()])
    precisions = []
    for query in range(len(queries.ids)):
        parts = queries.parts[1][queries.parts[0] == query].tolist()
        cosines = corpus @ np.mean([unit[one] for one in parts], axis=0)
        relevant = queries.relevant[1][queries.relevant[0] == query]
        precisions.append(np.isin(np.argsort(-cosines)[:5], relevant).mean())
    assert len(parts) > 0 and np.bincount(queries.parts[0]).max() == 2
    rows = scored(lake, tiny_tasks.knowing(vectors), task.name)
    assert rows["p_at_5", "all"]["value"] == pytest.approx(100 * np.mean(precisions))
    assert {metric for metric, _ in rows} == {"map", "p_at_5", "p_at_10"}


def test_a_ranker_reads_all_texts_of_a_query(lake):
    """A word matcher must find what the second document of a query names."""
    seen = {}

    def rank(queries, corpus, depth):
        from pyeval.retrieval import rank_scores

        seen["queries"] = queries
        return rank_scores(iter([np.zeros((len(queries), len(corpus)))]), len(queries), depth)

    benchmark = load_benchmark(lake, [TASKS["assignee_patent_match"]])
    system = tiny_tasks.system(None, rank=rank)
    list(
        score(system, benchmark, lake, ScoreSettings(resamples=0, seen_pairs=False), cutoff=CUTOFF)
    )
    titles = {one["doc_id"]: one["title"] for one in tiny_tasks.documents()}
    queries = benchmark.labels["assignee_patent_match"]
    for query, doc_id in zip(*queries.parts, strict=True):
        assert titles[doc_id] in seen["queries"][query]


def test_a_late_query_is_seen_when_all_of_its_documents_were_read(lake):
    """It is dated by its latest; while one of its texts is new, its score is out of time."""
    rows, parts = tiny_tasks.portfolio_rows()
    year_of = {row["query_id"]: row["task_year"] for row in rows}
    granted = {one["doc_id"]: one["known_year"] for one in tiny_tasks.documents()}
    read = {one for one, year in granted.items() if year <= CUTOFF} | set(tiny_tasks.applications())
    members: dict[int, list[int]] = {}
    for row in parts:
        members.setdefault(row["query_id"], []).append(row["doc_id"])
    late = {query for query, year in year_of.items() if year > CUTOFF}
    seen = {query for query in late if set(members[query]) <= read}
    assert seen and any(set(members[query]) & read for query in late - seen)
    found = scored(lake, tiny_tasks.hashed, "assignee_patent_match")
    counts = {column: found["map", column]["n"] for column in ("in_time", "text_seen")}
    assert counts == {"in_time": len(year_of) - len(late), "text_seen": len(seen)}
    assert found["map", "out_of_time"]["n"] == len(late) - len(seen)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("delete from tasks.queries_{t} where query_id = (select max(query_id) from "
         "tasks.queries_{t})", "1 queries without a document"),
        ("insert into tasks.queries_{t} select 17, min(doc_id) from tasks.queries_{t}",
         "1 queries without a relevant document"),
        ("insert into tasks.queries_{t} from tasks.queries_{t} limit 1",
         "1 documents listed twice in a query"),
        ("insert into tasks.corpus_{t} select max(doc_id) from tasks.queries_{t}",
         "1 queries that stand in the corpus"),
    ],
)  # fmt: skip
def test_queries_that_no_score_could_be_honest_about_fail_the_run(tmp_path, sql, said):
    task = TASKS["assignee_patent_match"]
    folder = make_task_lake(tmp_path / "lake")
    with duckdb.connect(str(folder / "lake.duckdb")) as opened:
        opened.execute(sql.format(t=task.name))
    with Lake(folder) as lake, pytest.raises(CheckFailed, match=said):
        read_labels(lake, task)


def test_a_corpus_that_cannot_be_ranked_wrong_is_named(tmp_path, monkeypatch):
    folder = make_task_lake(tmp_path / "lake")
    with duckdb.connect(str(folder / "lake.duckdb")) as opened:
        task, corpus = "tasks.task_papers_cocite", "tasks.corpus_papers_cocite"
        first = f"select doc_id from {task} where query_id = (select min(query_id) from {task})"
        opened.execute(f"delete from {corpus} where doc_id not in ({first})")
        opened.execute(f"delete from {task} where doc_id not in (select doc_id from {corpus})")
        rows = opened.sql(f"select query_id, count(*) from {task} group by 1")
        counts = dict(rows.fetchall())
        n = opened.sql(f"select count(*) from {corpus}").fetchall()[0][0]
    certain = sum(count == n for count in counts.values())
    assert certain > 0
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(folder))
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    asked = ["run", "bm25", "--task", "papers_cocite", "--task", "same_inventor"]
    done = CliRunner().invoke(cli, [*asked, "--resamples", "0"])
    assert done.exit_code == 0, done.output
    assert f"papers_cocite: of {len(counts)} queries {certain} score 100" in done.stderr
    assert "same_inventor" not in done.stderr


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ("ocpb.ocpb_assigneeatfiling", "this lake lacks ocpb.ocpb_assigneeatfiling"),
        (None, "no document of this lake meets its rule"),
    ],
)
def test_an_empty_task_is_named_and_the_rest_is_scored(tmp_path, monkeypatch, lacks, said):
    folder = make_task_lake(tmp_path / "lake")
    with duckdb.connect(str(folder / "lake.duckdb")) as opened:
        opened.execute("delete from tasks.task_same_initial_assignee")
        opened.execute("create table tasks.task_sizes (task varchar, lacks varchar)")
        opened.execute("insert into tasks.task_sizes values ('same_initial_assignee', ?)", [lacks])
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(folder))
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    asked = ["run", "bm25", "--task", "same_initial_assignee", "--resamples", "0"]
    for more, scored_tasks in (([], set()), (["--task", "same_inventor"], {"same_inventor"})):
        done = CliRunner().invoke(cli, [*asked, *more])
        assert done.exit_code == 0, done.output
        assert f"same_initial_assignee: not scored, {said}" in done.stderr
        rows = done.stdout.splitlines()[1:]
        assert {row.split("\t")[2] for row in rows} == scored_tasks
