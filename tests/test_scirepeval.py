"""SciRepEval's formats in each released layout, against scikit-learn and pytrec_eval directly."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import pytrec_eval
from scipy.stats import kendalltau
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC, LinearSVR
from tiny_tasks import constant, hashed, system

from pyeval.sci_files import read_task
from pyeval.sci_score import load_suite, score_suite
from pyeval.sci_tasks import SCI_TASKS, SUITES, pick_suite
from pyeval.scirepeval import SciSettings, measure_sci
from warehouse.errors import CheckFailed, UserError

FAST = SciSettings(classify_penalties=(0.1, 1.0), regress_penalties=(0.1, 1.0))
N = 90


def write(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".csv":
        lines = [",".join(rows[0])] + [",".join(f'"{v}"' for v in r.values()) for r in rows]
        path.write_text("\n".join(lines) + "\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def label_of(name: str, i: int):
    if name == "sci_fos":
        return [int(i % 3 == 0), int(i % 2 == 0)]
    return {"sci_biomimicry": i % 2, "sci_drsm": i % 3}.get(name, float(i % 30))


def release(root: Path, name: str, layout: str) -> None:
    """Generated files of one task: `hub` (Parquet) or `bucket` (CSV and JSONL)."""
    task = SCI_TASKS[name]
    hub = layout == "hub"
    texts = root / (f"scirepeval/{task.texts}/evaluation-00000-of-00001.parquet" if hub
                    else f"test/{task.texts}/metadata.jsonl")  # fmt: skip
    test = root / (f"scirepeval_test/{task.test}" if hub else f"test/{task.test}")
    docs = [{"doc_id": f"d{i}", "title": f"title {i}", "abstract": f"text {i}"} for i in range(N)]
    if task.format in ("classify", "regress"):
        write(texts, docs)
        for split, rows in (("train", range(60)), ("test", range(60, N))):
            end = "-00000-of-00001.parquet" if hub else ".csv"
            labels = [{"paper_id": f"d{i}", "label": label_of(name, i)} for i in rows]
            write(test / f"{split}{end}", labels)
        return
    groups = [docs[start : start + 10] for start in range(0, N, 10)]
    if task.simple:
        write(texts, docs)
    elif task.format == "search":
        write(texts, [{"doc_id": g[0]["doc_id"], "query": g[0]["title"], "candidates": g[1:]}
                      for g in groups])  # fmt: skip
    else:
        write(texts, [{"query": g[0], "candidates": g[1:]} for g in groups])
    write(
        test / ("test-00000-of-00001.parquet" if hub else "test_qrel.jsonl"),
        [
            {"query_id": g[0]["doc_id"], "cand_id": one["doc_id"], "score": int(place < 3)}
            for g in groups
            for place, one in enumerate(g[1:])
        ],
    )


def random_vectors(data, dims=12):
    rng = np.random.default_rng(3)
    return {doc: rng.normal(size=dims).astype(np.float32) for doc in sorted(data.texts)}


def measured(root, name, vectors_of=random_vectors):
    data = read_task(root, SCI_TASKS[name])
    found = list(measure_sci(SCI_TASKS[name], data, vectors_of(data), FAST))
    return data, found


@pytest.mark.parametrize("layout", ["hub", "bucket"])
@pytest.mark.parametrize("name", ["sci_biomimicry", "sci_drsm", "sci_fos", "sci_cite_count"])
def test_probes_equal_scikit_learn_called_as_the_harness_does(tmp_path, name, layout):
    release(tmp_path, name, layout)
    data, found = measured(tmp_path, name)
    vectors = random_vectors(data)
    x, y = ({s: np.stack([vectors[d] for d, _ in data.labels[s]]) for s in ("train", "test")},
            {s: np.array([v for _, v in data.labels[s]]) for s in ("train", "test")})  # fmt: skip
    grid = {"C": [0.1, 1.0]}
    if name == "sci_cite_count":
        model = GridSearchCV(LinearSVR(random_state=42), grid, cv=3).fit(x["train"], y["train"])
        expected = kendalltau(y["test"], model.predict(x["test"])).statistic
    elif name == "sci_fos":
        columns = [
            GridSearchCV(LinearSVC(max_iter=10_000, dual=True, random_state=42), grid, cv=3)
            .fit(x["train"], y["train"][:, c])
            .predict(x["test"])
            for c in range(2)
        ]
        expected = f1_score(y["test"], np.stack(columns, axis=1), average="macro")
    else:
        svc = LinearSVC(loss="squared_hinge", dual=True, random_state=42)
        said = GridSearchCV(svc, grid, cv=3).fit(x["train"], y["train"]).predict(x["test"])
        how = {"pos_label": "1"} if name == "sci_biomimicry" else {"average": "macro"}
        expected = f1_score(y["test"], said, **how)
    assert found[0].value == pytest.approx(round(100 * expected, 2), abs=0.011)


@pytest.mark.parametrize("layout", ["hub", "bucket"])
@pytest.mark.parametrize("name", ["sci_same_author", "sci_scidocs_cite", "sci_trec_covid"])
def test_rankings_equal_pytrec_eval_on_negative_distances(tmp_path, name, layout):
    release(tmp_path, name, layout)
    data, found = measured(tmp_path, name)
    vectors = random_vectors(data)
    run = {
        q: {c: -float(euclidean_distances([vectors[q]], [vectors[c]])[0, 0]) for c in candidates}
        for q, candidates in data.qrels.items()
    }
    task = SCI_TASKS[name]
    out = pytrec_eval.RelevanceEvaluator(data.qrels, set(task.metrics)).evaluate(run)
    plain = {one.metric: one.value for one in found if not one.variant}
    for metric in task.metrics:
        expected = 100 * np.mean([row[metric] for row in out.values()])
        assert plain[metric] == pytest.approx(expected, abs=0.0051)
    assert {one.variant for one in found} == {"", "cosine"}


def oracle(name, data):
    """The label itself as a vector; each query beside its relevant candidates."""
    if data.labels:
        rows = dict(pair for part in data.labels.values() for pair in part)
        flat = [v if isinstance(v, tuple) else (v,) for v in rows.values()]
        if SCI_TASKS[name].format == "regress" or SCI_TASKS[name].multilabel:
            return {d: np.array(v, np.float32) for d, v in zip(rows, flat, strict=True)}
        return {d: np.eye(3, dtype=np.float32)[int(v[0])] for d, v in zip(rows, flat, strict=True)}
    eye, out = np.eye(len(data.qrels) + 1, dtype=np.float32), {}
    for n, (query, candidates) in enumerate(data.qrels.items()):
        out[query] = eye[n]
        out |= {c: eye[n] if score else eye[-1] for c, score in candidates.items()}
    return out


FORMATS = ["sci_fos", "sci_biomimicry", "sci_drsm", "sci_cite_count", "sci_same_author",
           "sci_scidocs_cite", "sci_search"]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_an_encoder_that_knows_the_labels_scores_100(tmp_path, name):
    release(tmp_path, name, "hub")
    _, found = measured(tmp_path, name, lambda data: oracle(name, data))
    assert found[0].value > 99.9


@pytest.mark.parametrize("encoder", [hashed, constant])
@pytest.mark.parametrize("name", FORMATS)
def test_an_encoder_that_knows_nothing_is_at_chance(tmp_path, name, encoder):
    release(tmp_path, name, "hub")
    suite = load_suite(tmp_path, [SCI_TASKS[name]])
    ((rows, items),) = score_suite(system(encoder), suite, FAST, resamples=20)
    bound = {"regress": 35, "classify": 70, "retrieve": 75}[rows[0]["format"]]
    assert rows[0]["value"] < bound
    if name == "sci_cite_count" and encoder is constant:
        assert rows[0]["value"] == 0
    assert items.num_rows >= rows[0]["n"] > 5


@pytest.mark.parametrize("name", ["sci_drsm", "sci_cite_count", "sci_scidocs_cite"])
def test_a_document_without_text_fails_the_run(tmp_path, name):
    release(tmp_path, name, "bucket")
    path = tmp_path / "test" / SCI_TASKS[name].texts / "metadata.jsonl"
    lines = [line for line in path.read_text().splitlines() if '"d70"' not in line]
    path.write_text("\n".join(lines))
    with pytest.raises(CheckFailed, match=r"1 documents without text \(d70\)"):
        read_task(tmp_path, SCI_TASKS[name])


def test_suites_are_those_of_the_papers():
    assert {name: len(tasks) for name, tasks in SUITES.items()} == {
        "scitbert": 18,
        "sciembed": 22,
        "scijepa": 7,
    }
    with pytest.raises(UserError, match="scitbert"):
        pick_suite("scitbrt")


@pytest.mark.real
def test_the_real_samples_are_read_and_scored():
    root = Path(os.environ["DATA_ROOT"]) / "scirepeval_sample"
    names = ("sci_fos", "sci_mesh", "sci_cite_prediction", "sci_search")
    suite = load_suite(root, [SCI_TASKS[name] for name in names])
    for rows, _ in score_suite(system(hashed), suite, FAST, resamples=20):
        assert 0 <= rows[0]["value"] < 80 and rows[0]["n"] > 20


def test_the_command_scores_a_suite_from_a_folder(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from pyeval import command, results
    from pyeval.cli import cli

    release(tmp_path / "files", "sci_scidocs_cite", "hub")
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    monkeypatch.setattr(command, "resolve", lambda name, *_, **__: system(hashed, name))
    words = ["run", "probe", "--suite", "scitbert", "--from", str(tmp_path / "files")]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert "sci_scidocs_cite_cosine" in done.output and "sci_fos" in done.stderr
    kept = {(row["task"], row["metric"]) for row in results.read_all(["probe"])}
    assert ("sci_scidocs_cite", "map") in kept and ("sci_scidocs_cite", "ndcg") in kept
    alone = CliRunner().invoke(cli, words[:4])
    assert alone.exit_code == 2 and "--from FOLDER" in alone.output


def test_vectors_are_taken_before_they_are_scaled(tmp_path):
    release(tmp_path, "sci_same_author", "hub")
    suite = load_suite(tmp_path, [SCI_TASKS["sci_same_author"]])

    def pooled(titles, abstracts):
        found = hashed(titles, abstracts)
        return found * (1 + 9 * (found[:, :1] > 0))

    ((rows, _),) = score_suite(system(hashed, "both", pooled=pooled), suite, FAST, resamples=5)
    ((plain, _),) = score_suite(system(hashed, "plain"), suite, FAST, resamples=5)
    named = {row["task"]: row["value"] for row in plain}
    scaled = {row["task"]: row["value"] for row in rows}
    assert scaled["sci_same_author"] != named["sci_same_author"]
    assert scaled["sci_same_author_cosine"] == named["sci_same_author_cosine"]
