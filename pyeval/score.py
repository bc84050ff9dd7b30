"""One system on the tasks: embed each document once, measure, divide in time, bootstrap."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pyeval import columns, items
from pyeval.bootstrap import interval, value
from pyeval.embed import Cache, Documents, embed_documents, read_documents, sample_documents
from pyeval.labels import Labels, Queries, read_labels, task_settings, with_texts
from pyeval.protocol import Measured, ScoreSettings, depth_needed, measure_labels, measure_queries
from pyeval.results import ITEMS
from pyeval.retrieval import mean_of_parts, search
from pyeval.seen_pairs import CitedPairs
from pyeval.systems import System
from pyeval.tasks import Task
from pyeval.whiten import fit_whitening
from warehouse.errors import UserError
from warehouse.tables import Lake
from warehouse.versions import versions_of

Ints = NDArray[np.int64]
Vectors = NDArray[np.float32]

_VERSIONED = ("scitlake", "numpy", "scipy", "torch", "transformers", "scikit-learn", "bm25s")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The tasks of a lake with the text of every document they name."""

    labels: dict[str, Labels | Queries]
    built_with: dict[str, dict[str, str]]
    documents: Documents
    seen: columns.SeenTexts
    cited: CitedPairs


@dataclass(frozen=True, slots=True)
class Scores:
    """What one system gave on one benchmark."""

    rows: list[dict]
    items: pa.Table


def load_benchmark(lake: Lake, tasks: list[Task]) -> Benchmark:
    """Reads the tasks and their documents, once for all systems."""
    labels = {task.name: read_labels(lake, task) for task in tasks}
    wanted = [one.documents() for one in labels.values()]
    documents = read_documents(lake, np.unique(np.concatenate(wanted)))
    for name, one in labels.items():
        labels[name] = with_texts(one, documents.hashes[documents.at(one.documents())])
    dated = [one.dated() for one in labels.values()]
    return Benchmark(
        labels,
        {task.name: task_settings(lake, task) for task in tasks},
        documents,
        columns.SeenTexts(lake, *(np.concatenate(part) for part in zip(*dated, strict=True))),
        CitedPairs(lake, [one for one in labels.values() if isinstance(one, Queries)]),
    )


def score(
    system: System,
    benchmark: Benchmark,
    lake: Lake,
    settings: ScoreSettings,
    *,
    cutoff: int | None,
    whitened: bool = False,
    cache_root: Path | None = None,
) -> Iterator[Scores]:
    """Scores a system, one task at a time; tasks it cannot do, and empty ones, give nothing.

    Args:
        system: an encoder, or a ranker for the retrieval tasks alone.
        benchmark: the tasks.
        lake: what whitening is fitted on and what training had read.
        settings: the protocol.
        cutoff: last year that counts as in time; None gives the column `all` only.
        whitened: spread the variance of the vectors first.
        cache_root: RUNS_ROOT, to keep embeddings; None keeps nothing.
    """
    find, fingerprint = _vectors(system, benchmark, lake, settings, cutoff, whitened, cache_root)
    bases = system.bases if settings.seen_basis is None else (settings.seen_basis,)
    seen = benchmark.seen(cutoff, bases)
    for labels in benchmark.labels.values():
        if not len(labels.ids) or (find is None and isinstance(labels, Labels)):
            continue
        started = time.monotonic()
        own = _built(settings, benchmark.built_with[labels.task.name])
        cited = None
        if settings.seen_pairs and isinstance(labels, Queries):
            cited = benchmark.cited(labels, cutoff)
        measured = _measure(system, labels, benchmark.documents, find, own, cutoff, cited)
        rows, tables = [], [ITEMS.empty_table()]
        for one in measured:
            groups = columns.assign(one.years, labels.all_among(one.ids, seen), cutoff)
            tables.append(items.to_table(one, groups))
            shared = {
                "model": system.name,
                "model_fingerprint": fingerprint,
                "cutoff": cutoff,
                "whitened": whitened,
                "states_cutoff": system.states_cutoff,
                "task_fingerprint": labels.fingerprint,
                "settings": _said(one, own, system, benchmark.built_with[labels.task.name], bases),
                "versions": json.dumps(versions_of(_VERSIONED), sort_keys=True),
            }
            rows += [shared | row for row in _rows(one, groups, own, cutoff, tuned=system.tuned)]
        spent = time.monotonic() - started
        yield Scores([row | {"seconds": spent} for row in rows], pa.concat_tables(tables))


def _rows(
    measured: Measured,
    groups: NDArray[np.str_],
    settings: ScoreSettings,
    cutoff: int | None,
    *,
    tuned: bool,
) -> Iterator[dict]:
    """The score rows of one metric, one per column; an empty column has n = 0 and no value."""
    asked = columns.COLUMNS if cutoff is not None else (columns.ALL_EXAMPLES,)
    n_in_time = int((groups == columns.IN_TIME).sum())
    for column in asked:
        mask = columns.within(groups, column)
        evidence = measured.evidence.take(np.flatnonzero(mask))
        bounds = interval(evidence, resamples=settings.resamples, seed=settings.seed)
        taught = measured.task.citations and n_in_time > 0
        taught = taught and column in (columns.ALL_EXAMPLES, columns.IN_TIME)
        # Of pairs divided by citation one part was the training's own, whatever the task's labels.
        taught = {"seen": True, "unseen": False}.get(measured.variant, taught)
        yield {
            "task": measured.name,
            "variant": measured.variant,
            "format": measured.task.format,
            "metric": measured.metric,
            "column": column,
            "value": value(evidence),
            "low": bounds[0] if bounds else None,
            "high": bounds[1] if bounds else None,
            "n": int(mask.sum()),
            "n_train": measured.n_train,
            "contaminated": bool(tuned and taught),
        }


def _measure(
    system: System,
    labels: Labels | Queries,
    documents: Documents,
    find: Callable[[Ints], Vectors] | None,
    settings: ScoreSettings,
    cutoff: int | None,
    cited: NDArray[np.bool_] | None,
) -> list[Measured]:
    if isinstance(labels, Labels):
        return measure_labels(labels, find(labels.ids), settings, cutoff)
    depth = depth_needed(labels, settings, cited)
    if find is not None:
        vectors = mean_of_parts(find(labels.parts[1]), labels.parts[0], len(labels.ids))
        ranking = search(vectors, find(labels.corpus), depth)
    else:
        words, corpus = (
            [f"{title} {abstract}" for title, abstract in zip(*texts, strict=True)]
            for texts in (
                documents.texts(documents.at(ids)) for ids in (labels.parts[1], labels.corpus)
            )
        )
        queries: list[list[str]] = [[] for _ in labels.ids]
        for query, text in zip(labels.parts[0].tolist(), words, strict=True):
            queries[query].append(text)
        ranking = system.rank([" ".join(texts) for texts in queries], corpus, depth)
    return measure_queries(labels, ranking, settings, cited)


def _vectors(
    system: System,
    benchmark: Benchmark,
    lake: Lake,
    settings: ScoreSettings,
    cutoff: int | None,
    whitened: bool,
    cache_root: Path | None,
) -> tuple[Callable[[Ints], Vectors] | None, str]:
    """A function from doc_id to vectors (None for a ranker), and the system's fingerprint."""
    if system.embed is None:
        if whitened:
            raise UserError(f"{system.name} ranks by words and has no vectors to whiten")
        return None, system.fingerprint
    cache = Cache(cache_root, system.fingerprint, system.text_settings) if cache_root else None
    documents, fingerprint = benchmark.documents, system.fingerprint
    vectors = embed_documents(documents, system.embed, cache, f"Embedding with {system.name}")
    if whitened:
        if cutoff is None:
            raise UserError(
                f"{system.name} states no cutoff, and whitening is fitted on documents known by "
                "one. Say which: --cutoff 2013"
            )
        sample = sample_documents(lake, cutoff, settings.whiten_documents, "whiten")
        known = embed_documents(sample, system.embed, cache, "Embedding the whitening sample")
        vectors = fit_whitening(known, settings.whiten_shrink).apply(vectors)
        said = f"{fingerprint} whitened {settings.whiten_shrink} ".encode()
        fingerprint = hashlib.sha256(said + np.sort(sample.hashes).tobytes()).hexdigest()
    return lambda ids: vectors[documents.at(ids)], fingerprint


def _built(settings: ScoreSettings, built_with: dict[str, str]) -> ScoreSettings:
    """The settings, with the near-copy bound that the lake was built with."""
    bound = built_with.get("near_copy_overlap")
    return settings if bound is None else replace(settings, near_copy_overlap=float(bound))


def _said(
    measured: Measured,
    settings: ScoreSettings,
    system: System,
    built_with: dict[str, str],
    bases: tuple[str, ...],
) -> str:
    used = asdict(settings)
    if measured.task.format != "regress":
        used.pop("ridge")
    if measured.task.format != "classify":
        used.pop("probe")
    used |= {"built_with": built_with, "model_cutoff": system.cutoff, "seen_basis": bases}
    return json.dumps(used | measured.notes | {"text": system.text_settings}, sort_keys=True)
