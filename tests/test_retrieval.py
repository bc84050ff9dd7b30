"""The exact search against brute force and faiss, and its one tie rule."""

import numpy as np
import pytest

from pyeval import retrieval
from pyeval.retrieval import judge, rank_scores, search, without


def pair(seed: int = 0, n_queries: int = 30, n_corpus: int = 500, dims: int = 16):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n_queries, dims)).astype(np.float32),
        rng.normal(size=(n_corpus, dims)).astype(np.float32),
    )


def by_hand(queries, corpus, depth):
    """Cosine in fp64, ties by index."""
    a = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    b = corpus / np.linalg.norm(corpus, axis=1, keepdims=True)
    return np.argsort(-(a.astype(float) @ b.astype(float).T), axis=1, kind="stable")[:, :depth]


def test_the_search_equals_brute_force():
    queries, corpus = pair()
    np.testing.assert_array_equal(search(queries, corpus, 20).index, by_hand(queries, corpus, 20))


def test_the_search_equals_faiss_flat():
    import faiss

    queries, corpus = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in pair(1))
    index = faiss.IndexFlatIP(corpus.shape[1])
    index.add(corpus)
    scores, found = index.search(queries, 20)
    ranking = search(queries, corpus, 20)
    np.testing.assert_array_equal(ranking.index, found)
    np.testing.assert_allclose(ranking.scores, scores, atol=1e-6)


def test_the_block_size_changes_nothing(monkeypatch):
    queries, corpus = pair(2)
    corpus[100:110] = corpus[50]  # ties
    whole = search(queries, corpus, 20)
    monkeypatch.setattr(retrieval, "_BLOCK_SCORES", 700)
    small = search(queries, corpus, 20)
    np.testing.assert_array_equal(whole.index, small.index)
    np.testing.assert_array_equal(whole.scores, small.scores)


def test_equal_vectors_rank_by_doc_id_wherever_they_stand():
    """Copies spread over the corpus tie exactly, though BLAS may round them differently."""
    queries, corpus = pair(3, n_queries=200, n_corpus=333, dims=37)
    places = np.array([5, 17, 64, 200, 332])
    corpus[places] = corpus[5]
    index = search(queries, corpus, 333).index
    for row in index:
        assert row[np.isin(row, places)].tolist() == places.tolist()


def test_a_constant_encoder_ranks_by_doc_id_alone():
    ranking = search(np.ones((2, 4)), np.ones((50, 4)), 10)
    assert ranking.index.tolist() == [list(range(10))] * 2


def test_a_corpus_smaller_than_the_depth_is_ranked_whole():
    queries, corpus = pair(4, n_queries=2, n_corpus=3)
    ranking = search(queries, corpus, 5)
    assert ranking.ranked.tolist() == [[True] * 3 + [False] * 2] * 2
    assert sorted(ranking.index[0, :3].tolist()) == [0, 1, 2]


def test_given_scores_rank_with_the_same_tie_rule():
    scores = np.array([[0.0, 2.0, 1.0, 2.0, 1.0, 1.0]], dtype=np.float32)
    ranking = rank_scores(iter([scores]), 1, 4)
    assert ranking.index.tolist() == [[1, 3, 2, 4]]


def test_hits_are_the_relevant_pairs():
    ranking = rank_scores(iter([np.array([[3.0, 2, 1], [1, 2, 3]])]), 2, 3)
    hits = judge(ranking, (np.array([0, 1]), np.array([1, 2])), 3)
    assert hits.tolist() == [[False, True, False], [True, False, False]]


def test_a_document_of_one_query_is_not_a_hit_of_another():
    ranking = rank_scores(iter([np.array([[1.0, 2], [1, 2]])]), 2, 2)
    assert not judge(ranking, (np.array([0]), np.array([0])), 2)[1].any()


def test_taking_documents_out_moves_the_rest_up_for_that_query_only():
    ranking = rank_scores(iter([np.array([[4.0, 3, 2, 1], [4, 3, 2, 1]])]), 2, 4)
    rest = without(ranking, (np.array([0]), np.array([0])), 4, 2)
    assert rest.index.tolist() == [[1, 2], [0, 1]]


def test_a_short_ranking_stays_short_when_documents_are_taken_out():
    ranking = search(np.eye(2), np.eye(2), 3)
    rest = without(ranking, (np.array([0, 0]), np.array([0, 1])), 2, 3)
    assert rest.index.tolist() == [[-1, -1, -1], [1, 0, -1]]
    assert np.isnan(rest.scores[0]).all()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_lengths_of_vectors_do_not_matter(scale):
    queries, corpus = pair(5)
    stretched = corpus * np.linspace(1, scale, len(corpus))[:, None]
    np.testing.assert_array_equal(
        search(queries, stretched, 10).index, search(queries, corpus, 10).index
    )
