"""Exact ranks against brute force, self left out by id, and the rules of the examples."""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from small_graphs import graph_of
from tiny_lake import make_tiny_lake

from pytrain import neighbours, node2vec, ranks
from pytrain.config import NeighbourSettings, load_settings
from pytrain.examples import cross_type_shares, make_examples, random_negatives
from pytrain.neighbours import in_shards, neighbourhood
from pytrain.ranks import nearest
from pytrain.run import read_run
from warehouse.errors import UserError

SMALL = NeighbourSettings(positive_ranks=(2, 4), hard_ranks=(20, 21))
SCOPED = replace(SMALL, positive_ranks=(1, 5), neighbour_scope="component")


def vectors_of(n: int, d: int = 8, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def brute_force(vectors: np.ndarray, anchor: int, members: np.ndarray) -> np.ndarray:
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    others = members[members != anchor]
    return others[np.argsort(-(unit[others] @ unit[anchor]), kind="stable")]


@pytest.mark.parametrize("device", [None, "cpu"])  # by faiss, by torch
@pytest.mark.parametrize("n", [300, 5_000])  # scored whole, and from an engine's candidates
@pytest.mark.parametrize("wanted", [[1, 21, 25, 250], range(1, 251)])  # some ranks, and all
def test_ranks_equal_brute_force(n: int, device: str | None, wanted: list[int]):
    vectors, anchors, wanted = vectors_of(n), np.array([0, 7, n - 1]), np.array(wanted)
    nodes, scores = nearest(vectors, np.arange(n), anchors, np.arange(n), wanted, device=device)
    for i, anchor in enumerate(anchors):
        assert nodes[i].tolist() == brute_force(vectors, anchor, np.arange(n))[wanted - 1].tolist()
    assert (np.diff(scores, axis=1) <= 0).all()


def test_an_anchor_is_left_out_by_id_even_when_others_have_its_vector():
    """Nodes 3, 4 and 5 share a vector, so self need not come first."""
    vectors = vectors_of(50)
    vectors[[3, 4]] = vectors[5]
    nodes, _ = nearest(vectors, np.arange(50), np.array([3, 4, 5]), np.arange(50), np.arange(1, 50))
    for i, anchor in enumerate((3, 4, 5)):
        assert anchor not in nodes[i]
        assert sorted({3, 4, 5} - {anchor}) == nodes[i, :2].tolist()


@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("equal", [10, 1_000])  # inside the candidates, and more than them
def test_ties_rank_by_document_whatever_the_engine(equal: int, device: str | None):
    """The lowest ids win, even where equal vectors fill the whole list of candidates."""
    n = 5_000
    vectors = vectors_of(n)
    vectors[2_000 : 2_000 + equal] = vectors[100]
    doc_ids = np.arange(n)[::-1].copy()  # the last node has the lowest id
    asked = (vectors, doc_ids, np.array([100]), np.arange(n), np.arange(1, 6))
    nodes, _ = nearest(*asked, device=device)
    assert nodes[0].tolist() == [1_999 + equal - i for i in range(5)]


def test_ranks_by_torch_do_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch):
    vectors, anchors, everything = vectors_of(5_000), np.arange(40), np.arange(5_000)
    wanted = np.array([1, 5, 299])
    whole = nearest(vectors, everything, anchors, everything, wanted, device="cpu")
    monkeypatch.setattr(ranks, "_CHUNK", 611)
    chunks = nearest(vectors, everything, anchors, everything, wanted, device="cpu")
    assert np.array_equal(whole[0], chunks[0]) and np.array_equal(whole[1], chunks[1])


def test_ranks_do_not_depend_on_the_block(monkeypatch: pytest.MonkeyPatch):
    vectors, anchors = vectors_of(5_000), np.arange(40)
    whole = nearest(vectors, np.arange(5_000), anchors, np.arange(5_000), np.arange(1, 300))
    monkeypatch.setattr(ranks, "_BLOCK", 7)
    pieces = nearest(vectors, np.arange(5_000), anchors, np.arange(5_000), np.arange(1, 300))
    assert np.array_equal(whole[0], pieces[0]) and np.array_equal(whole[1], pieces[1])


def ring(n: int, types: list[int] | None = None):
    return graph_of([(i, (i + 1) % n) for i in range(n)], n, types)


def test_positives_and_hard_negatives_stand_at_their_ranks():
    graph, vectors = ring(30), vectors_of(30)
    around = neighbourhood(graph, vectors, np.array([4, 9]), SMALL, 0)
    for i, anchor in enumerate((4, 9)):
        order = brute_force(vectors, anchor, np.arange(30))
        assert around.positives[i].tolist() == order[1:4].tolist()
        assert around.hard[i].tolist() == order[19:21].tolist()


def test_a_graph_smaller_than_the_last_rank_is_refused():
    """21 ranks need 22 nodes: 21 others and the anchor."""
    neighbourhood(ring(22), vectors_of(22), np.array([0]), SMALL, 0)
    with pytest.raises(UserError, match="rank 21 needs 22 nodes, and the graph has 21"):
        neighbourhood(ring(21), vectors_of(21), np.array([0]), SMALL, 0)


def test_a_component_gives_what_it_holds_of_the_anchors_type():
    """Papers 0-3 and patent 4 in one component, patents 5 and 6 in another, 4 alone of its type."""
    pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6)]
    graph = graph_of(pairs, 7, [0, 0, 0, 0, 1, 1, 1])
    around = neighbourhood(graph, vectors_of(7), np.array([1, 5, 4]), SCOPED, 0)
    assert set(around.positives[0].tolist()) == {0, 2, 3, -1}
    assert around.positives[0, 3:].tolist() == [-1, -1]
    assert around.positives[1].tolist() == [6, -1, -1, -1, -1]
    assert around.positives[2].tolist() == [-1] * 5
    assert (around.hard == -1).all()


def test_hard_negatives_of_a_wide_range_are_drawn_inside_it_in_rank_order():
    graph, vectors = ring(60), vectors_of(60)
    settings = replace(SCOPED, hard_ranks=(20, 50), hard_negatives=3)
    around = neighbourhood(graph, vectors, np.arange(60), settings, 0)
    for anchor in range(60):
        order = brute_force(vectors, anchor, np.arange(60)).tolist()
        places = [order.index(node) + 1 for node in around.hard[anchor]]
        assert places == sorted(places) and places[0] >= 20 and places[-1] <= 50
    other = neighbourhood(graph, vectors, np.arange(60), settings, 1)
    assert not np.array_equal(around.hard, other.hard)
    assert np.array_equal(around.positives, other.positives)


@pytest.mark.parametrize("scope", ["graph", "component"])
def test_the_nearest_of_the_other_type_are_added_where_they_are_asked_for(scope: str):
    """Two components of 20; even nodes are papers."""
    pairs = [(i, i + 1) for i in range(39) if i != 19]
    graph, vectors = graph_of(pairs, 40, [0, 1] * 20), vectors_of(40)
    settings = replace(SCOPED, cross_positives=3, neighbour_scope=scope, hard_ranks=(6, 7))
    anchors = np.array([4, 25])
    around = neighbourhood(graph, vectors, anchors, settings, 0)
    for i, anchor in enumerate(anchors):
        here = np.arange(40) if scope == "graph" else np.arange(20) + 20 * (anchor >= 20)
        others = here[graph.doc_types[here] != graph.doc_types[anchor]]
        assert around.cross[i].tolist() == brute_force(vectors, anchor, others)[:3].tolist()
    examples = make_examples(graph, around, anchors, np.array(["paper", "patent"]), settings, 0)
    ends = (examples[f"{end}_id"].to_pylist() for end in ("anchor", "positive"))
    pairs = list(zip(*ends, strict=True))
    assert len(pairs) == len(set(pairs))
    cross = np.array(examples["anchor_type"]) != np.array(examples["positive_type"])
    assert cross.sum() >= 6 if scope == "graph" else cross.sum() == 6
    barred = {a: {p for b, p in pairs if b == a} | {a} for a, _ in pairs}
    for one in examples.to_pylist():
        assert not barred[one["anchor_id"]] & set(one["negative_ids"][one["n_hard"] :])
    none = neighbourhood(graph, vectors, anchors, replace(settings, cross_positives=0), 0)
    assert none.cross.shape == (2, 0) and np.array_equal(none.positives, around.positives)


@pytest.mark.parametrize("scope", ["graph", "component"])
def test_shards_give_what_one_process_gives(tmp_path, scope: str):
    graph, vectors = ring(60, [0, 1] * 30), vectors_of(60)
    np.save(tmp_path / "vectors.npy", vectors)
    settings = replace(SMALL, neighbour_scope=scope, cross_positives=2, processes=2)
    anchors = np.arange(0, 60, 3)
    alone = neighbourhood(graph, vectors, anchors, settings, 0)
    shards = in_shards(tmp_path, graph, tmp_path / "vectors.npy", anchors, settings, 0)
    for name in ("positives", "hard", "cross"):
        assert np.array_equal(getattr(alone, name), getattr(shards, name))
    assert not (tmp_path / "shards").exists()


def test_a_random_negative_is_an_anchor_of_the_same_type_but_never_kin():
    types = [0] * 30 + [1] * 30
    graph = ring(60, types)
    anchors = np.array([*range(0, 8), *range(30, 38)])
    around = neighbourhood(graph, vectors_of(60), anchors, SMALL, 0)
    rows, columns = np.nonzero(around.positives >= 0)
    positive = around.positives[rows, columns]
    drawn = random_negatives(graph, anchors, around.positives, (rows, positive), 2, 0)
    for row, two in zip(rows, drawn, strict=True):
        assert set(two.tolist()) <= set(anchors.tolist())
        assert (graph.doc_types[two] == graph.doc_types[anchors[row]]).all()
        assert anchors[row] not in two and not set(two) & set(around.positives[row])
        assert two[0] != two[1]


def test_random_negatives_are_uniform_over_what_is_allowed():
    """Nine of twelve anchors are left to anchor 0; each pair draws once."""
    graph, anchors = ring(9_000), np.arange(12)
    positives = np.tile([1, 2], (12, 1))
    pairs = np.zeros(9_000, int), np.arange(9_000)
    drawn = random_negatives(graph, anchors, positives, pairs, 1, 0)
    counts = np.bincount(drawn[:, 0], minlength=12)
    assert counts[:3].sum() == 0
    assert (abs(counts[3:] - 1_000) < 5 * np.sqrt(1_000 * 8 / 9)).all()


def test_a_pool_without_anyone_left_gives_no_random_negative():
    graph = ring(30, [0] * 29 + [1])
    anchors = np.array([3, 29])
    around = neighbourhood(graph, vectors_of(30), anchors, SMALL, 0)
    examples = make_examples(graph, around, anchors, np.array(["paper", "patent"]), SMALL, 0)
    rows = examples.filter(examples["anchor_id"].to_numpy() == graph.doc_ids[29])
    assert [len(one) for one in rows["negative_ids"].to_pylist()] == [2, 2, 2]  # the hard ones


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Examples of 2012 from a lake to 2015 and from the same lake to 2012."""
    folders = []
    for last_year in (2015, 2012):
        root = tmp_path_factory.mktemp(f"lake{last_year}")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SCITLAKE_WAREHOUSE", str(make_tiny_lake(root / "lake", last_year)))
            patch.setenv("RUNS_ROOT", str(root / "runs"))
            settings = load_settings("tiny", ["node2vec.report_auc=false"])
            node2vec.run(settings, 2012, seed=0, force=False)
            folders.append(neighbours.run(settings, 2012, seed=0, force=False))
    return folders


def test_examples_do_not_change_when_later_rows_are_added(made):
    long, short = (read_run(folder)["artefacts"]["examples.parquet"] for folder in made)
    assert long == short


def test_no_example_holds_a_document_after_the_cutoff(made):
    examples = pq.read_table(made[0] / "examples.parquet")
    assert len(examples) > 500
    years = examples["known_year"].to_numpy()
    assert years.max() <= 2012 and len(np.unique(years)) > 3


def test_examples_keep_to_type_and_component_and_say_so(made):
    examples = pq.read_table(made[0] / "examples.parquet").to_pylist()
    for one in examples:
        assert one["anchor_type"] == one["positive_type"]
        assert 1 <= one["rank"] <= 5
        assert one["anchor_id"] not in one["negative_ids"] + [one["positive_id"]]
        assert one["n_hard"] <= 2 and len(one["negative_ids"]) <= one["n_hard"] + 1
    notes = read_run(made[0])["notes"]
    assert notes["cross_type_share"]["all"] == 0.0
    assert notes["examples"] == len(examples)
    assert notes["positive_ranks"] == [1, 5] and notes["neighbour_scope"] == "component"


def test_the_share_of_cross_type_positives_is_counted_by_hand():
    import pyarrow as pa

    examples = pa.table(
        {
            "anchor_type": ["paper", "paper", "patent", "patent"],
            "positive_type": ["paper", "patent", "paper", "patent"],
            "pool": ["paper", "paper", "patent_citing_paper", "patent_citing_paper"],
        }
    )
    shares = cross_type_shares(examples)
    assert shares == {"all": 0.5, "paper": 0.5, "patent": None, "patent_citing_paper": 0.5}


def test_ranks_beyond_the_graph_are_refused_from_the_command(made, monkeypatch):
    root = made[0].parents[1]
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(root / "lake"))
    monkeypatch.setenv("RUNS_ROOT", str(root / "runs"))
    settings = load_settings("tiny", ["neighbours.neighbour_scope=graph"])
    paper = replace(settings, neighbours=NeighbourSettings())
    with pytest.raises(UserError, match="rank 4000 needs 4001 nodes"):
        neighbours.run(paper, 2012, seed=0, force=True)
    assert (made[0] / "examples.parquet").is_file()  # the earlier run is untouched
