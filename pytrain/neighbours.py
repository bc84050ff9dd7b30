"""Neighbours of the anchors in the node vectors, and the training examples made of them."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pytrain.graph import PAPER, Graph, components, read_graph
from pytrain.ranks import lengths, nearest
from pytrain.run import Run, need_run
from pytrain.splitmix import key_of, scramble, unit
from warehouse.errors import UserError
from warehouse.tables import Lake, empty_slice

if TYPE_CHECKING:
    from pytrain.config import Settings
    from pytrain.graph_config import NeighbourSettings

_TRIES = 64  # random draws before the rest is chosen from a list of what is allowed
TYPE_NAMES = np.array(["paper", "patent"])  # by the codes of pytrain.graph


@dataclass(frozen=True, kw_only=True)
class Neighbourhood:
    """Nodes around each anchor; -1 where its scope holds no such rank."""

    positives: np.ndarray  # (A, P) node numbers, column j at rank positive_ranks[0] + j
    hard: np.ndarray  # (A, H) node numbers in the order of their ranks


def neighbourhood(
    graph: Graph, vectors: np.ndarray, anchors: np.ndarray, settings: "NeighbourSettings", seed: int
) -> Neighbourhood:
    """Positives and hard negatives of each anchor by exact cosine rank.

    In scope "graph" every node of the cutoff is ranked. In scope "component" an anchor sees the
    nodes of its own type in its own connected component, and uses the ranks that these reach.

    Args:
        graph: of the cutoff.
        vectors: (N, D) float32 node vectors.
        anchors: (A,) node numbers.
        settings: ranks and scope.
        seed: of the choice among hard ranks, where there are more than wanted.

    Raises:
        UserError: in scope "graph", the graph has fewer nodes than the last rank needs.

    Source: paper, "Neighborhood sampling" and Appendix A "Negatives".
    """
    positive_ranks = np.arange(settings.positive_ranks[0], settings.positive_ranks[1] + 1)
    hard_ranks = np.arange(settings.hard_ranks[0], settings.hard_ranks[1] + 1)
    last = int(max(positive_ranks[-1], hard_ranks[-1]))
    if settings.neighbour_scope == "graph" and graph.n_nodes <= last:
        raise UserError(
            f"rank {last} needs {last + 1} nodes, and the graph has {graph.n_nodes}. Use "
            "--preset sample, or lower --set neighbours.hard_ranks and neighbours.positive_ranks"
        )
    positives = np.full((len(anchors), len(positive_ranks)), -1)
    hard = np.full((len(anchors), settings.hard_negatives), -1)
    norms = lengths(vectors)
    for rows, members in _groups(graph, anchors, settings.neighbour_scope):
        reach = min(last, len(members) - 1)
        wanted = np.union1d(positive_ranks, hard_ranks)
        wanted = wanted[wanted <= reach]
        if not len(wanted):
            continue
        near, _ = nearest(vectors, graph.doc_ids, anchors[rows], members, wanted, norms)
        at = np.isin(wanted, positive_ranks)
        positives[rows, : at.sum()] = near[:, at]
        far = near[:, np.isin(wanted, hard_ranks)]
        chosen = _some(graph.doc_ids, anchors[rows], far, settings.hard_negatives, seed)
        hard[rows, : chosen.shape[1]] = chosen
    return Neighbourhood(positives=positives, hard=hard)


def _groups(graph: Graph, anchors: np.ndarray, scope: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """(rows of `anchors`, nodes they rank) for each scope that holds an anchor."""
    if scope == "graph":
        return [(np.arange(len(anchors)), np.arange(graph.n_nodes))]
    group = components(graph) * 2 + graph.doc_types
    members = np.argsort(group, kind="stable")
    rows = np.argsort(group[anchors], kind="stable")
    names, starts = np.unique(group[anchors][rows], return_index=True)
    low = np.searchsorted(group[members], names, side="left")
    high = np.searchsorted(group[members], names, side="right")
    ends = [*starts[1:], len(anchors)]
    return [(rows[a:b], members[c:d]) for a, b, c, d in zip(starts, ends, low, high, strict=True)]


def _pair_hash(first: np.ndarray, second: np.ndarray, *key: int) -> np.ndarray:
    """uint64 from two documents and a key; arrays broadcast."""
    inner = scramble(key_of(*key) + first.astype(np.uint64))
    return scramble(inner + second.astype(np.uint64))


def _some(
    doc_ids: np.ndarray, anchors: np.ndarray, far: np.ndarray, n: int, seed: int
) -> np.ndarray:
    """(A, <= n) of the columns of `far`, drawn by hash, in the order of their ranks."""
    if far.shape[1] <= n:
        return far
    draws = _pair_hash(doc_ids[anchors][:, None], doc_ids[far], seed, 5)
    columns = np.sort(np.argsort(draws, axis=1, kind="stable")[:, :n], axis=1)
    return np.take_along_axis(far, columns, axis=1)


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
                raw = _pair_hash(
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
    around: Neighbourhood,
    anchors: np.ndarray,
    pools: np.ndarray,
    settings: "NeighbourSettings",
    seed: int,
) -> pa.Table:
    """One row per anchor and positive, in the order of an md5 of the two ids; no dates yet."""
    rows, columns = np.nonzero(around.positives >= 0)
    positive = around.positives[rows, columns]
    easy = random_negatives(
        graph, anchors, around.positives, (rows, positive), settings.random_negatives, seed
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
            "rank": pa.array(settings.positive_ranks[0] + columns, pa.int32()),
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


def _read_vectors(folder: Path, graph: Graph) -> np.ndarray:
    if not np.array_equal(np.load(folder / "node_ids.npy"), graph.doc_ids):
        raise UserError(
            f"run {folder.name} holds vectors of another graph than this lake's. "
            "Make it again: pytrain node2vec --force"
        )
    return np.load(folder / "vectors.npy")


def run(settings: "Settings", year: int, *, seed: int, force: bool) -> Path:
    """Write `examples.parquet`: one row per anchor and positive, dated, in md5 order."""
    own = settings.neighbours
    parent = need_run(settings, year, "node2vec", seed)
    with (
        Lake() as lake,
        Run(
            "neighbours", settings, year, seed=seed, parents=[parent], lake=lake, force=force
        ) as made,
    ):
        graph = read_graph(lake, year)
        vectors = _read_vectors(parent, graph)
        drawn = lake.read("anchors", ["doc_id", "pool"], cutoff=year)
        if not len(drawn):
            raise empty_slice("anchors", year, "training examples")
        anchors = graph.nodes_of(drawn["doc_id"].to_numpy())
        around = neighbourhood(graph, vectors, anchors, own, seed)
        pools = np.array(drawn["pool"].to_pylist())
        examples = make_examples(graph, around, anchors, pools, own, seed)
        if not len(examples):
            raise UserError(
                f"no anchor of {year} has a neighbour at ranks {own.positive_ranks[0]}-"
                f"{own.positive_ranks[1]} in its {own.neighbour_scope}. "
                "Lower them: --set neighbours.positive_ranks=[1,5]"
            )
        documents = lake.read("documents", ["doc_id", "known_year"], cutoff=year)
        examples = dated(
            examples, documents["doc_id"].to_numpy(), documents["known_year"].to_numpy()
        )
        pq.write_table(examples, made.folder / "examples.parquet")
        with_positive = (around.positives >= 0).any(axis=1)
        shares = cross_type_shares(examples)
        made.note(
            anchors=len(anchors),
            paper_anchors=int((graph.doc_types[anchors] == PAPER).sum()),
            anchors_without_positive=int((~with_positive).sum()),
            examples=len(examples),
            examples_with_hard_negative=int((examples["n_hard"].to_numpy() > 0).sum()),
            positive_ranks=own.positive_ranks,
            hard_ranks=own.hard_ranks,
            neighbour_scope=own.neighbour_scope,
            cross_type_share=shares,
        )
        made.say(
            f"{len(examples):,} examples of {int(with_positive.sum()):,} anchors; "
            f"{(~with_positive).sum():,} anchors have no neighbour at these ranks; "
            f"{shares['all']:.2%} of the positives are of the other type"
        )
    return made.final
