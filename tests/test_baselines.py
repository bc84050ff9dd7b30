"""Baselines: fitted on the slice alone, and better than chance on planted topics."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny_lake import make_tiny_lake
from tiny_tasks import CUTOFF, make_task_lake

from pyeval.baselines import Bm25, LexicalSettings, Tfidf
from pyeval.embed import sample_documents
from pyeval.protocol import ScoreSettings
from pyeval.score import load_benchmark, score
from pyeval.systems import find_folder, minilm_folder, resolve, shared_cutoff
from pyeval.tasks import pick
from warehouse.errors import CheckFailed, UserError
from warehouse.tables import Lake

SMALL = LexicalSettings(dimensions=20)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    with Lake(make_task_lake(tmp_path_factory.mktemp("lake"))) as opened:
        yield opened


def map_of(lake, system):
    benchmark = load_benchmark(lake, pick(["patent_cite", "cpc_section"]))
    settings = ScoreSettings(few_shot=(), resamples=0)
    rows = [
        row
        for scores in score(system, benchmark, lake, settings, cutoff=CUTOFF)
        for row in scores.rows
    ]
    return {(r["task"], r["metric"], r["column"]): r["value"] for r in rows}


def test_words_find_what_topics_hide(lake):
    """Chance is about 2%: a query cites some three of 200 documents, mostly of its topic."""
    systems = {name: resolve(name, lake, CUTOFF) for name in ("tfidf", "bm25")}
    few = Tfidf(lake, CUTOFF, SMALL)  # 20 axes: 256 are more than this lake's train rows
    systems["tfidf-svd"] = replace(resolve("tfidf-svd", lake, CUTOFF), embed=few.embed)
    scores = {name: map_of(lake, system) for name, system in systems.items()}
    for name, found in scores.items():
        assert found["patent_cite", "map", "all"] > 7, name
    assert scores["tfidf-svd"]["cpc_section", "macro_f1", "all"] > 80
    assert ("cpc_section", "macro_f1", "all") not in scores["bm25"]  # it has no vectors


def test_bm25_is_the_formula():
    """Two documents, one query word: idf x tf / (tf + k1 (1 - b + b len / mean len))."""
    corpus = ["apple pear pear", "pear plum grape melon fig"]
    ranking = Bm25(LexicalSettings()).rank(["apple"], corpus, 2)
    idf = np.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 1 / (1 + 1.2 * (1 - 0.75 + 0.75 * 3 / 4))
    assert ranking.index[0, 0] == 0
    assert ranking.scores[0, 0] == pytest.approx(expected, rel=1e-5)


def test_tfidf_ranks_by_the_cosine_of_sklearns_vectors(lake):
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = sample_documents(lake, CUTOFF, 10_000, "any")
    known = [f"{t} {a}" for t, a in zip(texts.titles.to_pylist(), texts.abstracts.to_pylist(),
                                        strict=True)]  # fmt: skip
    oracle = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2).fit(known)
    cosine = (oracle.transform(known[:5]) @ oracle.transform(known).T).toarray()
    ranking = Tfidf(lake, CUTOFF, SMALL).rank(known[:5], known, 8)
    expected = np.sort(cosine, axis=1)[:, ::-1][:, :8]
    np.testing.assert_allclose(ranking.scores, expected, atol=1e-5)


def test_tfidf_is_the_same_with_and_without_later_rows(tmp_path):
    """The slice decides: words, idf, axes and fingerprint are equal on a lake cut at the year."""
    found = []
    for last_year in (2010, 2015):
        with Lake(make_tiny_lake(tmp_path / f"{last_year}", last_year)) as lake:
            fitted = Tfidf(lake, 2010, SMALL)
            some = sample_documents(lake, 2008, 40, "probe")
            texts = some.titles.to_pylist(), some.abstracts.to_pylist()
            found.append((fitted.fingerprint, fitted.embed(*texts)))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_a_sample_by_hash_stays_when_documents_are_added(tmp_path):
    drawn = []
    for last_year in (2010, 2015):
        with Lake(make_tiny_lake(tmp_path / f"{last_year}", last_year)) as lake:
            drawn.append(sample_documents(lake, 2010, 30, "whiten").ids)
    np.testing.assert_array_equal(*drawn)
    assert len(drawn[0]) == 30


def test_fitting_on_a_year_before_the_first_document_fails(lake):
    with pytest.raises(CheckFailed, match="no document is known by 1990"):
        sample_documents(lake, 1990, 10, "whiten")


def test_whatever_is_fitted_on_the_lake_asks_for_a_cutoff(lake):
    with pytest.raises(UserError, match="--cutoff"):
        resolve("tfidf-svd", lake, None)


def test_a_model_is_not_scored_out_of_time_before_its_own_cutoff(lake):
    system = resolve("tfidf-svd", lake, 2012)
    assert system.split_at(None) == 2012 and system.split_at(2014) == 2014
    with pytest.raises(UserError, match="knows documents up to 2012"):
        system.split_at(2010)


def test_minilm_is_the_folder_inside_its_package():
    folder = minilm_folder()
    assert (folder / "modules.json").is_file() and (folder / "model.safetensors").is_file()


def test_a_missing_model_is_told_the_nearest_run(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path))
    (tmp_path / "sample-2013-ci").mkdir()
    (tmp_path / "sample-2013-ci" / "run.json").write_text("{}")
    assert find_folder("sample-2013-ci") == tmp_path / "sample-2013-ci"
    with pytest.raises(UserError, match="Did you mean 'sample-2013-ci'"):
        find_folder("sample-2013-c")
    with pytest.raises(UserError, match="Did you mean 'bm25'"):
        find_folder("bm52")


def test_baselines_take_the_cutoff_of_the_models_named_with_them(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path))
    for year in (2010, 2013):
        (tmp_path / f"sample-{year}" / "model").mkdir(parents=True)
        card = json.dumps({"cutoff": year})
        (tmp_path / f"sample-{year}" / "model" / "scitlake.json").write_text(card)
    assert shared_cutoff(["sample-2013", "tfidf-svd", "minilm"], None) == 2013
    assert shared_cutoff(["random:sample-2013", "bm25"], None) == 2013
    assert shared_cutoff(["sample-2010", "sample-2013"], None) is None  # each has its own
    assert shared_cutoff(["sample-2010", "tfidf"], 2014) == 2014
    assert shared_cutoff(["bm25", "minilm"], None) is None
    with pytest.raises(UserError, match="--cutoff 2013"):
        shared_cutoff(["sample-2010", "sample-2013", "bm25"], None)
    with pytest.raises(UserError, match="fitted on documents"):
        shared_cutoff(["bm25", "tfidf"], None)


def test_what_a_run_and_its_parents_read_decides_what_counts_as_seen(tmp_path, monkeypatch):
    from pyeval.systems import _bases

    monkeypatch.setenv("RUNS_ROOT", str(tmp_path))
    records = {
        "base": {"tables_read": [{"name": "pretrain_text", "basis": "filing"}], "parents": []},
        "base-ci": {"tables_read": [{"name": "documents"}], "parents": [{"name": "base"}]},
    }
    for name, record in records.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps(record))
    assert _bases(tmp_path / "base-ci") == ("filing", "production")
    assert _bases(Path("/nowhere")) == ("production",)
