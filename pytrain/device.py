"""Where and how exactly the numbers are computed: device, threads, precision, random streams."""

import contextlib
import hashlib
from typing import Protocol

import torch

from warehouse.allocator import keep_freed_memory
from warehouse.errors import UserError


class Precision(Protocol):
    """The settings read here; `pytrain.config.Settings` has them."""

    device: str
    dtype: str
    threads: int | None
    deterministic: bool


def pick_device(setting: str) -> torch.device:
    """The device of "auto", "cpu" or "cuda"."""
    if setting == "cuda" and not torch.cuda.is_available():
        raise UserError("device is cuda, but torch finds no GPU. Use: --set device=cpu")
    if setting == "auto":
        setting = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(setting)


def has_bf16(device: torch.device) -> bool:
    """Whether bfloat16 arithmetic is a gain.

    On CPUs only where it has matrix units. With the dot products of AVX-512 alone a training step
    took 1.6 times as long as in float32, and embedding 1.5 times (4 layers of 256, one thread).
    """
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return bool(torch.cpu.get_capabilities().get("amx_bf16"))


def pick_dtype(setting: str, device: torch.device) -> torch.dtype:
    """The dtype of matrix products for "auto", "fp32" or "bf16"; weights stay float32."""
    if setting == "bf16" or (setting == "auto" and has_bf16(device)):
        return torch.bfloat16
    return torch.float32


def attention_for(device: torch.device, dtype: torch.dtype) -> str:
    """How attention is computed: over the real tokens alone where a GPU has the kernels for it.

    Those take a batch without its padding; elsewhere padding is masked. Both give the same
    vectors within the rounding of bfloat16.
    """
    if device.type == "cuda" and dtype == torch.bfloat16:
        from transformers.utils import is_flash_attn_2_available

        if is_flash_attn_2_available():
            return "flash_attention_2"
    return "sdpa"


def autocast(device: torch.device, dtype: torch.dtype) -> contextlib.AbstractContextManager:
    """The context in which a forward pass runs."""
    if dtype == torch.float32:
        return contextlib.nullcontext()
    return torch.autocast(device.type, dtype)


def prepare(settings: Precision) -> torch.device:
    """Set threads, determinism and memory for this process; the device to compute on.

    On CPU, deterministic means: the same bytes for the same number of threads.
    """
    keep_freed_memory()
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    device = pick_device(settings.device)
    torch.use_deterministic_algorithms(settings.deterministic and device.type == "cpu")
    # Filling fresh memory with NaN finds reads of it, costs a quarter, and changes no result.
    torch.utils.deterministic.fill_uninitialized_memory = False
    return device


def derived_seed(seed: int, *names: object) -> int:
    """A seed for one named use, below 2^63, by sha256; unrelated to that of any other name."""
    text = ":".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def generator(seed: int, *names: object) -> torch.Generator:
    """A random stream of its own for one named use (CPU)."""
    return torch.Generator().manual_seed(derived_seed(seed, *names))
