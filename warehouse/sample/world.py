"""The planted world: people, firms, papers and inventions, year by year.

A document's words follow from the seed and its own key; what it cites lies before it.
"""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field
from datetime import date, timedelta

from warehouse.sample.settings import SampleSettings, hashed, stream
from warehouse.sample.text import Idea
from warehouse.sample.vocabulary import Vocabulary, build_vocabulary

PEOPLE_PER_TOPIC = 14
LINE = 6  # concepts of a line of work
FIRMS, UNIVERSITIES, AGENCIES = 120, 16, 8
# Shares of a sub-topic's patents up to which firms, universities and agencies own them, and then
# individuals. Of five sub-topics one is academic and one of tinkerers, which makes the kind of an
# owner learnable from text.
_ACADEMIC, _TINKERERS, _COMMON = (0.30, 0.70, 0.93), (0.70, 0.72, 0.73), (0.93, 0.95, 0.965)
_OWNERS = (_ACADEMIC, _TINKERERS, _COMMON, _COMMON, _COMMON)


@dataclass(frozen=True, slots=True)
class Person:
    """An author, an inventor, or both; the name is the same in both trades."""

    number: int
    topic: int
    writes: bool
    invents: bool

    @property
    def name(self) -> str:
        """First and last name: `Author 0017`."""
        return f"Author {self.number:04d}"


@dataclass(frozen=True, slots=True)
class Assignee:
    """An owner of patents, with PatentsView's type code."""

    name: str
    kind: int  # 2 US company, 3 foreign company, 4 and 5 individuals, 6 US government

    @property
    def assignee_id(self) -> str:
        """A name-based UUID, as PatentsView's ids look."""
        return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{self.name}.sample.invalid"))


@dataclass(slots=True)
class Paper:
    """A paper; `work_id` is its OpenAlex record, where it has one."""

    key: str
    corpus_id: int
    idea: Idea
    published: date
    authors: list[Person]
    title: str
    abstract: str
    doi: str | None = None
    work_id: int | None = None
    cites: list[Paper] = field(default_factory=list)

    @property
    def year(self) -> int:
        """Year of publication."""
        return self.idea.year


@dataclass(slots=True)
class Invention:
    """A patent application; granted when it has a patent_id, published when it has pgpubs."""

    key: str
    idea: Idea
    filed: date
    application_id: str
    assignee: Assignee | None
    inventors: list[Person]
    title: str
    abstract: str
    patent_id: str | None = None
    granted: date | None = None
    pgpubs: list[tuple[int, date]] = field(default_factory=list)
    parent: Invention | None = None  # this one continues it: a near-copy of the family
    restates: Paper | None = None
    cites: list[Invention] = field(default_factory=list)
    cites_papers: list[Paper] = field(default_factory=list)


@dataclass(slots=True)
class World:
    """Everything that the publishers write about."""

    settings: SampleSettings
    vocabulary: Vocabulary
    people: list[list[Person]]  # by sub-topic
    papers: list[Paper]  # in order of time
    patents: list[Invention]  # granted ones, in order of grant
    abandoned: list[Invention]

    @property
    def inventions(self) -> list[Invention]:
        """Granted and not."""
        return [*self.patents, *self.abandoned]


def build_world(settings: SampleSettings) -> World:
    """The world of a seed."""
    from warehouse.sample.citing import link_citations
    from warehouse.sample.inventions import make_inventions
    from warehouse.sample.papers import make_papers

    vocabulary = build_vocabulary(settings)
    world = World(settings, vocabulary, _people(settings, len(vocabulary.topics)), [], [], [])
    make_papers(world)
    make_inventions(world)
    link_citations(world)
    return world


def _people(settings: SampleSettings, topics: int) -> list[list[Person]]:
    people = []
    for number in range(topics * PEOPLE_PER_TOPIC):
        trade = stream(settings.seed, "person", number).choice(("writes", "invents", "both"))
        people.append(
            Person(number, number // PEOPLE_PER_TOPIC, trade != "invents", trade != "writes")
        )
    return [people[n * PEOPLE_PER_TOPIC : (n + 1) * PEOPLE_PER_TOPIC] for n in range(topics)]


def draw_idea(world: World, rng: random.Random, year: int) -> Idea:
    """A sub-topic with the shares of the year, some of its concepts, and a quality.

    A sub-topic is a few lines of work of six concepts each; a document has five of its line's
    and two from anywhere in the sub-topic.
    """
    topics = world.vocabulary.topics
    topic = rng.choices(topics, [topic.share(year) for topic in topics])[0]
    places = range(len(topic.concepts))
    first = rng.randrange(0, len(places), LINE)
    line = places[first : first + LINE]
    concepts = rng.sample(line, 5) + rng.sample([p for p in places if p not in line], 2)
    return Idea(topic, tuple(concepts), rng.gauss(0, 1), year)


def draw_assignee(seed: int, rng: random.Random, topic: int) -> Assignee | None:
    """An owner: mostly one of the six firms at home in the sub-topic."""
    firms, universities, agencies = _OWNERS[hashed(seed, "owners", topic) % len(_OWNERS)]
    chance = rng.random()
    if chance < 0.03:
        return None
    if chance < firms:
        number = hashed(seed, "firm", topic, rng.randint(0, 5)) % FIRMS
        return Assignee(f"Firm {number:03d}", 2 if number % 2 else 3)
    if chance < universities:
        return Assignee(f"University {rng.randrange(UNIVERSITIES):02d}", 2)
    if chance < agencies:
        return Assignee(f"Agency {rng.randrange(AGENCIES):02d}", 6)
    return Assignee(f"Owner {rng.randrange(400):03d}", rng.choice((4, 5)))


def day_of(year: int, number: int) -> date:
    """The day `number` (0-364) of a year."""
    return date(year, 1, 1) + timedelta(days=number)
