"""The micro-batches of contrastive tuning: a function of data, seed and step alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from tokenizers import Tokenizer

from pytrain.batching import pad
from pytrain.draws import ExampleDraws, PassDraws, kinds_of
from pytrain.kin import Kin
from pytrain.loop import Batch
from pytrain.pairs import Documents, Examples
from pytrain.tokenizer import CLS, PAD, SEP

if TYPE_CHECKING:
    from pytrain.graph_config import TuneSettings

KINDS = ("graph", "title", "description")
# The texts of the two sides of a pair, joined by [SEP] where there are several.
_SIDES = {
    "graph": (("titles", "abstracts"), ("titles", "abstracts")),
    "title": (("titles",), ("abstracts",)),
    "description": (("abstracts",), ("later",)),
}


class TuneBatches:
    """Graph examples and, where the settings give them a share, text pairs.

    A micro-batch holds one kind of pair: its negatives are then of the kind of its positives.
    """

    def __init__(
        self,
        documents: Documents,
        examples: Examples | None,
        kin: Kin,
        tokenizer: Tokenizer,
        settings: "TuneSettings",
        seed: int,
    ) -> None:
        """Lay out which kind comes when.

        Args:
            documents: all that may be drawn, with their texts.
            examples: None where graph pairs have no share.
            kin: who is never whose negative.
            tokenizer: of the model.
            settings: batch, shares and lengths.
            seed: of the draws.
        """
        self._documents, self._examples, self._kin = documents, examples, kin
        self._tokenizer, self._settings = tokenizer, settings
        self.per_step = settings.batch // settings.micro_batch
        self._rows = {
            "title": np.flatnonzero(documents.in_pairs),
            "description": np.flatnonzero(documents.in_pairs & (np.array(documents.later) != "")),
        }
        self._passes = {
            name: PassDraws(documents.doc_ids[rows], seed, 41 + i)
            for i, (name, rows) in enumerate(self._rows.items())
        }
        shares = [
            settings.graph_share if examples is not None else 0.0,
            settings.title_share if len(self._rows["title"]) else 0.0,
            settings.description_share if len(self._rows["description"]) else 0.0,
        ]
        self.kinds = kinds_of(shares, settings.steps * self.per_step)
        if examples is not None:
            ids = documents.doc_ids[examples.anchors]
            self._graph = ExampleDraws(ids, examples.is_paper, settings.paper_share, seed)

    def step(self, step: int) -> list[Batch]:
        """The micro-batches of a step."""
        first = step * self.per_step
        return [self.micro_batch(i) for i in range(first, first + self.per_step)]

    def drawn(self, number: int) -> tuple[str, np.ndarray, np.ndarray]:
        """Kind of a micro-batch, rows of its B anchors, and of its candidates.

        The first B candidates are the positives, the rest explicit negatives.
        """
        kind, n = KINDS[self.kinds[number]], self._settings.micro_batch
        place = int((self.kinds[:number] == self.kinds[number]).sum()) * n
        if kind != "graph":
            rows = self._rows[kind][self._passes[kind].rows(place, n)]
            return kind, rows, rows
        drawn = self._graph.examples(place, n)
        negatives = self._examples.negatives[drawn].ravel()
        candidates = np.concatenate([self._examples.positives[drawn], negatives[negatives >= 0]])
        return kind, self._examples.anchors[drawn], candidates

    def micro_batch(self, number: int) -> Batch:
        """Token ids of anchors, then candidates; what is shared; the anchors' documents."""
        kind, anchors, candidates = self.drawn(number)
        mine, theirs = _SIDES[kind]
        rows = self._ids(anchors, mine) + self._ids(candidates, theirs)
        shared = torch.from_numpy(self._kin.shared(anchors, candidates))
        doc_ids = torch.from_numpy(self._documents.doc_ids[anchors])
        return pad(rows, PAD) | {"shared": shared, "doc_id": doc_ids}

    def _ids(self, rows: np.ndarray, names: Sequence[str]) -> list[np.ndarray]:
        """Token ids with [CLS] and [SEP] around, as the exported model reads a text."""
        parts = []
        for name in names:
            texts = getattr(self._documents, name)
            found = self._tokenizer.encode_batch_fast(
                [texts[row] for row in rows], add_special_tokens=False
            )
            parts.append([one.ids for one in found])
        room = self._settings.max_length - 2
        joined = (
            parts[0] if len(parts) == 1 else [[*a, SEP, *b] for a, b in zip(*parts, strict=True)]
        )
        return [np.array([CLS, *ids[:room], SEP], np.int64) for ids in joined]

    def summary(self) -> dict[str, object]:
        """How many micro-batches of each kind, and how often an anchor is drawn (for run.json)."""
        counts = {kind: int((self.kinds == i).sum()) for i, kind in enumerate(KINDS)}
        if not counts["graph"]:
            return {"micro_batches": counts}
        drawn = self._graph.examples(0, counts["graph"] * self._settings.micro_batch)
        anchors, is_paper = self._examples.anchors[drawn], self._examples.is_paper[drawn]
        table = {}
        for name, mask in (("paper", is_paper), ("patent", ~is_paper)):
            here = self._examples.is_paper == (name == "paper")
            pool = len(np.unique(self._examples.anchors[here]))
            table[name] = {"draws": int(mask.sum()), "anchors": pool}
            table[name]["draws_per_anchor"] = round(int(mask.sum()) / pool, 4) if pool else None
            table[name]["anchors_drawn"] = len(np.unique(anchors[mask]))
        return {"micro_batches": counts, "anchors": table}
