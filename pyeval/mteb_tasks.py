"""The tasks of an exported benchmark as task classes of MTEB (package `mteb`, 2.26 or later).

`pyeval export-mteb FOLDER` puts this file into FOLDER, where it needs `mteb` and nothing of
SciTLake:

    import mteb, mteb_tasks
    mteb.evaluate(mteb.get_model("minishlab/potion-base-8M"), mteb_tasks.tasks())

Probes are MTEB's (scikit-learn's) on the whole train split, once; MTEB's habit of 8 examples a
class, drawn ten times, would be another task. So their scores are near the published protocol's,
not equal to them; rankings are: MAP and nDCG come out the same. Scores are 0 to 1. A query made of
several documents has no place in MTEB, so assignee_patent_match is not here.
"""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from datasets import Dataset, DatasetDict
from mteb import TaskMetadata
from mteb.abstasks import (
    AbsTaskClassification,
    AbsTaskMultilabelClassification,
    AbsTaskRegression,
    AbsTaskRetrieval,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier

_ALL = 10**9  # examples of a class that a probe may read


def tasks(folder: Path | None = None, names: tuple[str, ...] = ()) -> list:
    """MTEB's task objects for the tasks of a folder.

    Args:
        folder: where `pyeval export` wrote; the folder of this file when left out.
        names: of tasks; all of them when none is given.

    Raises:
        FileNotFoundError: no task in the folder.
        ValueError: a name that the folder does not have.
    """
    root = Path(folder) if folder is not None else Path(__file__).parent
    metas = [json.loads(path.read_text(encoding="utf-8")) for path in root.glob("*/meta.json")]
    held = {m["slug"]: m for m in metas if not m["inputs"].startswith("patents>")}
    if not held:
        raise FileNotFoundError(f"{root} holds no task. Make it with: pyeval export --out {root}")
    lost = sorted(set(names) - set(held))
    if lost:
        raise ValueError(f"{root} has no task {', '.join(lost)}; it has {', '.join(sorted(held))}")
    return [_class(root, held[name])() for name in sorted(held) if not names or name in names]


def _class(root: Path, meta: dict) -> type:
    """The task class of one task: MTEB makes objects of classes, not of data."""
    base, kind, score = {
        "classification": (_Classes, "Classification", "f1"),
        "regression": (_Target, "Regression", "kendalltau"),
        "retrieval": (_Ranked, "Retrieval", "map_at_200"),
    }[meta["task_type"]]
    if meta.get("multilabel"):
        base, kind = _Labels, "MultilabelClassification"
    if meta.get("positive"):
        score = "f1_of_positive"
    title = "".join(part.capitalize() for part in meta["slug"].split("_"))
    metadata = TaskMetadata(
        name=f"PatRep{title}",
        description=f"{meta['slug']}: {meta['inputs']}, labels by {meta['label_source']}.",
        reference="https://arxiv.org/abs/2610.12207",
        dataset={"path": str(root), "revision": "local"},
        type=kind,
        category="t2t" if kind == "Retrieval" else "t2c",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score=score,
    )
    return type(metadata.name, (base,), {"metadata": metadata, "root": root, "meta": meta})


@lru_cache(maxsize=1)
def _texts(path: Path) -> tuple[np.ndarray, pa.Array]:
    """Ascending doc_id and title with abstract."""
    rows = pq.read_table(path, columns=["doc_id", "title", "abstract"]).sort_by("doc_id")
    joined = pc.binary_join_element_wise(rows["title"], rows["abstract"], " ")
    return rows["doc_id"].to_numpy(), joined.combine_chunks()


class _Files:
    """Reads the files of a task; a document without text is an error."""

    root: Path
    meta: dict

    def rows(self, part: str) -> pa.Table:
        """A table of the task."""
        return pq.read_table(self.root / self.meta["slug"] / f"{part}.parquet")

    def texts(self, ids: pa.ChunkedArray) -> list[str]:
        """Their texts."""
        held, texts = _texts(self.root / "documents.parquet")
        wanted = ids.to_numpy()
        place = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
        if not np.array_equal(held[place], wanted):
            raise KeyError(f"{self.meta['slug']}: a document has no text in {self.root}")
        return texts.take(pa.array(place)).to_pylist()


class _Probed(_Files):
    def load_data(self, num_proc: int | None = None, **kwargs: object) -> None:
        """Train and test rows as text and label."""
        if self.data_loaded:
            return
        parts = {split: self.rows(split) for split in ("train", "test")}
        said = {split: rows["label"].to_pylist() for split, rows in parts.items()}
        said = self.coded(said)
        self.dataset = DatasetDict(
            {
                split: Dataset.from_dict(
                    {"text": self.texts(rows["doc_id"]), self.label_column_name: said[split]}
                )
                for split, rows in parts.items()
            }
        )
        self.data_loaded = True

    def coded(self, said: dict[str, list]) -> dict[str, list]:
        """Labels as the probe takes them."""
        return said


class _Classes(_Probed, AbsTaskClassification):
    evaluator_model = LogisticRegression(max_iter=1_000, class_weight="balanced")
    samples_per_label = _ALL
    n_experiments = 1

    def coded(self, said: dict[str, list]) -> dict[str, list]:
        """Classes as numbers in order of name, the positive one last."""
        positive = self.meta.get("positive")
        names = sorted(
            {one for part in said.values() for one in part}, key=lambda n: (n == positive, n)
        )
        number = {name: n for n, name in enumerate(names)}
        self.positive = number.get(positive)
        return {split: [number[one] for one in part] for split, part in said.items()}

    def _calculate_scores(self, y_test, y_pred):
        scores = super()._calculate_scores(y_test, y_pred)
        if self.positive is not None:
            mine = [self.positive]
            scores["f1_of_positive"] = f1_score(y_test, y_pred, labels=mine, average="macro")
        return scores


class _Labels(_Probed, AbsTaskMultilabelClassification):
    evaluator_model = OneVsRestClassifier(
        LogisticRegression(max_iter=1_000, class_weight="balanced")
    )
    samples_per_label = _ALL
    n_experiments = 1
    max_eval_samples = None


class _Target(_Probed, AbsTaskRegression):
    evaluator_model = Ridge()
    n_samples = _ALL
    n_experiments = 1

    def coded(self, said: dict[str, list]) -> dict[str, list]:
        """Counts as log(1 + x), as the paper regresses them."""
        if self.meta.get("label_is") != "count":
            return said
        return {split: np.log1p(np.array(part)).tolist() for split, part in said.items()}


class _Ranked(_Files, AbsTaskRetrieval):
    k_values = (1, 5, 10, 100, 200)

    def load_data(self, num_proc: int | None = None, **kwargs: object) -> None:
        """Queries, corpus and relevants as MTEB holds them."""
        if self.data_loaded:
            return
        queries, corpus = self.rows("queries")["query_id"], self.rows("corpus")["doc_id"]
        relevant: dict[str, dict[str, int]] = {}
        for row in self.rows("qrels").select(["query_id", "doc_id"]).to_pylist():
            relevant.setdefault(str(row["query_id"]), {})[str(row["doc_id"])] = 1
        split = {
            "corpus": self.listed(corpus),
            "queries": self.listed(queries),
            "relevant_docs": relevant,
            "top_ranked": None,
        }
        self.dataset = {"default": {"test": split}}
        self.data_loaded = True

    def listed(self, ids: pa.ChunkedArray) -> Dataset:
        """Ids and texts."""
        return Dataset.from_dict({"id": [str(i) for i in ids.to_pylist()], "text": self.texts(ids)})
