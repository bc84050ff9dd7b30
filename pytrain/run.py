"""What a run leaves behind: a folder that is whole or absent, and that says how it was made."""

import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pytrain.config import Settings, load_settings, section, to_yaml
from warehouse.errors import UserError
from warehouse.sources import runs_root
from warehouse.tables import Lake, TableRead
from warehouse.versions import versions_of

# Suffix of the run's name, settings section and command of each stage.
STAGES = {
    "tokenizer": ("-tokenizer", "tokenizer", "pytrain tokenizer"),
    "pretrain": ("", "mlm", "pytrain pretrain"),
    "node2vec": ("-node2vec", "node2vec", "pytrain node2vec"),
    "neighbours": ("-neighbours", "neighbours", "pytrain neighbours"),
    "static": ("-static", "static", "pytrain static"),
    "ci": ("-ci", "tune", "pytrain tune"),
    "static-ci": ("-static-ci", "seeded", "pytrain tune --init static"),
}
_PACKAGES = ("scitlake", "torch", "transformers", "tokenizers", "numpy", "numba", "duckdb")
# Files that tell about the making of a run, not its result.
_NOT_ARTEFACTS = ("config.yaml", "run.json", "log.jsonl", "README.md")


def run_name(preset: str, year: int, stage: str, seed: int = 0) -> str:
    """The name of a stage's run: "sample-2013-ci", with seed 1 "sample-2013-s1-ci"."""
    return f"{preset}-{year}" + (f"-s{seed}" if seed else "") + STAGES[stage][0]


def run_path(preset: str, year: int, stage: str, seed: int = 0) -> Path:
    """The folder of a stage's run, whether or not it is there."""
    return runs_root() / run_name(preset, year, stage, seed)


def read_run(folder: Path | str) -> dict[str, Any]:
    """What `run.json` says.

    Raises:
        UserError: no finished run there.
    """
    path = Path(folder) / "run.json"
    if not path.is_file():
        raise UserError(f"no finished run at {folder}. See what there is: ls {runs_root()}")
    return json.loads(path.read_text(encoding="utf-8"))


def need_run(settings: Settings, year: int, stage: str, seed: int) -> Path:
    """The folder of a finished run that another stage builds on.

    Raises:
        UserError: not there, with the command that makes it.
    """
    folder = run_path(settings.preset, year, stage, seed)
    if not (folder / "run.json").is_file():
        command = f"{STAGES[stage][2]} --year {year} --preset {settings.preset}"
        more = f" --seed {seed}" if seed else ""
        raise UserError(
            f"this needs the run {folder.name}, which is not there. Run: {command}{more}"
        )
    return folder


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

        Raises:
            UserError: the run exists, or another process is making it.
        """
        self.stage, self.settings, self.year, self.seed = stage, settings, year, seed
        self.final = run_path(settings.preset, year, stage, seed)
        self.name = self.final.name
        self.folder = self.final.with_name(f"{self.name}.partial")
        self.parents = [Path(parent) for parent in parents]
        self.lake, self.force = lake, force
        self.notes: dict[str, Any] = {}
        if self.final.exists() and not force:
            raise UserError(
                f"run {self.final} exists. Replace it with --force, or name another --seed."
            )

    def __enter__(self) -> "Run":
        """Make the partial folder, alone."""
        self._started, self._cpu = time.time(), time.process_time()
        self.final.parent.mkdir(parents=True, exist_ok=True)
        self._closing = ExitStack()
        lock = self.final.with_name(f".{self.name}.lock").open("w")
        self._closing.callback(lock.close)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._closing.close()
            raise UserError(f"another process is making run {self.name}. Wait for it.") from error
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir()
        (self.folder / "config.yaml").write_text(to_yaml(self.settings), encoding="utf-8")
        self._log = self._closing.enter_context((self.folder / "log.jsonl").open("a"))
        self._closing.callback(Path(lock.name).unlink, missing_ok=True)
        return self

    def __exit__(self, kind: type | None, error: object, trace: object) -> None:
        """Write run.json and rename, unless the work failed."""
        with self._closing:
            self._log.close()
            if kind is not None:
                if not (self.folder / "log.jsonl").stat().st_size:
                    shutil.rmtree(self.folder)  # refused before any work: nothing to look at
                return
            self._write_summary()
            if self.final.exists():
                old = self.final.with_name(f"{self.name}.old")
                shutil.rmtree(old, ignore_errors=True)
                self.final.rename(old)
                self.folder.rename(self.final)
                shutil.rmtree(old)
            else:
                self.folder.rename(self.final)

    def log(self, step: int, **values: float) -> None:
        """One line in log.jsonl."""
        line = {"step": step, **values, "seconds": round(time.time() - self._started, 3)}
        self._log.write(json.dumps(line) + "\n")
        self._log.flush()

    def note(self, **values: Any) -> None:
        """Facts for run.json; a later note of the same name replaces the earlier."""
        self.notes |= values

    def say(self, message: str) -> None:
        """A line for the person who waits, on stderr."""
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
            "commit": _commit(),
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


def why_stale(stage: str, settings: Settings, year: int, *, seed: int, lake: Lake) -> str | None:
    """What of a finished run is no longer so: settings, parents or rows; None when nothing.

    Raises:
        UserError: no finished run.
    """
    folder = run_path(settings.preset, year, stage, seed)
    made, key = read_run(folder), STAGES[stage][1]
    before = section(load_settings(str(folder / "config.yaml")), key)
    changes = [name for name, value in section(settings, key).items() if before[name] != value]
    if changes:
        return f"its settings differ: {', '.join(changes)}"
    for parent in made["parents"]:
        path = folder.parent / parent["name"] / "run.json"
        if not path.is_file() or read_run(path.parent)["fingerprint"] != parent["fingerprint"]:
            return f"its parent {parent['name']} is gone or was made anew"
    for read in made["tables_read"]:
        was = TableRead(**{**read, "columns": tuple(read["columns"])})
        now = lake.fingerprint(
            was.name,
            was.columns,
            cutoff=was.cutoff,
            basis=was.basis,
            licence_at_most=was.licence_at_most,
        )
        if now != was:
            return f"the lake's rows of {was.name} as of {was.cutoff} changed"
    return None


def hash_files(folder: Path) -> dict[str, str]:
    """sha256 of every file under a run's folder that is a result of it."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.is_file() and path.name not in _NOT_ARTEFACTS and inner.parts[0] != "checkpoints":
            with path.open("rb") as file:
                found[inner.as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def fingerprint_of(artefacts: dict[str, str]) -> str:
    """One hash of many files' hashes."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(artefacts.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _commit() -> dict[str, Any] | None:
    """The commit of the code that ran, and whether files differed from it; None outside git."""
    try:
        run = {"cwd": Path(__file__).parent, "capture_output": True, "text": True, "timeout": 20}
        head = subprocess.run(["git", "rev-parse", "HEAD"], **run)
        dirty = subprocess.run(["git", "status", "--porcelain", "-uno"], **run)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if head.returncode:
        return None
    return {"commit": head.stdout.strip(), "dirty": bool(dirty.stdout.strip())}
