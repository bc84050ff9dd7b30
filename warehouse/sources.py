"""Where things lie: the lake, the raw files, and what each raw table is declared to be."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePosixPath

from warehouse.errors import UserError


def lake_folder() -> Path:
    """The folder of the lake: `SCITLAKE_WAREHOUSE`, or warehouse/lake below the current one."""
    return Path(os.environ.get("SCITLAKE_WAREHOUSE") or "warehouse/lake")


def lake_file() -> Path:
    """The last good DuckDB file, the one that readers open."""
    return lake_folder() / "lake.duckdb"


def data_root() -> Path:
    """The folder of the raw files: `DATA_ROOT`, or the generated sample inside the lake."""
    return Path(os.environ.get("DATA_ROOT") or lake_folder() / "sample")


def check_data_root() -> None:
    """Raise when `DATA_ROOT` is set to what is no folder.

    Raises:
        UserError: says so.
    """
    if os.environ.get("DATA_ROOT") and not data_root().is_dir():
        raise UserError(
            f"DATA_ROOT={data_root()} is no folder. Point it at a folder in the publishers' "
            "layouts, or unset it to build the generated sample."
        )


def runs_root() -> Path:
    """The folder of the run folders: `RUNS_ROOT`, or runs below the current folder."""
    return Path(os.environ.get("RUNS_ROOT") or "runs")


def project_dir() -> Path:
    """The repository: the folder that holds dbt_project.yml.

    Raises:
        UserError: when the package was installed without the SQL beside it.
    """
    folder = Path(__file__).resolve().parent.parent
    if not (folder / "dbt_project.yml").is_file():
        raise UserError(
            f"no dbt_project.yml in {folder}, so there is no SQL to build the lake with. "
            "Install from a clone of the repository: pip install -e ."
        )
    return folder


@dataclass(frozen=True, kw_only=True)
class RawTable:
    """One raw table as its YAML in models_sql/sources declares it."""

    source: str  # publisher's short name, the first part of every staging model's name
    name: str
    description: str
    file_format: str  # tsv | csv | jsonl | lines | parquet
    paths: tuple[str, ...]  # globs below the raw folder
    only_first: bool  # several releases may lie there; the first glob that matches is read
    only_latest: bool  # likewise; the last file by name is read
    required: bool
    licence: str
    get_it_from: str
    switches_on: tuple[str, ...]

    @property
    def key(self) -> str:
        """`source.table`, the name that messages and audit tables use."""
        return f"{self.source}.{self.name}"

    def files(
        self, root: Path, unpacked: Path | None = None, members: Collection[str] = ()
    ) -> list[Path]:
        """The raw files below a root, in order of path, and unpacked members that clash with none.

        Args:
            root: folder of raw files.
            unpacked: folder of the members of its zips.
            members: those that are there, as paths below it; nothing else there is read.
        """
        found: dict[str, Path] = {}
        for pattern in self.paths:
            for path in root.glob(pattern):
                if path.is_file():
                    found.setdefault(path.relative_to(root).as_posix(), path)
        if unpacked:
            found = {member: unpacked / member for member in members} | found
        return [found[name] for name in self.chosen(found)]

    def chosen(self, names: Collection[str]) -> list[str]:
        """Those of some paths below the raw folder that are read, in order of path."""
        matches = [{n for n in names if fnmatch(n, pattern)} for pattern in self.paths]
        if self.only_first:
            matches = [match for match in matches if match][:1]
        files = sorted(set().union(*matches), key=PurePosixPath)
        return files[-1:] if self.only_latest else files


def _raw_table(source: Mapping, table: Mapping) -> RawTable:
    meta = {**source.get("config", {}).get("meta", {}), **table.get("config", {}).get("meta", {})}
    return RawTable(
        source=source["name"],
        name=table["name"],
        description=" ".join(table["description"].split()),
        file_format=meta["format"],
        paths=tuple(meta.get("first_of") or meta.get("latest_of") or meta["paths"]),
        only_first="first_of" in meta,
        only_latest="latest_of" in meta,
        required=meta["required"],
        licence=meta["licence"],
        get_it_from=meta["get_it_from"],
        switches_on=tuple(meta["switches_on"]),
    )


@cache
def _sources() -> tuple[Mapping, ...]:
    """Every declared source, in order of file."""
    import yaml

    found: list[Mapping] = []
    for path in sorted((project_dir() / "models_sql" / "sources").glob("*.yml")):
        found += yaml.safe_load(path.read_text(encoding="utf-8")).get("sources", [])
    return tuple(found)


@cache
def raw_tables() -> tuple[RawTable, ...]:
    """Every declared raw table, in order of file and of declaration."""
    return tuple(_raw_table(source, table) for source in _sources() for table in source["tables"])


def declared_tables() -> dict[str, Mapping]:
    """All that the YAML says of each raw table, its source's share included, by `source.table`."""
    return {
        f"{source['name']}.{table['name']}": {
            "source": {key: said for key, said in source.items() if key != "tables"},
            "table": table,
        }
        for source in _sources()
        for table in source["tables"]
    }
