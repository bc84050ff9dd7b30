"""The papers' baselines by name: whose weights, how pooled, what year, tuned or not."""

import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from pyeval import registry
from pyeval.cli import cli
from pyeval.grid import vintage_of
from pyeval.systems import find_folder, minilm_folder, resolve, shared_cutoff
from pytrain.encoder import Encoder
from warehouse.errors import UserError

TITLES, ABSTRACTS = ["A title", "Another"], ["Some text.", "More of it, and longer."]


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """RUNS_ROOT with a stand-in for two baselines, and no hub."""
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for name in ("allenai/scibert_scivocab_uncased", "chronobert-2013"):
        shutil.copytree(minilm_folder(), tmp_path / "baselines" / name)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "hub_id", "year", "tuned"),
    [
        ("scibert", "allenai/scibert_scivocab_uncased", None, False),
        ("specter2", "allenai/specter2_base", None, True),
        ("scincl", "malteos/scincl", None, True),
        ("paecter", "mpi-inno-comp/paecter", None, True),
        ("chronobert-1999", "manelalab/chrono-bert-v1-19991231", 1999, False),
        ("scitbert-2013", "gebhart/scitbert-2013", 2013, False),
        ("scitbert-2025-ci", "gebhart/scitbert-2025-ci", 2025, True),
    ],
)
def test_the_papers_baselines_have_a_row_each(name, hub_id, year, tuned):
    found = registry.find(name)
    assert (found.hub_id, found.year, found.baseline.tuned) == (hub_id, year, tuned)
    assert found.baseline.pooling == "mean"  # scitbert.txt, "Evaluation setup"
    assert registry.is_tuned(name) is tuned


def test_every_model_of_the_paper_can_be_named():
    """13 and 13 released vintages (T56), and a year outside them is told."""
    years = range(2013, 2026)
    assert (
        len({registry.find(f"scitbert-{y}{ci}").hub_id for y in years for ci in ("", "-ci")}) == 26
    )
    for name in ("scitbert-2012", "chronobert-2025"):
        with pytest.raises(UserError, match="has a model for each year"):
            registry.find(name)
    assert registry.find("sample-2013") is None


def test_unknown_names_count_as_tuned_and_words_and_chance_do_not():
    assert registry.is_tuned("some-encoder") and registry.is_tuned("minilm")
    untuned = ("tfidf-svd", "bm25", "random-sample-2013", "modernbert")
    assert [name for name in untuned if registry.is_tuned(name)] == []
    assert vintage_of("chronobert-2013") is None
    assert vintage_of("scitbert-2013-ci").year == 2013


def test_a_baseline_is_the_local_folder_pooled_as_the_paper_does(runs):
    system = resolve("scibert", None, None)
    assert (system.name, system.cutoff, system.states_cutoff, system.tuned) == (
        "scibert", None, False, False
    )  # fmt: skip
    by_hand = Encoder.load(minilm_folder(), pooling="mean").embed(TITLES, ABSTRACTS)
    np.testing.assert_array_equal(system.embed(TITLES, ABSTRACTS), by_hand)


def test_a_pooling_asked_for_is_not_the_folders(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(minilm_folder(), folder)
    config = {"word_embedding_dimension": 384, "pooling_mode_cls_token": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    own, asked = Encoder.load(folder), Encoder.load(folder, pooling="mean")
    mean = Encoder.load(minilm_folder())
    assert own.fingerprint != asked.fingerprint
    np.testing.assert_array_equal(asked.embed(TITLES, ABSTRACTS), mean.embed(TITLES, ABSTRACTS))
    assert not np.allclose(own.embed(TITLES, ABSTRACTS), mean.embed(TITLES, ABSTRACTS), atol=1e-3)


def test_a_claimed_year_divides_the_scores(runs):
    system = resolve("chronobert-2013", None, None)
    assert (system.cutoff, system.states_cutoff) == (2013, True)
    assert shared_cutoff(["chronobert-2013", "bm25"], None) == 2013
    with pytest.raises(UserError, match="knows documents up to 2013"):
        system.split_at(2010)


def test_weights_that_are_nowhere_are_one_message(runs):
    with pytest.raises(UserError, match=r"specter2 needs the weights of allenai/specter2_base"):
        resolve("specter2", None, None)


def test_a_run_of_ones_own_goes_before_the_registry(runs):
    shutil.copytree(minilm_folder(), runs / "scincl")
    assert resolve("scincl", None, None).text_settings.startswith("{title}. {abstract}")
    with pytest.raises(UserError, match="Did you mean 'paecter'"):
        find_folder("paectr")


def test_the_command_lists_every_row_and_what_is_here(runs):
    done = CliRunner().invoke(cli, ["baselines", "--json"])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == [one.name for one in registry.BASELINES]
    here = {row["name"]: row["here"] for row in rows if row["here"]}
    assert here == {"scibert": "scibert", "chronobert-{year}": "chronobert-2013"}
    assert all("{" not in row["claims"] for row in rows)
