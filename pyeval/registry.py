"""The papers' baselines by name: where their weights are, how they pool, what year they claim.

A claim is not a proof: a row says what the authors say, and a model that names no year may know
any. The paper evaluates every encoder by the mean over its tokens, whatever its authors pool by
(scitbert.txt, "Evaluation setup"); so does `pyeval run` for the names of this table. A folder given
by its path keeps its own pooling.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import UserError
from warehouse.sources import runs_root

_LEXICAL = re.compile(r"random-|tfidf|bm25")
_FILES = ("*.json", "*.safetensors", "*.txt", "*.model", "1_Pooling/*", "2_Dense/*")


@dataclass(frozen=True, slots=True)
class Baseline:
    """One named encoder, or one family with a model a year (`{year}` in both names)."""

    name: str  # as `pyeval run` takes it
    hub_id: str
    tuned: bool  # on pairs of documents; false for masked language models
    released: int  # year; what an undated model may know at least up to is not later
    own_pooling: str  # of its authors
    years: tuple[int, int] | None = None  # first and last vintage of a family
    claims: str = "no cutoff"  # what its authors say of its text
    pooling: str = "mean"  # of the paper's evaluation

    @property
    def pattern(self) -> re.Pattern:
        """Matches the names of its models; group 1 is the year."""
        return re.compile(re.escape(self.name).replace(re.escape("{year}"), r"((?:19|20)\d\d)"))


BASELINES: tuple[Baseline, ...] = (
    Baseline("scibert", "allenai/scibert_scivocab_uncased", False, 2019, "cls"),
    Baseline("specter2", "allenai/specter2_base", True, 2022, "cls",
             claims="no cutoff; without an adapter, as the paper evaluates it"),
    Baseline("scincl", "malteos/scincl", True, 2022, "cls"),
    Baseline("paecter", "mpi-inno-comp/paecter", True, 2024, "mean"),
    Baseline("pat-specter", "mpi-inno-comp/pat_specter", True, 2024, "cls"),
    Baseline("bert-for-patents", "anferico/bert-for-patents", False, 2020, "cls"),
    Baseline("modernbert", "answerdotai/ModernBERT-base", False, 2024, "cls"),
    Baseline("chronobert-{year}", "manelalab/chrono-bert-v1-{year}1231", False, 2025, "cls",
             years=(1999, 2024), claims="text up to {year}; the tokenizer of ModernBERT, of 2024"),
    Baseline("scitbert-{year}", "gebhart/scitbert-{year}", False, 2026, "mean",
             years=(2013, 2025), claims="text and tokenizer up to {year}"),
    Baseline("scitbert-{year}-ci", "gebhart/scitbert-{year}-ci", True, 2026, "mean",
             years=(2013, 2025), claims="text, tokenizer and citations up to {year}"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Named:
    """One model of the registry."""

    name: str
    baseline: Baseline
    year: int | None  # that its authors claim

    @property
    def hub_id(self) -> str:
        """Its name on the hub."""
        return self.baseline.hub_id.format(year=self.year)


def find(name: str) -> Named | None:
    """The model of this name, or None.

    Raises:
        UserError: a family that has no model of the year.
    """
    for one in BASELINES:
        found = one.pattern.fullmatch(name)
        if found is None:
            continue
        if one.years is None:
            return Named(name, one, None)
        year = int(found[1])
        first, last = one.years
        if not first <= year <= last:
            raise UserError(f"{name}: this family has a model for each year {first}-{last}")
        return Named(name, one, year)
    return None


def is_tuned(model: str) -> bool:
    """Whether a scored system of this name saw pairs of documents; unknown names count as tuned."""
    known = next((one for one in BASELINES if one.pattern.match(model)), None)
    if known is not None:
        return known.tuned or model.endswith("-ci")
    return _LEXICAL.match(model) is None


def rows() -> Iterator[dict]:
    """The registry as `pyeval baselines` prints it."""
    for one in BASELINES:
        years = "" if one.years is None else "{}-{}".format(*one.years)
        yield {
            "name": one.name,
            "hub_id": one.hub_id,
            "tuned": one.tuned,
            "released": one.released,
            "years": years,
            "claims": one.claims.format(year="its year"),
            "pooling": one.pooling,
            "own_pooling": one.own_pooling,
            "here": ", ".join(_here(one)),
        }


def folder_of(named: Named) -> Path:
    """The folder of its weights: RUNS_ROOT/baselines/<name or hub id>, or the hub's.

    Raises:
        UserError: neither is there, and the hub cannot be reached.
    """
    places = [baselines_root() / part for part in (named.name, named.hub_id)]
    for place in places:
        if place.is_dir():
            return place
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HTTPError

    try:
        return Path(snapshot_download(named.hub_id, allow_patterns=list(_FILES)))
    except (OSError, HTTPError) as error:  # offline, not there, not allowed, not reached
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"{named.name} needs the weights of {named.hub_id}, which the hub does not give "
            f"({said}). Put its files (safetensors) into {places[0]}"
        ) from error


def baselines_root() -> Path:
    """Where local copies of baselines are looked for."""
    return runs_root() / "baselines"


def _here(one: Baseline) -> list[str]:
    """Its models that have a local folder."""
    root = baselines_root()
    found = {path.name for path in root.glob("*")} | {
        path.relative_to(root).as_posix() for path in root.glob("*/*")
    }
    if one.years is None:
        return [one.name] if found & {one.name, one.hub_id} else []
    named = (find(one.name.format(year=year)) for year in range(one.years[0], one.years[1] + 1))
    return [each.name for each in named if each and found & {each.name, each.hub_id}]
