"""MTEB runs the exported tasks without a network, and ranks as the evaluator does."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny_tasks
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from test_score import FAST
from tiny_tasks import make_task_lake

from pyeval.cli import cli
from pyeval.export import export
from pyeval.score import load_benchmark, score
from pyeval.tasks import TASKS, pick
from warehouse.tables import Lake

mteb = pytest.importorskip("mteb", reason="needs the package mteb (extra dev)")

from mteb.models.model_meta import ScoringFunction  # noqa: E402

NAMES = ["patent_cite", "patent_paper_citation", "us_foreign", "cpc_subclass", "forward_citation"]


class Encoder(mteb.models.abs_encoder.AbsEncoder):
    """Random unit vectors that depend on the text alone."""

    mteb_model_meta = mteb.models.ModelMeta.create_empty(
        {"name": "tests/hashed", "revision": "1", "similarity_fn_name": ScoringFunction.COSINE}
    )

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode(self, inputs, **kwargs):
        texts = [text for batch in inputs for text in batch["text"]]
        self.read += texts
        return tiny_tasks.hashed(texts, [""] * len(texts))


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    with Lake(make_task_lake(tmp_path_factory.mktemp("lake"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(lake, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "benchmark"
    export(lake, pick(NAMES), out)
    done = CliRunner().invoke(cli, ["export-mteb", str(out)])
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def found(folder):
    """Main score and all scores of each task, by name, and the texts that were read."""
    from pyeval import mteb_tasks

    encoder = Encoder()
    made = mteb.evaluate(
        encoder, mteb_tasks.tasks(folder), cache=None, show_progress_bar=False, co2_tracker=False
    )
    scores = {one.task_name: one.scores["test"][0] for one in made.task_results}
    return scores, set(encoder.read)


def test_rankings_score_as_the_evaluator_scores_them(lake, found):
    names = ["patent_cite", "patent_paper_citation"]
    embed = lambda titles, abstracts: tiny_tasks.hashed(  # noqa: E731
        [f"{title} {abstract}" for title, abstract in zip(titles, abstracts, strict=True)],
        [""] * len(titles),
    )
    ours = {
        (row["task"], row["metric"]): row["value"] / 100
        for one in score(
            tiny_tasks.system(embed), load_benchmark(lake, pick(names)), lake, FAST, cutoff=None
        )
        for row in one.rows
    }
    for name in names:
        title = "PatRep" + "".join(part.capitalize() for part in name.split("_"))
        theirs = found[0][title]
        assert theirs["main_score"] == theirs["map_at_200"]
        assert theirs["map_at_200"] == pytest.approx(ours[name, "map"], abs=1e-5)
        assert theirs["ndcg_at_10"] == pytest.approx(ours[name, "ndcg_at_10"], abs=1e-5)


def test_a_probe_reads_all_of_train_once(lake, folder, found):
    """us_foreign against scikit-learn called by hand on the exported files."""
    import pyarrow.parquet as pq

    texts = {
        row["doc_id"]: f"{row['title']} {row['abstract']}"
        for row in pq.read_table(folder / "documents.parquet").to_pylist()
    }
    rows = {
        split: pq.read_table(folder / "us_foreign" / f"{split}.parquet").to_pylist()
        for split in ("train", "test")
    }
    vectors = {
        split: tiny_tasks.hashed([texts[row["doc_id"]] for row in part], [""] * len(part))
        for split, part in rows.items()
    }
    truth = {split: [row["label"] == "us" for row in part] for split, part in rows.items()}
    probe = LogisticRegression(max_iter=1_000, class_weight="balanced", random_state=42)
    guesses = probe.fit(vectors["train"], truth["train"]).predict(vectors["test"])
    scores = found[0]["PatRepUsForeign"]
    assert scores["main_score"] == pytest.approx(f1_score(truth["test"], guesses), abs=0.02)
    assert {texts[row["doc_id"]] for row in rows["train"]} <= found[1]


def test_every_exported_task_is_scored(found):
    assert len(found[0]) == len(NAMES)
    for name, scores in found[0].items():
        assert np.isfinite(scores["main_score"]), name


def test_the_file_stands_alone(folder, tmp_path):
    """Copied elsewhere with its folder, it needs nothing of this package."""
    shutil.copytree(folder, tmp_path / "elsewhere")
    code = (
        "import sys, mteb_tasks\n"
        "print(sorted(one.metadata.name for one in mteb_tasks.tasks()))\n"
        "assert not [m for m in sys.modules if m.split('.')[0] in ('pyeval', 'warehouse')]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "elsewhere", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("PatRep") == len(NAMES)


def test_queries_of_several_documents_are_left_out(lake, tmp_path):
    from pyeval import mteb_tasks

    export(lake, pick([]), tmp_path / "all")
    assert len(mteb_tasks.tasks(tmp_path / "all")) == len(TASKS) - 1
    with pytest.raises(ValueError, match="has no task assignee_patent_match"):
        mteb_tasks.tasks(tmp_path / "all", ("assignee_patent_match",))


@pytest.mark.parametrize("made", [True, False])
def test_a_folder_that_is_no_export_is_refused(tmp_path, made):
    folder = tmp_path / "empty"
    if made:
        folder.mkdir()
    done = CliRunner().invoke(cli, ["export-mteb", str(folder)])
    assert done.exit_code == 2 and "pyeval export --out" in done.output
    assert not (Path(folder) / "mteb_tasks.py").exists()
