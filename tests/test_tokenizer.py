"""One tokenizer per cutoff: nothing later, nothing from the web, the same bytes every time."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from graph_runs import on_two_lakes
from tiny_lake import coined
from tokenizers import Tokenizer

from pytrain import tokenizer as stage
from pytrain.cli import cli
from pytrain.config import TokenizerSettings, load_settings
from pytrain.fertility import fertility
from pytrain.run import read_run
from pytrain.tokenizer import damped, has_token, load_tokenizer, train_tokenizer
from warehouse.errors import UserError
from warehouse.tables import Lake

# Large enough that a word of a hundred uses becomes a token.
TINY = load_settings("tiny", ["tokenizer.vocab_size=2400"])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A lake to 2015, one to 2012, and the 2012 tokenizer of each."""
    return on_two_lakes(
        tmp_path_factory.mktemp("tokenizer"),
        lambda: stage.run(TINY, 2012),
        lambda: "whole" in os.environ["RUNS_ROOT"] and stage.run(TINY, 2013),
    )


def test_rows_after_the_cutoff_leave_the_tokenizer_byte_for_byte(made):
    one, two = (made / f"runs-{n}" / "tiny-2012-tokenizer" for n in ("whole", "prefix"))
    assert (one / "tokenizer.json").read_bytes() == (two / "tokenizer.json").read_bytes()
    assert read_run(one)["fingerprint"] == read_run(two)["fingerprint"]
    later = made / "runs-whole" / "tiny-2013-tokenizer"
    assert (one / "tokenizer.json").read_bytes() != (later / "tokenizer.json").read_bytes()


def test_a_term_coined_next_year_is_no_token_and_one_of_the_past_is(made):
    one = load_tokenizer(made / "runs-whole" / "tiny-2012-tokenizer")
    two = load_tokenizer(made / "runs-whole" / "tiny-2013-tokenizer")
    assert has_token(one, coined(2008)) and has_token(two, coined(2008))
    assert not has_token(one, coined(2013)) and not has_token(one, coined(2014))
    assert has_token(two, coined(2013))
    known = stage.known_terms(one, {coined(y): y for y in (2008, 2013)})
    assert known == {2008: ([coined(2008)], 1), 2013: ([], 1)}


def test_web_pages_are_not_read(made):
    """The word stands 20 times on each of some ten pages known by 2013, and nowhere else."""
    two = load_tokenizer(made / "runs-whole" / "tiny-2013-tokenizer")
    assert not has_token(two, "webonlyword")
    assert read_run(made / "runs-whole" / "tiny-2013-tokenizer")["cutoff"] == 2013


def test_special_tokens_have_their_ids_and_frame_the_text(made):
    from transformers import AutoTokenizer

    folder = made / "runs-whole" / "tiny-2012-tokenizer"
    theirs = AutoTokenizer.from_pretrained(folder)
    assert theirs.convert_ids_to_tokens(range(5)) == list(stage.SPECIAL_TOKENS)
    assert (theirs.pad_token_id, theirs.mask_token_id, theirs.model_max_length) == (0, 4, 64)
    ids = theirs("Graph Walks")["input_ids"]
    assert (ids[0], ids[-1]) == (2, 3)
    assert theirs.decode(ids, skip_special_tokens=True).strip() == "graph walks"  # lower case
    own = load_tokenizer(folder)
    assert own.encode("Graph Walks").ids == ids
    assert not set(own.encode("a [MASK] b", add_special_tokens=False).ids) & set(range(5))
    assert (
        own.encode("ﬁne", add_special_tokens=False).ids
        == own.encode("fine", add_special_tokens=False).ids
    )  # NFKC


TRAIN = """
import hashlib
from pytrain.config import TokenizerSettings, load_settings
from pytrain.tokenizer import *
from warehouse.tables import Lake
chosen = load_settings("tiny").tokenizer
with Lake() as lake:
    threshold, _ = sample_threshold(lake, 2012, chosen)
    tokenizer = train_tokenizer(sampled_texts(lake, 2012, chosen, threshold), chosen)
print(hashlib.sha256(tokenizer.to_str().encode()).hexdigest())
"""


def test_the_number_of_threads_leaves_no_trace(made):
    hashes = set()
    for threads in ("1", "3"):
        env = {**os.environ, "SCITLAKE_WAREHOUSE": str(made / "whole")}
        env |= {"RAYON_NUM_THREADS": threads, "PYTHONHASHSEED": threads}
        done = subprocess.run(
            [sys.executable, "-c", TRAIN], env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        hashes.add(done.stdout.strip())
    assert len(hashes) == 1


def test_a_byte_budget_takes_the_lowest_draws_of_the_slice_and_samples_are_nested(made):
    small = load_settings("tiny", ["tokenizer.byte_budget=60000"]).tokenizer
    with Lake(made / "whole") as whole, Lake(made / "prefix") as prefix:
        threshold, counted = stage.sample_threshold(whole, 2012, small)
        assert (threshold, counted) == stage.sample_threshold(prefix, 2012, small)
        assert 0.8 * 60_000 < counted["bytes"] <= 60_000
        texts = [t for some in stage.sampled_texts(whole, 2012, small, threshold) for t in some]
        assert sum(len(text.encode()) for text in texts) == counted["bytes"]
        later, _ = stage.sample_threshold(whole, 2015, small)
        assert later < threshold
        after = [t for some in stage.sampled_texts(whole, 2015, small, later) for t in some]
        known = [t for some in stage.sampled_texts(whole, 2012, small, later) for t in some]
        assert set(known) < set(texts) and set(known) < set(after)
        assert max(map(len, texts)) <= small.first_characters


def test_draws_are_uniform():
    import pyarrow as pa

    keys = stage.sample_keys(pa.array(["s2orc"] * 4000), pa.array(range(4000)))
    share = (keys < np.uint64(2**62)).mean()  # a quarter of all keys
    assert abs(share - 0.25) < 0.03


def test_a_tokenizer_of_another_vintage_is_refused(made, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(made / "runs-prefix"))
    folder = stage.tokenizer_run(TINY, 2012)
    text = (folder / "tokenizer.json").read_text()
    other = made / "runs-whole" / "tiny-2013-tokenizer" / "tokenizer.json"
    try:
        (folder / "tokenizer.json").write_bytes(other.read_bytes())
        with pytest.raises(UserError, match="pytrain tokenizer --year 2012 --force"):
            stage.tokenizer_run(TINY, 2012)
    finally:
        (folder / "tokenizer.json").write_text(text)
    assert json.loads((folder / "scitlake.json").read_text())["cutoff"] == 2012


def test_a_vocabulary_that_must_be_full_and_is_not_is_refused(made, tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(made / "prefix"))
    asked = ["tokenizer.vocab_size=60000", "tokenizer.exact_size=true"]
    with pytest.raises(UserError, match=r"must have 60,000.*vocab_size=\d+, or"):
        stage.run(load_settings("tiny", asked), 2012)
    assert not (tmp_path / "tiny-2012-tokenizer").exists()
    assert load_settings("paper").tokenizer.exact_size


def test_fertility_by_hand_and_by_the_command(made, monkeypatch):
    """Words and tokens of one group counted one by one; a later row changes no earlier line."""
    tokenizer = load_tokenizer(made / "runs-whole" / "tiny-2012-tokenizer")
    with Lake(made / "whole") as lake:
        counts = fertility(lake, 2013, tokenizer, TINY.tokenizer)
        few = fertility(lake, 2013, tokenizer, TINY.tokenizer, per_group=5)
        rows = lake.read("pretrain_text", ["source", "known_year", "text"], cutoff=2013).to_pylist()
    texts = [r["text"] for r in rows if (r["source"], r["known_year"]) == ("uspto", 2010)]
    texts = [text[: TINY.tokenizer.first_characters] for text in texts]
    tokens = sum(len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts)
    assert counts["uspto", 2010] == (len(texts), sum(len(t.split()) for t in texts), tokens)
    assert ("fineweb_edu", 2013) in counts
    assert 0 < sum(few[key][0] for key in few) < sum(counts[key][0] for key in counts)
    printed = []
    for name in ("whole", "prefix"):
        monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(made / name))
        monkeypatch.setenv("RUNS_ROOT", str(made / f"runs-{name}"))
        asked = ["tokenizer", "--year", "2012", "--preset", "tiny", "--fertility"]
        done = CliRunner().invoke(cli, asked, catch_exceptions=False)
        printed.append(done.output)
    assert printed[0] == printed[1]
    line = next(line for line in printed[0].splitlines() if line.startswith("uspto\t2010\t"))
    assert line.split("\t")[2:5] == [str(n) for n in counts["uspto", 2010]]
    assert line.endswith(f"{tokens / counts['uspto', 2010][1]:.3f}")


def test_an_empty_slice_says_so_and_leaves_nothing(made, tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(made / "whole"))
    with pytest.raises(UserError, match="no row known by 1990"):
        stage.run(TINY, 1990)
    assert not list(tmp_path.glob("*tiny-1990-tokenizer*"))


def test_a_damped_word_counts_so_often_and_no_more():
    """The last two of five stay, other words are untouched, and no vocabulary changes."""
    settings = TokenizerSettings(vocab_size=400, lowercase=True)
    tokenizer = train_tokenizer([["memory cell stores memory data " * 20]], settings)
    text = "Memory cell memory data memory, memory stores memory"
    plain = tokenizer.encode(text, add_special_tokens=False)
    twice = damped(Tokenizer.from_str(tokenizer.to_str()), 2)
    kept = twice.encode(text, add_special_tokens=False)
    assert twice.get_vocab() == tokenizer.get_vocab()
    memory = tokenizer.encode("memory", add_special_tokens=False).ids
    assert len(memory) == 1, "the fixture must have learnt the word"
    assert plain.ids.count(memory[0]) == 5
    assert kept.ids.count(memory[0]) == 2
    assert tokenizer.decode(kept.ids).split() == ["cell", "data,", "memory", "stores", "memory"]
    marks = "cell, data, stores, memory, cell. Data. Stores. (memory) -"
    kept = twice.encode(marks, add_special_tokens=False)
    comma, stop = (tokenizer.token_to_id(mark) for mark in ",.")
    assert (kept.ids.count(comma), kept.ids.count(stop)) == (2, 2)
    # No word is said a third time, so all of them stay, and no mark gains a space before it.
    assert tokenizer.decode(kept.ids) == " cell data stores, memory, cell data. stores. (memory) -"
    none = damped(Tokenizer.from_str(tokenizer.to_str()), None)
    assert none.to_str() == tokenizer.to_str()
