"""`pyeval doctor`: vintages that do not fit between their neighbours, and what else is odd of them.

Source: scitbert.txt, section Contrastive Benefits: SciTBERT-2020 lags by two standard deviations,
and the cause was sought in its tokenizer and its text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyeval import curve_draw, results
from pyeval.outliers import NEEDED, Judged, judge
from pyeval.pictures import Figure
from pyeval.vintages import (
    CAUSES,
    Series,
    families,
    run_series,
    runs,
    score_series,
    setting_differences,
    text_series,
)
from warehouse.errors import UserError
from warehouse.sources import runs_root


@dataclass(frozen=True, slots=True)
class Finding:
    """Something of one vintage that does not fit its family."""

    family: str
    year: int
    cause: str  # one of `CAUSES`
    what: str  # the measure or setting
    found: str  # as printed
    usual: str
    z: float | None  # against its neighbours; None for a setting

    def said(self) -> str:
        """One line."""
        by = "" if self.z is None else f" (z {self.z:+.1f})"
        where = f"{self.family}, vintage {self.year}: "
        return f"{where}{self.cause}: {self.what} is {self.found}, expected {self.usual}{by}"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A vintage with everything odd of it."""

    family: str
    year: int
    findings: tuple[Finding, ...]

    @property
    def cause(self) -> str:
        """The first in the order of making, so that it can explain the others."""
        return min((one.cause for one in self.findings), key=CAUSES.index)

    def said(self) -> list[str]:
        """A line of verdict, then one per finding."""
        if self.cause == "scores":
            verdict = "scores alone are odd; train it again with another --seed to see if it stays"
        else:
            verdict = f"look first at: {self.cause}"
        return [
            f"{self.family}, vintage {self.year}: odd; {verdict}",
            *(f"  {one.said().partition(': ')[2]}" for one in self.findings),
        ]


def measure(
    names: Sequence[str], *, documents: int, with_text: bool
) -> tuple[list[Series], list[Finding]]:
    """Everything measured of these vintages, and the settings in which they differ.

    Args:
        names: runs or scored models; all under RUNS_ROOT when empty.
        documents: that tokens and geometry are measured on, at most.
        with_text: false leaves out what needs the lake and the models.

    Raises:
        UserError: none of the names is a vintage, or one that was named is not there.
    """
    here, scored = runs(), _scored_models()
    known = sorted({*here, *scored})
    for name in names:
        if name not in known:
            from warehouse.errors import unknown

            raise unknown("vintage", name, known, "pytrain family --years 2013-2025")
    chosen = families(names or known)
    if not chosen:
        raise UserError(
            f"no vintage under {runs_root()}. Make some with: pytrain family --years 2013-2025"
        )
    series: list[Series] = []
    findings: list[Finding] = []
    for family, years in chosen.items():
        folders = {year: runs_root() / name for year, name in years.items() if name in here}
        series += run_series(family, folders)
        findings += _settings(family, folders)
        if with_text and len(folders) >= NEEDED:
            from warehouse.tables import Lake

            with Lake() as lake:
                models = {year: folder.name for year, folder in folders.items()}
                series += text_series(family, models, lake, documents)
    wanted = {name for years in chosen.values() for name in years.values()}
    rows = results.read_all() if scored else []
    series += score_series([row for row in rows if row["model"] in wanted])
    return series, findings


def odd_scores(rows: list[dict]) -> list[Finding]:
    """What the scores and the runs say by themselves, without the lake: for the report."""
    found = odd(score_series(rows))
    for family, years in families({row["model"] for row in rows}).items():
        folders = {y: runs_root() / n for y, n in years.items() if (runs_root() / n).is_dir()}
        found += odd(run_series(family, folders)) + _settings(family, folders)
    return sorted(found, key=lambda one: (one.family, one.year, CAUSES.index(one.cause)))


def odd(series: Iterable[Series]) -> list[Finding]:
    """The values that do not fit between their neighbours."""
    found = []
    for one in series:
        for year, judged in judge(one.values, one.floor).items():
            if judged.odd:
                found.append(_finding(one, year, judged))
    return found


def diagnose(findings: Iterable[Finding]) -> list[Diagnosis]:
    """The findings by vintage, each in the order of making."""
    held: dict[tuple[str, int], list[Finding]] = {}
    for one in findings:
        held.setdefault((one.family, one.year), []).append(one)
    return [
        Diagnosis(family, year, tuple(sorted(own, key=lambda one: CAUSES.index(one.cause))))
        for (family, year), own in sorted(held.items())
    ]


def values(series: Iterable[Series]) -> Iterable[dict]:
    """Each measured value with what its neighbours expect; nulls where there are too few."""
    for one in series:
        judged = judge(one.values, one.floor)
        for year, value in one.values.items():
            held = judged.get(year)
            yield {
                "family": one.family,
                "year": year,
                "cause": one.cause,
                "measure": one.name,
                "value": value,
                "expected": held.expected if held else None,
                "z": held.z if held else None,
                "odd": held.odd if held else None,
            }


def picture(series: Sequence[Series]) -> Figure:
    """A line per measure and family over the vintages, with those that do not fit.

    Raises:
        UserError: nothing was measured.
    """
    rows = list(values(series))
    if not rows:
        raise UserError(
            "nothing was measured of these vintages, so there is nothing to draw. "
            "Score them with: pyeval run MODEL"
        )
    caption = "Dotted: what the neighbours of a vintage lead to expect. Ringed: odd."
    return Figure("doctor", "Vintages by measure", caption, rows, curve_draw.measures)


def unjudged(series: Iterable[Series]) -> list[str]:
    """Families with too few vintages for any judgement."""
    most: dict[str, int] = {}
    for one in series:
        most[one.family] = max(most.get(one.family, 0), len(one.values))
    return [
        f"{family} has {n} vintage{'s' * (n > 1)}; to judge one by its neighbours takes {NEEDED}"
        for family, n in most.items()
        if n < NEEDED
    ]


def _scored_models() -> list[str]:
    """The names of the models that have scores."""
    return [name.partition("@")[0].partition("+")[0] for name in results.names()]


def _settings(family: str, folders: dict[int, Path]) -> list[Finding]:
    return [
        Finding(family, one.year, "settings", one.setting, one.value, one.usual, None)
        for one in setting_differences(family, folders)
    ]


def _finding(series: Series, year: int, judged: Judged) -> Finding:
    said = (f"{judged.value:.3f}", f"{judged.expected:.3f}")
    return Finding(series.family, year, series.cause, series.name, *said, judged.z)
