"""Stages run on the tiny lake: those before static and tune, and any on a lake and its prefix."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_lake import make_tiny_lake

from pytrain import neighbours, node2vec, tokenizer
from pytrain.config import Settings, load_settings

YEAR = 2012


def settings_of(*overrides: str) -> Settings:
    """The tiny preset, without the second training for link prediction."""
    return load_settings("tiny", ["node2vec.report_auc=false", *overrides])


def use(patch: pytest.MonkeyPatch, root: Path) -> None:
    """Point the environment at the lake and the runs of a folder."""
    patch.setenv("SCITLAKE_WAREHOUSE", str(root / "lake"))
    patch.setenv("RUNS_ROOT", str(root / "runs"))


def make_parents(root: Path, last_year: int = 2015) -> Path:
    """A lake that ends in `last_year` and the runs of 2012 up to the examples."""
    with pytest.MonkeyPatch.context() as patch:
        use(patch, root)
        make_tiny_lake(root / "lake", last_year)
        for stage in (tokenizer, node2vec, neighbours):
            stage.run(settings_of(), YEAR, seed=0, force=False)
    return root


def on_two_lakes(root: Path, *stages: Callable[[], object]) -> Path:
    """Run stages on a lake to 2015 (`runs-whole`) and on one to 2012 (`runs-prefix`)."""
    for name, last in (("whole", 2015), ("prefix", YEAR)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SCITLAKE_WAREHOUSE", str(make_tiny_lake(root / name, last)))
            patch.setenv("RUNS_ROOT", str(root / f"runs-{name}"))
            for stage in stages:
                stage()
    return root
