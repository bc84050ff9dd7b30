"""The planted vocabulary: sub-topics with their concepts, and terms coined in a known year."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import exp

from warehouse.sample.settings import SampleSettings, stream
from warehouse.sample.words import SECTION_NOUNS, SUBCLASSES, listed

CONCEPTS = 24  # of a sub-topic; a document is about seven of them
FORMS = 3  # synonyms of a concept; their shares drift over the years
COINED_A_YEAR = 4
FIRST_COINED = 1995

_STARTS = listed("""ther cryo meso fer lumi vor quan stri bio pho aero kine plas spec osci mag poly
    iso neb cal tor sil bar cor dal fen gal hel jor lam mor nar pel ram sol tam vel wal den""")
_MIDDLES = listed("""o a i e ova ira ele oni ara ume ido aste olo ine ute ora ami ede isto una""")
_ENDS = listed("""ction meter lator former grid plex stat lith gel fold mant dine tron sor brane
    flux node weld cast guide tide ring port vane""")
# Coined terms have letters of their own ("z", "x" and "q"), so none hides inside another word.
_COINED_STARTS = listed("zeph zor zan quaz quix zym zel zir quor zub zaf quen")
_COINED_ENDS = listed("axin exor ixel oxan uxid axle ixon exium oxar uxel axet ixure")


@dataclass(frozen=True, slots=True)
class Concept:
    """One idea of a sub-topic under three names, each at its height around another year."""

    forms: tuple[str, ...]
    heights: tuple[float, ...]

    def form(self, rng: random.Random, year: int) -> str:
        """A name of the concept, drawn with the shares of `year`."""
        shares = [exp(-(((year - height) / 9.0) ** 2)) + 0.02 for height in self.heights]
        return rng.choices(self.forms, shares)[0]


@dataclass(frozen=True, slots=True)
class SubTopic:
    """A field of work: one CPC subclass, its concepts, nouns and the years of its growth."""

    number: int
    section: str
    subclass: str
    concepts: tuple[Concept, ...]
    nouns: tuple[str, ...]
    related: tuple[int, ...]  # two other sub-topics whose work it builds on
    growth: float  # yearly change of the log of its share

    def share(self, year: int) -> float:
        """Weight of the sub-topic among the documents of `year`."""
        return exp(self.growth * (year - 2010))


@dataclass(frozen=True, slots=True)
class Coined:
    """A term that nobody wrote before its year."""

    term: str
    year: int
    section: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All sub-topics and coined terms."""

    topics: tuple[SubTopic, ...]
    coined: tuple[Coined, ...]

    def coined_by(self, section: str, year: int) -> list[str]:
        """Terms of a section that were known in `year`, the newest last."""
        return [c.term for c in self.coined if c.section == section and c.year <= year]


def build_vocabulary(settings: SampleSettings) -> Vocabulary:
    """The vocabulary of a seed; the scale does not touch it."""
    names = _names(settings.seed)
    pairs = [(section, code) for section, codes in SUBCLASSES.items() for code in codes]
    topics = []
    for number, (section, subclass) in enumerate(pairs):
        rng = stream(settings.seed, "topic", number)
        concepts = tuple(_concept(rng, names) for _ in range(CONCEPTS))
        other = rng.choice([n for n in range(len(pairs)) if pairs[n][0] != section])
        sister = rng.choice([n for n, p in enumerate(pairs) if p[0] == section and n != number])
        nouns = tuple(rng.sample(SECTION_NOUNS[section], 14))
        growth = rng.uniform(-0.06, 0.06)
        topics.append(SubTopic(number, section, subclass, concepts, nouns, (sister, other), growth))
    return Vocabulary(tuple(topics), _coined(settings))


def _names(seed: int) -> list[str]:
    """All made-up concept names in a seeded order; each is used once."""
    names = [a + b + c for a in _STARTS for b in _MIDDLES for c in _ENDS]
    names = sorted(set(names))
    stream(seed, "names").shuffle(names)
    return names


def _concept(rng: random.Random, names: list[str]) -> Concept:
    forms = tuple(names.pop() for _ in range(FORMS))
    heights = tuple(1998.0 + 12 * place + rng.uniform(-4, 4) for place in range(FORMS))
    return Concept(forms, heights)


def _coined(settings: SampleSettings) -> tuple[Coined, ...]:
    terms = [a + b for a in _COINED_STARTS for b in _COINED_ENDS]
    stream(settings.seed, "coined").shuffle(terms)
    sections = tuple(SECTION_NOUNS)
    coined = []
    for year in range(FIRST_COINED, settings.last_year + 1):
        # Every section gets a new term every second year.
        for place in range(COINED_A_YEAR):
            section = sections[(COINED_A_YEAR * (year - FIRST_COINED) + place) % len(sections)]
            coined.append(Coined(terms.pop(), year, section))
    return tuple(coined)
