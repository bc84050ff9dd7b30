"""What a run leaves behind: a folder that is whole or absent, and that says how it was made."""

import fcntl
import json
import shutil
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pytrain.config import Settings, to_yaml
from pytrain.digests import REQUEST, WATCHED, commit, fingerprint_of, hash_files
from pytrain.events import Events
from pytrain.run_names import STAGES, need_run, read_run, run_name, run_path
from warehouse.errors import UserError
from warehouse.tables import Lake
from warehouse.versions import versions_of

__all__ = ["STAGES", "Run", "need_run", "read_log", "read_run", "run_name", "run_path"]

_PACKAGES = ("scitlake", "torch", "transformers", "tokenizers", "numpy", "numba", "duckdb")


class Run:
    """One run being made: `with Run(...) as run:` fills `run.folder`, renamed at success.

    The folder is `<name>.partial` until everything is written, so a killed run never leaves a
    folder that looks finished, and a failed one leaves its log to look at.
    """

    def __init__(
        self,
        stage: str,
        settings: Settings,
        year: int,
        *,
        seed: int = 0,
        parents: Iterable[Path] = (),
        lake: Lake | None = None,
        force: bool = False,
        resume: bool = False,
        main: bool = True,
    ) -> None:
        """Refuse before any work is done.

        Args:
            stage: a key of `STAGES`.
            settings: saved as config.yaml, whole.
            year: the cutoff.
            seed: of every random stream of the run.
            parents: folders of the finished runs this one builds on.
            lake: whose reads go into run.json.
            force: replace a finished run of this name.
            resume: go on from the last checkpoint of the partial folder, if there is one.
            main: whether this process writes; of several that train together one does.

        Raises:
            UserError: the run exists, or another process is making it.
        """
        self.stage, self.settings, self.year, self.seed = stage, settings, year, seed
        self.final = run_path(settings.preset, year, stage, seed)
        self.name = self.final.name
        self.folder = self.final.with_name(f"{self.name}.partial")
        self.parents = [Path(parent) for parent in parents]
        self.lake, self.force, self.resume, self.main = lake, force, resume, main
        self.notes: dict[str, Any] = {}
        if self.final.exists() and not force and main:
            raise UserError(
                f"run {self.final} exists. Replace it with --force, or name another --seed."
            )

    def __enter__(self) -> "Run":
        """Make the partial folder, alone."""
        self._started, self._cpu = time.time(), time.process_time()
        if not self.main:
            return self
        self.final.parent.mkdir(parents=True, exist_ok=True)
        self._closing = ExitStack()
        lock = self.final.with_name(f".{self.name}.lock").open("w")
        self._closing.callback(lock.close)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._closing.close()
            raise UserError(f"another process is making run {self.name}. Wait for it.") from error
        if self.resume and self.folder.exists():
            self._rewind()
        else:
            self._begin()
        self._log = self._closing.enter_context((self.folder / "log.jsonl").open("a"))
        self._closing.callback(Path(lock.name).unlink, missing_ok=True)
        self._events = None
        if self.settings.track == "tensorboard":
            self._events = Events(self.folder / "tensorboard")
            self._closing.callback(self._events.close)
        return self

    def _begin(self) -> None:
        """An empty partial folder that says what was asked, there at once or not at all."""
        fresh = self.final.with_name(f"{self.name}.starting")
        for folder in (fresh, self.folder):
            if folder.exists():
                shutil.rmtree(folder)
        fresh.mkdir()
        (fresh / "config.yaml").write_text(to_yaml(self.settings), encoding="utf-8")
        asked = {"stage": self.stage, "cutoff": self.year, "seed": self.seed, "force": self.force}
        (fresh / REQUEST).write_text(json.dumps(asked) + "\n", encoding="utf-8")
        fresh.rename(self.folder)

    def _rewind(self) -> None:
        """Leave of the partial folder what was there at the last checkpoint."""
        kept = ("config.yaml", REQUEST, "log.jsonl", *WATCHED)
        for path in self.folder.iterdir():
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        start = self.checkpoint
        behind = int(start.name.removeprefix("step-")) if start else 0
        lines = [line for line in read_log(self.folder) if line["step"] < behind]
        if lines:
            self._started -= lines[-1]["seconds"]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.folder / "log.jsonl.new").write_text(text, encoding="utf-8")
        (self.folder / "log.jsonl.new").rename(self.folder / "log.jsonl")

    @property
    def checkpoint(self) -> Path | None:
        """Where a resumed run goes on; None for a new one."""
        if not self.resume:
            return None
        from pytrain.checkpoint import latest_checkpoint  # torch, which few commands need

        return latest_checkpoint(self.folder)

    def bind_inputs(self) -> None:
        """Keep with the checkpoints what the run is made from, or hold a resumed run to it.

        Raises:
            UserError: a parent or a row has changed since the run was begun.
        """
        if not self.main:
            return
        tables = [asdict(read) for read in (self.lake.reads if self.lake else ())]
        text = json.dumps({"parents": parent_lines(self.parents), "tables": tables}, indent=1)
        path = self.folder / "checkpoints" / "inputs.json"
        if self.checkpoint is not None and path.read_text(encoding="utf-8") != text:
            raise UserError(
                f"what {self.name} was made from has changed since it was begun: rows of the lake "
                f"or one of {', '.join(p.name for p in self.parents)}. Start it again: "
                f"{STAGES[self.stage][2]} --year {self.year} --preset {self.settings.preset}"
            )
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(".new").write_text(text, encoding="utf-8")
        path.with_suffix(".new").rename(path)

    def __exit__(self, kind: type | None, error: object, trace: object) -> None:
        """Write run.json and rename, unless the work failed."""
        if not self.main:
            return
        with self._closing:
            self._log.close()
            if kind is not None:
                if not (self.folder / "log.jsonl").stat().st_size:
                    shutil.rmtree(self.folder)  # refused before any work: nothing to look at
                return
            self._write_summary()
            old = self.final.with_name(f"{self.name}.old")
            shutil.rmtree(old, ignore_errors=True)  # of a process killed in the middle of this
            if self.final.exists():
                self.final.rename(old)
            self.folder.rename(self.final)
            shutil.rmtree(old, ignore_errors=True)

    def log(self, step: int, **values: float) -> None:
        """One line in log.jsonl."""
        if not self.main:
            return
        line = {"step": step, **values, "seconds": round(time.time() - self._started, 3)}
        self._log.write(json.dumps(line) + "\n")
        self._log.flush()
        if self._events is not None:
            self._events.write(step, values)

    def note(self, **values: Any) -> None:
        """Facts for run.json; a later note of the same name replaces the earlier."""
        self.notes |= values

    def say(self, message: str) -> None:
        """A line for the person who waits, on stderr."""
        if self.main:
            click.echo(f"{self.name}: {message}", err=True)

    def summary(self) -> dict[str, Any]:
        """What run.json says, so far, without the hashes of the files."""
        return {
            "name": self.name,
            "stage": self.stage,
            "preset": self.settings.preset,
            "cutoff": self.year,
            "seed": self.seed,
            "status": "finished",
            "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
            "deterministic": self.settings.deterministic,
            "versions": versions_of(_PACKAGES),
            "commit": commit(),
            "tables_read": [asdict(read) for read in (self.lake.reads if self.lake else ())],
            "parents": parent_lines(self.parents),
            "notes": self.notes,
            "wall_seconds": round(time.time() - self._started, 1),
            "cpu_seconds": round(time.process_time() - self._cpu, 1),
        }

    def _write_summary(self) -> None:
        artefacts = hash_files(self.folder)
        hashes = {"artefacts": artefacts, "fingerprint": fingerprint_of(artefacts)}
        text = json.dumps(self.summary() | hashes, indent=2, ensure_ascii=False)
        (self.folder / "run.json").write_text(text + "\n", encoding="utf-8")


def parent_lines(parents: Iterable[Path]) -> list[dict[str, str]]:
    """Name and fingerprint of each of the finished runs."""
    return [{"name": p.name, "fingerprint": read_run(p)["fingerprint"]} for p in map(Path, parents)]


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The lines of log.jsonl; a last one that a killed process left unfinished is left out."""
    path = folder / "log.jsonl"
    if not path.is_file():
        return []
    *lines, _ = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines]
