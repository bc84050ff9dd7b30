"""From plain YAML values to frozen dataclasses, and back, with errors a person can mend."""

import types
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from math import isfinite
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from warehouse.errors import UserError, unknown

T = TypeVar("T")


def require(true: bool, message: str) -> None:
    """Raise what a person can mend unless a condition on settings holds."""
    if not true:
        raise UserError(f"{message} See every setting with: pytrain plan --year 2013")


# Numbers that may be 0: a 0 switches off what they count or scale.
_MAY_BE_ZERO = frozenset({
    "save_every", "whiten_on", "hard_negatives", "random_negatives", "cross_positives", "min_lr",
    "weight_decay", "description_start", "body_start", "min_characters", "min_tokens", "margin",
    "auc_max_nodes", "output_scale", "phases", "passes", "betas",
})  # fmt: skip


def check_numbers(settings: Any, prefix: str = "") -> None:
    """Raise unless every number of some settings is one that can be meant.

    Numbers are finite and above 0, those of `_MAY_BE_ZERO` and shares at least 0, and shares at
    most 1. What else a setting must be, its own dataclass says.

    Raises:
        UserError: the setting, what it must be and what it is.
    """
    for item in fields(settings):
        value, key = getattr(settings, item.name), prefix + item.name
        if is_dataclass(value):
            check_numbers(value, f"{key}.")
            continue
        share = item.name.endswith("share") or prefix.endswith("mixture.")
        lowest_is_zero = share or item.name in _MAY_BE_ZERO
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, bool) or not isinstance(one, int | float):
                continue
            fits = isfinite(one) and (one >= 0 if lowest_is_zero else one > 0)
            most = " and at most 1" if share else ""
            least = "at least 0" if lowest_is_zero else "above 0"
            require(
                fits and not (share and one > 1), f"{key} must be {least}{most}, not {value!r}."
            )


def nested(settings: Any) -> dict[str, Any]:
    """The dataclass as plain dictionaries, lists and scalars."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in asdict(settings, dict_factory=_plain).items()
    }


def _plain(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in items}


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dictionaries as one of dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def known_keys(kind: type, prefix: str = "") -> list[str]:
    """Every dotted key of a dataclass of settings."""
    hints, keys = get_type_hints(kind), []
    for item in fields(kind):
        inner = hints[item.name]
        deeper = is_dataclass(inner)
        keys += known_keys(inner, f"{prefix}{item.name}.") if deeper else [prefix + item.name]
    return keys


def changed(settings: T, values: Mapping[str, Any]) -> T:
    """A copy of `settings` with the dotted keys of `values` changed.

    Raises:
        UserError: an unknown key, or a value of the wrong kind.
    """
    keys = known_keys(type(settings))
    for key in values:
        if key not in keys:
            raise unknown("setting", key, keys, "pytrain plan --year 2013")
    made = _changed(settings, values, "")
    check_numbers(made)
    return made


def _changed(settings: T, values: Mapping[str, Any], prefix: str) -> T:
    hints, new = get_type_hints(type(settings)), {}
    for item in fields(settings):  # type: ignore[arg-type]
        key, kind = prefix + item.name, hints[item.name]
        if is_dataclass(kind):
            if any(other.startswith(f"{key}.") for other in values):
                new[item.name] = _changed(getattr(settings, item.name), values, f"{key}.")
        elif key in values:
            new[item.name] = coerce(values[key], kind, key)
    return replace(settings, **new)  # type: ignore[type-var]


def coerce(value: Any, kind: Any, key: str) -> Any:
    """The value as `kind`: bool, int, float, str, Literal, tuple or a union with None."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        return coerce(value, next(one for one in inner if one is not type(None)), key)
    if origin is Literal:
        if value in inner:
            return value
        raise unknown(f"value of {key}", str(value), map(str, inner), f"--set {key}={inner[0]}")
    if origin is tuple and isinstance(value, list | tuple):
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        if len(kinds) == len(value):
            return tuple(coerce(*pair, key) for pair in zip(value, kinds, strict=True))
    try:
        if kind in (int, float) and not isinstance(value, bool):
            number = float(value)  # "3e-4" is a string in YAML 1.1
            if kind is float or number.is_integer():
                return kind(value) if isinstance(value, int) else kind(number)
    except (TypeError, ValueError):
        pass  # the error below says what was expected
    if kind in (bool, str) and isinstance(value, kind):
        return value
    name = getattr(kind, "__name__", str(kind))
    raise UserError(f"setting {key} takes {name}, not {value!r}. Example: --set {key}=...")
