"""The scores and the geometry in a card."""

import numpy as np
import pytest

from pyeval.card import geometry, score_lines, with_scores
from pytrain.card import card_text
from warehouse.errors import UserError

RUN = {
    "cutoff": 2012, "name": "tiny-2012", "preset": "tiny", "seed": 0, "stage": "pretrain",
    "command": "pytrain pretrain", "wall_seconds": 3.0, "deterministic": True, "parents": [],
    "tables_read": [{"name": "pretrain_text", "rows": 1234, "latest_known_year": 2012,
                     "cutoff": 2012, "fingerprint": "ab" * 32}],
    "notes": {
        "sources": {"abstracts": {"tokens": 5000, "share_given": 1.0, "passes": 1.5}},
        "held_out": [{"source": "all", "year": 0, "documents": 7, "tokens": 90, "loss": 2.5,
                      "pseudo_perplexity": 12.18}],
    },
}  # fmt: skip
OWN = {"cutoff": 2012, "text_template": "{title}{sep}{abstract}", "pooling": "mean",
       "max_length": 64}  # fmt: skip


def row(column: str, value: float | None, **more) -> dict:
    return {"task": "patent_cite", "metric": "map", "column": column, "value": value, "low": None,
            "high": None, "contaminated": False, "n": 12} | more  # fmt: skip


def test_the_geometry_is_right_where_it_is_known():
    axes = np.concatenate([np.eye(8), -np.eye(8)]).astype(np.float32)
    lies = geometry(axes)
    assert lies["mean_cosine"] == pytest.approx(-8 / (16 * 15 / 2))  # 8 opposite pairs of 120
    assert lies["effective_rank"] == pytest.approx(8)
    assert lies["first_share"] == pytest.approx(1 / 8)
    same = geometry(np.tile(np.array([[0.6, 0.8]], np.float32), (5, 1)))
    assert same["mean_cosine"] == pytest.approx(1.0) and same["effective_rank"] == pytest.approx(1)


def test_a_card_names_every_part_and_starts_with_the_cutoff():
    text = card_text(RUN, OWN, {"mlm.layers": 2})
    body = text.split("---\n", 2)[2].strip().splitlines()
    assert body[0].endswith("knows nothing after 2012") and body[2].startswith("**Cutoff: 2012.**")
    for part in (
        "| pretrain_text | 1,234 | 2012 |", "- abstracts: ODC-BY", "| `mlm.layers` | 2 |",
        "## Scores\nNot scored yet. `pyeval run tiny-2012`", "| all | all | 7 | 2.5000 | 12.18 |",
        "## Limits", "@misc{tiny-2012,",
    ):  # fmt: skip
        assert part in text, part


def test_scores_take_the_place_of_the_note_and_of_earlier_scores():
    lies = {"mean_cosine": 0.25, "effective_rank": 40.0, "first_share": 0.1}
    rows = [row("in_time", 30.0, contaminated=True), row("out_of_time", 20.0, low=15.0, high=25.0)]
    once = with_scores(card_text(RUN, OWN, {}), rows, lies, 900)
    line = "| patent_cite | map | 20.0 [15.0, 25.0] | 30.0 (seen in training) | 12 |"
    assert line in once and "Not scored yet" not in once and "effective rank 40.0" in once
    assert "12.18" in once and "## Limits" in once
    again = with_scores(once, [row("out_of_time", 21.0)], lies, 900)
    assert "| 21.0 | no examples | 12 |" in again and line not in again
    assert again.count("## Scores") == 1


def test_an_empty_column_says_so_and_a_foreign_card_is_refused():
    assert score_lines([row("out_of_time", None)])[-1].count("no examples") == 2
    with pytest.raises(UserError, match="no section"):
        with_scores("# another card\n", [], {}, 0)
