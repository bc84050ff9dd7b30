"""What the sample is made of: its settings, and the named streams of chance."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

# Part of the marker of a generated folder: raised whenever the generator's output changes.
FORMAT = 4


@dataclass(frozen=True, kw_only=True)
class SampleSettings:
    """Settings of the generated lake; every number is our choice.

    At scale 1 there are about 4,500 papers and 6,000 utility patents of 1996-2025, at least
    200 patents in each year from 2001 on, so that every year has a test split.
    """

    seed: int = 0
    scale: float = 1.0  # multiplies the number of documents, not their length
    shuffle_citations: bool = False  # the control: each citation's target is drawn at random
    first_year: int = 1996
    last_year: int = 2025

    def __post_init__(self) -> None:
        """Refuse values that make no sample."""
        if not 0.02 <= self.scale <= 20:
            raise ValueError(f"scale is a number in [0.02, 20], not {self.scale}")
        if not 1996 <= self.first_year < self.last_year <= 2025:
            raise ValueError(
                "first_year and last_year lie in 1996-2025, first before last, not"
                f" {self.first_year} and {self.last_year}"
            )

    def papers(self, year: int) -> int:
        """Papers published in `year`: 92 in 1996, growing by 4 a year."""
        return self._scaled(92 + 4 * (year - 1996))

    def patents(self, year: int) -> int:
        """Utility patents granted in `year`: 80 before 2001, then 220 and slowly more."""
        return self._scaled(80 if year < 2001 else 220 + (year - 2001) // 2)

    def abandoned(self, year: int) -> int:
        """Applications filed in `year` that never became patents and were published."""
        return self._scaled(16) if year >= 2001 else 0

    def pages(self) -> int:
        """Web pages of one crawl dump."""
        return self._scaled(23)

    def _scaled(self, count: int) -> int:
        return max(1, round(count * self.scale))


def stream(seed: int, *names: object) -> random.Random:
    """A stream of chance of its own for each name.

    A document drawn from a stream named by its key does not change when other documents are
    added, and adding a publisher moves no draw of another.
    """
    return random.Random("/".join(map(str, (seed, *names))))


def hashed(seed: int, *names: object) -> int:
    """A 60-bit number that depends on the names alone."""
    text = "/".join(map(str, (seed, *names)))
    return int(hashlib.md5(text.encode()).hexdigest()[:15], 16)
