"""`lake plan` says what a larger run will take, within a factor of two of a measured one."""

import json

import pytest
from click.testing import CliRunner

from warehouse.cli import cli
from warehouse.plan import MEASURED, PAPER_EDGES, STAGES, plan

SIZES = json.loads(MEASURED.read_text(encoding="utf-8"))


def run(*arguments):
    found = CliRunner().invoke(cli, ["plan", *arguments])
    return found.exit_code, found.output


def test_a_measured_run_is_given_back_as_it_was():
    for size in SIZES:
        made = plan(size["edges"])
        assert {one.stage: round(one.cpu_s, 2) for one in made.stages} == {
            stage: size["stages"][stage]["cpu_s"] for stage in STAGES
        }
        assert made.file_gb == size["file_gb"]


def test_the_largest_run_was_foretold_by_the_next_smaller_within_a_factor_of_two():
    *smaller, largest = SIZES
    assert largest["edges"] > 5 * smaller[-1]["edges"]
    made = plan(largest["edges"], smaller)
    taken = {stage: largest["stages"][stage]["cpu_s"] for stage in STAGES}
    long = [one for one in made.stages if taken[one.stage] > 1]  # the others are start-up
    assert long
    for one in long:
        assert 0.5 < one.cpu_s / taken[one.stage] < 2, one
    assert 0.5 < made.file_gb / largest["file_gb"] < 2


def test_time_grows_with_n_log_n_by_hand():
    """Ten times the edges of 2**20 are 10 * log2(10 * 2**20) / 20 = 11.66 times the work."""
    stages = {stage: {"cpu_s": 2.0, "peak_gb": 1.0} for stage in STAGES}
    size = {"edges": 2**20, "file_gb": 0.5, "memory_limit": "2GB", "stages": stages}
    made = plan(10 * 2**20, [size])
    assert made.stages[0].cpu_s == pytest.approx(2 * 11.661, rel=1e-4)
    assert made.stages[0].peak_gb == 1.0
    assert made.file_gb == 5.0


def test_the_memory_of_every_stage_stayed_near_its_limit():
    assert all(size["stages"][stage]["peak_gb"] < 2.6 for size in SIZES for stage in STAGES)


def test_the_command_plans_for_the_graph_of_the_paper():
    code, said = run()
    assert code == 0
    assert all(stage in said for stage in STAGES)
    assert "642,000,000 edges" in said
    code, said = run("--edges", "1000000", "--json")
    assert json.loads(said)["edges"] == 1_000_000
    assert PAPER_EDGES == 642_000_000


def test_a_senseless_size_is_refused():
    code, said = run("--edges", "0")
    assert code == 2 and "--edges" in said and "0 is not in the range" in said
