"""Pseudo-scientific English: a document's title and abstract from its topic, year and quality."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp

from warehouse.sample import templates as t
from warehouse.sample.templates import Template
from warehouse.sample.vocabulary import SubTopic, Vocabulary
from warehouse.sample.words import ADJECTIVES, ADVERBS, FASHION, MODEST, PRAISED, VERBS

_ARTICLE = re.compile(r"(?i)\ba $")


@dataclass(frozen=True, slots=True)
class Idea:
    """What a document is about; its words follow from this and a stream of chance."""

    topic: SubTopic
    concepts: tuple[int, ...]  # places in topic.concepts, the most used first
    quality: float  # standard normal; raises later citations and the share of praise
    year: int  # of the writing: no term coined later occurs


@dataclass(slots=True)
class Author:
    """Fills templates for one idea.

    Attributes:
        vocabulary: where the coined terms are.
        idea: what to write about.
        rng: the stream of chance of this text.
    """

    vocabulary: Vocabulary
    idea: Idea
    rng: random.Random
    _weights: list[float] = field(init=False)
    _terms: list[str] = field(init=False)
    _fashion: list[float] = field(init=False)
    _last: int = field(init=False, default=-1)

    def __post_init__(self) -> None:
        """Work out the shares that hold for the whole text."""
        idea = self.idea
        self._weights = [0.8**place for place in range(len(idea.concepts))]
        self._terms = self.vocabulary.coined_by(idea.topic.section, idea.year)
        self._fashion = [exp(-(((idea.year - height) / 3.0) ** 2)) for _, height in FASHION]

    def sentence(self, template: Template) -> str:
        """One template with its slots filled."""
        parts = list(template)
        for place in range(1, len(parts), 2):
            slot = parts[place]
            word = self._word(slot.lower())
            if word[0] in "aeiou" and _ARTICLE.search(parts[place - 1]):
                parts[place - 1] = parts[place - 1].rstrip() + "n "
            parts[place] = word[0].upper() + word[1:] if slot.isupper() else word
        return "".join(parts)

    def text(
        self,
        opening: Sequence[Template],
        middle: Sequence[Template],
        closing: Sequence[Template],
        words: tuple[int, int],
    ) -> str:
        """An opening, middle sentences up to a length, and a closing sentence.

        Args:
            opening: templates of the first sentence.
            middle: templates of the sentences between, none twice before all were used.
            closing: templates of the last sentence, or none.
            words: least and most number of words; the length is drawn between them and met to
                within a sentence.
        """
        rng = self.rng
        target = rng.randint(*words) - 17  # the closing sentence has about as many
        sentences = [self.sentence(rng.choice(opening))]
        length = sentences[0].count(" ") + 1
        left: list[Template] = []
        while length < target - 8:
            left = left or rng.sample(middle, len(middle))
            sentences.append(self.sentence(left.pop()))
            length += sentences[-1].count(" ") + 1
        if closing:
            sentences.append(self.sentence(rng.choice(closing)))
        return " ".join(sentences)

    def _word(self, slot: str) -> str:
        rng, idea = self.rng, self.idea
        if slot == "c":
            place = self._last
            while place == self._last:  # one sentence should not relate a thing to itself
                place = rng.choices(idea.concepts, self._weights)[0]
            self._last = place
            return idea.topic.concepts[place].form(rng, idea.year)
        if slot == "n":
            return rng.choice(idea.topic.nouns)
        if slot == "t" and self._terms:
            # The newest terms are written of most.
            recent = self._terms[-4:]
            return rng.choices(recent, range(1, len(recent) + 1))[0]
        if slot == "q":
            praised = rng.random() < 1 / (1 + exp(-1.5 * idea.quality))
            return rng.choice(PRAISED if praised else MODEST)
        if slot == "f":
            return rng.choices(FASHION, self._fashion)[0][0]
        if slot == "x":
            return str(rng.randint(2, 96))
        words = {"v": VERBS, "d": ADVERBS, "t": ("device",)}.get(slot, ADJECTIVES)
        return rng.choice(words)


def paper_title(author: Author) -> str:
    """A title of a paper."""
    return author.sentence(author.rng.choice(t.TITLE_PAPER))


def paper_abstract(author: Author) -> str:
    """60-120 words in the manner of papers."""
    return author.text(t.PAPER_OPENING, t.PAPER_MIDDLE, t.PAPER_CLOSING, (66, 118))


def patent_title(author: Author) -> str:
    """A title of a patent."""
    return author.sentence(author.rng.choice(t.TITLE_PATENT))


def patent_abstract(author: Author) -> str:
    """60-120 words in the manner of patents."""
    return author.text(t.PATENT_OPENING, t.PATENT_MIDDLE, t.PATENT_CLOSING, (66, 118))


def near_copy(text: str, author: Author) -> str:
    """The text with its last sentence written anew: what family members look like."""
    kept = text.rstrip(".").split(". ")[:-1]
    return ". ".join([*kept, author.sentence(author.rng.choice(t.PATENT_CLOSING))])
