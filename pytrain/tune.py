"""Contrastive tuning of an encoder on the citation graph of its own cutoff.

From the masked-language model, which is the paper's chain, or from a fresh encoder whose token
table is the static vintage, which is what a small lake can afford.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from pytrain.batching import mean_pool
from pytrain.config import Settings
from pytrain.device import pick_dtype, prepare
from pytrain.export import export_model
from pytrain.graph import read_graph
from pytrain.layout import read_json, sha256_of
from pytrain.loop import Batch, Plan, train, warmup_stable_decay
from pytrain.mlm import count_parameters, new_model, optimizer_of
from pytrain.objectives import info_nce, triplet_margin
from pytrain.pairs import (
    example_documents,
    examples_of,
    kin_of,
    read_documents,
    read_examples,
)
from pytrain.parallel import join
from pytrain.quiet import quiet_transformers
from pytrain.run import Run, need_run
from pytrain.shared_loss import shared_loss, spread
from pytrain.static import SEED_TABLE
from pytrain.tokenizer import SPECIAL_TOKENS, damped, load_tokenizer, tokenizer_run
from pytrain.tune_batches import TuneBatches
from warehouse.errors import UserError
from warehouse.tables import Lake

if TYPE_CHECKING:
    from transformers import ModernBertModel

    from pytrain.graph_config import TuneSettings

Init = Literal["base", "static"]


def contrastive_loss(
    model: nn.Module, batch: Batch, temperature: float, margin: float | None = None
) -> Tensor:
    """The loss of a group of token ids: anchors first, then their candidates.

    Pooling and cosines are taken in float32 whatever the products inside the model are in.

    Args:
        model: the encoder.
        batch: of `TuneBatches`.
        temperature: of InfoNCE.
        margin: of triplets, where the batch has them.
    """
    hidden = model(
        input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
    ).last_hidden_state
    with torch.autocast(hidden.device.type, enabled=False):
        vectors = F.normalize(mean_pool(hidden, batch["attention_mask"]), dim=1)
        n = len(batch["shared"])
        if "triplets" in batch:
            anchor, negative = batch["triplets"].unbind(1)
            sides = (vectors[anchor], vectors[n + anchor], vectors[n + negative])
            return triplet_margin(*sides, margin)
        return info_nce(vectors[:n], vectors[n:], batch["shared"], temperature)


def _loss(model: nn.Module, batch: Batch, own: "TuneSettings") -> Tensor:
    if "spread" in batch:
        return shared_loss(model, batch, own.temperature)
    return contrastive_loss(model, batch, own.temperature, own.margin)


def base_encoder(folder: Path, tokenizer_folder: Path) -> "ModernBertModel":
    """The encoder of a masked-language model.

    Raises:
        UserError: the model was trained with another tokenizer than the vintage's.
    """
    from transformers import ModernBertForMaskedLM

    own = read_json(folder / "model" / "scitlake.json")
    if own.get("tokenizer_sha256") != sha256_of(tokenizer_folder / "tokenizer.json"):
        raise UserError(
            f"{folder.name} was trained with another tokenizer than {tokenizer_folder.name}. "
            f"Train it again: pytrain pretrain --year {own.get('cutoff')} --force"
        )
    with quiet_transformers():
        whole = ModernBertForMaskedLM.from_pretrained(folder / "model", dtype=torch.float32)
    return whole.model


def seeded_encoder(settings: Settings, table: np.ndarray, seed: int) -> "ModernBertModel":
    """A fresh encoder with the token vectors of the static vintage.

    Its output projections are scaled down, so that at first a text is little more than the
    mean of its tokens. ModernBERT's norm after the embedding takes the length out of each
    token, which is why the table must have been trained with tokens of equal length.

    Args:
        settings: `seeded` has the shape beside the width of the table.
        table: (V, D) unit rows, zero for the special tokens, which stay as they are drawn.
        seed: of the other weights.
    """
    own = settings.seeded
    shape = {"layers": own.layers, "heads": own.heads, "intermediate": own.intermediate}
    mlm = replace(settings.mlm, hidden=table.shape[1], **shape)
    model = new_model(replace(settings, mlm=mlm), seed).model
    first = len(SPECIAL_TOKENS)
    rows = torch.from_numpy(table) * (own.table_std * table.shape[1] ** 0.5)
    with torch.no_grad():
        model.embeddings.tok_embeddings.weight[first : len(table)] = rows[first:]
        for name, weight in model.named_parameters():
            if name.endswith("Wo.weight"):
                weight *= own.output_scale
    return model


def _start(
    settings: Settings, year: int, seed: int, init: Init
) -> tuple["ModernBertModel", Path, Path]:
    """The encoder to tune, the run it comes from, and the tokenizer's."""
    tokenizer_folder = tokenizer_run(settings, year, seed)
    if init == "base":
        parent = need_run(settings, year, "pretrain", seed)
        return base_encoder(parent, tokenizer_folder), parent, tokenizer_folder
    parent = need_run(settings, year, "static", seed)
    if not (parent / SEED_TABLE).is_file():
        raise UserError(
            f"run {parent.name} has no table to seed an encoder with. Train it again: pytrain "
            f"static --year {year} --preset {settings.preset} --set static.seed_table=true --force"
        )
    table = load_file(parent / SEED_TABLE)["embedding.weight"].numpy()
    return seeded_encoder(settings, table, seed), parent, tokenizer_folder


def _batches(
    lake: Lake,
    year: int,
    own: "TuneSettings",
    neighbours: Path | None,
    tokenizer_folder: Path,
    seed: int,
) -> TuneBatches:
    table = read_examples(neighbours) if neighbours is not None else None
    documents = read_documents(
        lake,
        year,
        own.pairs,
        needed=np.empty(0, np.int64) if table is None else example_documents(table),
        text_pairs=own.title_share + own.description_share > 0,
        later=own.description_share > 0,
    )
    graph = read_graph(lake, year) if table is not None and own.pairs.mask_neighbours else None
    kin = kin_of(documents, table, graph, own.pairs)
    examples = None
    if table is not None:
        examples = examples_of(table, documents, own.hard_negatives, own.random_negatives)
    tokenizer = damped(load_tokenizer(tokenizer_folder), own.repeats)
    return TuneBatches(documents, examples, kin, tokenizer, own, seed)


def run(
    settings: Settings,
    year: int,
    *,
    seed: int = 0,
    force: bool = False,
    init: Init = "base",
    resume: bool = False,
) -> Path:
    """Tune the encoder of a cutoff; the run's folder.

    Started by `torchrun`, its processes share the work; the first of them writes.

    Raises:
        UserError: a run it builds on is not there, or a loss is not finite.
    """
    device = prepare(settings)
    everyone = join(device)
    own, stage = (settings.tune, "ci") if init == "base" else (settings.seeded, "static-ci")
    model, parent, tokenizer_folder = _start(settings, year, seed, init)
    parents, neighbours = [parent], None
    if own.graph_share:
        neighbours = need_run(settings, year, "neighbours", seed)
        parents.append(neighbours)
    how = {"seed": seed, "force": force, "resume": resume, "main": everyone.main}
    with (
        Lake() as lake,
        Run(stage, settings, year, parents=parents, lake=lake, **how) as made,
    ):
        everyone.wait()
        batches = _batches(lake, year, own, neighbours, tokenizer_folder, seed)
        made.note(**batches.summary())
        model = model.to(device)
        dtype = pick_dtype(settings.dtype, device)
        alone = everyone.size == 1
        losses = train(
            model,
            lambda network, batch: _loss(network, batch, own),
            batches.step if alone else lambda step: [spread(one) for one in batches.step(step)],
            optimizer_of(model, own),
            made,
            Plan(
                steps=own.steps,
                peak_lr=own.peak_lr,
                schedule=lambda share: warmup_stable_decay(share, own.phases, own.decay),
                clip=own.clip,
                dtype=dtype,
                log_every=own.log_every,
                save_every=own.save_every,
            ),
            resume_from=made.checkpoint,
        )
        if not everyone.main:
            return made.final
        last = losses[-max(1, len(losses) // 10) :]
        made.note(parameters=count_parameters(model), last_loss=sum(last) / len(last), init=init)
        made.note(dtype=str(dtype), device=device.type, threads=torch.get_num_threads())
        made.note(processes=everyone.size)
        made.note(temperature=own.temperature, tuned_at_length=own.max_length)
        made.note(objective=own.objective, candidates=own.candidates, gather=own.gather)
        export_model(
            made,
            model,
            tokenizer_folder,
            max_length=settings.mlm.max_length,
            repeats=own.repeats,
        )
    return made.final
