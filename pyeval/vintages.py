"""What is measured of each vintage of a family, for the doctor: from its run, scores and text."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np
import yaml

from pyeval.grid import grids, vintage_of, z_scores
from pyeval.paper_tasks import CATEGORIES, PaperTask
from warehouse.sources import runs_root

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from pyeval.embed import Documents
    from warehouse.tables import Lake

# From the first that could spoil the others to the last, which only shows it.
CAUSES = ("settings", "tokenizer", "text", "mixture", "fit", "geometry", "scores")


@dataclass(frozen=True, slots=True)
class Series:
    """One measure of the vintages of a family."""

    family: str
    cause: str  # one of `CAUSES`
    name: str
    floor: float  # the smallest spread worth speaking of
    values: dict[int, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting of one vintage that most others of its family do not have."""

    family: str
    year: int
    setting: str
    value: str
    usual: str


def families(names: Iterable[str]) -> dict[str, dict[int, str]]:
    """Family -> year -> name, of the names that are vintages."""
    found: dict[str, dict[int, str]] = {}
    for name in names:
        one = vintage_of(name)
        if one is not None:
            found.setdefault(one.family, {})[one.year] = name
    return {family: dict(sorted(years.items())) for family, years in sorted(found.items())}


def runs() -> list[str]:
    """The finished runs under RUNS_ROOT that hold a model."""
    found = (path.parent for path in runs_root().glob("*/run.json"))
    return sorted(path.name for path in found if (path / "model" / "scitlake.json").is_file())


def run_series(family: str, folders: dict[int, Path]) -> list[Series]:
    """Mixture (share and passes of each source) and loss on held-out text, from run.json."""
    notes = {year: _notes(folder) for year, folder in folders.items()}
    found = []
    sources = sorted({name for one in notes.values() for name in one.get("sources", {})})
    for source in sources:
        held = {
            y: one["sources"][source]
            for y, one in notes.items()
            if source in one.get("sources", {})
        }
        shares = {year: float(one["share_given"]) for year, one in held.items()}
        found.append(Series(family, "mixture", f"share of {source}", 0.01, shares))
        # A source grows by about the same factor each year, so its passes fall by one too.
        passes = {y: math.log2(one["passes"]) for y, one in held.items() if one["passes"] > 0}
        found.append(Series(family, "mixture", f"log2 of the passes of {source}", 0.1, passes))
    losses = {
        year: float(row["loss"])
        for year, one in notes.items()
        for row in one.get("held_out", ())
        if row["source"] == "all" and row["year"] == 0
    }
    if losses:
        found.append(Series(family, "fit", "loss on held-out text", 0.02, losses))
    return found


def setting_differences(family: str, folders: dict[int, Path]) -> list[Difference]:
    """The settings in which a vintage differs from more than half of its family."""
    said: dict[str, dict[int, str]] = {}
    for year, folder in folders.items():
        path = folder / "config.yaml"
        if path.is_file():
            for key, value in _flat(yaml.safe_load(path.read_text(encoding="utf-8"))):
                said.setdefault(key, {})[year] = value
    found = []
    said.pop("track", None)  # where the log goes changes no weight
    for key, values in sorted(said.items()):
        usual, times = Counter(values.values()).most_common(1)[0]
        if 2 * times > len(values) and len(values) > 2:
            found += [
                Difference(family, year, key, value, usual)
                for year, value in values.items()
                if value != usual
            ]
    return found


def score_series(rows: list[dict]) -> list[Series]:
    """The mean z-score of each vintage among its family, over all tasks and by category.

    Only tasks that every scored vintage of the family has, on one build, enter a mean.
    """
    found = []
    for grid in grids(rows):
        entries = [entry for entry in grid.entries if entry.vintage and not entry.whitened]
        for family in sorted({entry.vintage.family for entry in entries}):
            own: dict[int, str] = {}
            for entry in entries:
                # Of two sets of weights under one name, the one scored on more tasks.
                n = sum((entry.label, task.name) in grid.cells for task in grid.scored())
                best = own.get(entry.vintage.year)
                held = sum((best, task.name) in grid.cells for task in grid.scored())
                if entry.vintage.family == family and n and n > held:
                    own[entry.vintage.year] = entry.label
            z: dict[PaperTask, dict[str, float]] = {}
            for task in grid.scored():
                values = {label: grid.value(label, task.name) for label in own.values()}
                if None not in values.values():
                    z[task] = z_scores(values)
            found += _mean_series(family, own, {t: one for t, one in z.items() if one})
    return found


def text_series(family: str, models: dict[int, str], lake: "Lake", documents: int) -> list[Series]:
    """Tokens per word and geometry, on one text for all vintages, and of the text of each year.

    Two readings part the tokenizer from the text: each tokenizer on the documents that the first
    vintage knew, and the first tokenizer on the documents of each vintage's own last year.

    Args:
        family: of the series.
        models: name of the run by year.
        lake: where the documents are read.
        documents: drawn by hash, at most.
    """
    from pyeval.card import geometry
    from pyeval.embed import sample_documents
    from pytrain.encoder import Encoder

    first = min(models)
    fixed = sample_documents(lake, first, documents, "doctor")
    earliest: Tokenizer | None = None
    own: dict[int, float] = {}
    shift: dict[int, float] = {}
    lies: dict[str, dict[int, float]] = {"mean_cosine": {}, "effective_rank": {}}
    for year, name in sorted(models.items()):
        encoder = Encoder.load(runs_root() / name)
        earliest = earliest or encoder.tokenizer
        own[year] = tokens_per_word(encoder.tokenizer, fixed)
        recent = documents_of(lake, year, documents)
        if recent is not None:
            shift[year] = tokens_per_word(earliest, recent)
        vectors = encoder.embed(fixed.titles.to_pylist(), fixed.abstracts.to_pylist())
        shape = geometry(vectors)
        for key, values in lies.items():
            values[year] = shape[key]
    rank = 0.05 * median(lies["effective_rank"].values())
    found = [
        Series(
            family, "tokenizer", f"tokens per word of texts known by {first}",
            0.01 * median(own.values()), own,
        ),
        Series(family, "geometry", "mean cosine of two documents", 0.02, lies["mean_cosine"]),
        Series(family, "geometry", "effective rank", rank, lies["effective_rank"]),
    ]  # fmt: skip
    if shift:
        name = f"tokens per word of each year's texts, by the tokenizer of {first}"
        found.append(Series(family, "text", name, 0.01 * median(shift.values()), shift))
    return found


def tokens_per_word(tokenizer: "Tokenizer", documents: "Documents") -> float:
    """Tokens of titles and abstracts over words, which are what stands between white space."""
    titles, abstracts = documents.titles.to_pylist(), documents.abstracts.to_pylist()
    texts = [f"{title} {abstract}" for title, abstract in zip(titles, abstracts, strict=True)]
    whole = type(tokenizer).from_str(tokenizer.to_str())  # the encoder keeps its own limit
    whole.no_truncation()
    encoded = whole.encode_batch_fast(texts, add_special_tokens=False)
    return sum(len(one.ids) for one in encoded) / sum(len(text.split()) for text in texts)


def documents_of(lake: "Lake", year: int, at_most: int) -> "Documents | None":
    """Documents first known in a year, drawn by hash; None where there is none."""
    from pyeval.embed import read_documents
    from pyeval.labels import hash_order

    rows = lake.read("documents", ["doc_id", "known_year"], cutoff=year)
    ids = rows.column("doc_id").to_numpy()[rows.column("known_year").to_numpy() == year]
    if not len(ids):
        return None
    return read_documents(lake, np.sort(ids[hash_order(ids, "doctor")[:at_most]]), year)


def _mean_series(
    family: str, own: dict[int, str], z: dict[PaperTask, dict[str, float]]
) -> list[Series]:
    found = []
    for category in (None, *CATEGORIES):
        tasks = [task for task in z if category in (None, task.category)]
        if tasks:
            what = "" if category is None else f"{CATEGORIES[category].lower()} "
            name = f"mean z-score over {len(tasks)} {what}task{'s' * (len(tasks) > 1)}"
            values = {year: fmean(z[t][label] for t in tasks) for year, label in own.items()}
            found.append(Series(family, "scores", name, 0.4, dict(sorted(values.items()))))
    return found


def _notes(folder: Path) -> dict:
    path = folder / "run.json"
    return json.loads(path.read_text(encoding="utf-8"))["notes"] if path.is_file() else {}


def _flat(tree: object, before: str = "") -> Sequence[tuple[str, str]]:
    """The leaves of nested settings as (dotted name, text)."""
    if not isinstance(tree, dict):
        return [(before, str(tree))]
    return [
        leaf
        for key, value in tree.items()
        for leaf in _flat(value, f"{before}.{key}" if before else str(key))
    ]
