"""Lists of years as a person writes them."""

from warehouse.errors import UserError


def years_of(text: str) -> list[int]:
    """The years of "2013-2025", "2013,2016" or both together, in order, once each.

    Raises:
        UserError: no such list.
    """
    years: set[int] = set()
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            years |= set(range(int(first), int(last or first) + 1))
    except ValueError as error:
        raise UserError(f"--years {text!r} is no list of years. Example: 2013-2025") from error
    if not years:
        raise UserError(f"--years {text!r} holds no year. Example: 2013-2025")
    return sorted(years)
