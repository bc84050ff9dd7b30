"""Versions of what made a result, for the record beside it."""

import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Python's version and those of the packages that are installed.

    A package that is not installed is left out: it belongs to an extra that was not needed.
    """
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
