"""The training loop: schedules by hand, resuming, accumulation, and stopping on a bad loss."""

import math

import pytest
import torch
from torch import nn

from pytrain.config import load_settings
from pytrain.loop import Plan, linear_decay, train, warmup_stable_decay
from pytrain.run import Run
from warehouse.errors import UserError


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    with Run("pretrain", load_settings("tiny"), 2012) as run:
        yield run


def _model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))


def _batches(step):
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(step))
    return [{"x": x[:2], "weight": torch.tensor(2.0)}, {"x": x[2:], "weight": torch.tensor(4.0)}]


def _loss(model, batch):
    return (model(batch["x"]) ** 2).mean()


def _train(run, model, **more):
    plan = Plan(steps=12, peak_lr=0.01, schedule=linear_decay, save_every=6)
    optimizer = torch.optim.AdamW(model.parameters())
    return train(model, _loss, _batches, optimizer, run, plan, **more)


def test_the_schedule_is_right_at_its_corners():
    assert warmup_stable_decay(0.0) == 0.0
    assert warmup_stable_decay(0.5 / 47) == pytest.approx(0.5)
    for fraction in (1 / 47, 20 / 47, 41 / 47):
        assert warmup_stable_decay(fraction) == pytest.approx(1.0)
    assert warmup_stable_decay(44 / 47) == pytest.approx(0.5)  # half of the cosine
    assert warmup_stable_decay(42.5 / 47) == pytest.approx((1 + math.cos(math.pi / 4)) / 2)
    assert warmup_stable_decay(42.5 / 47, decay="linear") == pytest.approx(0.75)
    assert warmup_stable_decay(1.0) == pytest.approx(0.0)
    assert warmup_stable_decay(0.5, (0, 1, 1)) == pytest.approx(1.0)
    assert warmup_stable_decay(1.0, (1, 1, 0)) == 1.0  # without decay the plateau lasts


def test_stopping_and_resuming_gives_the_weights_of_a_straight_run(run):
    straight = _model()
    losses = _train(run, straight)
    other = _model()
    resumed = _train(run, other, resume_from=run.folder / "checkpoints" / "step-000006")
    assert resumed == losses and len(losses) == 12
    for one, two in zip(straight.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)


def test_a_checkpoint_of_another_model_is_refused(run):
    _train(run, _model())
    with pytest.raises(UserError, match="another model"):
        wide = nn.Sequential(nn.Linear(4, 9), nn.Linear(9, 1))
        _train(run, wide, resume_from=run.folder / "checkpoints" / "step-000006")


def test_micro_batches_of_unequal_size_give_the_gradient_of_the_whole_batch(run):
    """Weighted by their rows, two micro-batches of 2 and 4 rows are one batch of 6."""
    plan = Plan(steps=1, peak_lr=1.0, schedule=lambda _: 1.0, clip=math.inf)

    def weights_after(batches):
        torch.manual_seed(0)
        model = nn.Linear(4, 1)
        train(model, _loss, batches, torch.optim.SGD(model.parameters()), run, plan)
        return model.weight.detach()

    whole = weights_after(lambda step: [{"x": torch.cat([b["x"] for b in _batches(step)])}])
    torch.testing.assert_close(weights_after(_batches), whole)


def test_the_rate_follows_the_schedule_and_the_gradient_is_clipped(run):
    """With SGD, the length of a step is the rate times the clipped gradient norm."""
    model = nn.Linear(4, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(100.0)
    seen = [model.weight.detach().clone()]
    plan = Plan(steps=4, peak_lr=0.5, schedule=lambda f: 1.0 - f, clip=1.0)
    optimizer = torch.optim.SGD(model.parameters())
    note = lambda step: seen.append(model.weight.detach().clone())  # noqa: E731
    train(model, _loss, _batches, optimizer, run, plan, after_step=note)
    moved = [float((b - a).norm()) for a, b in zip(seen, seen[1:], strict=False)]
    assert moved == pytest.approx([0.5 * (1 - (s + 0.5) / 4) for s in range(4)], rel=1e-4)


def test_a_loss_that_is_not_finite_stops_and_names_the_step_and_the_documents(run):
    def batches(step):
        x = torch.full((1, 4), math.inf if step == 2 else 1.0)
        return [{"x": x, "doc_id": torch.tensor([40 + step])}]

    model = nn.Linear(4, 1)
    plan = Plan(steps=5, peak_lr=0.1, schedule=linear_decay)
    with pytest.raises(UserError, match=r"step 2: .*Documents of the step: 42\."):
        train(model, _loss, batches, torch.optim.SGD(model.parameters()), run, plan)
