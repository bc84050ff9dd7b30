"""The table of faults in the docs: complete for the sample's faults, and its tests are there."""

import re

import yaml

from warehouse.sample import FAULTS
from warehouse.sources import project_dir

ROOT = project_dir()
# Raw tables of papers and of the web, which the part on patents does not speak of.
PAPER_SIDE = ("s2ag/", "s2orc", "openalex/", "fineweb_edu")
CELLS = re.compile(r"`([a-z0-9_]+)`")


def table_rows() -> list[list[str]]:
    """The cells of every row of the page's tables."""
    text = (ROOT / "dbt_project/docs/faults.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in rows if row[0] not in ("fault", "---")]


def known_tests() -> set[str]:
    """Functions of tests/ and unit tests of models_sql/."""
    names = set()
    for path in (ROOT / "tests").glob("test_*.py"):
        names |= set(re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    for path in (ROOT / "models_sql").rglob("*.yml"):
        declared = yaml.safe_load(path.read_text(encoding="utf-8"))
        names |= {test["name"] for test in declared.get("unit_tests", [])}
    return names


def test_each_row_names_handling_and_tests_that_are_there():
    names = known_tests()
    for row in table_rows():
        assert len(row) == 4, row
        tests = CELLS.findall(row[3])
        assert tests and set(tests) <= names, row
        assert row[1], row


def test_every_fault_that_the_sample_plants_is_in_the_table():
    listed = {name for row in table_rows() for name in CELLS.findall(row[2])}
    planted = {f.name for f in FAULTS if not f.table.startswith(PAPER_SIDE)}
    assert planted <= listed
    assert listed <= {fault.name for fault in FAULTS}
