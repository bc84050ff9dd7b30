"""One training loop for every objective."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import torch
from torch import Tensor, nn

from pytrain.checkpoint import load_checkpoint, save_checkpoint
from pytrain.device import autocast
from pytrain.parallel import world
from pytrain.run import Run
from warehouse.errors import UserError

Batch = dict[str, Tensor]


def warmup_stable_decay(
    fraction: float, phases: tuple[int, int, int] = (1, 40, 6), decay: str = "cosine"
) -> float:
    """The share of the peak learning rate after a share of the training.

    Args:
        fraction: of the token (or step) budget behind us, 0..1.
        phases: lengths of warm-up, plateau and decay, in any unit.
        decay: "cosine" or "linear", from 1 to 0.

    Source: paper, "Pre-training": warm-up, stable and cosine decay in the ratio 1:40:6.
    """
    warmup, stable, last = (length / sum(phases) for length in phases)
    if fraction < warmup:
        return fraction / warmup
    if fraction <= warmup + stable:
        return 1.0
    left = max(0.0, 1.0 - fraction) / last
    return (1.0 - math.cos(math.pi * left)) / 2 if decay == "cosine" else left


def linear_decay(fraction: float) -> float:
    """From 1 to 0."""
    return max(0.0, 1.0 - fraction)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long and how fast to train."""

    steps: int
    peak_lr: float
    schedule: Callable[[float], float]  # share of the budget behind -> share of peak_lr
    clip: float = 1.0  # gradient norm
    dtype: torch.dtype = torch.float32  # of matrix products
    log_every: int = 10  # steps
    save_every: int = 0  # steps; 0: no checkpoint


def train(
    model: nn.Module,
    loss_of: Callable[[nn.Module, Batch], Tensor],
    batches: Callable[[int], Sequence[Batch]],
    optimizer: torch.optim.Optimizer,
    run: Run,
    plan: Plan,
    *,
    resume_from: Path | None = None,
    after_step: Callable[[int], None] | None = None,
) -> list[float]:
    """Take `plan.steps` steps; the loss of each.

    Args:
        model: trained in place, on the device where it is.
        loss_of: (model, micro-batch) -> () mean loss over the micro-batch.
        batches: step -> its micro-batches. It depends on nothing but the step, so that a run
            resumes without replaying. A micro-batch may carry "weight", its share of the step
            (else all are equal), "doc_id", named when a loss is not finite, "n_tokens", where
            "attention_mask" does not tell them, and "spread", when every process is to take its
            own part of it: `loss_of` then gives that part's share of the mean. Other
            micro-batches go to the processes in turn.
        optimizer: its groups may have "lr_scale", a factor on the learning rate.
        run: logs, and holds the checkpoints.
        plan: lengths, rates, precision.
        resume_from: a checkpoint folder of this very training.
        after_step: called with the step after each update.

    Raises:
        UserError: a loss or gradient is not finite; names the step and the documents.
    """
    device, everyone = next(model.parameters()).device, world()
    start, losses, progress = 0, [], Progress(run, plan)
    run.bind_inputs()
    if resume_from is not None:
        start, losses = load_checkpoint(resume_from, model, optimizer)
        run.note(resumed_from_step=start)
    model.train()
    for step in range(start, plan.steps):
        share = plan.schedule((step + 0.5) / plan.steps)
        for group in optimizer.param_groups:
            group["lr"] = plan.peak_lr * share * group.get("lr_scale", 1.0)
        total, micro_batches = torch.zeros((), device=device), batches(step)
        for i, (batch, weight) in enumerate(
            zip(micro_batches, _weights(micro_batches), strict=True)
        ):
            if i % everyone.size != everyone.rank and "spread" not in batch:
                continue
            on_device = {name: value.to(device, non_blocking=True) for name, value in batch.items()}
            with autocast(device, plan.dtype):
                loss = loss_of(model, on_device) * weight
            loss.backward()
            total += loss.detach()
        total = everyone.sum(total)
        everyone.sum_gradients(model.parameters())
        norm = nn.utils.clip_grad_norm_(model.parameters(), plan.clip)
        _check_finite(step, total, norm, micro_batches)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if after_step is not None:
            after_step(step)
        losses.append(float(total))
        progress.update(step, losses[-1], float(norm), plan.peak_lr * share, micro_batches)
        if plan.save_every and (step + 1) % plan.save_every == 0 and everyone.main:
            save_checkpoint(run.folder, step + 1, model, optimizer, losses)
    return losses


def _weights(micro_batches: Sequence[Batch]) -> list[float]:
    """The share of each micro-batch in its step's loss; they sum to one."""
    given = [float(batch["weight"]) if "weight" in batch else 1.0 for batch in micro_batches]
    return [one / sum(given) for one in given]


def _check_finite(step: int, loss: Tensor, norm: Tensor, micro_batches: Iterable[Batch]) -> None:
    if torch.isfinite(loss) and torch.isfinite(norm):
        return
    found = [batch["doc_id"] for batch in micro_batches if "doc_id" in batch]
    ids = sorted({int(one) for tensor in found for one in tensor.flatten()})
    named = ", ".join(map(str, ids[:20])) + (", ..." if len(ids) > 20 else "")
    raise UserError(
        f"step {step}: loss {float(loss):g}, gradient norm {float(norm):g}. Documents of the "
        f"step: {named or 'not known'}. Lower the rate, as in: --set mlm.peak_lr=1e-4"
    )


class Progress:
    """One line on stderr: step, loss, rate, gradient norm, tokens per second, time left."""

    def __init__(self, run: Run, plan: Plan) -> None:
        """Start the clock."""
        self._run, self._plan = run, plan
        self._started = self._shown = time.monotonic()
        self._tokens, self._first = 0, None

    def update(
        self, step: int, loss: float, norm: float, lr: float, micro_batches: Iterable[Batch]
    ) -> None:
        """Count a step, and log it when due."""
        self._first = step if self._first is None else self._first
        for batch in micro_batches:
            if "n_tokens" in batch:
                self._tokens += int(batch["n_tokens"])
            elif "attention_mask" in batch:
                self._tokens += int(batch["attention_mask"].sum())
        if not self._run.main:
            return
        last = step + 1 == self._plan.steps
        if step % self._plan.log_every and not last:
            return
        seconds = max(time.monotonic() - self._started, 1e-9)
        rate = self._tokens / seconds
        self._run.log(step, loss=loss, lr=lr, grad_norm=norm, tokens_per_second=round(rate, 1))
        if time.monotonic() - self._shown < 5 and not last:
            return
        self._shown = time.monotonic()
        left = seconds / (step + 1 - self._first) * (self._plan.steps - step - 1)
        click.echo(
            f"{self._run.name}: step {step + 1}/{self._plan.steps} loss {loss:.4f} lr {lr:.2e} "
            f"norm {norm:.2f} {rate:,.0f} tokens/s {left:,.0f} s left",
            err=True,
        )
