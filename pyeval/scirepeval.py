"""SciRepEval as its harness evaluates: support vectors, Euclidean distance, no scaling.

Source: sources.md, section 11. The harness drops what it could not embed; here it is an error.
"""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pyeval.bootstrap import Evidence, F1Evidence, MeanEvidence, TauEvidence
from pyeval.sci_files import SciData
from pyeval.sci_tasks import SciTask

Floats = NDArray[np.floating]
Vectors = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, kw_only=True)
class SciSettings:
    """The harness's choices; the defaults are those of the paper's own fork of it."""

    seed: int = 42
    classify_penalties: tuple[float, ...] = tuple(np.logspace(-2, 2, 5))
    regress_penalties: tuple[float, ...] = tuple(np.logspace(-4, 2, 7))
    folds: int = 3
    multilabel_loss: str = "squared_hinge"  # the fork's; "hinge" is the original repository's
    multilabel_iterations: int = 10_000
    dual: bool | str = True  # what scikit-learn 1.1.2 did; "auto" is quicker on large tasks
    few_shot: bool = False


@dataclass(frozen=True, kw_only=True)
class SciMeasured:
    """One metric of one task: the harness's score and what each example adds to it."""

    task: SciTask
    metric: str
    value: float  # 0 to 100, rounded to two decimals as the harness rounds
    evidence: Evidence
    variant: str = ""
    n_train: int = 0
    classes: tuple[str, ...] = ()
    notes: dict[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its score rows."""
        return f"{self.task.name}_{self.variant}" if self.variant else self.task.name


def measure_sci(
    task: SciTask, data: SciData, vectors: Vectors, settings: SciSettings
) -> Iterator[SciMeasured]:
    """A task's scores in the order of its metrics, then its variants.

    Args:
        task: what to score.
        data: its labels.
        vectors: of every document that they name, by id, as pooled.
        settings: of the classifiers.
    """
    if task.format in ("classify", "regress"):
        yield from _supervised(task, data, vectors, settings)
    elif task.format == "triplets":
        yield _triplets(task, data, vectors)
    elif task.format == "reviewers":
        yield from _ranked(task, data.qrels, reviewer_run(data, vectors), "")
    else:
        yield from _ranked(task, data.qrels, euclidean_run(data, vectors), "")
        yield from _ranked(task, data.qrels, cosine_run(data, vectors), "cosine")


def _supervised(
    task: SciTask, data: SciData, vectors: Vectors, settings: SciSettings
) -> Iterator[SciMeasured]:
    train, test = (_arrays(task, data.labels[split], vectors) for split in ("train", "test"))
    if task.format == "regress":
        predicted = fit_regressor(train, settings).predict(test[0])
        yield SciMeasured(
            task=task,
            metric="kendall_tau",
            value=tau(test[1], predicted),
            evidence=TauEvidence(test[1], predicted),
            n_train=len(train[1]),
        )
        return
    predicted = fit_classifier(task, train, settings).predict(test[0])
    yield _f1(task, test[1], [predicted], "", len(train[1]))
    for size, times in task.few_shot if settings.few_shot else ():
        guesses = [
            fit_classifier(task, (train[0][rows], train[1][rows]), settings, grid=task.multilabel)
            .predict(test[0])
            for rows in few_shot_rows(task, train, size, times, settings.seed)
        ]  # fmt: skip
        yield _f1(task, test[1], guesses, f"{size}shot", size)


def fit_classifier(
    task: SciTask, train: tuple[Floats, NDArray], settings: SciSettings, *, grid: bool = True
):
    """The harness's classifier, fitted."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    if task.multilabel:
        base = LinearSVC(
            max_iter=settings.multilabel_iterations,
            loss=settings.multilabel_loss,
            dual=settings.dual,
            random_state=settings.seed,
        )
    else:
        base = LinearSVC(loss="squared_hinge", dual=settings.dual, random_state=settings.seed)
    penalties = {"C": list(settings.classify_penalties)}
    model = GridSearchCV(base, penalties, cv=settings.folds) if grid else base
    if task.multilabel:
        model = OneVsRestClassifier(model)
    with warnings.catch_warnings():
        # Penalties that do not converge in 1,000 steps are part of the published protocol.
        warnings.simplefilter("ignore")
        return model.fit(*train)


def fit_regressor(train: tuple[Floats, NDArray], settings: SciSettings):
    """The harness's regressor, fitted."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import LinearSVR

    penalties = {"C": list(settings.regress_penalties)}
    model = GridSearchCV(LinearSVR(random_state=settings.seed), penalties, cv=settings.folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        return model.fit(*train)


def few_shot_rows(
    task: SciTask, train: tuple[Floats, NDArray], size: int, times: int, seed: int
) -> Iterator[NDArray[np.int64]]:
    """The train rows of each repetition.

    Single label: the small folds of an unshuffled stratified division, the first `times` of
    them. Several labels: `size` positives of each class by seed + repetition.
    """
    from sklearn.model_selection import StratifiedKFold

    features, labels = train
    if task.multilabel:
        for repetition in range(times):
            draw = np.random.RandomState(seed + repetition)
            rows: set[int] = set()
            for c in range(labels.shape[1]):
                positives = np.flatnonzero(labels[:, c] == 1)
                rows |= set(draw.choice(positives, size, replace=False).tolist())
            yield np.array(list(rows))
        return
    folds = StratifiedKFold(math.ceil(len(labels) / size)).split(features, labels)
    for _, (_, small) in zip(range(times), folds, strict=False):
        yield small


def euclidean_run(data: SciData, vectors: Vectors) -> dict[str, dict[str, float]]:
    """Minus the distance of each query to its own candidates."""
    from sklearn.metrics.pairwise import euclidean_distances

    run = {}
    for query, candidates in data.qrels.items():
        held = np.array([vectors[one] for one in candidates])
        far = euclidean_distances(held, np.array([vectors[query]])).ravel()
        run[query] = {one: float(-d) for one, d in zip(candidates, far, strict=True)}
    return run


def cosine_run(data: SciData, vectors: Vectors) -> dict[str, dict[str, float]]:
    """The cosine of each query with its own candidates, which the harness does not report."""
    from sklearn.metrics.pairwise import cosine_similarity

    run = {}
    for query, candidates in data.qrels.items():
        held = np.array([vectors[one] for one in candidates])
        near = cosine_similarity(held, np.array([vectors[query]])).ravel()
        run[query] = {one: float(d) for one, d in zip(candidates, near, strict=True)}
    return run


def reviewer_run(data: SciData, vectors: Vectors) -> dict[str, dict[str, float]]:
    """The mean of the three best cosines of a submission with each reviewer's papers."""
    from sklearn.metrics.pairwise import cosine_similarity

    run: dict[str, dict[str, float]] = {}
    for query, candidates in data.qrels.items():
        run[query] = {}
        for one in candidates:
            held = np.array([vectors[paper] for paper in data.reviewers[one]])
            near = np.sort(cosine_similarity(held, np.array([vectors[query]])).ravel())[::-1]
            run[query][one] = float(near[:3].mean())
    return run


def tau(target: Floats, predicted: Floats) -> float:
    """Kendall's tau, 0 to 100; 0 where every prediction is the same, which is nan in scipy."""
    from pyeval.metrics import kendall_tau

    return round(100 * kendall_tau(target, predicted), 2)


def _f1(
    task: SciTask, truth: NDArray, guesses: list[NDArray], variant: str, n_train: int
) -> SciMeasured:
    from sklearn.metrics import f1_score

    metric = task.metrics[0]
    if metric == "binary_f1":
        scores = [f1_score(truth, one, pos_label="1") for one in guesses]
        classes: tuple[str, ...] = ("1",)
    else:
        scores = [f1_score(truth, one, average="macro", zero_division=0.0) for one in guesses]
        names = range(truth.shape[1]) if task.multilabel else np.unique([*truth, *guesses[0]])
        classes = tuple(map(str, names))
    return SciMeasured(
        task=task,
        metric=metric,
        value=float(np.mean([round(100 * score, 2) for score in scores])),
        evidence=F1Evidence(
            _one_hot(task, truth, classes),
            np.stack([_one_hot(task, one, classes) for one in guesses], axis=1),
        ),
        variant=variant,
        n_train=n_train,
        classes=classes,
    )


def _one_hot(task: SciTask, labels: NDArray, classes: tuple[str, ...]) -> NDArray[np.bool_]:
    if task.multilabel:
        return labels == 1
    return labels[:, None] == np.array(classes)[None, :]


def _ranked(
    task: SciTask, qrels: dict[str, dict[str, int]], run: dict, variant: str
) -> Iterator[SciMeasured]:
    import pytrec_eval

    asked = {"map": "map", "ndcg": "ndcg", "p_at_5": "P_5", "p_at_10": "P_10"}
    measures = {"P.5,10"} if task.format == "reviewers" else {asked[one] for one in task.metrics}
    found = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    for metric in task.metrics:
        values = np.array([found[query][asked[metric]] for query in qrels])
        yield SciMeasured(
            task=task,
            metric=metric,
            value=round(100 * float(values.mean()), 2),
            evidence=MeanEvidence(values),
            variant=variant,
            notes={"candidates": sum(map(len, qrels.values()))},
        )


def _triplets(task: SciTask, data: SciData, vectors: Vectors) -> SciMeasured:
    """The share of triplets whose cited document is nearer; a tie is half."""
    query, near, far = (np.stack([vectors[row[i]] for row in data.triplets]) for i in range(3))
    gap = np.linalg.norm(query - far, axis=1) - np.linalg.norm(query - near, axis=1)
    values = np.where(gap == 0, 0.5, gap > 0).astype(np.float64)
    return SciMeasured(
        task=task,
        metric="accuracy",
        value=round(100 * float(values.mean()), 2),
        evidence=MeanEvidence(values),
    )


def _arrays(
    task: SciTask, rows: list[tuple[str, object]], vectors: Vectors
) -> tuple[Floats, NDArray]:
    features = np.stack([vectors[doc] for doc, _ in rows])
    return features, np.array([label for _, label in rows])
