"""`lake build`: build beside the last good lake, then rename; readers never see half a lake."""

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from warehouse import ingest, refresh
from warehouse.errors import CheckFailed, UserError
from warehouse.locks import only_one, text_is_free
from warehouse.runner import Step, ended_by_signal, run_dbt
from warehouse.sources import data_root, lake_file, lake_folder
from warehouse.states import read_state, write_state
from warehouse.threads import query_memory, query_threads
from warehouse.variables import check_variables

LAST = "last.duckdb"  # the lake before this one, kept when asked for
FAILED = "failed.duckdb"  # a lake that a data test refused, kept so that one can see why


@dataclass(frozen=True, kw_only=True)
class BuildSettings:
    """What to build, and how."""

    select: tuple[str, ...] = ()  # dbt selectors; all models when empty
    variables: Mapping[str, Any] = field(default_factory=dict)  # dbt vars that differ
    threads: int = 2  # models built at a time
    afresh: bool = False  # start from an empty file, so that every text is scored again
    keep_last: bool = False  # keep the lake that is replaced, until the next build


def build(
    settings: BuildSettings, on_step: Callable[[Step], None] = lambda step: None
) -> dict[str, Any]:
    """Build the lake of `SCITLAKE_WAREHOUSE` from the raw files of `DATA_ROOT`.

    It starts from a copy of the last good lake and makes anew what depends on a raw file or a
    model that has changed since, or the models of `select`; the result is that of a build afresh.

    Returns:
        What `lake.json` beside the lake says: when, from what, with which settings, and in
        `changed` why something was built; empty when nothing was.

    Raises:
        UserError: another build runs, or the raw files are not as they must be; the last good
            lake is untouched.
        CheckFailed: a data test failed; the last good lake is untouched.
    """
    check_variables(settings.variables)
    query_threads()
    query_memory()
    lake = lake_folder().resolve()
    lake.mkdir(parents=True, exist_ok=True)
    with ended_by_signal(), only_one(lake):
        _check_free(lake_file())
        raw = _check_sources(settings)
        now = refresh.made_of(raw, settings.variables)
        todo = refresh.look(lake, now)
        if settings.select or settings.afresh:
            todo = refresh.Refresh(reasons=("as asked",), rescore=settings.afresh)
        elif not todo.reasons:
            if said := read_state(lake / "lake.json"):
                return {**said, "changed": []}
            todo = refresh.Refresh(reasons=("lake.json is gone or damaged",))
        try:
            made = _build_beside(settings, now, todo, lake, on_step)
            (lake / FAILED).unlink(missing_ok=True)
        finally:
            _remove_stale_text(lake)  # of the lake before, or of a build that came to nothing
    return made


def _build_beside(
    settings: BuildSettings,
    now: Mapping[str, Any],
    todo: refresh.Refresh,
    lake: Path,
    on_step: Callable[[Step], None],
) -> dict[str, Any]:
    """Build into a file beside the last good lake and put it in its place when all tests pass."""
    beside = lake / "next"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    # The same file name as the last good lake: views name their database by it.
    next_file = beside / "lake.duckdb"
    try:
        if not settings.afresh:
            _copy(lake_file(), next_file)
        started = datetime.now().astimezone()
        env = {"SCITLAKE_DB": str(next_file), "SCITLAKE_TMP": str(beside / "tmp")}
        if todo.forget:
            env["SCITLAKE_FORGET"] = "1"
        run_dbt(_command(settings, todo, lake), env=env, on_step=on_step)
        if not settings.select:
            _finish(next_file, lake, todo)
        made = {
            "built": started.isoformat(timespec="seconds"),
            "seconds": round((datetime.now().astimezone() - started).total_seconds(), 1),
            "data_root": str(data_root().resolve()),
            "select": list(settings.select),
            "variables": dict(settings.variables),
            "duckdb": duckdb.__version__,
            "changed": list(todo.reasons),
        }
        _swap(next_file, lake, made, settings.keep_last)
        if settings.select:
            refresh.forget_state(lake)
        else:
            refresh.remember(lake, now)
    except CheckFailed as failure:
        next_file.replace(lake / FAILED)
        raise CheckFailed(
            f"{failure.message}\nThe rows are in the schema test_failures of {lake / FAILED}; "
            "the last good lake is as it was."
        ) from failure
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return made


def _command(settings: BuildSettings, todo: refresh.Refresh, lake: Path) -> list[str]:
    # Unit tests judge the SQL, not the data, and under the project's own settings: they are for
    # whoever changes a model, who runs plain `dbt build` or `dbt test --select test_type:unit`.
    command = ["build", "--threads", str(settings.threads)]
    command += ["--exclude-resource-type", "unit_test"]
    if todo.rescore:
        command.append("--full-refresh")
    if settings.variables:
        command += ["--vars", json.dumps(dict(settings.variables))]
    for selector in settings.select or todo.selectors:
        command += ["--select", selector]
    if todo.selectors:
        command += ["--state", str(lake / refresh.STATE)]
        # That no model was modified is no error, as a selection by hand that finds none is.
        command += ["--warn-error-options", '{"error": []}']
    return command


def _finish(next_file: Path, lake: Path, todo: refresh.Refresh) -> None:
    """Trace the columns again if a model may differ, and drop what no model makes any more."""
    from warehouse.lineage_show import TABLE, write_table

    manifest = json.loads((lake / "target" / "manifest.json").read_text(encoding="utf-8"))
    refresh.drop_strangers(next_file, manifest, (TABLE, "quarantine.rows_read"))
    if not todo.selectors or "state:modified+" in todo.selectors:
        write_table(next_file)


def _check_sources(settings: BuildSettings) -> ingest.RawFiles:
    """Say what is missing before dbt starts; with `select` only dbt knows what is needed."""
    raw = ingest.prepare()
    missing = raw.missing()
    if missing and not settings.select:
        lines = "\n".join(f"  {line}" for line in missing.values())
        root = data_root().resolve()
        raise UserError(f"DATA_ROOT={root} lacks {len(missing)} required raw table(s):\n{lines}")
    return raw


def _check_free(file: Path) -> None:
    """Raise when a plain `dbt build` writes to the lake: its work would be renamed away."""
    if not file.is_file():
        return
    try:
        duckdb.connect(str(file), read_only=True).close()
    except duckdb.IOException as error:
        if "lock" in str(error).lower():
            reason = str(error).splitlines()[0]
            raise UserError(f"{file} is being written: {reason} Wait for it to end.") from error
    except duckdb.Error:
        pass  # a damaged lake is replaced by a good one


def _copy(file: Path, copy: Path) -> None:
    """Copy the last good lake, unless there is none or it cannot be opened."""
    if not file.is_file():
        return
    shutil.copyfile(file, copy)
    try:
        duckdb.connect(str(copy)).close()
    except duckdb.Error:
        copy.unlink()  # damaged, or of another version of DuckDB: build from nothing


def _swap(next_file: Path, lake: Path, made: Mapping[str, Any], keep_last: bool) -> None:
    """Put the finished file in the place of the last good one."""
    with duckdb.connect(str(next_file)) as con:
        con.execute("checkpoint")
    # A log left by a killed plain `dbt build` belongs to the old file and must not meet the new.
    (lake / "lake.duckdb.wal").unlink(missing_ok=True)
    (lake / LAST).unlink(missing_ok=True)
    if keep_last and (lake / "lake.duckdb").is_file():
        (lake / LAST).hardlink_to(lake / "lake.duckdb")
    next_file.replace(lake / "lake.duckdb")
    write_state(lake / "lake.json", made)


def _remove_stale_text(lake: Path) -> None:
    """Remove text files that no kept lake lists, and folders that are empty then.

    A reader may still have the lake before this one open; the next build removes its files.
    """
    keep = set()
    for file in (lake / "lake.duckdb", lake / LAST, lake / FAILED):
        if file.is_file():
            try:
                with duckdb.connect(str(file), read_only=True) as con:
                    listed = con.execute("select path from audit.text_files").fetchall()
            except duckdb.Error:
                return  # a lake of some models only, or one that a plain `dbt build` writes to
            keep |= {Path(path).resolve() for (path,) in listed}
    with text_is_free(lake) as free:
        for path in sorted((lake / "text").rglob("*"), reverse=True) if free else ():
            if path.is_dir():
                with suppress(OSError):
                    path.rmdir()
            elif path.resolve() not in keep:
                path.unlink()
