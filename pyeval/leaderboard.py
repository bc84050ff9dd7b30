"""A leaderboard file: scores with what made them, and the check that they come out again.

JSON lines, one score a line, so that a board can be read, compared by line and cut by hand.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from pyeval import results
from pyeval.probes import ProbeSettings, RidgeSettings
from pyeval.protocol import ScoreSettings
from pyeval.score import load_benchmark, score
from pyeval.systems import resolve
from pyeval.tasks import pick
from warehouse.beside import file_beside
from warehouse.errors import UserError
from warehouse.tables import Lake

KEPT = (
    "model", "whitened", "cutoff", "task", "variant", "metric", "column", "value", "n",
    "model_fingerprint", "task_fingerprint", "settings", "versions",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checked:
    """One row of a board, run again."""

    row: dict  # as on the board
    value: float | None  # what it came to now
    verdict: str  # "same", "drifted", "another model", "another build of the task", "not scored"

    @property
    def holds(self) -> bool:
        """Whether the board may keep the row."""
        return self.verdict == "same"


def write_board(path: Path, chosen: Sequence[str] = ()) -> int:
    """Write the scores of these systems, or of all; returns how many.

    Raises:
        UserError: nothing was scored, or no such system.
    """
    rows = [row for row in results.read_all(chosen) if row["task"] and row["format"]]
    ours = [{name: row[name] for name in KEPT} for row in rows]
    ours.sort(key=_place)
    with file_beside(path) as partial:
        partial.write_text("".join(json.dumps(row) + "\n" for row in ours), encoding="utf-8")
    return len(ours)


def read_board(path: Path) -> list[dict]:
    """The rows of a board.

    Raises:
        UserError: no such file, or a line that is no row of a board.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"cannot read {path} ({error}). Make one with: pyeval leaderboard --out {path}"
        ) from error
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            missing = sorted(set(KEPT) - set(row))
        except (ValueError, TypeError):
            missing = ["a JSON object"]
        if missing:
            raise UserError(
                f"{path}, line {number}: no row of a leaderboard, {', '.join(missing)} missing. "
                f"Make a board with: pyeval leaderboard --out FILE"
            )
        rows.append(row)
    if not rows:
        raise UserError(f"{path} holds no row. Make a board with: pyeval leaderboard --out FILE")
    return rows


def check_board(
    rows: Iterable[dict], *, models: Sequence[str], tasks: Sequence[str], tolerance: float
) -> Iterator[Checked]:
    """Score again what the rows name, each with its own settings.

    Args:
        rows: of a board.
        models: only these, by the name on the board; all when none is given.
        tasks: only these, without their variants; all when none is given.
        tolerance: by how many points a score may differ, of 100.

    Raises:
        UserError: nothing on the board is asked for, or a model that cannot be found.
    """
    asked = [
        row
        for row in rows
        if (not models or row["model"] in models) and (not tasks or _base(row) in tasks)
    ]
    if not asked:
        raise UserError(
            f"the board has no row of {', '.join([*models, *tasks]) or 'any task of the lake'}. "
            "Look at its columns model and task."
        )
    groups: dict[tuple, list[dict]] = {}
    for row in asked:
        groups.setdefault(_how(row), []).append(row)
    with Lake() as lake:
        for group in groups.values():
            yield from _again(lake, group, tolerance)


def _again(lake: Lake, group: list[dict], tolerance: float) -> Iterator[Checked]:
    first = group[0]
    said = json.loads(first["settings"])
    settings = _settings(said)
    name = first["model"]
    if name.startswith("random-"):
        name = f"random:{name.removeprefix('random-').removesuffix(f'-s{settings.seed}')}"
    system = resolve(name, lake, first["cutoff"], seed=settings.seed)
    benchmark = load_benchmark(lake, pick([_base(row) for row in group]))
    found = {
        (row["task"], row["metric"], row["column"]): row
        for scores in score(
            system,
            benchmark,
            lake,
            settings,
            cutoff=first["cutoff"],
            whitened=first["whitened"],
        )
        for row in scores.rows
    }
    for row in group:
        yield _judged(row, found.get((row["task"], row["metric"], row["column"])), tolerance)


def _judged(row: dict, now: dict | None, tolerance: float) -> Checked:
    if now is None:
        return Checked(row, None, "not scored")
    before, value = row["value"], now["value"]
    if now["model_fingerprint"] != row["model_fingerprint"]:
        verdict = "another model"
    elif now["task_fingerprint"] != row["task_fingerprint"]:
        verdict = "another build of the task"
    elif now["n"] == row["n"] and (before is None) == (value is None):
        near = before is None or abs(value - before) <= tolerance
        verdict = "same" if near else "drifted"
    else:
        verdict = "drifted"
    return Checked(row, value, verdict)


def _settings(said: dict) -> ScoreSettings:
    """The settings that a row was scored with; its interval is not computed again."""
    known = {one.name for one in fields(ScoreSettings)}
    given = {name: value for name, value in said.items() if name in known}
    for name, kind in (("probe", ProbeSettings), ("ridge", RidgeSettings)):
        if name in given:
            given[name] = kind(**{k: _tuple(v) for k, v in given[name].items()})
    # A row tells all the bases that it went by; the settings name one, or none for the model's own.
    bases = given.pop("seen_basis", None) or []
    given |= {"resamples": 0, "seen_basis": bases[0] if len(bases) == 1 else None}
    return ScoreSettings(**{k: _tuple(v) for k, v in given.items()})


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _base(row: dict) -> str:
    """The task without its variant."""
    variant = row["variant"]
    return row["task"].removesuffix(f"_{variant}") if variant else row["task"]


def _how(row: dict) -> tuple:
    """Rows that one pass can score together: a system, and settings but for the task's own."""
    said = json.loads(row["settings"])
    shared = {k: v for k, v in said.items() if k in {one.name for one in fields(ScoreSettings)}}
    format_of = "probe" in shared, "ridge" in shared
    key = json.dumps(shared, sort_keys=True)
    return row["model"], row["whitened"], row["cutoff"], format_of, key


def _place(row: dict) -> tuple:
    return tuple(str(row[name]) for name in ("model", "whitened", "task", "metric", "column"))
