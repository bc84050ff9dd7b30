"""Which value of a short series over years does not follow from the others."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import median

NEEDED = 5  # values below which nothing is judged: a line and its spread need that many
NEIGHBOURS = 6  # nearest other years that a value is held against
THRESHOLD = 3.5  # Source: Iglewicz and Hoaglin (1993), on modified z-scores


@dataclass(frozen=True, slots=True)
class Judged:
    """One value against its neighbours."""

    value: float
    expected: float  # by the line through its neighbours
    z: float  # deviation in robust standard deviations of all values, or in floors
    odd: bool


def expected(series: Mapping[int, float], year: int) -> float:
    """The value of a year by the line through the nearest other years.

    The line is Theil and Sen's (median of the pairwise slopes), so that a slow trend is no oddity
    and one odd neighbour does not bend it.
    """
    near = sorted((other for other in series if other != year), key=lambda o: (abs(o - year), o))
    near = near[:NEIGHBOURS]
    slopes = [(series[b] - series[a]) / (b - a) for a, b in combinations(sorted(near), 2)]
    slope = median(slopes) if slopes else 0.0
    return median(series[other] - slope * (other - year) for other in near)


def judge(series: Mapping[int, float], floor: float) -> dict[int, Judged]:
    """Each value against its neighbours; empty for fewer than `NEEDED` values.

    The most deviating value is set aside and the others judged again without it, until none
    deviates or a third is set aside.

    Args:
        series: value by year.
        floor: the smallest spread worth speaking of, so that a series without noise does not
            make an oddity of a rounding.
    """
    if len(series) < NEEDED:
        return {}
    left = dict(series)
    while True:
        off = {year: left[year] - expected(left, year) for year in left}
        spread = max(1.4826 * median(map(abs, off.values())), floor)
        worst = max(off, key=lambda year: (abs(off[year]), -year))
        full = len(series) - len(left) == len(series) // 3 or len(left) < NEEDED
        if full or abs(off[worst]) < THRESHOLD * spread:
            break
        del left[worst]
    found = {}
    for year, value in series.items():
        line = expected(left, year)
        found[year] = Judged(value, line, (value - line) / spread, year not in left)
    return found
