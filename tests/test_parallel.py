"""Several processes on one training: the same batches and losses as one, over gloo."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from graph_runs import YEAR, make_parents
from stopped_runs import _CONTEXT, kill_at, pretrain, process, resume, tune

from pytrain.parallel import World, join
from pytrain.run import read_log, read_run

MLM = ("mlm.tokens=51200", "mlm.log_every=1")  # 50 steps
TUNE = (*MLM, "tune.steps=50", "tune.log_every=1")


def _member(rank: int, size: int, port: int, root: str, work, words: tuple) -> None:
    """One of several processes, with the variables that torchrun sets."""
    os.environ |= {"SCITLAKE_WAREHOUSE": f"{root}/lake", "RUNS_ROOT": f"{root}/runs"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size)}
    work(*words)


def together(size: int, root, work, *words) -> list[int]:
    """Exit codes of `size` processes that run `work(*words)` as one, on the home `root`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = [
        _CONTEXT.Process(target=_member, args=(rank, size, port, str(root), work, words))
        for rank in range(size)
    ]
    for one in started:
        one.start()
    for one in started:
        one.join(600)
        if one.is_alive():  # the others failed
            one.kill()
            one.join()
    return [one.exitcode for one in started]


def losses(root, name: str) -> list[float]:
    return [line["loss"] for line in read_log(root / "runs" / name)]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The parents, the base and the tuned model of one process, and a copy for two."""
    root = make_parents(tmp_path_factory.mktemp("one"))
    for work, words in ((pretrain, MLM), (tune, TUNE)):
        begun = process(root, work, YEAR, words)
        begun.join()
        assert begun.exitcode == 0
    return root


@pytest.fixture
def two(root, tmp_path):
    """The same home without the base and without the tuned model."""
    shutil.copytree(root, tmp_path / "two")
    for name in ("tiny-2012", "tiny-2012-ci"):
        shutil.rmtree(tmp_path / "two" / "runs" / name)
    return tmp_path / "two"


def test_pretraining_by_torchrun_has_the_losses_of_one_process(root, two):
    words = [word for one in MLM for word in ("--set", one)]
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*launch, "--nproc-per-node", "2", "--no-python", "pytrain", "pretrain",
         "--year", str(YEAR), "--preset", "tiny", *words],
        env=os.environ | {"SCITLAKE_WAREHOUSE": str(two / "lake"), "RUNS_ROOT": str(two / "runs"),
                          "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("tiny-2012\n") == 1  # one of the two says what was made
    one, other = losses(root, "tiny-2012"), losses(two, "tiny-2012")
    assert len(one) == len(other) == 50
    assert other == pytest.approx(one, rel=1e-5)
    said = [read_run(home / "runs" / "tiny-2012") for home in (root, two)]
    assert [one["notes"]["processes"] for one in said] == [1, 2]
    assert said[0]["notes"]["sources"] == said[1]["notes"]["sources"]


def test_tuning_stopped_in_one_process_goes_on_in_three_with_the_same_losses(root, two):
    """The step stays two micro-batches of 8 examples, whatever the number of processes."""
    shutil.copytree(root / "runs" / "tiny-2012", two / "runs" / "tiny-2012")
    begun = process(two, tune, YEAR, (*TUNE, "tune.save_every=5"))
    partial = two / "runs" / "tiny-2012-ci.partial"
    assert kill_at(begun, partial, 12, 0.0)
    assert together(3, two, resume, "tiny-2012-ci") == [0, 0, 0]
    one, other = losses(root, "tiny-2012-ci"), losses(two, "tiny-2012-ci")
    assert len(one) == len(other) == 50
    assert other == pytest.approx(one, rel=1e-5)
    notes = read_run(two / "runs" / "tiny-2012-ci")["notes"]
    assert notes["processes"] == 3 and 10 <= notes["resumed_from_step"] < 50
    assert notes["anchors"] == read_run(root / "runs" / "tiny-2012-ci")["notes"]["anchors"]


def _sums() -> None:
    everyone = join(torch.device("cpu"))
    table = torch.nn.Parameter(torch.arange(12.0).reshape(4, 3))
    never = torch.nn.Parameter(torch.ones(2))
    mine = everyone.rows(4)
    whole = everyone.gathered(table[mine] * 2, 4)
    assert torch.equal(whole.detach(), table.detach() * 2)
    loss = (whole.sum(1) ** 2)[mine].sum()
    loss.backward()
    everyone.sum_gradients([table, never])
    assert never.grad is None
    expected = table.detach().clone().requires_grad_()
    ((expected * 2).sum(1) ** 2).sum().backward()
    torch.testing.assert_close(table.grad, expected.grad)
    assert float(everyone.sum(torch.tensor(1.0))) == everyone.size == 3


def test_gathered_rows_carry_their_gradients_and_sums_are_sums(tmp_path):
    assert together(3, tmp_path, _sums) == [0, 0, 0]


def test_the_parts_of_all_processes_are_the_rows_once_each():
    for n in (0, 1, 2, 7, 16):
        parts = [range(n)[World(rank, 3).rows(n)] for rank in range(3)]
        assert [i for part in parts for i in part] == list(range(n))
