"""`pyeval card`: scores and the geometry of its vectors, written into a model's card."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from warehouse.beside import file_beside
from warehouse.errors import UserError

DOCUMENTS = 1_000  # that the geometry is measured on
_SECTION = re.compile(r"(?<=^## Scores\n).*?(?=^## )", re.DOTALL | re.MULTILINE)


def geometry(vectors: NDArray[np.float32]) -> dict[str, float]:
    """How vectors lie: alike in direction, and in how many directions.

    Args:
        vectors: (N, D), of unit length, N >= 2.

    Returns:
        `mean_cosine` of two different rows; `effective_rank`, the exponential of the entropy of
        the covariance's eigenvalues; `first_share` of the variance, of the widest direction.

    Source: Roy and Vetterli (2007), "The effective rank".
    """
    exact, n = vectors.astype(np.float64), len(vectors)
    total = exact.sum(axis=0)
    spread = np.linalg.eigvalsh(np.cov(exact, rowvar=False, bias=True)).clip(min=0)
    shares = spread / spread.sum() if spread.sum() > 0 else np.eye(1, len(spread))[0]
    some = shares[shares > 0]
    return {
        "mean_cosine": float((total @ total - (exact**2).sum()) / (n * (n - 1))),
        "effective_rank": float(np.exp(-(some * np.log(some)).sum())),
        "first_share": float(shares.max()),
    }


def score_lines(rows: Sequence[dict]) -> list[str]:
    """A table of the tasks: out of time, in time, and how many examples out of time."""
    found: dict[tuple[str, str], dict[str, dict]] = {}
    for row in rows:
        found.setdefault((row["task"], row["metric"]), {})[row["column"]] = row
    lines = ["| task | metric | out of time | in time | n out of time |", "|---|---|---|---|---|"]
    for (task, metric), columns in found.items():
        cells = []
        for name in ("out_of_time", "in_time"):
            one = columns.get(name)
            if one is None or one["value"] is None:
                cells.append("no examples")
                continue
            interval = "" if one["low"] is None else f" [{one['low']:.1f}, {one['high']:.1f}]"
            mark = " (seen in training)" if one["contaminated"] else ""
            cells.append(f"{one['value']:.1f}{interval}{mark}")
        n = columns.get("out_of_time", {}).get("n", 0)
        lines.append(f"| {task} | {metric} | {' | '.join(cells)} | {n:,} |")
    return lines


def with_scores(card: str, rows: Sequence[dict], lies: dict[str, float], documents: int) -> str:
    """The card with its section on scores made anew.

    Raises:
        UserError: the card has no such section.
    """
    if not _SECTION.search(card):
        raise UserError("the card has no section '## Scores'. Train the model again.")
    told = (
        f"Of {documents:,} documents known by the cutoff: mean cosine of two of them "
        f"{lies['mean_cosine']:.3f}, effective rank {lies['effective_rank']:.1f} of the "
        f"dimensions, {100 * lies['first_share']:.1f}% of the variance in one direction."
    )
    text = "\n".join([*score_lines(rows), "", told, "", ""])
    return _SECTION.sub(lambda _: text, card)


def write_card(name: str, documents: int = DOCUMENTS) -> Path:
    """Put the scores of a run and the geometry of its vectors into its card; the card's path.

    Raises:
        UserError: no such model, no card, or it was not scored.
    """
    from pyeval.embed import sample_documents
    from pyeval.results import read_all
    from pyeval.systems import find_folder
    from pytrain.encoder import Encoder
    from warehouse.tables import Lake

    folder = find_folder(name)
    path = folder / "README.md" if (folder / "README.md").is_file() else folder / "model/README.md"
    if not path.is_file():
        raise UserError(f"{name} has no card: {path} is not there.")
    rows = read_all([name])
    encoder = Encoder.load(folder)
    if encoder.cutoff is None:
        raise UserError(f"{name} states no cutoff, so there are no documents to measure it on.")
    with Lake() as lake:
        chosen = sample_documents(lake, encoder.cutoff, documents, "card")
    vectors = encoder.embed(chosen.titles.to_pylist(), chosen.abstracts.to_pylist())
    text = with_scores(path.read_text(encoding="utf-8"), rows, geometry(vectors), len(vectors))
    with file_beside(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return path
