"""Baselines that any lake can score: words counted, nothing trained on citations."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from pyeval.embed import sample_documents
from pyeval.retrieval import Ranking, rank_scores
from warehouse.errors import CheckFailed
from warehouse.tables import Lake

Texts = Sequence[str]
_QUERIES_AT_A_TIME = 64


@dataclass(frozen=True, kw_only=True)
class LexicalSettings:
    """TF-IDF and BM25. The paper has no lexical baseline: all of these are our choice."""

    dimensions: int = 256  # of the truncated SVD
    min_documents: int = 2  # a word in fewer documents is left out of TF-IDF
    fit_documents: int = 200_000  # documents known by the cutoff to fit on, drawn by hash
    k1: float = 1.2  # BM25's term saturation
    b: float = 0.75  # BM25's length normalisation
    seed: int = 0  # of the randomised SVD


class Tfidf:
    """TF-IDF (sublinear, English stop words), fitted on documents known by a cutoff."""

    def __init__(self, lake: Lake, cutoff: int, settings: LexicalSettings) -> None:
        """Chooses the documents; reads and fits nothing until it is asked for a vector."""
        self._lake, self._cutoff, self._settings = lake, cutoff, settings
        self._words = self._svd = None
        read = lake.fingerprint("documents", ["doc_id", "title", "abstract"], cutoff=cutoff)
        said = f"{read.fingerprint} {sorted(asdict(settings).items())}"
        self.fingerprint = hashlib.sha256(said.encode()).hexdigest()

    def embed(self, titles: Texts, abstracts: Texts) -> NDArray[np.float32]:
        """(N, dimensions) unit rows by truncated SVD; fewer on a lake with fewer words."""
        from sklearn.decomposition import TruncatedSVD

        if self._svd is None:
            known = self._fit()
            dims = min(self._settings.dimensions, known.shape[1] - 1, known.shape[0] - 1)
            self._svd = TruncatedSVD(dims, random_state=self._settings.seed).fit(known)
        dense = self._svd.transform(self._words.transform(_joined(titles, abstracts)))
        lengths = np.linalg.norm(dense, axis=1, keepdims=True)
        return (dense / np.maximum(lengths, 1e-12)).astype(np.float32)

    def rank(self, queries: Texts, corpus: Texts, depth: int) -> Ranking:
        """Cosine of the full TF-IDF vectors."""
        if self._words is None:
            self._fit()
        asked, held = self._words.transform(queries), self._words.transform(corpus).T.tocsr()
        blocks = (
            (asked[start : start + _QUERIES_AT_A_TIME] @ held).toarray()
            for start in range(0, len(queries), _QUERIES_AT_A_TIME)
        )
        return rank_scores(blocks, len(queries), depth)

    def _fit(self):
        """Learns words and their idf; returns the documents' sparse vectors."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        settings = self._settings
        drawn = sample_documents(self._lake, self._cutoff, settings.fit_documents, "tfidf")
        texts = drawn.titles.to_pylist(), drawn.abstracts.to_pylist()
        rare = min(settings.min_documents, max(1, len(texts[0]) // 2))
        self._words = TfidfVectorizer(
            sublinear_tf=True, stop_words="english", min_df=rare, dtype=np.float32
        )
        try:
            return self._words.fit_transform(_joined(*texts))
        except ValueError as error:  # no word is left: scikit-learn's message names no document
            raise CheckFailed(
                f"TF-IDF found no word in the {len(texts[0]):,} documents known by {self._cutoff}"
            ) from error


class Bm25:
    """BM25 (bm25s, Lucene's variant); its idf is that of the corpus searched.

    So it knows how often a word occurs among later documents of the corpus, which no model
    with a cutoff does: a search engine would too.
    """

    def __init__(self, settings: LexicalSettings) -> None:
        """Nothing is fitted; the corpus comes with the question."""
        self._settings = settings
        said = str(sorted(asdict(settings).items()))
        self.fingerprint = hashlib.sha256(f"bm25 {said}".encode()).hexdigest()

    def rank(self, queries: Texts, corpus: Texts, depth: int) -> Ranking:
        """Scores every corpus document for every query (title and abstract as its words)."""
        import bm25s

        index = bm25s.BM25(
            k1=self._settings.k1, b=self._settings.b, method="lucene", auto_compile=False
        )
        held = bm25s.tokenize(list(corpus), stopwords="en", show_progress=False)
        index.index(held, show_progress=False)
        asked = bm25s.tokenize(list(queries), stopwords="en", return_ids=False, show_progress=False)
        return rank_scores(self._blocks(index, asked), len(queries), depth)

    def _blocks(self, index, asked: list[list[str]]) -> Iterator[NDArray[np.float32]]:
        for start in range(0, len(asked), _QUERIES_AT_A_TIME):
            yield np.stack(
                [index.get_scores(words) for words in asked[start : start + _QUERIES_AT_A_TIME]]
            )


def _joined(titles: Texts, abstracts: Texts) -> list[str]:
    return [f"{title} {abstract}" for title, abstract in zip(titles, abstracts, strict=True)]
