"""Which precision is chosen where nobody asks for one."""

import pytest
import torch

from pytrain.device import pick_dtype

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("features", "chosen"),
    [
        ({"amx_bf16": True, "avx512_bf16": True}, torch.bfloat16),
        ({"amx_bf16": False, "avx512_bf16": True}, torch.float32),  # measured slower there
        ({}, torch.float32),
    ],
)
def test_bfloat16_is_chosen_on_a_processor_with_matrix_units(monkeypatch, features, chosen):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: features)
    assert pick_dtype("auto", CPU) == chosen


@pytest.mark.parametrize(("setting", "chosen"), [("bf16", torch.bfloat16), ("fp32", torch.float32)])
def test_what_is_asked_for_is_what_is_used(setting, chosen):
    assert pick_dtype(setting, CPU) == chosen
