"""Stages a raw folder with one fault in each table, and judges what became of every record."""

import gc
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import duckdb
import pytest
from dbt.adapters.duckdb.connections import DuckDBConnectionManager
from dbt.cli.main import dbtRunner
from fault_containers import (
    clear,
    gzip_faults,
    parquet_faults,
    place_faults,
    zip_faults,
)
from fault_files import CHANGED, MESSAGE, QUARANTINED, SAME, Broken, RawFile
from fault_texts import more_json_faults, table_faults, text_faults
from fault_values import json_faults, value_faults

from warehouse.diagnosis import Complaint, diagnose
from warehouse.errors import UserError
from warehouse.ingest import prepare
from warehouse.sources import RawTable, project_dir, raw_tables

# Which writers of faults know a format.
BY_FORMAT = {
    "jsonl": (place_faults, gzip_faults, text_faults, json_faults, more_json_faults, value_faults),
    "tsv": (place_faults, zip_faults, text_faults, table_faults, value_faults),
    "csv": (place_faults, text_faults, table_faults, value_faults),
    "parquet": (place_faults, parquet_faults),
}
LOST, WRONG, CRASH, OFF = "LOST", "WRONG", "CRASH", "OFF"  # none of these is ever right


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one fault."""

    table: str
    kind: str
    outcome: str
    right: bool
    missing: int = 0  # staged rows that are gone
    extra: int = 0  # staged rows that were not there
    listed: int = 0  # records in the quarantine for it
    said: str = ""


@dataclass(frozen=True)
class Fault:
    """A fault and the file that it goes into."""

    file: RawFile
    kind: str
    broken: Broken


def faults_of(table: RawTable, clean: Path, seed: int) -> Iterator[Fault]:
    """Every fault of a table that the raw folder holds; none for a format of no writer here."""
    places = [path for pattern in table.paths for path in sorted(clean.glob(pattern))]
    places += [p for pattern in table.paths for p in sorted(clean.glob(f"{pattern}.zip"))]
    if not places or table.file_format not in BY_FORMAT:
        return
    path = places[len(places) // 2]
    for number, writer in enumerate(BY_FORMAT[table.file_format]):
        rng = random.Random(f"{seed}/{table.key}/{number}")
        file = RawFile(table, path, rng)
        for kind, broken in writer(file):
            yield Fault(file, kind, broken)


class Bench:
    """A clean raw folder, its staged tables, and a lake folder for the broken ones."""

    def __init__(self, clean: Path, home: Path, only: Sequence[str] = ()) -> None:
        """Stage the tables of the clean folder, or only those named."""
        self.clean, self.home = clean, home
        self.lake, self.raw = home / "lake", home / "raw"
        present = [
            table
            for table in raw_tables()
            if table.file_format in BY_FORMAT
            and self._files(table)
            and (not only or table.name in only)
        ]
        self.tables = {table.key: table for table in present}
        shutil.rmtree(self.raw, ignore_errors=True)
        shutil.copytree(clean, self.raw)
        self.manifest = None
        with self._environment():
            prepare()
            self.manifest = self._dbt("parse")
        self.models = {
            ".".join(source.split(".")[2:]): node.name
            for node in self.manifest.nodes.values()
            if node.resource_type == "model" and "/staging/" in node.original_file_path
            for source in node.depends_on.nodes
            if source.startswith("source.")
        }
        refused = self._stage(list(self.tables))
        if refused:
            raise AssertionError(f"the clean folder does not stage: {refused}")
        self.listed = self._keep("staged")

    def _files(self, table: RawTable) -> list[Path]:
        return [
            path
            for pattern in table.paths
            for name in (pattern, f"{pattern}.zip")
            for path in sorted(self.clean.glob(name))
        ]

    def _stage(self, keys: list[str]) -> dict[str, click.ClickException]:
        """Run the staging models of some tables; returns the errors by table."""
        for path in self.lake.glob("lake.duckdb*"):
            path.unlink()
        sources = [f"source:scitlake.{key}+1,path:models_sql/staging" for key in keys]
        with self._environment():
            results = self._dbt("run", "--select", *sources).results
        failed = {
            found.node.name: found.message or ""
            for found in results
            if found.status != "success" and found.node.resource_type == "model"
        }
        return {
            key: diagnose([Complaint(failed[model], model, "error")], self.lake)
            for key, model in self.models.items()
            if model in failed
        }

    def _dbt(self, *words: str) -> Any:
        """What a dbt command returns; in this process, so that the project is parsed once."""
        folder = str(project_dir())
        done = dbtRunner(manifest=self.manifest).invoke(
            [*words, "--project-dir", folder, "--profiles-dir", folder, "--quiet",
             "--log-level", "none", "--target-path", str(self.lake / "target"),
             "--log-path", str(self.lake / "logs"), "--no-write-json",
             "--vars", "clean_abstracts: false"]  # what is read is compared as it is written
        )  # fmt: skip
        DuckDBConnectionManager.close_all_connections()  # the next run looks for files anew
        gc.collect()  # a cursor that is left holds the file
        if done.result is None:
            raise AssertionError(f"dbt {words[0]} ended with {done.exception}")
        return done.result

    @contextmanager
    def _environment(self) -> Iterator[None]:
        """The settings under which the broken folder is staged."""
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("SCITLAKE_DB", raising=False)
            patch.setenv("DATA_ROOT", str(self.raw))
            patch.setenv("SCITLAKE_WAREHOUSE", str(self.lake))
            yield

    def _keep(self, name: str) -> dict[str, int]:
        """Write what is staged to Parquet files; returns the malformed records by table."""
        folder = self.home / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        listed = {}
        for key, model in self.models.items():
            if key not in self.tables:
                continue
            # A connection each: a view of long text sets rejects aside in temporary tables.
            with duckdb.connect(str(self.lake / "lake.duckdb"), read_only=True) as con:
                there = con.execute(
                    "select count(*) from duckdb_columns() where table_name = ?", [model]
                ).fetchall()[0][0]
                if not there:
                    continue
                con.execute(f"copy (from staging.{model}) to '{folder / key}' (format parquet)")
                quarantine = f"quarantine.{key.replace('.', '__')}"
                listed[key] = con.execute(
                    "select count(distinct (file, line, case when reason like 'taken along%'"
                    f" then raw end)) from {quarantine} where counts"
                ).fetchall()[0][0]
        return listed

    def try_out(self, faults: list[Fault]) -> list[Outcome]:
        """Inject one fault into each of some tables, no two into one, and judge each by itself.

        A fault that the unpacking refuses is told by a message before dbt starts.
        """
        outcomes, staged = [], []
        for fault in faults:
            self._lay([fault])
            with self._environment():
                try:
                    found = prepare()
                except UserError as error:
                    outcomes.append(self._told(fault, error))
                    continue
            if found.files[fault.file.table.key]:
                staged.append(fault)
            elif fault.file.table.required:
                missing = UserError(found.missing()[fault.file.table.key])
                outcomes.append(self._told(fault, missing))
            else:
                outcomes.append(_outcome(fault, OFF, said="the table is off, and nothing says so"))
        if not staged:
            return outcomes
        self._lay(staged)
        refused = self._stage([fault.file.table.key for fault in staged])
        try:
            listed = self._keep("staged-broken")
        except duckdb.Error as error:
            raise AssertionError(f"what is staged cannot be read: {error}") from error
        for fault in staged:
            key = fault.file.table.key
            if key in refused:
                outcomes.append(self._told(fault, refused[key]))
            else:
                outcomes.append(self._judge(fault, listed[key] - self.listed[key]))
        return outcomes

    def _lay(self, faults: list[Fault]) -> None:
        """Make the raw folder of the tables concerned, with the faults in it."""
        shutil.rmtree(self.raw, ignore_errors=True)
        self.raw.mkdir(parents=True)
        for fault in faults:
            for path in self._files(fault.file.table):
                copy = self.raw / path.relative_to(self.clean)
                copy.parent.mkdir(parents=True, exist_ok=True)
                if path != fault.file.path:
                    os.link(path, copy)  # only read
            place = self.raw / fault.file.path.relative_to(self.clean)
            clear(place)
            shutil.copyfile(fault.file.path, place)
            fault.broken.write(place)

    def _told(self, fault: Fault, error: click.ClickException) -> Outcome:
        """A message is right when it is a user's, and says which file or table is meant."""
        said = error.message
        names = (fault.file.path.name, fault.file.path.stem, fault.file.table.key)
        if not isinstance(error, UserError) or not any(name in said for name in names):
            return _outcome(fault, CRASH, said=said)
        every = len(fault.broken.touched) >= len(fault.file.records)
        if every and QUARANTINED in fault.broken.expect:  # a file of which nothing can be read
            fault = replace(fault, broken=replace(fault.broken, expect=(MESSAGE,)))
        return _outcome(fault, MESSAGE, said=said.replace(str(self.raw), "<folder>").replace(
            str(self.lake), "<lake>"))  # fmt: skip

    def _judge(self, fault: Fault, listed: int) -> Outcome:
        broken, key = fault.broken, fault.file.table.key
        with duckdb.connect() as con:
            tables = [f"from read_parquet('{self.home / name / key}')" for name in
                      ("staged", "staged-broken")]  # fmt: skip
            missing = con.execute(f"{tables[0]} except all {tables[1]}").fetchall()
            extra = con.execute(f"{tables[1]} except all {tables[0]}").fetchall()
        counts = {"missing": len(missing), "extra": len(extra), "listed": listed}
        touched = len(broken.touched)
        if len(missing) - len(extra) + broken.added > broken.removed + listed:
            return _outcome(fault, LOST, **counts)
        unmarked = 0
        if touched <= 2 and not broken.removed:
            marks = fault.file.marks(broken.touched)
            unmarked = sum(not marks & {str(cell) for cell in row} for row in missing)
        if (
            unmarked
            or len(missing) > touched + broken.removed
            or len(extra) > (touched + broken.added if CHANGED in broken.expect else 0)
        ):
            return _outcome(fault, WRONG, **counts)
        if extra and broken.value and not any(broken.value in map(str, row) for row in extra):
            return _outcome(fault, WRONG, said=f"not read as it is written: {extra[:1]}", **counts)
        if listed > 0:
            return _outcome(fault, QUARANTINED, **counts)
        return _outcome(fault, CHANGED if extra else SAME, **counts)


def _outcome(fault: Fault, outcome: str, said: str = "", **counts: int) -> Outcome:
    return Outcome(table=fault.file.table.key, kind=fault.kind, outcome=outcome, said=said,
                   right=outcome in fault.broken.expect, **counts)  # fmt: skip


def rounds(bench: Bench, seed: int, only: str = "") -> Iterator[list[Fault]]:
    """One fault per table at a time, until there is none; made as they are asked for."""
    queues = {
        key: (fault for fault in faults_of(table, bench.clean, seed) if only in fault.kind)
        for key, table in bench.tables.items()
    }
    while True:
        found = [next(queue, None) for queue in queues.values()]
        if not any(found):
            return
        yield [fault for fault in found if fault]
