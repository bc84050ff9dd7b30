"""The page that `lake docs` writes: nothing on it is undescribed, and it ends at every command."""

import importlib
import json
import re

import pytest

from warehouse.sources import project_dir

PACKAGES = {"lake": "warehouse", "pytrain": "pytrain", "pyeval": "pyeval"}
# They make the lake or look at its models; no table flows into them.
MAKERS = {"lake_sample", "lake_build", "lake_docs", "lake_lineage"}


@pytest.fixture(scope="module")
def manifest(sample_lake):
    return json.loads((sample_lake / "target" / "manifest.json").read_text(encoding="utf-8"))


def commands():
    return {
        f"{command}_{name}".replace("-", "_")
        for command, package in PACKAGES.items()
        for name in importlib.import_module(f"{package}.cli").cli.commands
    }


def test_every_command_is_an_exposure_and_every_exposure_a_command(manifest):
    exposed = {exposure["name"] for exposure in manifest["exposures"].values()}
    assert exposed == commands() - MAKERS
    for exposure in manifest["exposures"].values():
        assert exposure["depends_on"]["nodes"], exposure["name"]
        words = exposure["label"].split()[:2]
        assert "_".join(words).replace("-", "_") == exposure["name"]


def test_every_table_and_column_is_described(manifest):
    nodes = [n for n in manifest["nodes"].values() if n["resource_type"] in ("model", "seed")]
    bare = [n["name"] for n in [*nodes, *manifest["sources"].values(),
                                *manifest["functions"].values(), *manifest["exposures"].values()]
            if not n["description"].strip()]  # fmt: skip
    bare += [
        f"{n['name']}.{column['name']}"
        for n in [*nodes, *manifest["sources"].values()]
        for column in n["columns"].values()
        if not column["description"].strip()
    ]
    assert bare == []
    assert [n["name"] for n in nodes if not n["columns"]] == []
    assert len(nodes) > 80


def test_every_rule_of_the_docs_stands_in_a_description():
    folder = project_dir()
    rules = set()
    for path in (folder / "dbt_project" / "docs").glob("*.md"):
        rules |= set(re.findall(r"{% docs (rule_\w+) %}", path.read_text(encoding="utf-8")))
    said = "".join(
        path.read_text(encoding="utf-8")
        for place in ("models_sql", "dbt_project")
        for path in (folder / place).rglob("*.yml")
    )
    used = set(re.findall(r"doc\('(rule_\w+)'\)", said))
    assert len(rules) >= 8
    assert used >= rules


def test_every_raw_file_leads_to_a_command(manifest):
    """Lineage from raw file to command: each source table is above some exposure."""
    below = manifest["child_map"]

    def reaches(node, seen):
        seen.add(node)
        return node.startswith("exposure.") or any(
            reaches(child, seen) for child in below.get(node, ()) if child not in seen
        )

    assert [name for name in manifest["sources"] if not reaches(name, set())] == []
