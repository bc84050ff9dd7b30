"""The static vintage: contrastive token vectors, the fast sibling of every model.

It trains on thousands of pairs per second, where a small transformer sees tens, and on a small
lake it is the strongest encoder. A second table, of tokens of equal length, can seed one.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from pytrain.bags import Bags, TokenTable, as_tensors, bags_of, inverse_frequency, new_table
from pytrain.config import Settings
from pytrain.device import generator, prepare
from pytrain.draws import ExampleDraws, PassDraws, kinds_of
from pytrain.export import export_static
from pytrain.graph import read_graph
from pytrain.kin import Kin
from pytrain.loop import Batch, Plan, linear_decay, train
from pytrain.objectives import info_nce
from pytrain.pairs import (
    Documents,
    Examples,
    example_documents,
    examples_of,
    kin_of,
    read_documents,
    read_examples,
)
from pytrain.run import Run, need_run
from pytrain.tokenizer import load_tokenizer, tokenizer_run
from warehouse.tables import Lake, empty_slice

if TYPE_CHECKING:
    from pytrain.graph_config import StaticSettings

SEED_TABLE = "seed_table.safetensors"
KINDS = ("graph", "title", "description")


class StaticBatches:
    """The pairs of every step: each step holds one kind, in shares that are those of the data."""

    def __init__(
        self,
        documents: Documents,
        bags: dict[str, Bags],
        examples: Examples | None,
        kin: Kin,
        settings: "StaticSettings",
        seed: int,
    ) -> None:
        """Lay out which kind comes when.

        Args:
            documents: whose rows the bags follow.
            bags: "title", "abstract" and "later" texts of the documents.
            examples: graph pairs; None: text pairs alone.
            kin: who is never whose negative.
            settings: batch, passes and shares.
            seed: of the draws.
        """
        self._bags, self._kin, self._settings, self._seed = bags, kin, settings, seed
        self._doc_ids = documents.doc_ids
        self._rows = {
            "title": np.flatnonzero(documents.in_pairs),
            "description": np.flatnonzero(documents.in_pairs & (bags["later"].sizes > 0)),
        }
        self._passes = {
            name: PassDraws(documents.doc_ids[rows], seed, 31 + i)
            for i, (name, rows) in enumerate(self._rows.items())
        }
        self._examples = examples
        if examples is not None:
            ids = documents.doc_ids[examples.anchors]
            self._graph = ExampleDraws(ids, examples.is_paper, settings.paper_share, seed)

    def weights(self, size: int) -> np.ndarray:
        """(size,) inverse document frequencies in the abstracts."""
        return inverse_frequency(self._bags["abstract"].take(self._rows["title"]), size)

    def plan(self, epochs: float) -> np.ndarray:
        """(steps,) the kind of each step, as a number of `KINDS`."""
        n = [len(rows) for rows in self._rows.values()]
        text_steps = math.ceil(epochs * sum(n) / self._settings.batch)
        graph = self._settings.graph_step_share if self._examples is not None else 0.0
        shares = [graph, *((1 - graph) * one / sum(n) for one in n)]
        return kinds_of(shares, round(text_steps / (1 - graph)))

    def batch(self, kinds: np.ndarray, step: int) -> list[Batch]:
        """The one micro-batch of a step of the plan."""
        kind, size = KINDS[kinds[step]], self._settings.batch
        place = int((kinds[:step] == kinds[step]).sum()) * size
        if kind == "graph":
            drawn = self._graph.examples(place, size)
            anchor, positive = self._examples.anchors[drawn], self._examples.positives[drawn]
            sides = [self._whole(rows) for rows in (anchor, positive)]
        else:
            anchor = positive = self._rows[kind][self._passes[kind].rows(place, size)]
            names = ("title", "abstract") if kind == "title" else ("abstract", "later")
            sides = [self._bags[name].take(anchor) for name in names]
        shared = torch.from_numpy(self._kin.shared(anchor, positive))
        made = as_tensors("anchor", sides[0]) | as_tensors("candidate", sides[1])
        made |= {"shared": shared, "doc_id": torch.from_numpy(self._doc_ids[anchor])}
        n_tokens = sum(float(side.counts.sum()) for side in sides)
        return [made | {"n_tokens": torch.tensor(n_tokens)}]

    def _whole(self, rows: np.ndarray) -> Bags:
        """Title and abstract together, which is what is embedded later."""
        title, abstract = (self._bags[name].take(rows) for name in ("title", "abstract"))
        owner = np.concatenate(
            [np.repeat(np.arange(len(rows)), one.sizes) for one in (title, abstract)]
        )
        order = np.argsort(owner, kind="stable")
        both = title.sizes + abstract.sizes
        return Bags(
            starts=np.concatenate([[0], np.cumsum(both)]),
            tokens=np.concatenate([title.tokens, abstract.tokens])[order],
            counts=np.concatenate([title.counts, abstract.counts])[order],
        )


def pair_loss(model: nn.Module, batch: Batch, temperature: float) -> Tensor:
    """InfoNCE of a batch of pairs."""
    sides = [
        model(*(batch[f"{name}_{part}"] for part in ("tokens", "starts", "counts")))
        for name in ("anchor", "candidate")
    ]
    return info_nce(*sides, batch["shared"], temperature)


def train_table(
    batches: StaticBatches,
    table: np.ndarray,
    settings: "StaticSettings",
    made: Run,
    *,
    normalise: bool,
    epochs: float,
) -> np.ndarray:
    """(V, D) float32 token vectors, trained on the batches from those of `table`."""
    model = TokenTable(table, normalise=normalise)
    kinds = batches.plan(epochs)
    plan = Plan(
        steps=len(kinds),
        peak_lr=settings.lr,
        schedule=linear_decay,
        clip=math.inf,  # Adam's steps do not grow with the gradient
        log_every=settings.log_every,
    )
    losses = train(
        model,
        lambda network, batch: pair_loss(network, batch, settings.temperature),
        lambda step: batches.batch(kinds, step),
        torch.optim.Adam(model.parameters(), lr=settings.lr, fused=True),
        made,
        plan,
    )
    name = "unit_tokens" if normalise else "free_tokens"
    counts = {kind: int((kinds == i).sum()) for i, kind in enumerate(KINDS)}
    tail = losses[-max(1, len(losses) // 10) :]
    made.note(**{name: {"steps": counts, "last_loss": sum(tail) / len(tail)}})
    return model.table()


def run(settings: Settings, year: int, *, seed: int = 0, force: bool = False) -> Path:
    """Train the static vintage: `model/`, and the table that can seed an encoder."""
    own = settings.static
    prepare(settings)
    tokenizer_folder = tokenizer_run(settings, year, seed)
    parents = [tokenizer_folder]
    if own.graph_step_share:
        parents.append(need_run(settings, year, "neighbours", seed))
    with (
        Lake() as lake,
        Run("static", settings, year, seed=seed, parents=parents, lake=lake, force=force) as made,
    ):
        tokenizer = load_tokenizer(tokenizer_folder)
        batches = _read(lake, year, parents, own, tokenizer, seed, made)
        size = tokenizer.get_vocab_size()
        random = generator(seed, "static", "table")
        first = new_table(size, own.dimensions, own.init_std, random)
        if own.init_idf:
            first *= batches.weights(size)[:, None]
        table = train_table(
            batches, first, own, made, normalise=own.normalise_tokens, epochs=own.epochs
        )
        export_static(made, table, tokenizer_folder, repeats=own.repeats)
        if own.seed_table:
            random = generator(seed, "static", "seed table")
            first = new_table(size, own.seed_dimensions, own.seed_init_std, random)
            seeds = train_table(batches, first, own, made, normalise=True, epochs=own.seed_epochs)
            save_file({"embedding.weight": torch.from_numpy(seeds)}, made.folder / SEED_TABLE)
    return made.final


def _read(
    lake: Lake,
    year: int,
    parents: list[Path],
    settings: "StaticSettings",
    tokenizer: object,
    seed: int,
    made: Run,
) -> StaticBatches:
    table = read_examples(parents[1]) if len(parents) > 1 else None
    needed = np.empty(0, np.int64) if table is None else example_documents(table)
    documents = read_documents(
        lake, year, settings.pairs, needed=needed, text_pairs=True, later=True
    )
    texts = {"title": documents.titles, "abstract": documents.abstracts, "later": documents.later}
    bags = {
        name: bags_of(tokenizer, some, settings.max_length, settings.repeats)
        for name, some in texts.items()
    }
    if not (bags["title"].sizes[documents.in_pairs] > 0).any():
        raise empty_slice("documents", year, "text pairs")
    graph = read_graph(lake, year) if table is not None and settings.pairs.mask_neighbours else None
    examples = None if table is None else examples_of(table, documents, 0, 0)
    n_later = int((bags["later"].sizes[documents.in_pairs] > 0).sum())
    made.note(title_pairs=int(documents.in_pairs.sum()), description_pairs=n_later)
    made.say(
        f"{documents.in_pairs.sum():,} (title, abstract) and {n_later:,} (abstract, text) pairs"
    )
    kin = kin_of(documents, table, graph, settings.pairs)
    return StaticBatches(documents, bags, examples, kin, settings, seed)
