"""The inventions of the planted world: granted patents and applications that were abandoned."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from datetime import date, timedelta
from itertools import pairwise
from math import exp

from warehouse.sample.settings import hashed, stream
from warehouse.sample.text import Author, Idea, near_copy, patent_abstract, patent_title
from warehouse.sample.world import (
    Invention,
    Paper,
    Person,
    World,
    day_of,
    draw_assignee,
    draw_idea,
)

CONTINUES = 0.07  # share of patents that continue an earlier one of their family
RESTATES = 0.06  # share that restate a paper by one of their inventors
PUBLISHED = 0.2  # share of granted applications whose publication the sample holds
FIRST_PUBLICATION = date(2001, 3, 15)  # of US applications before grant

# The first utility patent number of each year, rounded: numbers grow as the office's do.
_FIRST_NUMBERS = (
    5_479_700, 5_590_500, 5_704_100, 5_855_100, 6_009_600, 6_167_600, 6_334_300, 6_502_300,
    6_671_900, 6_836_900, 6_981_300, 7_155_800, 7_313_900, 7_472_500, 7_640_600, 7_861_400,
    8_087_100, 8_341_800, 8_621_700, 8_925_200, 9_226_500, 9_532_500, 9_854_800, 10_165_800,
    10_524_500, 10_881_100, 11_213_000, 11_540_500, 11_856_900, 12_178_200, 12_520_000,
)  # fmt: skip
# First filing year of the application series 07, 08, ...: ids begin with the series code.
_SERIES_FROM = (1987, 1993, 1998, 2002, 2005, 2008, 2011, 2013, 2016, 2018, 2020, 2022)


def make_inventions(world: World) -> None:
    """Append granted patents in order of grant, then abandoned applications."""
    settings = world.settings
    by_topic: dict[int, list[Paper]] = {}
    for paper in world.papers:
        by_topic.setdefault(paper.idea.topic.number, []).append(paper)
    granted: dict[int, list[Invention]] = {}
    for year in range(settings.first_year, settings.last_year + 1):
        made = [
            _granted(world, year, place, granted, by_topic)
            for place in range(settings.patents(year))
        ]
        _number(settings.seed, made, year)
        world.patents.extend(made)
        for invention in made:
            granted.setdefault(invention.idea.topic.number, []).append(invention)
        for place in range(settings.abandoned(year)):
            _abandon(world, year, place)
    taken: set[str] = set()
    for invention in world.inventions:
        while invention.application_id in taken:
            invention.application_id = f"{int(invention.application_id) + 1:08d}"
        taken.add(invention.application_id)


def _granted(
    world: World,
    year: int,
    place: int,
    granted: dict[int, list[Invention]],
    papers: dict[int, list[Paper]],
) -> Invention:
    """One patent of the year; grant days are Tuesdays and go up with the place."""
    key = f"{year}-{place}"
    rng = stream(world.settings.seed, "patent", key)
    week = place * 52 // world.settings.patents(year)
    first_tuesday = (1 - date(year, 1, 1).weekday()) % 7
    issued = day_of(year, first_tuesday + 7 * week)
    filed = issued - timedelta(days=min(3200, 240 + round(rng.gammavariate(3.0, 290))))
    idea = draw_idea(world, rng, filed.year)
    parent = restated = None
    chance = rng.random()
    if chance < CONTINUES:
        parent = _parent(rng, granted.get(idea.topic.number, []), filed)
    elif chance < CONTINUES + RESTATES:
        restated = _restated(rng, papers.get(idea.topic.number, []), filed.year)
    invention = _invention(world, rng, f"g{key}", idea, filed, parent, restated)
    invention.granted = issued
    if rng.random() < PUBLISHED:
        _publish(world, rng, invention)
    return invention


def _parent(rng: random.Random, earlier: list[Invention], filed: date) -> Invention | None:
    """A patent of the field granted in the four years before a filing."""
    ends = bisect_left(earlier, filed, key=lambda invention: invention.granted)
    near = [i for i in earlier[:ends] if (filed - i.granted).days < 4 * 365]
    return rng.choice(near) if near else None


def _restated(rng: random.Random, earlier: list[Paper], year: int) -> Paper | None:
    """A paper of the two years up to a filing, one of whose authors invents; rather a good one."""
    near = [p for p in earlier if year - 2 < p.year <= year and any(a.invents for a in p.authors)]
    return rng.choices(near, [exp(p.idea.quality) for p in near])[0] if near else None


def _invention(
    world: World,
    rng: random.Random,
    key: str,
    idea: Idea,
    filed: date,
    parent: Invention | None,
    restated: Paper | None,
) -> Invention:
    people = [p for p in world.people[idea.topic.number] if p.invents]
    inventors: list[Person] = rng.sample(people, min(len(people), rng.randint(1, 4)))
    assignee = draw_assignee(world.settings.seed, rng, idea.topic.number)
    if parent:
        idea = Idea(idea.topic, parent.idea.concepts, idea.quality, idea.year)
        inventors, assignee = parent.inventors, parent.assignee
    if restated:
        idea = Idea(idea.topic, restated.idea.concepts, idea.quality, idea.year)
        inventors = [person for person in restated.authors if person.invents]
    author = Author(world.vocabulary, idea, rng)
    title, abstract = patent_title(author), patent_abstract(author)
    if parent:
        title, abstract = parent.title, near_copy(parent.abstract, author)
    if restated:
        title = restated.title + " for use in industry"
    serial = hashed(world.settings.seed, "application", key) % 1_000_000
    series = 6 + bisect_right(_SERIES_FROM, filed.year)
    return Invention(
        key=key,
        idea=idea,
        filed=filed,
        application_id=f"{series:02d}{serial:06d}",
        assignee=assignee,
        inventors=inventors,
        title=title,
        abstract=abstract,
        parent=parent,
        restates=restated,
    )


def _publish(world: World, rng: random.Random, invention: Invention) -> None:
    """Publish an application a year and a half after filing, on a Thursday."""
    due = invention.filed + timedelta(days=548 + rng.randrange(28))
    due += timedelta(days=(3 - due.weekday()) % 7)
    if FIRST_PUBLICATION <= due <= date(world.settings.last_year, 12, 31):
        invention.pgpubs.append((pgpub_id(world, invention.key, due), due))


def pgpub_id(world: World, key: str, published: date) -> int:
    """Eleven digits: the year of publication and a serial number."""
    serial = hashed(world.settings.seed, "pgpub", key) % 420_000
    return published.year * 10_000_000 + serial + 1


def _abandon(world: World, year: int, place: int) -> None:
    """One application filed in the year that was published and never granted."""
    key = f"a{year}-{place}"
    rng = stream(world.settings.seed, "abandoned", key)
    filed = day_of(year, rng.randrange(365))
    idea = draw_idea(world, rng, year)
    # The office refuses weak applications: what makes abandonment learnable from text.
    idea = Idea(idea.topic, idea.concepts, idea.quality - 1.0, year)
    invention = _invention(world, rng, key, idea, filed, None, None)
    _publish(world, rng, invention)
    if invention.pgpubs:
        world.abandoned.append(invention)


def _number(seed: int, patents: list[Invention], year: int) -> None:
    """Give the patents of a year numbers that rise with their grant day."""
    numbers = dict(zip(range(1996, 2027), pairwise((*_FIRST_NUMBERS, 0)), strict=False))
    first, after = numbers[year]
    step = (after - first) // (len(patents) + 1)
    for place, patent in enumerate(patents):
        patent.patent_id = str(first + step * place + hashed(seed, "number", patent.key) % step)
