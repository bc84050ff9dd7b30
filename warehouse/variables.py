"""The settings of the lake: dbt's variables, as a person may change them with `--set`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.errors import UserError, unknown
from warehouse.sources import project_dir

HELP = "lake build --help"
MOST = 2**31 - 1  # what an INTEGER of DuckDB holds
TEXT = re.compile(r"[\w.:=+-]{1,100}")  # it stands between quotes in SQL


def defaults() -> dict[str, Any]:
    """Every setting with its value in dbt_project.yml."""
    import yaml

    text = (project_dir() / "dbt_project.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["vars"]


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` pairs as dbt variables; values are YAML: numbers, true, null, text.

    Raises:
        UserError: a pair without `=` or with a value that is no YAML, or a key given twice.
    """
    import yaml

    known, settings = defaults(), {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UserError(f"{pair!r} is no key=value. Write for example: --set min_cited=1")
        if key in settings:
            raise UserError(f"{key} is set twice. Give it once: --set {key}=...")
        try:
            settings[key] = value if isinstance(known.get(key), str) else yaml.safe_load(value)
        except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that is none
            raise UserError(
                f"the value of {pair!r} cannot be read: it is no number, true, false, null or "
                f"text. Write for example: --set {key}={_shown(known.get(key, 1))}"
            ) from error
    return settings


def check_variables(variables: Mapping[str, Any]) -> None:
    """Raise for what dbt would ignore, or only trip over in the middle of a build.

    Raises:
        UserError: a setting that dbt_project.yml does not name, or a value of another kind than
            the one there.
    """
    known = defaults()
    for name, value in variables.items():
        if name not in known:
            raise unknown("setting of the lake", name, known, HELP)
        if wanted := _misfit(known[name], value):
            raise UserError(
                f"{name} is {wanted}, not {_shown(value)}. Write for example: "
                f"--set {name}={_shown(known[name])}"
            )


def effective(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting with its value in a build, changed or not."""
    return {**defaults(), **variables}


def _misfit(default: Any, value: Any) -> str | None:
    """What a setting must be, or None when the value is that."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "true or false"
    if isinstance(default, str):
        fits = isinstance(value, str) and TEXT.fullmatch(value)
        return None if fits else "text of up to 100 letters, digits and the signs . : = + - _"
    if default is None:
        fits = value is None or whole and 1 <= value <= 9999
        return None if fits else "a year or null"
    if isinstance(default, int):
        return None if whole and 0 <= value <= MOST else f"a whole number from 0 to {MOST}"
    most = 1 if default <= 1 else MOST  # shares, and one number of tokens per word
    number = whole or isinstance(value, float)  # not a number compares false
    return None if number and 0 <= value <= most else f"a number from 0 to {most}"


def _shown(value: Any) -> str:
    """A value as one would write it in `--set`."""
    named = {None: "null", True: "true", False: "false"}
    return named[value] if value is None or isinstance(value, bool) else str(value)
