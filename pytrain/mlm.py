"""Masked-language-model pre-training of a ModernBERT from scratch, for one cutoff.

Source: paper, "Pre-training": ModernBERT-base, 512 tokens, truncated-normal initialisation scaled
by depth, 30% masking, warm-up, stable and cosine decay in the ratio 1:40:6.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from transformers import ModernBertConfig, ModernBertForMaskedLM

from pytrain.batching import best_fit, by_token_budget, pack, pad, segment_masks
from pytrain.config import MlmSettings, Settings
from pytrain.corpus import Corpus
from pytrain.device import attention_for, generator, pick_dtype, prepare
from pytrain.export import export_model
from pytrain.heldout import evaluate, years_of
from pytrain.loop import Batch, Plan, train, warmup_stable_decay
from pytrain.parallel import join
from pytrain.run import Run
from pytrain.token_cache import open_cache
from pytrain.token_vectors import seed_table, token_vectors
from pytrain.tokenizer import CLS, MASK, PAD, SEP, SPECIAL_TOKENS, load_tokenizer, tokenizer_run
from pytrain.whitening import whiten_model
from warehouse.sources import runs_root
from warehouse.tables import Lake

IGNORED = -100  # label of a token that is not predicted


def run(
    settings: Settings, year: int, *, seed: int = 0, force: bool = False, resume: bool = False
) -> Path:
    """Pre-train the base model of a cutoff; the run's folder.

    Started by `torchrun`, its processes share the work; the first of them writes.

    Raises:
        UserError: no tokenizer or text at the cutoff, or a loss that is not finite.
    """
    device, chosen = prepare(settings), settings.mlm
    everyone = join(device)
    parent = tokenizer_run(settings, year, seed)
    how = {"seed": seed, "force": force, "resume": resume, "main": everyone.main}
    with (
        Lake() as lake,
        Run("pretrain", settings, year, parents=[parent], lake=lake, **how) as made,
    ):
        for turn in (True, False):  # the first process makes the cache, then the others read it
            if everyone.main == turn:
                cache = open_cache(
                    lake,
                    year,
                    parent,
                    runs_root() / ".cache",
                    basis=chosen.basis,
                    licence_at_most=chosen.licence_at_most,
                    first_characters=chosen.first_characters,
                )
            everyone.wait()
        corpus = Corpus(cache, chosen, seed)
        made.note(sources=corpus.summary(), tokens=corpus.budget, steps=corpus.steps)
        if corpus.moved():
            made.note(moved_shares=corpus.moved())
            made.say(str(corpus.moved()))
        known = load_tokenizer(parent).get_vocab_size()
        model = new_model(settings, seed).to(device)
        if chosen.table == "skip-gram" and made.checkpoint is None:
            made.say("skip-gram vectors of the tokens, where the table starts")
            own = chosen.token_vectors
            share = chosen.held_out_share
            table = token_vectors(cache, own, known, chosen.hidden, seed, held_out_share=share)
            seed_table(model, table)
        dtype = pick_dtype(settings.dtype, device)
        attention = attention_for(device, dtype)
        model.set_attn_implementation(attention)
        # Kernels that take real tokens alone need no packing.
        packed = chosen.packing and attention != "flash_attention_2"
        plan = Plan(
            steps=corpus.steps,
            peak_lr=chosen.peak_lr,
            schedule=lambda share: warmup_stable_decay(share, chosen.phases, chosen.decay),
            clip=chosen.clip,
            dtype=dtype,
            log_every=chosen.log_every,
            save_every=chosen.save_every,
        )
        losses = train(
            model,
            masked_loss,
            lambda step: batches(corpus, step, known, packed=packed),
            optimizer_of(model, chosen),
            made,
            plan,
            resume_from=made.checkpoint,
        )
        if not everyone.main:
            return made.final
        last = losses[-max(1, len(losses) // 20) :]
        made.note(parameters=count_parameters(model), last_loss=sum(last) / len(last))
        made.note(dtype=str(dtype), device=device.type, threads=torch.get_num_threads())
        made.note(processes=everyone.size, attention=attention, packed=packed)
        if chosen.held_out_share:
            years = years_of(lake, year, cache, chosen)
            made.note(held_out=evaluate(model, cache, years, chosen, known, dtype))
        folder = export_model(made, model, parent, max_length=chosen.max_length)
        if chosen.whiten_on:
            whiten_model(made, folder, lake, chosen.whiten_on)
    return made.final


def model_config(settings: Settings) -> ModernBertConfig:
    """The shape of the model; rotary bases are written out, the library's own differ."""
    chosen = settings.mlm
    bases = {
        "full_attention": chosen.rope_theta_global,
        "sliding_attention": chosen.rope_theta_local,
    }
    return ModernBertConfig(
        vocab_size=settings.tokenizer.vocab_size,
        hidden_size=chosen.hidden,
        intermediate_size=chosen.intermediate,
        num_hidden_layers=chosen.layers,
        num_attention_heads=chosen.heads,
        max_position_embeddings=chosen.max_length,
        initializer_range=chosen.init_std,
        global_attn_every_n_layers=chosen.global_attention_every,
        local_attention=chosen.local_window,
        rope_parameters={
            kind: {"rope_type": "default", "rope_theta": base} for kind, base in bases.items()
        },
        pad_token_id=PAD,
        cls_token_id=CLS,
        sep_token_id=SEP,
        bos_token_id=CLS,
        eos_token_id=SEP,
        sparse_prediction=True,  # the decoder runs on masked tokens alone: 2-3x faster
        tie_word_embeddings=True,
    )


def new_model(settings: Settings, seed: int) -> ModernBertForMaskedLM:
    """A model with fresh weights, the same for the same seed."""
    model = ModernBertForMaskedLM(model_config(settings))
    initialise(model, generator(seed, "mlm", "weights"), settings.mlm)
    return model


def initialise(
    model: ModernBertForMaskedLM, random: torch.Generator, settings: MlmSettings
) -> None:
    """Truncated normal at two standard deviations, scaled by depth, in the order of the names.

    Input projections: `init_std`; output projections: over sqrt(2 * layers); the head before
    the tied decoder: `head_std`, or hidden^-0.5.

    Source: ModernBERT, `full_megatron`.
    """
    config = model.config
    std = config.initializer_range
    for name, weight in model.named_parameters():
        if weight.dim() < 2:
            nn.init.zeros_(weight) if name.endswith("bias") else nn.init.ones_(weight)
            continue
        if name.endswith("Wo.weight"):
            scale = std / math.sqrt(2 * config.num_hidden_layers)
        elif name.startswith("head."):
            scale = settings.head_std or config.hidden_size**-0.5
        elif "tok_embeddings" in name:
            scale = settings.embedding_std
        else:
            scale = std
        nn.init.trunc_normal_(weight, 0.0, scale, -2 * scale, 2 * scale, generator=random)


def optimizer_of(
    model: nn.Module, settings: MlmSettings, *, fused: bool = True
) -> torch.optim.AdamW:
    """AdamW with weight decay on the matrices alone, not on norms and biases."""
    parameters = [one for one in model.parameters() if one.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        groups, lr=settings.peak_lr, betas=settings.betas, eps=settings.eps, fused=fused
    )


def batches(corpus: Corpus, step: int, vocabulary: int, *, packed: bool = False) -> list[Batch]:
    """The masked micro-batches of a step: a function of corpus, seed and step alone.

    Args:
        corpus: of the slice.
        step: from 0.
        vocabulary: number of tokens that a random token is drawn from.
        packed: several pieces in each row of `max_length` tokens; else a row each, alike in
            length.
    """
    chosen, pieces = corpus.settings, corpus.drawn(step)
    random, made = generator(corpus.seed, "mlm", "mask", step), []
    for group, batch in (_packed if packed else _padded)(corpus, pieces):
        batch |= mask_tokens(batch["input_ids"], random, chosen, vocabulary)
        batch["doc_id"] = torch.from_numpy(np.array(corpus.doc_ids(pieces[group])))
        batch["weight"] = (batch["labels"] != IGNORED).sum().float()
        made.append(batch)
    return made


def _padded(corpus: Corpus, pieces: np.ndarray) -> Iterator[tuple[np.ndarray, Batch]]:
    for group in by_token_budget(corpus.pieces.lengths[pieces], corpus.settings.micro_tokens):
        yield group, pad((corpus.ids(piece) for piece in pieces[group]), PAD)


def _packed(corpus: Corpus, pieces: np.ndarray) -> Iterator[tuple[np.ndarray, Batch]]:
    width = corpus.settings.max_length
    rows = best_fit(corpus.pieces.lengths[pieces], width)
    at_once = max(1, corpus.settings.micro_tokens // width)
    for low in range(0, len(rows), at_once):
        some = rows[low : low + at_once]
        ids = [[corpus.ids(piece) for piece in pieces[row]] for row in some]
        yield np.concatenate(some), pack(ids, PAD, width)


def mask_tokens(
    ids: Tensor, random: torch.Generator, settings: MlmSettings, vocabulary: int
) -> dict[str, Tensor]:
    """Choose tokens to predict and corrupt them; special tokens and padding are left alone.

    Args:
        ids: (B, T) token ids.
        random: of the step.
        settings: shares of masked tokens, and of what becomes of them.
        vocabulary: number of tokens that a random token is drawn from.

    Returns:
        `input_ids` (B, T), 80% of the chosen [MASK], 10% random, 10% as they were; `labels`
        (B, T), the token where chosen, else -100. At least one token is chosen.
    """
    first = len(SPECIAL_TOKENS)
    normal = ids >= first
    draw = torch.rand(ids.shape, generator=random).masked_fill(~normal, 2.0)
    chosen = draw < settings.mask_share
    chosen.view(-1)[draw.argmin()] |= normal.any()  # a short batch too must have a loss
    fate = torch.rand(ids.shape, generator=random)
    other = torch.randint(first, vocabulary, ids.shape, generator=random)
    masked, replaced = settings.mask_token_share, settings.random_token_share
    seen = torch.where(chosen & (fate < masked), MASK, ids)
    becomes_random = chosen & (fate >= masked) & (fate < masked + replaced)
    seen = torch.where(becomes_random, other, seen)
    return {"input_ids": seen, "labels": torch.where(chosen, ids, IGNORED)}


def masked_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Mean cross-entropy over the chosen tokens, in nats; packed pieces do not see each other."""
    mask, more = batch["attention_mask"], {}
    if "segment_ids" in batch:
        mask = segment_masks(batch["segment_ids"], model.config.sliding_window)
        more = {"position_ids": batch["position_ids"]}
    return model(
        input_ids=batch["input_ids"], attention_mask=mask, labels=batch["labels"], **more
    ).loss


def count_parameters(model: nn.Module) -> int:
    """Parameters, a tied one once."""
    return sum(one.numel() for one in model.parameters())
