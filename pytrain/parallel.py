"""Several processes on one training: `torchrun` starts them, each takes its share of a step.

Every process lays out the whole step, which is cheap, and computes its part; losses and gradients
are summed before the update. So the batches and their order do not depend on the number of
processes, and only the order of a sum does. Gradients travel once per step, after the last
micro-batch: hiding that behind the backward pass would gain under 1% of a step of half a million
tokens.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn

_BUCKET = 2**24  # numbers that travel at once: 64 MB


@dataclass(frozen=True)
class World:
    """How many processes train together, and which of them this is."""

    rank: int = 0
    size: int = 1

    @property
    def main(self) -> bool:
        """Whether this process writes the run: one of them does."""
        return self.rank == 0

    def rows(self, n: int) -> slice:
        """This process's part of n rows; the parts are in order and differ by at most one."""
        return slice(self.rank * n // self.size, (self.rank + 1) * n // self.size)

    def wait(self) -> None:
        """Go on when every process has come here."""
        if self.size > 1:
            dist.barrier()

    def sum(self, value: Tensor) -> Tensor:
        """The sum over the processes, the same bits in each; no gradient."""
        if self.size > 1:
            dist.all_reduce(value)
        return value

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace each gradient by its sum over the processes, in a few large messages.

        A parameter without a gradient in every process keeps none, as in one process.
        """
        if self.size == 1:
            return
        parameters = [one for one in parameters if one.requires_grad]
        used = torch.tensor(
            [one.grad is not None for one in parameters],
            dtype=torch.uint8,
            device=parameters[0].device,
        )
        dist.all_reduce(used, op=dist.ReduceOp.MAX)
        gradients = []
        for one, is_used in zip(parameters, used.tolist(), strict=True):
            if is_used:
                one.grad = torch.zeros_like(one) if one.grad is None else one.grad
                gradients.append(one.grad)
        for bucket in _buckets(gradients):
            flat = torch.cat([one.reshape(-1) for one in bucket])
            dist.all_reduce(flat)
            parts = flat.split([one.numel() for one in bucket])
            for one, part in zip(bucket, parts, strict=True):
                one.copy_(part.view_as(one))

    def gathered(self, part: Tensor, n: int) -> Tensor:
        """Rows of all processes, with their gradients.

        Args:
            part: (rows(n), D) this process's part.
            n: rows in all.

        Returns:
            (n, D); the gradient of a row is summed over the processes.
        """
        return part if self.size == 1 else _Gather.apply(part, n, self)


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, part: Tensor, n: int, world: World) -> Tensor:  # noqa: ANN001
        whole = part.new_zeros(n, part.shape[1])
        whole[world.rows(n)] = part
        dist.all_reduce(whole)
        ctx.mine = world.rows(n)
        return whole

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN001
        gradient = gradient.contiguous().clone()
        dist.all_reduce(gradient)
        return gradient[ctx.mine], None, None


def _buckets(tensors: list[Tensor]) -> list[list[Tensor]]:
    made: list[list[Tensor]] = []
    room = 0
    for one in tensors:
        if room < one.numel():
            made.append([])
            room = _BUCKET
        made[-1].append(one)
        room -= one.numel()
    return made


def world() -> World:
    """The processes that train together, of which this may be the only one."""
    if dist.is_available() and dist.is_initialized():
        return World(dist.get_rank(), dist.get_world_size())
    return World()


def join(device: torch.device) -> World:
    """Meet the processes that `torchrun` started; alone when it did not start this one.

    Args:
        device: cpu meets over gloo, cuda over nccl, each process on the GPU of its local rank.
    """
    if int(os.environ.get("WORLD_SIZE", 1)) > 1 and not dist.is_initialized():
        if device.type == "cuda":
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        # The first process may tokenise a corpus for days while the others wait; torchrun ends
        # them when one fails.
        patience = timedelta(days=7)
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=patience)
    return world()
