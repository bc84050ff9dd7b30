"""Training examples of a cutoff: an anchor, a positive, its negatives, and the year of them all."""

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pytrain.graph import Graph
from pytrain.splitmix import key_of, scramble, unit

if TYPE_CHECKING:
    from pytrain.graph_config import NeighbourSettings
    from pytrain.neighbours import Neighbourhood

_TRIES = 64  # random draws before the rest is chosen from a list of what is allowed
TYPE_NAMES = np.array(["paper", "patent"])  # by the codes of pytrain.graph


def pair_hash(first: np.ndarray, second: np.ndarray, *key: int) -> np.ndarray:
    """uint64 from two documents and a key; arrays broadcast."""
    inner = scramble(key_of(*key) + first.astype(np.uint64))
    return scramble(inner + second.astype(np.uint64))


def random_negatives(
    graph: Graph,
    anchors: np.ndarray,
    positives: np.ndarray,
    examples: tuple[np.ndarray, np.ndarray],
    n: int,
    seed: int,
) -> np.ndarray:
    """Anchors of the anchor's own type, neither itself nor one of its positives.

    Args:
        graph: of the cutoff.
        anchors: (A,) node numbers, all the anchors of the cutoff: the pool.
        positives: (A, P) node numbers, -1 for none.
        examples: (E,) rows of `anchors` and (E,) positive nodes, one pair per example.
        n: negatives per example.
        seed: of the draws, which depend on the two documents of the example.

    Returns:
        (E, n) node numbers, -1 where the pool has nobody left.
    """
    rows, positive = examples
    drawn = np.full((len(rows), n), -1)
    for kind in np.unique(graph.doc_types[anchors]):
        pool = anchors[graph.doc_types[anchors] == kind]
        pool = pool[np.argsort(graph.doc_ids[pool])]
        mine = np.flatnonzero(graph.doc_types[anchors[rows]] == kind)
        for j in range(n):
            barred = np.column_stack([anchors[rows[mine]], positives[rows[mine]], drawn[mine, :j]])
            left = np.arange(len(mine))
            for attempt in range(_TRIES):
                e = mine[left]
                raw = pair_hash(
                    graph.doc_ids[anchors[rows[e]]], graph.doc_ids[positive[e]], seed, 6, j, attempt
                )
                picks = pool[(unit(raw) * len(pool)).astype(np.int64)]
                fine = (picks[:, None] != barred[left]).all(axis=1)
                drawn[e[fine], j] = picks[fine]
                left = left[~fine]
            for i in left:  # nearly all of the pool is barred
                allowed = np.setdiff1d(pool, barred[i])
                if len(allowed):
                    drawn[mine[i], j] = allowed[0]
    return drawn


def make_examples(
    graph: Graph,
    around: "Neighbourhood",
    anchors: np.ndarray,
    pools: np.ndarray,
    settings: "NeighbourSettings",
    seed: int,
) -> pa.Table:
    """One row per anchor and positive, in the order of an md5 of the two ids; no dates yet."""
    rows, columns = np.nonzero(around.positives >= 0)
    positive, rank = around.positives[rows, columns], settings.positive_ranks[0] + columns
    new = (around.cross[:, :, None] != around.positives[:, None, :]).all(axis=2)
    more, columns = np.nonzero((around.cross >= 0) & new)
    rows, rank = np.concatenate([rows, more]), np.concatenate([rank, 1 + columns])
    positive = np.concatenate([positive, around.cross[more, columns]])
    all_positives = np.column_stack([around.positives, around.cross])
    easy = random_negatives(
        graph, anchors, all_positives, (rows, positive), settings.random_negatives, seed
    )
    negatives = np.column_stack([around.hard[rows], easy])
    present = negatives >= 0
    ids = graph.doc_ids[negatives]
    anchor_ids, positive_ids = graph.doc_ids[anchors[rows]], graph.doc_ids[positive]
    table = pa.table(
        {
            "anchor_id": anchor_ids,
            "anchor_type": TYPE_NAMES[graph.doc_types[anchors[rows]]],
            "pool": pools[rows],
            "positive_id": positive_ids,
            "positive_type": TYPE_NAMES[graph.doc_types[positive]],
            "rank": pa.array(rank, pa.int32()),
            "negative_ids": pa.array(
                [one[kept] for one, kept in zip(ids, present, strict=True)], pa.list_(pa.int64())
            ),
            "n_hard": pa.array((around.hard[rows] >= 0).sum(axis=1), pa.int32()),
        }
    )
    names = zip(anchor_ids.tolist(), positive_ids.tolist(), strict=True)
    digests = [hashlib.md5(f"{a}:{p}".encode()).hexdigest() for a, p in names]
    return table.take(np.argsort(np.array(digests, "S32"), kind="stable"))


def dated(examples: pa.Table, doc_ids: np.ndarray, years: np.ndarray) -> pa.Table:
    """The examples with `known_year`, the latest year of any of their documents."""
    order = np.argsort(doc_ids, kind="stable")

    def year_of(ids: np.ndarray) -> np.ndarray:
        return years[order[np.searchsorted(doc_ids, ids, sorter=order)]]

    latest = np.maximum(
        year_of(examples["anchor_id"].to_numpy()), year_of(examples["positive_id"].to_numpy())
    )
    lists = examples["negative_ids"].combine_chunks()
    row = np.repeat(np.arange(len(examples)), lists.value_lengths().to_numpy())
    np.maximum.at(latest, row, year_of(lists.flatten().to_numpy()))
    return examples.append_column("known_year", pa.array(latest, pa.int32()))


def cross_type_shares(examples: pa.Table) -> dict[str, float | None]:
    """Share of positives of the other type than their anchor, by pool and over all (Table 3)."""
    cross = np.array(examples["anchor_type"]) != np.array(examples["positive_type"])
    pools = np.array(examples["pool"])
    shares = {"all": float(cross.mean())}
    for pool in ("paper", "patent", "patent_citing_paper"):
        here = cross[pools == pool]
        shares[pool] = float(here.mean()) if len(here) else None
    return shares
