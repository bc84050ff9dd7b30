"""`pytrain plan`: the arithmetic of the paper, and lines through what was measured."""

import json

import pytest
from click.testing import CliRunner

from pytrain.cli import cli
from pytrain.config import load_settings
from pytrain.plan import (
    MEASURED,
    STAGES,
    budget,
    estimates,
    flops_per_token,
    line,
    training_gb,
)
from pytrain.scale import MACHINES, PAPER, machine
from warehouse.errors import UserError

SETTINGS = load_settings("paper")
PARAMETERS = 149_655_232


def test_three_sizes_of_every_stage_were_measured_and_the_line_passes_near_the_largest():
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert set(measured) == set(STAGES)
    for stage, runs in measured.items():
        sizes = [run["size"] for run in runs]
        assert len(sizes) == 3 and sizes == sorted(sizes) and sizes[2] >= 4 * sizes[0]
        seconds, _ = line(stage, sizes[2])
        assert seconds == pytest.approx(runs[2]["cpu_s"], rel=0.3), stage


def test_a_line_is_found_where_there_is_one():
    runs = [{"size": n, "cpu_s": 1 + 2 * n, "peak_gb": 0.5 + n / 10} for n in (1, 2, 4)]
    assert line("walks", 100, {"walks": runs}) == pytest.approx((201, 10.5))


def test_the_budget_is_a_pass_over_the_scarcest_primary_source_and_moves_with_the_mixture():
    tokens = {"s2orc": 90e9, "abstracts": 15e9, "uspto": 120e9, "fineweb_edu": 1e9}
    assert budget(SETTINGS.mlm, tokens) == pytest.approx(100e9)  # 15e9 at a share of 0.15
    del tokens["fineweb_edu"]  # its 10% go to the others
    assert budget(SETTINGS.mlm, tokens) == pytest.approx(90e9)
    fixed = load_settings("paper", ["mlm.tokens=47000000000"])
    assert budget(fixed.mlm, tokens) == 47e9


def test_a_hundred_billion_tokens_take_two_days_on_the_machine_of_the_paper():
    """6 x 110 M parameters outside the table x tokens, and what attention and decoder add."""
    bare = 6 * 22 * (4 * 768**2 + 3 * 768 * 1_152)
    assert flops_per_token(SETTINGS, 0.0) == pytest.approx(bare, rel=0.15)
    made = {
        one.stage: one for one in estimates(SETTINGS, PAPER, machine("a100-40gb-x4"), PARAMETERS)
    }
    assert made["pretrain"].hours == pytest.approx(50, rel=0.2)
    assert 5 < made["pretrain"].peak_gb < 40
    assert list(made) == [
        "tokenizer", "token cache", "pretrain", "walks", "skip-gram", "neighbours", "static",
        "tune", "tune --init static",
    ]  # fmt: skip
    assert all(one.hours > 0 and one.peak_gb > 0 for one in made.values())
    assert made["walks"].peak_gb == pytest.approx(5.1 + 0.6, rel=0.1)  # the CSR of 1.28e9 arcs


def test_weights_gradients_and_moments_are_sixteen_bytes_a_parameter():
    assert training_gb(SETTINGS, PARAMETERS, 0, 0.3) == pytest.approx(16 * 0.1497, rel=1e-3)


def test_an_unknown_machine_is_named_with_those_there_are():
    with pytest.raises(UserError, match="Did you mean 'h100-80gb"):
        machine("h100")
    assert all(one.devices >= 1 for one in MACHINES.values())


def test_plan_prints_a_line_per_stage(monkeypatch, tmp_path):
    from tiny_lake import make_tiny_lake

    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(make_tiny_lake(tmp_path / "lake")))
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    done = CliRunner().invoke(cli, ["plan", "--year", "2012", "--preset", "paper",
                                    "--machine", "a100-40gb-x4"])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "100,000,000,000 tokens\t190,735 steps" in done.output
    small = CliRunner().invoke(cli, ["plan", "--year", "2012", "--preset", "tiny"])
    assert small.exit_code == 0, small.output
    assert "this lake as of 2012" in small.output and "20,000 tokens\t20 steps" in small.output
    assert small.output.count("\nneighbours\t") == 2  # the run to make, and what it takes


def test_plan_of_many_years_is_the_plan_of_each(monkeypatch, tmp_path):
    from tiny_lake import make_tiny_lake

    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(make_tiny_lake(tmp_path / "lake")))
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    done = CliRunner().invoke(cli, ["plan", "--years", "2008-2010,2012", "--preset", "tiny"])
    assert done.exit_code == 0, done.output
    head, *rows, last = [line.split("\t") for line in done.stdout.splitlines()]
    table = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["year"] for row in table] == ["2008", "2009", "2010", "2012"]
    for row in table:
        one = CliRunner().invoke(cli, ["plan", "--year", row["year"], "--preset", "tiny"]).stdout
        stages = one.partition("stage\tsize\thours\tpeak GB\n")[2].splitlines()
        hours = {line.split("\t")[0]: float(line.split("\t")[2].replace(",", ""))
                 for line in stages if line.count("\t") >= 3}  # fmt: skip
        assert {name: float(row[f"{name} h"]) for name in hours} == pytest.approx(hours, rel=0.01)
        assert float(row["all h"]) == pytest.approx(sum(hours.values()), rel=0.01)
    hours = sum(float(row["all h"]) for row in table)
    assert last[1].startswith("4 vintages") and float(last[2].split()[0]) == pytest.approx(
        hours, rel=0.01
    )


@pytest.mark.parametrize("words", [[], ["--year", "2012", "--years", "2010-2012"]])
def test_plan_takes_a_year_or_years(words):
    done = CliRunner().invoke(cli, ["plan", "--preset", "tiny", *words])
    assert done.exit_code == 2 and "not both" in done.output


def test_plan_says_which_year_of_many_is_outside_the_lake(monkeypatch, tmp_path):
    from tiny_lake import make_tiny_lake

    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(make_tiny_lake(tmp_path / "lake")))
    done = CliRunner().invoke(cli, ["plan", "--years", "2012-2099", "--preset", "tiny"])
    assert done.exit_code == 2 and "is outside" in done.stderr and done.stdout == ""
