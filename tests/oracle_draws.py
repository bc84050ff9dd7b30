"""The draws of the benchmark, made again without SQL: hash orders, the sample, queries, corpora."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path

import polars as pl
import yaml

SETTINGS = yaml.safe_load((Path(__file__).parents[1] / "dbt_project.yml").read_text())["vars"]
Table = Callable[[str], pl.DataFrame]  # from a table's name to the whole table


def in_hash_order(ids, salt):
    """Ids in the order of md5(seed:salt:id), the id breaking ties."""

    def key(one):
        return hashlib.md5(f"{SETTINGS['seed']}:{salt}:{one}".encode()).hexdigest(), one

    return sorted(ids, key=key)


def utility_patents(table: Table) -> pl.DataFrame:
    """Granted utility patents, not withdrawn, with a date: one row each, the first grant."""
    return (
        table("staging.stg_patentsview__patents")
        .filter(pl.col("is_utility") & pl.col("grant_year").is_not_null())
        .join(table("staging.stg_uspto__withdrawn"), on="patent_id", how="anti")
        .group_by("patent_id", "doc_id")
        .agg(pl.col("grant_date").min(), pl.col("grant_year").min())
    )


def common_sample(table: Table, utility: pl.DataFrame) -> pl.DataFrame:
    """The common patent sample, made again: doc_id, grant_year, cpc_section, cell_patents."""
    primary = (
        table("staging.stg_patentsview__cpc_current")
        .filter(pl.col("cpc_section").is_in(set("ABCDEFGH")))
        .sort("cpc_sequence", "cpc_section")
        .join(utility, on="patent_id")
        .group_by("doc_id", maintain_order=True)
        .agg(pl.col("cpc_section").first())
    )
    patents = (
        table("corpus.documents")
        .filter(pl.col("doc_type") == "patent")
        .filter(pl.col("title").str.strip_chars() != "")
        .filter(pl.col("abstract").str.strip_chars() != "")
        .filter(
            pl.col("known_year").is_between(
                SETTINGS["sample_first_year"], SETTINGS["sample_last_year"]
            )
        )
        .join(primary, on="doc_id", how="left")
        .with_columns(pl.col("cpc_section").fill_null("?"))
    )
    rows = []
    for (year, section), cell in patents.group_by("known_year", "cpc_section"):
        drawn = in_hash_order(cell["doc_id"], "common_patent_sample")
        for doc_id in drawn[: SETTINGS["patents_per_cell"]]:
            rows.append((doc_id, year, section, len(cell)))
    columns = ["doc_id", "grant_year", "cpc_section", "cell_patents"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def draw(
    task: str,
    pairs: Mapping[int, set[int]],
    year_of: Mapping[int, int],
    eligible: Iterable[int] | None = None,
    at_most: int | None = None,
) -> tuple[list[int], set[int]]:
    """The queries of a task in the order of the draw, and those released to the corpus.

    Args:
        task: its name, the salt of the order.
        pairs: query -> its relevant documents.
        year_of: query -> task_year.
        eligible: the queries to draw from; those of `pairs` when left out.
        at_most: how many are drawn where the draw is no share.
    """
    eligible = list(pairs if eligible is None else eligible)
    share, enough, total = (
        Fraction(str(SETTINGS["query_share"])), SETTINGS["min_queries"], len(eligible)
    )  # fmt: skip
    published, extra = [], []
    for year in {year_of[query] for query in eligible}:
        ordered = in_hash_order((q for q in eligible if year_of[q] == year), f"query:{task}")
        n_published = math.ceil(share * len(ordered))
        n_drawn = max(n_published, math.ceil(Fraction(enough * len(ordered), total)))
        if at_most is not None:
            n_drawn = math.floor(Fraction(at_most * len(ordered), max(total, at_most)))
        published += ordered[:n_drawn][:n_published]
        extra += ordered[:n_drawn][n_published:]
    salt = f"query:{task}"
    drawn = in_hash_order(published, salt) + in_hash_order(extra, salt)
    wanted, released, raised = set(), set(), set(extra)
    for query in drawn:
        if query in wanted and query in raised:
            released.add(query)
        wanted |= pairs.get(query, set())
    return [query for query in drawn if query not in released], released


def corpus_of(
    relevant: set[int], queries: Iterable[int], fillers: Iterable[int], size: int
) -> set[int]:
    """The relevant documents, and of the fillers that are no query the first in hash order."""
    left = in_hash_order(set(fillers) - set(queries) - relevant, "corpus")
    return relevant | set(left[: max(0, size - len(relevant))])


def splits(years: Mapping[int, int], task: str) -> dict[int, str]:
    """doc_id -> train or test, from doc_id -> year: a share of each year's hash order is test."""
    share, split = Fraction(str(SETTINGS["test_share"])), {}
    by_year: dict[int, list[int]] = {}
    for doc_id, year in years.items():
        by_year.setdefault(year, []).append(doc_id)
    for ids in by_year.values():
        ordered = in_hash_order(ids, task)
        few = len(ordered) < SETTINGS["min_year_examples"]
        n_test = 0 if few else math.floor(share * len(ordered))
        split |= {one: "test" if i < n_test else "train" for i, one in enumerate(ordered)}
    return split


def matched(task: str, positives: Mapping[int, int], candidates: Mapping[int, int]) -> set[int]:
    """Candidates drawn, as many of each year as it has positives; both are doc_id -> year."""
    taken: set[int] = set()
    for year in set(positives.values()):
        wanted = sum(one == year for one in positives.values())
        here = [one for one, when in candidates.items() if when == year and one not in positives]
        taken |= set(in_hash_order(here, f"negatives:{task}")[:wanted])
    return taken
