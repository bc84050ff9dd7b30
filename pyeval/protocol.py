"""The three formats: from vectors or rankings to evidence, by the paper's protocol."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pyeval.bootstrap import Evidence, F1Evidence, MeanEvidence, TauEvidence
from pyeval.labels import Labels, Queries, hash_order
from pyeval.metrics import ranking_metric, trec_eval
from pyeval.probes import ProbeSettings, RidgeSettings, linear_probe, ridge, standardise
from pyeval.retrieval import Ranking, judge, without
from pyeval.tasks import Task

Ints = NDArray[np.int64]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class ScoreSettings:
    """How tasks are scored (patrepeval.md, "Protocol")."""

    depth: int = 200  # documents ranked per query
    near_copy_overlap: float = 0.2  # trigram share above which a relevant is a near-copy (ours)
    few_shot: tuple[int, ...] = (16, 64)  # train examples per class (our choice)
    rolling: bool = False  # also a probe on rows whose label was known by the cutoff
    seen_pairs: bool = True  # also relevants that a citation by the cutoff joins, and the others
    metrics: Literal["arrays", "pytrec_eval"] = "arrays"
    resamples: int = 1_000  # of the bootstrap; 0 for none
    seed: int = 0  # of the bootstrap
    seen_basis: str | None = None  # what dated patent text in training; None: the run's record
    whiten_documents: int = 20_000  # known by the cutoff, drawn by hash (our choice)
    whiten_shrink: float = 0.3  # of the mean eigenvalue (our choice)
    probe: ProbeSettings = field(default_factory=ProbeSettings)
    ridge: RidgeSettings = field(default_factory=RidgeSettings)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One metric of one task: the evidence of every test item, before it is divided in time."""

    task: Task
    metric: str
    evidence: Evidence
    ids: Ints  # (n,) test documents or queries
    years: Ints  # (n,) their task_year
    variant: str = ""  # "16shot", "rolling", "distinct"; empty as published
    n_train: int = 0
    classes: tuple[str, ...] = ()  # those scored
    notes: dict[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its score rows."""
        return f"{self.task.name}_{self.variant}" if self.variant else self.task.name


def measure_labels(
    labels: Labels, vectors: Vectors, settings: ScoreSettings, cutoff: int | None
) -> list[Measured]:
    """Every variant of a classification or regression task.

    Args:
        labels: the task's rows.
        vectors: (n, D) in the order of `labels.ids`.
        settings: the protocol.
        cutoff: for the rolling probe; None leaves it out.
    """
    measure = _regress if labels.task.format == "regress" else _classify
    train = np.flatnonzero(~labels.test)
    found = measure(labels, vectors, [train] * len(settings.probe.seeds), settings, "")
    if settings.rolling and cutoff is not None:
        known = train[labels.label_years[train] <= cutoff]
        rows = [known] * len(settings.probe.seeds)
        found += measure(labels, vectors, rows, settings, "rolling")
    if labels.task.format == "classify":
        for k in settings.few_shot:
            rows = [_few(labels, train, k, seed) for seed in settings.probe.seeds]
            found += _classify(labels, vectors, rows, settings, f"{k}shot")
    return found


def measure_queries(
    queries: Queries,
    ranking: Ranking,
    settings: ScoreSettings,
    cited: NDArray[np.bool_] | None = None,
) -> list[Measured]:
    """Every variant of a retrieval task.

    Args:
        queries: the task's rows.
        ranking: of every query, `depth_needed` deep.
        settings: the protocol.
        cited: (R,) relevants that a citation known by the cutoff joins to the query; None where
            nobody asks.
    """
    everything = without(ranking, (np.zeros(0, np.int64),) * 2, len(queries.corpus), settings.depth)
    found = _retrieve(queries, everything, queries.relevant, settings, "")
    if queries.task.distinct:
        copies = near_copies(queries, settings)
        left_out = (queries.relevant[0][copies], queries.relevant[1][copies])
        kept = (queries.relevant[0][~copies], queries.relevant[1][~copies])
        rest = without(ranking, left_out, len(queries.corpus), settings.depth)
        found += _retrieve(queries, rest, kept, settings, "distinct")
    if _divides(cited):
        for variant, kept in (("seen", cited), ("unseen", ~cited)):
            left_out = (queries.relevant[0][~kept], queries.relevant[1][~kept])
            rest = without(ranking, left_out, len(queries.corpus), settings.depth)
            own = (queries.relevant[0][kept], queries.relevant[1][kept])
            found += _retrieve(queries, rest, own, settings, variant)
    return found


def _divides(cited: NDArray[np.bool_] | None) -> bool:
    """Whether some relevants are joined to their query by a citation and some are not."""
    return cited is not None and bool(cited.any()) and not cited.all()


def near_copies(queries: Queries, settings: ScoreSettings) -> NDArray[np.bool_]:
    """(R,) relevants whose text is nearly the query's own, mostly members of its family."""
    return np.nan_to_num(queries.overlap, nan=0.0) > settings.near_copy_overlap


def depth_needed(
    queries: Queries, settings: ScoreSettings, cited: NDArray[np.bool_] | None = None
) -> int:
    """Documents to rank so that `depth` are left without those that a variant leaves out."""
    if not len(queries.ids):
        return settings.depth
    left_out = [near_copies(queries, settings)] if queries.task.distinct else []
    left_out += [cited, ~cited] if _divides(cited) else []
    most = (np.bincount(queries.relevant[0][one], minlength=1).max() for one in left_out)
    return settings.depth + max((int(n) for n in most), default=0)


def _classify(
    labels: Labels, vectors: Vectors, rows: list[Ints], settings: ScoreSettings, variant: str
) -> list[Measured]:
    """The probe of each seed on its own train rows; equal rows are trained together."""
    test = np.flatnonzero(labels.test)
    classes = sorted({name for train in rows for name in _names(labels, train)})
    truth = _one_hot(labels, test, classes)
    predicted = np.zeros((len(test), len(rows), len(classes)), dtype=bool)
    shared = all(np.array_equal(rows[0], one) for one in rows)
    for first in range(1 if shared else len(rows)):
        seeds = settings.probe.seeds if shared else (settings.probe.seeds[first],)
        if len(rows[first]) == 0:
            continue
        logits = _probe(labels, vectors, rows[first], test, classes, settings.probe, seeds)
        picked = slice(None) if shared else slice(first, first + 1)
        predicted[:, picked] = _decide(labels.task, logits).transpose(1, 0, 2)
    found = []
    for name, scored in _scored(labels.task, classes).items():
        found.append(
            Measured(
                task=labels.task,
                metric=labels.task.metric,
                evidence=F1Evidence(truth[:, scored], predicted[:, :, scored]),
                ids=labels.ids[test],
                years=labels.years[test],
                variant="_".join(filter(None, (variant, name))),
                n_train=len(rows[0]),
                classes=tuple(classes[c] for c in scored),
                notes={"no_test_example": [classes[c] for c in scored if not truth[:, c].any()]},
            )
        )
    return found


def _probe(
    labels: Labels,
    vectors: Vectors,
    train: Ints,
    test: Ints,
    classes: list[str],
    settings: ProbeSettings,
    seeds: tuple[int, ...],
) -> NDArray[np.float32]:
    """(S, M, C) logits of a probe trained on these rows."""
    from dataclasses import replace

    shown, asked = standardise(vectors[train], vectors[test])
    target = _one_hot(labels, train, classes)
    if not labels.task.multilabel:
        target = target.argmax(axis=1)
    return linear_probe(shown, target, asked, replace(settings, seeds=seeds))


def _decide(task: Task, logits: NDArray[np.float32]) -> NDArray[np.bool_]:
    """(S, M, C) predictions: the largest logit, or every positive one."""
    if task.multilabel:
        return logits > 0
    return logits.argmax(axis=2)[:, :, None] == np.arange(logits.shape[2])


def _regress(
    labels: Labels, vectors: Vectors, rows: list[Ints], settings: ScoreSettings, variant: str
) -> list[Measured]:
    train, test = rows[0], np.flatnonzero(labels.test)
    predicted, notes = np.full(len(test), np.nan), {}
    if len(train):
        shown, asked = standardise(vectors[train], vectors[test])
        share = round(settings.ridge.held_out_share * len(train))
        held_out = np.zeros(len(train), dtype=bool)
        order = hash_order(labels.ids[train], labels.task.name, "held_out")
        held_out[order[: min(share, settings.ridge.held_out_max)]] = True
        fit = ridge(shown, labels.label[train], held_out, settings.ridge)
        predicted, notes = fit.predict(asked), {"penalty": fit.penalty}
    return [
        Measured(
            task=labels.task,
            metric=labels.task.metric,
            evidence=TauEvidence(labels.label[test], predicted),
            ids=labels.ids[test],
            years=labels.years[test],
            variant=variant,
            n_train=len(train),
            notes=notes,
        )
    ]


def _retrieve(
    queries: Queries,
    ranking: Ranking,
    relevant: tuple[Ints, Ints],
    settings: ScoreSettings,
    variant: str,
) -> list[Measured]:
    n_relevant = np.bincount(relevant[0], minlength=len(queries.ids))
    kept = np.flatnonzero(n_relevant)
    hits = judge(ranking, relevant, len(queries.corpus))[kept]
    found = []
    for metric in queries.task.metrics:
        if settings.metrics == "pytrec_eval":
            values = trec_eval(metric, hits, ranking.ranked[kept], n_relevant[kept])
        else:
            values = ranking_metric(metric, hits, n_relevant[kept])
        found.append(
            Measured(
                task=queries.task,
                metric=metric,
                evidence=MeanEvidence(values),
                ids=queries.ids[kept],
                years=queries.years[kept],
                variant=variant,
                notes={"corpus": len(queries.corpus), "relevants": int(n_relevant.sum())},
            )
        )
    return found


def _few(labels: Labels, train: Ints, k: int, seed: int) -> Ints:
    """The first k train rows of each class in hash order; all of a class that has fewer."""
    order = train[hash_order(labels.ids[train], labels.task.name, f"{k}shot", seed)]
    taken: dict[str, int] = {}
    picked = []
    for row in order.tolist():
        names = _names(labels, np.array([row]))
        if any(taken.get(name, 0) < k for name in names):
            picked.append(row)
            for name in names:
                taken[name] = taken.get(name, 0) + 1
    return np.sort(np.array(picked, dtype=np.int64))


def _names(labels: Labels, rows: Ints) -> set[str]:
    said = labels.label[rows].tolist()
    return {name for one in said for name in one} if labels.task.multilabel else set(said)


def _one_hot(labels: Labels, rows: Ints, classes: list[str]) -> NDArray[np.bool_]:
    """(n, C); a label that no train row has is a row of falses, and always missed."""
    place = {name: c for c, name in enumerate(classes)}
    matrix = np.zeros((len(rows), len(classes)), dtype=bool)
    for i, one in enumerate(labels.label[rows].tolist()):
        for name in one if labels.task.multilabel else (one,):
            if name in place:
                matrix[i, place[name]] = True
    return matrix


def _scored(task: Task, classes: list[str]) -> dict[str, list[int]]:
    """Positions of the classes that a metric averages, by the suffix of its variant."""
    if task.metric != "binary_f1":
        return {"": list(range(len(classes)))}
    asked = {"": task.positive} | ({task.beside: task.beside} if task.beside else {})
    return {
        suffix: [c for c, one in enumerate(classes) if one == name]
        for suffix, name in asked.items()
    }
