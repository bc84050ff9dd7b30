"""Which models and tests of the project read a setting, by what dbt's manifest says of them."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from warehouse.sources import project_dir

# var('min_cited'), var('observed_to_' ~ name), var(name)
VAR = re.compile(
    r"""(?<!\w)var\(\s*(?:(?P<quote>['"])(?P<name>\w+)(?P=quote)\s*(?P<rest>[,)~]))?"""
)


def readers(manifest: Mapping[str, Any], changed: Collection[str]) -> list[str] | None:
    """Names of the models, seeds, functions and tests whose own text or macros read a setting.

    What is built of them is not among them. A name that is only put together when dbt runs stands
    for every setting that it can be; hooks of the project's runs are left out, because they run
    in every build.

    Args:
        manifest: of dbt.
        changed: names of settings.

    Returns:
        In order; None when a YAML file reads a setting, for nobody knows then what follows.
    """
    if any(_reads(text, changed) for text in _yaml_texts()):
        return None
    macros = manifest["macros"]
    reading = {key for key, macro in macros.items() if _reads(macro["macro_sql"], changed)}
    found = set()
    for node in (*manifest["nodes"].values(), *manifest["functions"].values()):
        if node["resource_type"] == "operation":
            continue
        config = node["config"]
        kind = f"materialization_{config['materialized']}_"
        used = {key for key in macros if key.split(".")[-1].startswith(kind)}
        used |= set(node["depends_on"]["macros"])
        written = [node["raw_code"], json.dumps(node["unrendered_config"]).replace('\\"', '"')]
        if any(_reads(text, changed) for text in written) or reading & _reached(used, macros):
            found.add(node["name"])
    return sorted(found)


def _reads(text: str, changed: Collection[str]) -> bool:
    for match in VAR.finditer(text):
        name, rest = match["name"], match["rest"]
        if name is None or name in changed:
            return True
        if rest == "~" and any(one.startswith(name) for one in changed):
            return True
    return False


def _reached(starts: set[str], macros: Mapping[str, Any]) -> set[str]:
    """Macros that some macros call, and they themselves."""
    seen, todo = set(starts), list(starts)
    while todo:
        for name in macros.get(todo.pop(), {"depends_on": {"macros": []}})["depends_on"]["macros"]:
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def _yaml_texts() -> Iterator[str]:
    root = project_dir()
    yield (root / "dbt_project.yml").read_text(encoding="utf-8")
    for folder in ("models_sql", "dbt_project"):
        for path in sorted((root / folder).rglob("*.yml")):
            yield path.read_text(encoding="utf-8")
