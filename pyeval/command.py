"""What `pyeval run` and `pyeval embed` do, apart from parsing the command line."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from pyeval import results
from pyeval.folder import BenchmarkFolder
from pyeval.labels import Queries
from pyeval.own import embed_table, read_rows
from pyeval.progress import say
from pyeval.protocol import ScoreSettings
from pyeval.sci_tasks import SciTask
from pyeval.score import Benchmark, load_benchmark, score
from pyeval.systems import System, resolve, shared_cutoff
from pyeval.tasks import Task
from warehouse.errors import UserError
from warehouse.sources import runs_root
from warehouse.tables import ALL, Lake


def score_models(
    models: Sequence[str],
    tasks: list[Task],
    settings: ScoreSettings,
    *,
    cutoff: int | None = None,
    whiten: bool = False,
    max_length: int | None = None,
    files: BenchmarkFolder | None = None,
) -> Iterator[list[str]]:
    """Scores models in turn and keeps the scores; gives each score row as text.

    Args:
        models: names of systems; see `systems.resolve`.
        tasks: of the lake, or of the files.
        settings: the protocol.
        cutoff: the year that divides in time from out of time; None for each model's own.
        whiten: score the whitened vectors too.
        max_length: tokens read of each text.
        files: a benchmark's, to score on instead of the lake.

    Raises:
        UserError: an unknown model, a cutoff before the model's own, or outside the lake.
    """
    with Lake() if files is None else files as lake:
        first, last = lake.years()
        if cutoff is not None and not first <= cutoff <= last:
            raise UserError(
                f"year {cutoff} is outside {'this lake' if files is None else files.root}, which "
                f"spans {first}-{last}. "
                f"Choose a year in it: --cutoff {min(max(cutoff, first), last)}"
            )
        shared = shared_cutoff(models, cutoff)
        divides = True
        if files is not None:
            divides = _divides(files, tasks, settings, cutoff)
        benchmark = load_benchmark(lake, tasks)
        _say_empty(lake, benchmark)
        _say_certain(benchmark)
        for name in models:
            system = resolve(name, lake, shared, max_length=max_length, seed=settings.seed)
            split = system.split_at(shared) if divides else None
            for white in (False, True) if whiten and system.embed else (False,):
                yield from _score(system, benchmark, lake, settings, split, white, files)
            if whiten and system.embed is None:
                say(f"{system.name} ranks by words: there is nothing to whiten")


def score_suites(
    models: Sequence[str],
    tasks: list[SciTask],
    folder: Path,
    *,
    cutoff: int | None = None,
    resamples: int = 1_000,
    max_length: int | None = None,
) -> Iterator[list[str]]:
    """Scores models on tasks of SciRepEval and keeps the scores; gives each row as text."""
    from pyeval.sci_score import load_suite, score_suite
    from pyeval.scirepeval import SciSettings

    suite = load_suite(folder, tasks)
    for name in models:
        lake = Lake() if name.startswith("tfidf") else None
        try:
            system = resolve(name, lake, cutoff, max_length=max_length)
            kept = results.stem(system.name, None, None, False)
            for rows, items in score_suite(
                system, suite, SciSettings(), resamples=resamples, cache_root=runs_root()
            ):
                results.save(kept, rows, items)
                yield from map(_line, rows)
        finally:
            if lake is not None:
                lake.close()


def built_sizes() -> Iterator[dict]:
    """How large each task of the lake came out, beside the paper's."""
    columns = ["task", "n_train", "n_test", "n_queries", "n_corpus", "paper_size", "lacks"]
    with Lake() as lake:
        yield from lake.read("tasks.task_sizes", columns, cutoff=ALL).to_pylist()


def embed_own(
    model: str,
    path: Path | None,
    sql: str | None,
    out: Path,
    *,
    refuse_lookahead: bool,
    cutoff: int | None,
    max_length: int | None,
) -> int:
    """Embeds a table of one's own, or the rows of a query; returns how many."""
    lake = Lake() if sql or model.startswith("tfidf") else None
    try:
        system = resolve(model, lake, cutoff, max_length=max_length)
        rows = _queried(lake, sql) if sql else read_rows(path, sys.stdin.buffer)
        return embed_table(rows, system, out, refuse_lookahead=refuse_lookahead)
    finally:
        if lake is not None:
            lake.close()


def _queried(lake: Lake, sql: str) -> Iterator[pa.RecordBatch]:
    yield from lake.query(sql)


def _divides(
    folder: BenchmarkFolder, tasks: list[Task], settings: ScoreSettings, cutoff: int | None
) -> bool:
    """Whether the files can tell in time from out of time; says so where they cannot.

    Raises:
        UserError: a year was asked for, or a rolling probe, and the files have no dates for it.
    """
    undated = folder.dates_labels(tasks) if settings.rolling else []
    if undated:
        raise UserError(
            f"--rolling needs the column label_year, which {', '.join(undated)} of {folder.root} "
            "lacks. Score without --rolling"
        )
    if folder.dates_texts(tasks):
        return True
    found = f"{folder.root} does not say when its texts could first be read (text_year_production)"
    if cutoff is not None:
        raise UserError(f"{found}, so --cutoff has nothing to divide by. Score without it")
    say(f"{found}: every example counts alike, and nothing is out of time")
    return False


def _say_empty(lake: Lake, benchmark: Benchmark) -> None:
    """Names the tasks without an example, and the sources that they wait for."""
    empty = [name for name, one in benchmark.labels.items() if not len(one.ids)]
    if not empty:
        return
    rows = lake.read("tasks.task_sizes", ["task", "lacks"], cutoff=ALL).to_pylist()
    lacks = {row["task"]: row["lacks"] for row in rows}
    for name in empty:
        if lacks.get(name):
            say(f"{name}: not scored, this lake lacks {lacks[name]}. See: lake sources")
        else:
            say(f"{name}: not scored, no document of this lake meets its rule")


def _say_certain(benchmark: Benchmark) -> None:
    """Names the tasks in which some query cannot be ranked wrong: all of the corpus is relevant."""
    for name, one in benchmark.labels.items():
        if isinstance(one, Queries) and len(one.ids):
            relevant = np.bincount(one.relevant[0], minlength=len(one.ids))
            n = int((relevant == len(one.corpus)).sum())
            if n:
                say(
                    f"{name}: of {len(one.ids):,} queries {n:,} score 100 whatever the model, "
                    f"because all {len(one.corpus):,} documents of the corpus are relevant"
                )


def _score(
    system: System,
    benchmark: Benchmark,
    lake: Lake,
    settings: ScoreSettings,
    cutoff: int | None,
    whitened: bool,
    files: BenchmarkFolder | None,
) -> Iterator[list[str]]:
    own = None if system.fitted else system.cutoff
    at = own if cutoff is None else cutoff  # files that cannot divide say nothing of a year
    name = results.stem(system.name, at, own, whitened, files and files.root.resolve().name)
    skipped = [
        task for task, one in benchmark.labels.items()
        if system.embed is None and one.task.format != "retrieve" and len(one.ids)
    ]  # fmt: skip
    if skipped:
        say(f"{system.name} only ranks, so it is not scored on: {', '.join(skipped)}")
    for scores in score(
        system,
        benchmark,
        lake,
        settings,
        cutoff=cutoff,
        whitened=whitened,
        cache_root=runs_root(),
    ):
        if not scores.rows:
            continue
        dropped = results.save(name, scores.rows, scores.items)
        if dropped:
            say(f"{name} has changed since; its old scores are dropped: {', '.join(dropped)}")
        for row in scores.rows:
            yield _line(row)
        left_out = json.loads(scores.rows[0]["settings"]).get("no_test_example")
        if left_out:
            task = scores.rows[0]["task"]
            say(f"{task}: left out, no test example: {', '.join(left_out)}")


def _line(row: dict) -> list[str]:
    number = [("" if row[key] is None else f"{row[key]:.2f}") for key in ("value", "low", "high")]
    if row["n"] == 0:
        number[0] = "no examples"
    elif row["value"] is None:
        number[0] = "undefined"
    marks = [str(row["n"]), str(row["contaminated"]).lower()]
    names = [row["model"], str(row["whitened"]).lower(), row["task"], row["metric"], row["column"]]
    return names + number + marks
