"""Who cites whom: by sub-topic, shared concepts, age and quality; or, for the control, anyone."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence
from datetime import timedelta
from math import exp, log
from typing import TypeVar

from warehouse.sample.settings import stream
from warehouse.sample.text import Idea
from warehouse.sample.world import Invention, Paper, World

PAPER_CITATIONS = 13.5  # mean number, before the first years run out of earlier papers
PATENT_CITATIONS = 5.6
CITES_PAPERS = 0.075  # share of patents that cite papers
OWN_FIELD, RELATED_FIELDS = 0.76, 0.17  # the rest goes anywhere
EXAMINED_DAYS = 400  # a patent may cite what was granted so long after its filing

Document = TypeVar("Document", Paper, Invention)


def link_citations(world: World) -> None:
    """Fill `cites` and `cites_papers` of every document."""
    seed, shuffled = world.settings.seed, world.settings.shuffle_citations
    papers = _Fields(world.papers)
    for place, paper in enumerate(world.papers):
        rng = stream(seed, "cites", paper.key)
        count = _count(rng, PAPER_CITATIONS)
        paper.cites = papers.draw(rng, paper.idea, place, count, age=5.0)
        if shuffled:
            paper.cites = papers.anyone(rng, place, len(paper.cites))

    patents = _Fields(world.patents)
    days = [patent.granted for patent in world.patents]
    for patent in world.patents:
        rng = stream(seed, "cites", patent.key)
        before = min(patent.granted, patent.filed + timedelta(days=EXAMINED_DAYS))
        ends = bisect_left(days, before)
        count = _count(rng, PATENT_CITATIONS)
        patent.cites = patents.draw(rng, patent.idea, ends, count, age=6.0)
        if patent.parent and patent.parent not in patent.cites:
            patent.cites.append(patent.parent)  # a continuation names its parent
        if shuffled:
            patent.cites = patents.anyone(rng, ends, len(patent.cites))
    _link_papers(world)


def _link_papers(world: World) -> None:
    """Patents that cite papers which have an OpenAlex record."""
    citable = [paper for paper in world.papers if paper.work_id]
    fields = _Fields(citable)
    years = [paper.year for paper in citable]
    for patent in world.patents:
        rng = stream(world.settings.seed, "cites papers", patent.key)
        if not patent.restates and rng.random() > CITES_PAPERS:
            continue
        ends = bisect_left(years, patent.filed.year + 1)
        count = rng.randint(1, 6)
        patent.cites_papers = fields.draw(rng, patent.idea, ends, count, age=6.0, fame=1.2)
        if world.settings.shuffle_citations:
            patent.cites_papers = fields.anyone(rng, ends, len(patent.cites_papers))


class _Fields:
    """Documents in order of time, with what a citation's weight needs beside them."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.places: dict[int, list[int]] = {}
        for place, document in enumerate(documents):
            self.places.setdefault(document.idea.topic.number, []).append(place)
        self.masks = [_mask(document.idea) for document in documents]
        self.years = [document.idea.year for document in documents]
        self.qualities = [document.idea.quality for document in documents]

    def draw(
        self,
        rng: random.Random,
        idea: Idea,
        ends: int,
        count: int,
        *,
        age: float,
        fame: float = 0.7,
    ) -> list[Document]:
        """Up to `count` distinct documents among the first `ends`.

        Args:
            rng: the stream of the citing document.
            idea: what the citing document is about.
            ends: documents before this place may be cited.
            count: how many are wanted.
            age: years after which a document is cited e times less.
            fame: weight of a document's quality, in the log.
        """
        own = self._before(idea.topic.number, ends)
        # Concepts are compared by place, so a line of work builds on the lines of the same
        # place in related sub-topics: a bond that shared words do not show.
        related = [p for number in idea.topic.related for p in self._before(number, ends)]
        rates = [self._rates(places, idea, age, fame) for places in (own, related)]
        chosen = _weighted(rng, own, rates[0], round(OWN_FIELD * count))
        chosen += _weighted(rng, related, rates[1], round(RELATED_FIELDS * count))
        left = min(count - len(chosen), round((1 - OWN_FIELD - RELATED_FIELDS) * count), ends)
        chosen += rng.sample(range(ends), max(0, left))
        return [self.documents[place] for place in dict.fromkeys(chosen)]

    def anyone(self, rng: random.Random, ends: int, count: int) -> list[Document]:
        """The control: as many of the first `ends` documents, each with the same chance."""
        return [self.documents[place] for place in rng.sample(range(ends), count)]

    def _before(self, number: int, ends: int) -> list[int]:
        places = self.places.get(number, [])
        return places[: bisect_left(places, ends)]

    def _rates(self, places: list[int], idea: Idea, age: float, fame: float) -> list[float]:
        """Weight of each place: shared concepts, fame and age."""
        mask, year = _mask(idea), idea.year
        masks, years, qualities = self.masks, self.years, self.qualities
        return [
            (1 + (masks[p] & mask).bit_count()) ** 3
            * exp(fame * qualities[p] - max(0, year - years[p]) / age)
            for p in places
        ]


def _mask(idea: Idea) -> int:
    """The concepts of an idea as bits."""
    return sum(1 << place for place in idea.concepts)


def _weighted(rng: random.Random, places: list[int], rates: list[float], count: int) -> list[int]:
    """Draw places without replacement, in proportion to their rates.

    Source: Efraimidis and Spirakis 2006, "Weighted random sampling with a reservoir".
    """
    if count >= len(places):
        return list(places)
    draw = rng.random
    keys = [-log(1.0 - draw()) / rate for rate in rates]
    order = sorted(range(len(places)), key=keys.__getitem__)
    return [places[at] for at in order[:count]]


def _count(rng: random.Random, mean: float) -> int:
    """A skewed count around a mean, at least 1."""
    return max(1, round(rng.gammavariate(2.5, mean / 2.5)))
