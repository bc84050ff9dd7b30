"""SciRepEval's released files, read from a local folder in any of their three layouts.

1. hub snapshots side by side: `scirepeval/<config>/evaluation*.parquet` (or .jsonl, or a folder
   of that name) for texts, `scirepeval_test/<config>/{train,test}*` for labels;
2. the bucket's `test/<config>/` folders: `train.csv` and `test.csv`, or `test_qrel.jsonl`, with
   a metadata JSONL for texts;
3. the training samples of the harness's repository: `fos_small.json`, `mesh_small.json`,
   `specter_small.json`, `search_small.jsonl`, where one row holds text and label.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.csv as csv
import pyarrow.parquet as pq

from pyeval.sci_tasks import SciTask
from warehouse.errors import CheckFailed, UserError

Text = tuple[str, str]  # title; abstract with the further fields of the task

_TEXT_BASES = ("scirepeval", "allenai/scirepeval", "test", ".")
_TEST_BASES = ("scirepeval_test", "allenai/scirepeval_test", "test", ".")
_TEXT_STEMS = ("evaluation", "metadata", "meta", "test_meta")
_SAMPLES = {
    "sci_fos": "fos_small.json",
    "sci_mesh": "mesh_small.json",
    "sci_cite_prediction": "specter_small.json",
    "sci_search": "search_small.jsonl",
}
SAMPLE_TEST_SHARE = 0.3  # of a training sample, which has no split of its own (our choice)


@dataclass(frozen=True, kw_only=True)
class SciData:
    """A task's texts and labels.

    Attributes:
        texts: document or query id -> text.
        labels: (id, label) by split, of a classification or regression task.
        qrels: query -> candidate -> judged relevance, in file order.
        reviewers: reviewer -> ids of papers.
        triplets: (query, nearer, farther) ids.
        fingerprint: sha256 of all of these.
    """

    texts: dict[str, Text]
    labels: dict[str, list[tuple[str, object]]] = field(default_factory=dict)
    qrels: dict[str, dict[str, int]] = field(default_factory=dict)
    reviewers: dict[str, list[str]] = field(default_factory=dict)
    triplets: list[tuple[str, str, str]] = field(default_factory=list)
    sample: bool = False  # a training sample, divided here; no published score compares

    @property
    def fingerprint(self) -> str:
        """What names this build of the task."""
        parts = (self.texts, self.labels, self.qrels, self.reviewers, self.triplets)
        said = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def read_task(root: Path, task: SciTask) -> SciData:
    """A task's data, checked: every document that a label names has text.

    Raises:
        UserError: the folder has no files of this task.
        CheckFailed: a labelled document has no text, a query has no candidate, or a label is
            missing. The harness leaves such rows out, which scores another task.
    """
    sample = _SAMPLES.get(task.name)
    if sample and (root / sample).is_file():
        data = _sample(task, list(_records(root / sample)))
    else:
        data = _released(root, task)
    _check(task, data)
    return data


def has_task(root: Path, task: SciTask) -> bool:
    """Whether the folder holds the labels of a task."""
    if task.name in _SAMPLES and (root / _SAMPLES[task.name]).is_file():
        return True
    if task.format == "triplets":
        return bool(_files(root, _TEXT_BASES, task.texts, _TEXT_STEMS))
    return bool(_files(root, _TEST_BASES, task.test, ("test", "test_qrel")))


def _released(root: Path, task: SciTask) -> SciData:
    rows = _need(root, _TEXT_BASES, task.texts, _TEXT_STEMS, task)
    if task.format == "triplets":
        return _triplets(rows)
    texts = _texts(task, rows)
    if task.format in ("classify", "regress"):
        labels = {
            split: [
                (str(row["paper_id"]), _label(task, row["label"]))
                for row in _need(root, _TEST_BASES, task.test, (split,), task)
            ]
            for split in ("train", "test")
        }
        return SciData(texts=texts, labels=labels)
    qrels: dict[str, dict[str, int]] = {}
    for row in _need(root, _TEST_BASES, task.test, ("test", "test_qrel"), task):
        candidates = qrels.setdefault(str(row["query_id"]), {})
        candidates.setdefault(str(row["cand_id"]), int(row["score"]))  # a repeat keeps the first
    reviewers: dict[str, list[str]] = {}
    if task.format == "reviewers":
        found = _files(root, _TEST_BASES, "reviewers", ("metadata", "test", "evaluation"))
        found = found or _files(root, _TEST_BASES, task.test, ("reviewer_metadata",))
        if not found:
            raise _missing(root, task, "reviewers/metadata")
        for path in found:
            for row in _records(path):
                reviewers[str(row["r_id"])] = [str(one) for one in row["papers"]]
    return SciData(texts=texts, qrels=qrels, reviewers=reviewers)


def _texts(task: SciTask, rows: Iterable[dict]) -> dict[str, Text]:
    """Ids to texts; the first row of an id counts, as in the harness."""
    texts: dict[str, Text] = {}
    for row in rows:
        if "candidates" not in row:
            texts.setdefault(str(row["doc_id"]), _text(task, row))
            continue
        query = row["query"]
        if isinstance(query, str):
            query = {"title": query, "doc_id": row["doc_id"]}
        for one in (query, *row["candidates"]):
            texts.setdefault(str(one["doc_id"]), _text(task, one))
    return texts


def _text(task: SciTask, row: dict) -> Text:
    """Title, and the other non-empty fields joined."""
    said = [str(row[name]) for name in task.fields[1:] if row.get(name)]
    return str(row.get("title") or ""), " ".join(said)


def _label(task: SciTask, said: object) -> object:
    """A number, a class name or a tuple of 0 and 1."""
    if task.format == "regress":
        return float(said)
    if task.multilabel:
        # CSV files hold the vector as text, with commas or as NumPy prints it.
        vector = said.strip("[] ").replace(",", " ").split() if isinstance(said, str) else said
        return tuple(int(float(one)) for one in vector)
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    return str(said)


def _sample(task: SciTask, rows: list[dict]) -> SciData:
    if task.format == "triplets":
        return _triplets(rows)
    if task.format == "search":
        return _sample_search(task, rows)
    said = {name for row in rows for name in row.get("labels_text", ())}
    classes = sorted(said)
    texts: dict[str, Text] = {}
    labels: dict[str, list[tuple[str, object]]] = {"train": [], "test": []}
    for row in rows:
        doc = str(row["corpus_id"])
        if doc in texts:
            continue
        texts[doc] = _text(task, row)
        label: object = row.get("descriptor")
        if task.multilabel:
            label = tuple(int(name in row["labels_text"]) for name in classes)
        draw = int(hashlib.md5(f"{task.name}:{doc}".encode()).hexdigest()[:8], 16) / 2**32
        labels["test" if draw < SAMPLE_TEST_SHARE else "train"].append((doc, label))
    return SciData(texts=texts, labels=labels, sample=True)


def _sample_search(task: SciTask, rows: list[dict]) -> SciData:
    texts: dict[str, Text] = {}
    qrels: dict[str, dict[str, int]] = {}
    for number, row in enumerate(rows):
        query = f"q{number}"
        texts[query] = (row["query"], "")
        for one in row["candidates"]:
            doc = str(one["corpus_id"])
            texts.setdefault(doc, _text(task, one))
            qrels.setdefault(query, {}).setdefault(doc, int(one["score"]))
    return SciData(texts=texts, qrels=qrels, sample=True)


def _triplets(rows: Iterable[dict]) -> SciData:
    """Rows of query, pos and neg; a text is named by itself where it has no id."""
    texts: dict[str, Text] = {}
    found = []
    for row in rows:
        ids = []
        for part in ("query", "pos", "neg"):
            one = row[part]
            text = (str(one.get("title") or ""), str(one.get("abstract") or ""))
            own = one.get("doc_id") or one.get("corpus_id") or one.get("sha")
            ids.append(str(own) if own else hashlib.md5("\x1f".join(text).encode()).hexdigest())
            texts.setdefault(ids[-1], text)
        found.append(tuple(ids))
    return SciData(texts=texts, triplets=found, sample=True)


def _check(task: SciTask, data: SciData) -> None:
    named = {doc for rows in data.labels.values() for doc, _ in rows}
    named |= set(data.qrels) | {one for row in data.triplets for one in row}
    judged = {one for row in data.qrels.values() for one in row}
    if task.format == "reviewers":
        _refuse(task, "reviewers without papers", judged - set(data.reviewers))
        named |= {paper for one in judged for paper in data.reviewers[one]}
    else:
        named |= judged
    full = {doc for doc, parts in data.texts.items() if any(part.strip() for part in parts)}
    _refuse(task, "documents without text", named - full)
    empty = [doc for rows in data.labels.values() for doc, label in rows if label in (None, "None")]
    _refuse(task, "documents without a label", set(empty))
    if not named:
        raise CheckFailed(f"{task.name} has no example in these files")


def _refuse(task: SciTask, what: str, found: set[str]) -> None:
    if found:
        some = ", ".join(sorted(found)[:3])
        raise CheckFailed(
            f"{task.name} has {len(found):,} {what} ({some}). A score without them would be of "
            "another task: download its files again"
        )


def _need(
    root: Path, bases: tuple[str, ...], config: str, stems: tuple[str, ...], task: SciTask
) -> Iterator[dict]:
    found = _files(root, bases, config, stems)
    if not found:
        raise _missing(root, task, f"{config}/{' or '.join(stems)}")
    for path in found:
        yield from _records(path)


def _missing(root: Path, task: SciTask, what: str) -> UserError:
    return UserError(
        f"{task.name} needs {what} under {root}, which is not there. Get allenai/scirepeval and "
        "allenai/scirepeval_test (hub), or s3://ai2-s2-research-public/scirepeval/test; see "
        "dbt_project/docs/scirepeval.md"
    )


def _files(
    root: Path, bases: tuple[str, ...], config: str, stems: tuple[str, ...]
) -> list[Path]:  # fmt: skip
    """The files of a split: the first base and stem that has any."""
    for base in bases:
        folder = root / base / config
        for stem in stems:
            for end in (".parquet", ".csv", ".jsonl", ".json"):
                sharded = sorted(folder.glob(f"{stem}-*{end}")) or sorted(
                    (folder / stem).glob(f"*{end}")
                )
                found = (
                    [folder / f"{stem}{end}"] if (folder / f"{stem}{end}").is_file() else sharded
                )
                if found:
                    return found
    return []


def _records(path: Path) -> Iterator[dict]:
    if path.suffix == ".parquet":
        for batch in pq.ParquetFile(path).iter_batches():
            yield from batch.to_pylist()
    elif path.suffix == ".csv":
        options = csv.ParseOptions(newlines_in_values=True)
        yield from csv.read_csv(path, parse_options=options).to_pylist()
    elif path.suffix == ".json":
        yield from json.loads(path.read_text(encoding="utf-8"))
    else:
        with path.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines if line.strip())
