"""Faults injected into raw files end in a right table, in the quarantine, or in one message.

An ordinary run tries out a seeded few of the kinds; the whole is `slow`, and its results stand in
dbt_project/docs/faults_injected.md, which `python -m tests.mutate --out` writes.
"""

import random
import re
from pathlib import Path

import pytest
from fault_files import QUARANTINED, SAME, Broken
from fault_runs import LOST, WRONG, Bench, Fault, rounds
from mutate import run, table
from raw_small import copy_small

from warehouse.sources import project_dir

DOC = project_dir() / "dbt_project/docs/faults_injected.md"
SOME_TABLES = ("papers", "g_patent", "g_claims", "pcs_oa", "pages")  # one of each container
FEW = 3  # rounds, of one fault per table, in an ordinary run


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    home = tmp_path_factory.mktemp("faults")
    copy_small(None, home / "clean", 2, 5000)
    return Bench(home / "clean", home, SOME_TABLES)


def test_a_few_faults_end_as_they_must(bench):
    every = list(rounds(bench, seed=0))
    assert len({fault.kind for one in every for fault in one}) >= 150
    few = random.Random(0).sample(every, FEW)
    outcomes = [outcome for one in few for outcome in bench.try_out(one)]
    assert len(outcomes) > 2 * FEW
    assert [outcome for outcome in outcomes if not outcome.right] == []


def test_a_lost_record_and_a_wrong_one_are_seen(bench):
    """The control: a fault that takes a record away, and one that alters two, without a word."""
    faults = {fault.kind: fault for one in rounds(bench, 0, "records backwards") for fault in one
              if fault.file.table.name == "g_patent"}  # fmt: skip
    file = faults["the records backwards"].file
    header, lines = file.header, file.records
    first, second = lines[0], lines[1].replace("utility", "design")
    assert second != lines[1]
    for kept, touched, expected in (
        ([*lines[1:]], (), LOST),
        ([first, second, *lines[2:]], (0,), WRONG),
    ):
        text = "".join(f"{line}\n" for line in [header, *kept])
        broken = Broken(expect=(SAME, QUARANTINED), write=file.packed(text), touched=touched)
        (outcome,) = bench.try_out([Fault(file, "control", broken)])
        assert (outcome.outcome, outcome.right) == (expected, False)


@pytest.mark.slow
def test_every_fault_ends_as_it_must_and_as_the_docs_say(tmp_path):
    copy_small(None, tmp_path / "clean", 2, 5000)
    outcomes = run(Bench(tmp_path / "clean", tmp_path), seed=0)
    assert [outcome for outcome in outcomes if not outcome.right] == []
    kinds = {outcome.kind for outcome in outcomes}
    assert len(kinds) >= 100
    assert kinds <= documented()
    assert table(outcomes).count("\n") == len(kinds) + 2


def documented() -> set[str]:
    """The kinds of fault in the docs page."""
    page = Path(DOC).read_text(encoding="utf-8")
    return set(re.findall(r"^\| (.+?) \| \d+ \|", page, re.M))
