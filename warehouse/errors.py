"""Errors that a person can mend: what was asked, what was found, what to do."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

import click


class UserError(click.ClickException):
    """Says what was asked, what was found, and the command that puts it right."""

    exit_code = 2


class CheckFailed(click.ClickException):
    """A check ran and said no (an audit, a data test, a drifted score)."""

    exit_code = 1


def unknown(kind: str, name: str, known: Iterable[str], fix: str) -> UserError:
    """An error for a misspelt name, with the nearest right one."""
    spelt = {one.lower(): one for one in known}
    near = get_close_matches(name.strip().lower(), list(spelt), n=1)
    guess = f" Did you mean {spelt[near[0]]!r}?" if near else ""
    return UserError(f"no {kind} is called {name!r}.{guess} Run: {fix}")


def idle_options(what: str, options: Mapping[str, object], fix: str = "Leave them out.") -> None:
    """Raise for options that were given where nothing would heed them.

    Args:
        what: what heeds none of them.
        options: what a person writes -> its value; None and False were not given.
        fix: what to do.

    Raises:
        UserError: names all of them.
    """
    given = [name for name, value in options.items() if value not in (None, False)]
    if given:
        raise UserError(f"{what} takes no account of {', '.join(given)}. {fix}")
