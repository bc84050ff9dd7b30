"""The micro-batches of contrastive tuning: a function of data, seed and step alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from tokenizers import Tokenizer

from pytrain.batching import pad
from pytrain.draws import CrossDraws, ExampleDraws, PassDraws, kinds_of
from pytrain.kin import Kin
from pytrain.loop import Batch
from pytrain.pairs import Documents, Examples
from pytrain.tokenizer import CLS, PAD, SEP
from warehouse.errors import UserError

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
    `gather` micro-batches make a group, which gives what that many devices would when each sends
    its positives, or all its documents, to the others: which of a group's candidates an anchor is
    told from is a mask, so the losses do not depend on how many processes share the groups out.
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

        Raises:
            UserError: a share of examples across types is asked for, and there are none.
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
        groups = settings.steps * self.per_step // settings.gather
        self.kinds = np.repeat(kinds_of(shares, groups), settings.gather)
        if examples is not None:
            self._graph = _graph_draws(documents.doc_ids, examples, settings, seed)

    def step(self, step: int) -> list[Batch]:
        """The groups of micro-batches of a step."""
        per_step = self.per_step // self._settings.gather
        return [self.group(i) for i in range(step * per_step, (step + 1) * per_step)]

    def drawn(self, number: int) -> tuple[str, np.ndarray, np.ndarray]:
        """Kind of a micro-batch, rows of its B anchors, and of its candidates.

        The first B candidates are the positives, the rest explicit negatives.
        """
        kind, anchors, candidates, _ = self._drawn(number)
        return kind, anchors, candidates

    def _drawn(self, number: int) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
        """`drawn`, and the anchor (0..B-1) that each candidate was drawn for."""
        kind, n = KINDS[self.kinds[number]], self._settings.micro_batch
        place = int((self.kinds[:number] == self.kinds[number]).sum()) * n
        if kind != "graph":
            rows = self._rows[kind][self._passes[kind].rows(place, n)]
            return kind, rows, rows, np.arange(n)
        drawn = self._graph.examples(place, n)
        negatives = self._examples.negatives[drawn]
        owner, column = np.nonzero(negatives >= 0)
        candidates = np.concatenate([self._examples.positives[drawn], negatives[owner, column]])
        owner = np.concatenate([np.arange(n), owner])
        return kind, self._examples.anchors[drawn], candidates, owner

    def group(self, number: int) -> Batch:
        """Token ids of anchors, then candidates; who is no negative; the anchors' documents.

        All positives come before all explicit negatives. `shared` is true also where the
        candidate is of another micro-batch and not sent to it.
        """
        n, first = self._settings.micro_batch, number * self._settings.gather
        made = [self._drawn(first + i) for i in range(self._settings.gather)]
        kind, anchors = made[0][0], np.concatenate([one[1] for one in made])
        parts = [(i, *one[2:]) for i, one in enumerate(made)]
        joined = [
            np.concatenate([values[:n] for values in column] + [values[n:] for values in column])
            for column in zip(*((rows, owner + i * n) for i, rows, owner in parts), strict=True)
        ]
        candidates, owner = joined
        shared = self._kin.shared(anchors, candidates)
        shared |= self._unsent(owner, len(anchors))
        mine, theirs = _SIDES[kind]
        rows = self._ids(anchors, mine) + self._ids(candidates, theirs)
        batch = pad(rows, PAD) | {"shared": torch.from_numpy(shared)}
        batch["doc_id"] = torch.from_numpy(self._documents.doc_ids[anchors])
        if self._settings.objective == "triplet":
            batch["triplets"] = torch.from_numpy(triplets_of(owner, shared))
        return batch

    def _unsent(self, owner: np.ndarray, n_anchors: int) -> np.ndarray:
        """(B, C) bool: candidates of another micro-batch that an anchor never sees."""
        n = self._settings.micro_batch
        away = np.arange(n_anchors)[:, None] // n != owner[None, :] // n
        if self._settings.candidates == "all":
            return np.zeros_like(away)
        if self._settings.candidates == "positives":
            away[:, :n_anchors] = False
        return away

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
        table = {"cross_type_share": round(float(self._examples.is_cross[drawn].mean()), 6)}
        for name, mask in (("paper", is_paper), ("patent", ~is_paper)):
            here = self._examples.is_paper == (name == "paper")
            pool = len(np.unique(self._examples.anchors[here]))
            table[name] = {"draws": int(mask.sum()), "anchors": pool}
            table[name]["draws_per_anchor"] = round(int(mask.sum()) / pool, 4) if pool else None
            table[name]["anchors_drawn"] = len(np.unique(anchors[mask]))
        return {"micro_batches": counts, "anchors": table}


def _graph_draws(
    doc_ids: np.ndarray, examples: Examples, settings: "TuneSettings", seed: int
) -> ExampleDraws | CrossDraws:
    ids, share = doc_ids[examples.anchors], settings.cross_type_share
    if share is None:
        return ExampleDraws(ids, examples.is_paper, settings.paper_share, seed)
    for kind, wanted in ((examples.is_cross, share), (~examples.is_cross, 1 - share)):
        if wanted and not kind.any():
            raise UserError(
                f"cross_type_share is {share}, and no example has a positive of "
                f"{'the other' if kind is examples.is_cross else 'its own'} type. "
                "Add some: --set neighbours.cross_positives=5, then pytrain neighbours --force"
            )
    shares = (settings.paper_share, share)
    return CrossDraws(ids, examples.is_paper, examples.is_cross, shares, seed)


def triplets_of(owner: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """(T, 2) int64 pairs (anchor, column of its negative).

    An anchor has a triplet for each negative drawn for it; where none was, one with the next
    candidate that is no kin of it.

    Args:
        owner: (C,) the anchor that each candidate was drawn for; the first B are the positives.
        shared: (B, C) bool, candidates that are no negatives.
    """
    n, columns = shared.shape
    drawn = np.arange(n, columns)
    drawn = drawn[~shared[owner[n:], drawn]]
    pairs = [np.stack([owner[drawn], drawn], axis=1)]
    for i in np.setdiff1d(np.arange(n), owner[drawn]):
        order = (i + np.arange(1, columns)) % columns
        fine = order[~shared[i, order]]
        pairs.append(np.array([[i, fine[0]]] if len(fine) else np.empty((0, 2)), np.int64))
    return np.concatenate(pairs)
