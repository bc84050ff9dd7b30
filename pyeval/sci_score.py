"""One system on a suite of SciRepEval: each document embedded once, scores kept as rows."""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa

from pyeval import items
from pyeval.bootstrap import interval
from pyeval.embed import Cache, Documents, embed_documents, text_hash
from pyeval.progress import say
from pyeval.protocol import Measured
from pyeval.results import ITEMS
from pyeval.sci_files import SciData, has_task, read_task
from pyeval.sci_tasks import SciTask
from pyeval.scirepeval import SciMeasured, SciSettings, Vectors, measure_sci
from pyeval.systems import System
from warehouse.errors import UserError
from warehouse.versions import versions_of

_VERSIONED = ("scitlake", "numpy", "scipy", "scikit-learn", "pytrec-eval-terrier", "torch")


def load_suite(root: Path, tasks: list[SciTask]) -> dict[SciTask, SciData]:
    """The tasks whose files are in the folder; the others are named on stderr.

    Raises:
        UserError: the folder has none of them.
    """
    here = [task for task in tasks if has_task(root, task)]
    if not here:
        raise UserError(
            f"{root} has the files of none of the {len(tasks)} tasks asked for. "
            "See: dbt_project/docs/scirepeval.md"
        )
    away = [task.name for task in tasks if task not in here]
    if away:
        say(f"not in {root}, so not scored: {', '.join(away)}")
    return {task: read_task(root, task) for task in here}


def score_suite(
    system: System,
    suite: dict[SciTask, SciData],
    settings: SciSettings,
    *,
    resamples: int = 1_000,
    cache_root: Path | None = None,
) -> Iterator[tuple[list[dict], pa.Table]]:
    """Score rows and evidence, one task at a time.

    Raises:
        UserError: the system only ranks by words.
    """
    if system.embed is None:
        raise UserError(f"{system.name} has no vectors, and SciRepEval evaluates vectors")
    said = f"{system.text_settings} pooled" if system.pooled else system.text_settings
    cache = Cache(cache_root, system.fingerprint, said) if cache_root else None
    for task, data in suite.items():
        started = time.monotonic()
        vectors = _vectors(system, data, cache)
        rows, tables = [], []
        for one in measure_sci(task, data, vectors, settings):
            rows.append(_row(one, system, data, settings, resamples))
            tables.append(_items(one))
        spent = time.monotonic() - started
        yield [row | {"seconds": spent} for row in rows], pa.concat_tables(tables)


def _vectors(system: System, data: SciData, cache: Cache | None) -> Vectors:
    names = list(data.texts)
    titles, abstracts = (pa.array([data.texts[n][i] for n in names], pa.string()) for i in (0, 1))
    hashes = np.array([text_hash(*data.texts[name]) for name in names], dtype="V16")
    documents = Documents(np.arange(len(names)), titles, abstracts, hashes)
    found = embed_documents(
        documents, system.pooled or system.embed, cache, f"Embedding with {system.name}"
    )
    return dict(zip(names, found, strict=True))


def _row(
    one: SciMeasured, system: System, data: SciData, settings: SciSettings, resamples: int
) -> dict:
    bounds = interval(one.evidence, resamples=resamples)
    used = asdict(settings) | one.notes | {"text": system.text_settings, "sample": data.sample}
    return {
        "model": system.name,
        "model_fingerprint": system.fingerprint,
        "cutoff": None,
        "whitened": False,
        "task": one.name,
        "variant": one.variant,
        "format": one.task.kept_as,
        "metric": one.metric,
        "column": "all",
        "value": one.value,
        "low": bounds[0] if bounds else None,
        "high": bounds[1] if bounds else None,
        "n": len(one.evidence),
        "n_train": one.n_train,
        "contaminated": False,
        "states_cutoff": system.states_cutoff,
        "settings": json.dumps(used, sort_keys=True, default=str),
        "task_fingerprint": data.fingerprint,
        "versions": json.dumps(versions_of(_VERSIONED), sort_keys=True),
    }


def _items(one: SciMeasured) -> pa.Table:
    """One row per test example, numbered in the order of the files."""
    n = len(one.evidence)
    kept = Measured(
        task=one.task,
        metric=one.metric,
        evidence=one.evidence,
        ids=np.arange(n),
        years=np.zeros(n, np.int64),
        variant=one.variant,
        classes=one.classes,
    )
    return items.to_table(kept, np.full(n, "", dtype="U11")).select(ITEMS.names)
