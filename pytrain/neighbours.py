"""Neighbours of the anchors in the node vectors, by exact rank; whole, in blocks, or in shards."""

import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from pytrain.examples import cross_type_shares, dated, make_examples, pair_hash
from pytrain.graph import PAPER, Graph, components, read_graph
from pytrain.ranks import lengths, nearest
from pytrain.run import Run, need_run
from warehouse.errors import UserError
from warehouse.tables import Lake, empty_slice

if TYPE_CHECKING:
    from pytrain.config import Settings
    from pytrain.graph_config import NeighbourSettings

_GRAPH_ARRAYS = ("indptr", "indices", "doc_ids", "doc_types")


@dataclass(frozen=True, kw_only=True)
class Neighbourhood:
    """Nodes around each anchor; -1 where its scope holds no such rank."""

    positives: np.ndarray  # (A, P) node numbers, column j at rank positive_ranks[0] + j
    hard: np.ndarray  # (A, H) node numbers in the order of their ranks
    cross: np.ndarray  # (A, C) the nearest nodes of the other type, nearest first


def neighbourhood(
    graph: Graph,
    vectors: np.ndarray,
    anchors: np.ndarray,
    settings: "NeighbourSettings",
    seed: int,
    device: str | None = None,
) -> Neighbourhood:
    """Positives and hard negatives of each anchor by exact cosine rank.

    In scope "graph" every node of the cutoff is ranked. In scope "component" an anchor sees the
    nodes of its own type in its own connected component, and uses the ranks that these reach.
    An anchor's rows depend on nothing of the other anchors.

    Args:
        graph: of the cutoff.
        vectors: (N, D) float32 node vectors.
        anchors: (A,) node numbers.
        settings: ranks and scope.
        seed: of the choice among hard ranks, where there are more than wanted.
        device: of torch; None: faiss. See `ranks.nearest`.

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
    cross = np.full((len(anchors), settings.cross_positives), -1)
    norms = lengths(vectors)
    one_group = settings.neighbour_scope == "graph"
    place = np.zeros(graph.n_nodes, np.int64) if one_group else components(graph)

    def ranked(rows: np.ndarray, members: np.ndarray, wanted: np.ndarray, most: int) -> tuple:
        wanted = wanted[wanted <= most]
        if not len(wanted):
            return np.empty((len(rows), 0), np.int64), wanted
        shared = (vectors, graph.doc_ids, anchors[rows], members, wanted, norms)
        return nearest(*shared, device=device)[0], wanted

    keys = place if one_group else place * 2 + graph.doc_types
    for rows, members in _groups(keys, keys[anchors]):
        wanted = np.union1d(positive_ranks, hard_ranks)
        near, wanted = ranked(rows, members, wanted, len(members) - 1)
        at = np.isin(wanted, positive_ranks)
        positives[rows, : at.sum()] = near[:, at]
        far = near[:, np.isin(wanted, hard_ranks)]
        chosen = _some(graph.doc_ids, anchors[rows], far, settings.hard_negatives, seed)
        hard[rows, : chosen.shape[1]] = chosen
    if settings.cross_positives:
        first = np.arange(1, settings.cross_positives + 1)
        keys, other = place * 2 + graph.doc_types, place * 2 + 1 - graph.doc_types
        for rows, members in _groups(keys, other[anchors]):
            near, wanted = ranked(rows, members, first, len(members))
            cross[rows, : len(wanted)] = near
    return Neighbourhood(positives=positives, hard=hard, cross=cross)


def _groups(keys: np.ndarray, wanted: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(rows of `wanted`, nodes whose key they want) for each key that is wanted."""
    members = np.argsort(keys, kind="stable")
    rows = np.argsort(wanted, kind="stable")
    names, starts = np.unique(wanted[rows], return_index=True)
    low = np.searchsorted(keys[members], names, side="left")
    high = np.searchsorted(keys[members], names, side="right")
    ends = [*starts[1:], len(wanted)]
    return [(rows[a:b], members[c:d]) for a, b, c, d in zip(starts, ends, low, high, strict=True)]


def in_shards(
    folder: Path,
    graph: Graph,
    vectors: Path,
    anchors: np.ndarray,
    settings: "NeighbourSettings",
    seed: int,
    device: str | None = None,
) -> Neighbourhood:
    """`neighbourhood`, with the anchors shared out over `settings.processes` processes.

    Each has its own GPU where torch finds several. The vectors are mapped, not copied.

    Args:
        folder: where the graph is laid out for the processes, and removed at the end.
        graph: of the cutoff.
        vectors: path of the (N, D) float32 array.
        anchors: (A,) node numbers.
        settings: as in `neighbourhood`, and the number of processes.
        seed: as in `neighbourhood`.
        device: of torch; "cuda" gives every process a GPU of its own, as far as there are any.
    """
    import numba
    import torch

    there = folder / "shards"
    there.mkdir()
    for name in _GRAPH_ARRAYS:
        np.save(there / f"{name}.npy", getattr(graph, name))
    parts = np.array_split(anchors, settings.processes)
    gpus = torch.cuda.device_count() if device == "cuda" else 0
    devices = [f"cuda:{i % gpus}" if gpus else device for i in range(len(parts))]
    threads = max(1, numba.get_num_threads() // len(parts))
    with ProcessPoolExecutor(len(parts), mp_context=get_context("spawn")) as pool:
        asked = [
            pool.submit(_shard, there, vectors, part, settings, seed, own, threads)
            for part, own in zip(parts, devices, strict=True)
        ]
        made = [one.result() for one in asked]
    shutil.rmtree(there)
    names = ("positives", "hard", "cross")
    return Neighbourhood(**{n: np.concatenate([getattr(m, n) for m in made]) for n in names})


def _shard(
    folder: Path,
    vectors: Path,
    anchors: np.ndarray,
    settings: "NeighbourSettings",
    seed: int,
    device: str | None,
    threads: int,
) -> Neighbourhood:
    """One process's anchors."""
    import faiss
    import numba

    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    faiss.omp_set_num_threads(threads)
    graph = Graph(**{name: np.load(folder / f"{name}.npy", "r") for name in _GRAPH_ARRAYS})
    return neighbourhood(graph, np.load(vectors, "r"), anchors, settings, seed, device)


def _some(
    doc_ids: np.ndarray, anchors: np.ndarray, far: np.ndarray, n: int, seed: int
) -> np.ndarray:
    """(A, <= n) of the columns of `far`, drawn by hash, in the order of their ranks."""
    if far.shape[1] <= n:
        return far
    draws = pair_hash(doc_ids[anchors][:, None], doc_ids[far], seed, 5)
    columns = np.sort(np.argsort(draws, axis=1, kind="stable")[:, :n], axis=1)
    return np.take_along_axis(far, columns, axis=1)


def _check_vectors(folder: Path, graph: Graph) -> Path:
    if not np.array_equal(np.load(folder / "node_ids.npy"), graph.doc_ids):
        raise UserError(
            f"run {folder.name} holds vectors of another graph than this lake's. "
            "Make it again: pytrain node2vec --force"
        )
    return folder / "vectors.npy"


def engine_device(settings: "Settings") -> str | None:
    """Where torch finds the candidates; None: faiss does, on the CPU."""
    from pytrain.device import pick_device

    device, engine = pick_device(settings.device).type, settings.neighbours.engine
    return device if engine == "torch" or (engine == "auto" and device == "cuda") else None


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
        vectors, device = _check_vectors(parent, graph), engine_device(settings)
        drawn = lake.read("anchors", ["doc_id", "pool"], cutoff=year)
        if not len(drawn):
            raise empty_slice("anchors", year, "training examples")
        anchors = graph.nodes_of(drawn["doc_id"].to_numpy())
        if own.processes > 1:
            around = in_shards(made.folder, graph, vectors, anchors, own, seed, device)
        else:
            around = neighbourhood(graph, np.load(vectors), anchors, own, seed, device)
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
            engine="faiss" if device is None else f"torch on {device}",
            cross_type_share=shares,
        )
        made.say(
            f"{len(examples):,} examples of {int(with_positive.sum()):,} anchors; "
            f"{(~with_positive).sum():,} anchors have no neighbour at these ranks; "
            f"{shares['all']:.2%} of the positives are of the other type"
        )
    return made.final
