"""The papers of the planted world."""

from __future__ import annotations

import random

from warehouse.sample.settings import hashed, stream
from warehouse.sample.text import Author, paper_abstract, paper_title
from warehouse.sample.world import Paper, Person, World, day_of, draw_idea

DOI_SHARE = 0.9
WORK_SHARE = 0.5  # of papers that have an OpenAlex record
_FIRST_CORPUS_ID = 1_000_000
_CORPUS_IDS = 280_000_000
_FIRST_WORK_ID = 2_000_000_000


def make_papers(world: World) -> None:
    """Append every paper, in order of time."""
    settings = world.settings
    taken: set[int] = set()
    for year in range(settings.first_year, settings.last_year + 1):
        for place in range(settings.papers(year)):
            paper = _paper(world, year, f"{year}-{place}")
            while paper.corpus_id in taken:
                paper.corpus_id += 1
            taken.add(paper.corpus_id)
            world.papers.append(paper)


def _paper(world: World, year: int, key: str) -> Paper:
    seed = world.settings.seed
    rng = stream(seed, "paper", key)
    idea = draw_idea(world, rng, year)
    author = Author(world.vocabulary, idea, rng)
    corpus_id = _FIRST_CORPUS_ID + hashed(seed, "corpusid", key) % _CORPUS_IDS
    paper = Paper(
        key=key,
        corpus_id=corpus_id,
        idea=idea,
        published=day_of(year, rng.randrange(365)),
        authors=_authors(world.people[idea.topic.number], rng),
        title=paper_title(author),
        abstract=paper_abstract(author),
    )
    if rng.random() < DOI_SHARE:
        paper.doi = f"10.5555/sample.{year}.{corpus_id}"
    if rng.random() < WORK_SHARE:
        paper.work_id = _FIRST_WORK_ID + hashed(seed, "work", key) % _CORPUS_IDS
    return paper


def _authors(people: list[Person], rng: random.Random) -> list[Person]:
    writers = [person for person in people if person.writes]
    return rng.sample(writers, min(len(writers), rng.randint(1, 4)))
