"""The reports on the lake against counts made from its own tables, another way."""

import json
from collections import Counter

import duckdb
import pytest
from click.testing import CliRunner
from tokenizers import Tokenizer, models, pre_tokenizers

from warehouse.cli import cli
from warehouse.dated import ALL
from warehouse.tables import Lake


def run(*words):
    found = CliRunner().invoke(cli, ["report", *words])
    assert found.exit_code == 0, found.output
    return [json.loads(line) for line in found.output.splitlines()]


@pytest.fixture
def at_sample(sample_lake, monkeypatch):
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(sample_lake))
    return sample_lake


def test_the_corpus_is_what_a_person_counts_in_the_texts(at_sample):
    texts, words = Counter(), Counter()
    with Lake(at_sample) as lake:
        found = lake.read("pretrain_text", ["source", "text"], cutoff=2013)
    for row in found.to_pylist():
        texts[row["source"]] += 1
        words[row["source"]] += len(row["text"].split())
    rows = run("corpus", "--asof", "2013", "--json")
    assert {row["source"]: row["n_texts"] for row in rows} == texts
    assert {row["source"]: row["n_words"] for row in rows} == words
    assert all(row["n_tokens"] == round(row["n_words"] * 1.3 + 1e-6) for row in rows)


def test_the_corpus_grows_with_the_cutoff_to_all_of_it(at_sample):
    rows = [row for row in run("corpus", "--json") if row["source"] == "uspto"]
    sizes = [row["n_texts"] for row in sorted(rows, key=lambda row: row["cutoff"])]
    assert sizes == sorted(sizes) and len(set(sizes)) > 10
    with Lake(at_sample) as lake:
        sources = lake.read("pretrain_text", ["source"], cutoff=ALL).column("source").to_pylist()
    assert sizes[-1] == sources.count("uspto")


def test_a_tokenizer_that_splits_at_white_space_makes_a_token_of_a_word(at_sample, tmp_path):
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    rows = run("corpus", "--asof", "2010", "--tokenizer", str(tmp_path), "--json")
    assert rows and all(row["n_tokens"] == row["n_words"] for row in rows)


def test_the_anchors_are_those_that_training_draws(at_sample):
    with Lake(at_sample) as lake:
        drawn = Counter(lake.read("anchors", ["pool"], cutoff=2015).column("pool").to_pylist())
    rows = {row["pool"]: row for row in run("anchors", "--asof", "2015", "--json")}
    assert {pool: row["n_drawn"] for pool, row in rows.items()} == drawn
    assert all(0 < row["n_drawn"] <= row["n_eligible"] for row in rows.values())
    with duckdb.connect(str(at_sample / "lake.duckdb"), read_only=True) as con:
        papers = con.execute(
            "select count(*) from graph.nodes_asof(2015) where doc_type = 'paper'"
        ).fetchall()[0][0]
        citing = con.execute(
            "select count(distinct citing_id) from graph.edges_asof(2015)"
            " where edge_type = 'patent_paper'"
        ).fetchall()[0][0]
    assert rows["paper"]["n_eligible"] == papers
    assert rows["patent_citing_paper"]["n_eligible"] == citing


def test_the_graph_at_a_cutoff_is_the_slice(at_sample):
    (row,) = run("graph", "--asof", "2014", "--json")
    with Lake(at_sample) as lake:
        assert row["edges"] == lake.read("edges", ["citing_id"], cutoff=2014).num_rows
        assert row["nodes"] == lake.read("nodes", ["node_id"], cutoff=2014).num_rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["corpus", "--asof", "1890"], "1890 is outside this lake"),
        (["anchors", "--asof", "1999"], "no row for 1999"),
        (["graph", "--tokenizer", "x"], "changes nothing"),
        (["corpus", "--tokenizer", "nowhere"], "no tokenizer at nowhere"),
    ],
)
def test_a_wrong_request_gets_one_message(at_sample, words, said):
    found = CliRunner().invoke(cli, ["report", *words])
    assert found.exit_code == 2 and said in found.output
