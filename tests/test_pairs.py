"""Which pairs are drawn, and who is never whose negative."""

import numpy as np
import pyarrow as pa
import pytest
from small_graphs import graph_of

from pytrain.draws import CrossDraws, ExampleDraws, PassDraws, kinds_of
from pytrain.graph_config import PairSettings
from pytrain.kin import Kin, family_keys, text_key
from pytrain.pairs import Documents, _drawn, example_documents, examples_of, kin_of

NOBODY = np.empty((0, 2), np.int64)


def draws_of(n_papers: int, n_patents: int, share: float = 0.75, seed: int = 0):
    """Five examples of each paper, one or two of each patent, shuffled."""
    papers = np.repeat(np.arange(n_papers) + 10, 5)
    patents = np.concatenate([np.repeat(1_000 + i, 1 + i % 2) for i in range(n_patents)])
    anchors = np.concatenate([papers, patents]).astype(np.int64)
    order = np.random.default_rng(0).permutation(len(anchors))
    anchors = anchors[order]
    return anchors, ExampleDraws(anchors, anchors < 1_000, share, seed)


def test_three_in_four_drawn_are_papers_exactly():
    anchors, draws = draws_of(40, 30)
    drawn = anchors[draws.examples(0, 4_000)]
    assert (drawn < 1_000).sum() == 3_000
    for n in (1, 2, 3, 5, 64, 191):
        assert (anchors[draws.examples(0, n)] < 1_000).sum() == n * 3 // 4


def test_patents_are_drawn_without_replacement_within_each_pass_and_papers_with():
    anchors, draws = draws_of(40, 30)
    drawn = anchors[draws.examples(0, 480)]
    patents, papers = drawn[drawn >= 1_000], drawn[drawn < 1_000]
    assert len(patents) == 120
    for start in range(0, 120, 30):
        assert sorted(patents[start : start + 30]) == list(range(1_000, 1_030))
    assert not np.array_equal(patents[:30], patents[30:60])
    counts = np.bincount(papers - 10, minlength=40)
    assert counts.max() > counts.min() + 2  # 360 draws of 40: nine each would be no chance


def test_a_patent_gives_its_next_example_on_each_pass():
    anchors, draws = draws_of(4, 30)
    drawn = draws.examples(0, 480)
    drawn = drawn[anchors[drawn] >= 1_000]
    for patent in range(1_001, 1_030, 2):  # those with two examples
        mine = drawn[anchors[drawn] == patent]
        assert len(mine) == 4 and mine[0] != mine[1] and mine[0] == mine[2]


def test_draws_depend_on_the_place_alone():
    anchors, draws = draws_of(40, 30)
    whole = draws.examples(0, 500)
    pieces = [draws_of(40, 30)[1].examples(start, 50) for start in range(450, -1, -50)][::-1]
    assert np.array_equal(whole, np.concatenate(pieces))
    other = draws_of(40, 30, seed=1)[1].examples(0, 500)
    assert not np.array_equal(whole, other)


def test_without_patents_every_draw_is_a_paper():
    anchors = np.repeat(np.arange(40), 5)
    draws = ExampleDraws(anchors, np.ones(len(anchors), bool), 0.75, 0)
    assert draws.paper_share == 1 and len(draws.examples(0, 100)) == 100
    only = ExampleDraws(anchors, np.zeros(len(anchors), bool), 0.75, 0)
    assert only.paper_share == 0 and len(set(anchors[only.examples(0, 40)])) == 40


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_the_dial_of_positives_across_types_is_reached_in_every_prefix(share: float):
    anchors, _ = draws_of(40, 30)
    is_cross = np.arange(len(anchors)) % 7 == 0
    draws = CrossDraws(anchors, anchors < 1_000, is_cross, (0.75, share), 0)
    whole = draws.examples(0, 2_000)
    for n in (1, 3, 10, 333, 2_000):
        assert is_cross[whole[:n]].sum() == int(n * share)
    papers = anchors[whole] < 1_000
    for kind in (is_cross[whole], ~is_cross[whole]):
        assert papers[kind].sum() == kind.sum() * 3 // 4
    pieces = [draws.examples(start, 50) for start in range(0, 2_000, 50)]
    assert np.array_equal(whole, np.concatenate(pieces))


def test_kinds_keep_their_shares_in_every_prefix():
    kinds = kinds_of([0.7, 0.1, 0.2], 1_000)
    for n in (10, 50, 333, 1_000):
        counts = np.bincount(kinds[:n], minlength=3)
        assert (abs(counts - np.array([0.7, 0.1, 0.2]) * n) <= 1).all()
    assert (kinds_of([1.0, 0.0, 0.0], 20) == 0).all()


def test_a_pass_draws_every_row_once_and_ignores_what_is_added():
    ids = np.array([5, 9, 2, 40, 17])
    rows = PassDraws(ids, 0, 1).rows(0, 10)
    assert sorted(rows[:5]) == sorted(rows[5:]) == list(range(5))
    more = np.append(ids, 99)
    longer = [r for r in PassDraws(more, 0, 1).rows(0, 6) if r != 5]
    assert longer == rows[:5].tolist()
    assert PassDraws(ids, 0, 1).rows(7, 3).tolist() == rows[7:].tolist()


def test_the_anchor_and_second_copies_of_its_positive_are_masked():
    shared = Kin(9, NOBODY, None).shared(np.array([7, 8]), np.array([5, 5, 7, 1, 8]))
    assert shared.tolist() == [
        [False, True, True, False, False],
        [True, False, False, False, True],
    ]


def test_links_are_masked_wherever_the_document_stands():
    links = np.array([[0, 3], [0, 4], [2, 3]])
    shared = Kin(6, links, None).shared(np.array([0, 1, 2]), np.array([5, 3, 4, 3, 3, 0]))
    assert shared.tolist() == [
        [False, True, True, True, True, True],  # 3 thrice, 4, and the anchor 0 itself
        [False, False, False, True, True, False],  # second copies of its positive 3
        [False, True, False, True, True, False],
    ]


def test_masks_equal_the_definition_on_random_batches():
    rng = np.random.default_rng(0)
    links, families = rng.integers(0, 60, (200, 2)), rng.integers(0, 9, (60, 4))
    anchors, candidates = rng.integers(0, 60, 20), rng.integers(0, 60, 35)
    linked = {tuple(link) for link in links.tolist()}
    shared = Kin(60, links, families).shared(anchors, candidates)
    for i, a in enumerate(anchors):
        for j, c in enumerate(candidates):
            same = (families[a] == families[c]) & (families[a] != 0)
            expected = a == c or candidates[i] == c or (a, c) in linked or same.any()
            assert shared[i, j] == (expected and i != j)


def test_a_planted_family_is_never_its_own_negative():
    """A continuation repeats title and text; a grant and its publication are one work."""
    titles = [
        "Method of laying a glass fibre",
        "METHOD OF LAYING A GLASS-FIBRE",
        "Sensor",
        "Sensor",
    ]
    abstracts = ["A fibre is laid.", "Another wording.", "A fibre is laid!", "Nothing alike."]
    later = ["", "", "", ""]
    keys = family_keys(np.array([1, 2, 3, 1]), np.ones(4, bool), titles, abstracts, later)
    rows = np.arange(4)
    shared = Kin(4, NOBODY, keys).shared(rows, rows)
    kin = {(i, j) for i, j in zip(*np.nonzero(shared), strict=True)}
    assert kin == {(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0)}  # title, abstract, work
    papers = family_keys(np.array([1, 2, 3, 4]), np.zeros(4, bool), titles, abstracts, later)
    kin = np.nonzero(Kin(4, NOBODY, papers).shared(rows, rows))
    assert [k.tolist() for k in kin] == [[0, 2], [2, 0]]  # papers of one title are not kin


def test_a_text_without_letters_has_no_key():
    assert text_key("") == text_key(" -- ") == 0
    assert text_key("A, b") == text_key("a B") != text_key("ab")


def documents_of(n: int) -> Documents:
    blank = [""] * n
    return Documents(
        doc_ids=1_000 + np.arange(n),
        titles=blank,
        abstracts=blank,
        later=blank,
        in_pairs=np.ones(n, bool),
        families=np.zeros((n, 4), np.int64),
    )


TABLE = pa.table(
    {
        "anchor_id": [1_000, 1_000, 1_003],
        "anchor_type": ["paper", "paper", "patent"],
        "positive_id": [1_001, 1_002, 1_004],
        "positive_type": ["paper", "patent", "patent"],
        "negative_ids": pa.array([[1_005, 1_006, 1_007], [1_005, 1_006, 1_008], [1_009]]),
        "n_hard": pa.array([2, 2, 0], pa.int32()),
    }
)


def test_examples_keep_the_hard_and_the_random_negatives_asked_for():
    documents = documents_of(10)
    assert example_documents(TABLE).tolist() == documents.doc_ids.tolist()
    paper = examples_of(TABLE, documents, 2, 1)
    assert paper.is_cross.tolist() == [False, True, False]
    assert paper.negatives.tolist() == [[5, 6, 7], [5, 6, 8], [9, -1, -1]]
    assert examples_of(TABLE, documents, 1, 0).negatives.tolist() == [[5], [5], [-1]]
    assert examples_of(TABLE, documents, 0, 1).negatives.tolist() == [[7], [8], [9]]
    assert paper.is_paper.tolist() == [True, True, False]


@pytest.mark.parametrize("neighbours", [False, True])
def test_neighbours_are_masked_where_the_settings_say_so(neighbours: bool):
    """The paper masks an anchor's other positives; neighbours in the graph are our choice."""
    settings = PairSettings(mask_neighbours=neighbours, mask_families=False)
    graph = graph_of([(0, 5), (2, 3)], 10)
    kin = kin_of(documents_of(10), TABLE, graph, settings)
    shared = kin.shared(np.array([0, 3]), np.array([1, 4, 2, 5, 9]))
    assert shared.tolist() == [
        [False, False, True, neighbours, False],
        [False, False, neighbours, False, False],
    ]


def test_documents_of_text_pairs_are_drawn_by_hash():
    """The document drawn first stays first, whatever is added: nested draws."""
    ids = np.arange(1, 200)
    some = set(_drawn(ids, 50).tolist())
    assert len(some) == 50 and set(_drawn(ids, 40).tolist()) <= some
    kept = [i for i in ids if i not in sorted(set(ids) - some)[:20]]
    assert set(_drawn(np.array(kept), 50).tolist()) == some
