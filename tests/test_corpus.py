"""Pre-training draws: pieces of one document, the mixture, passes, and nothing of later rows."""

import resource
import subprocess
import sys

import numpy as np
import pytest
from tiny_lake import make_tiny_lake

from pytrain.config import Mixture, load_settings
from pytrain.consumption import consumption_lines
from pytrain.corpus import Corpus, cut, permuted, shares_at
from pytrain.mlm import batches
from pytrain.token_cache import TokenCache, open_cache
from pytrain.tokenizer import load_tokenizer, train_tokenizer, write_tokenizer
from warehouse.errors import UserError
from warehouse.tables import Lake

TINY = load_settings("tiny")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A lake to 2015, one to 2012, and a tokenizer of 2012."""
    folder = tmp_path_factory.mktemp("corpus")
    make_tiny_lake(folder / "whole")
    make_tiny_lake(folder / "prefix", last_year=2012)
    (folder / "tokenizer").mkdir()
    with Lake(folder / "prefix") as lake:
        texts = lake.read("pretrain_text", ["text"], cutoff=2012)["text"].to_pylist()
    write_tokenizer(train_tokenizer([texts], TINY.tokenizer), folder / "tokenizer", 64)
    return folder


def _cache(home, name="whole", year=2012, **more):
    with Lake(home / name) as lake:
        return open_cache(lake, year, home / "tokenizer", home / f"cache-{name}", **more)


def _made(lengths, sources=None, names=("abstracts",)):
    """A cache whose tokens count up from 5."""
    offsets = np.cumsum([0, *lengths])
    return TokenCache(
        tokens=np.arange(5, 5 + offsets[-1]).astype(np.uint16),
        offsets=offsets,
        doc_ids=np.arange(100, 100 + len(lengths)),
        sources=np.array(sources or [0] * len(lengths), np.uint8),
        source_names=names,
    )


def test_pieces_cover_each_text_once_and_cross_no_border():
    """By hand, 8 tokens a piece of which 2 are special: 6 and 6 and 1 (left out), 3, 6, none."""
    pieces = cut(_made([13, 3, 6, 0]), max_length=8, min_tokens=3)
    assert pieces.texts.tolist() == [0, 0, 1, 2]
    assert pieces.starts.tolist() == [0, 6, 13, 16]
    assert pieces.lengths.tolist() == [8, 8, 5, 8]
    everything = cut(_made([13, 3, 6, 0]), max_length=8, min_tokens=1)
    assert (everything.lengths - 2).sum() == 13 + 3 + 6


def test_a_piece_is_framed_by_its_special_tokens():
    corpus = Corpus(_made([200, 300]), load_settings("tiny").mlm, seed=0)
    ids = corpus.ids(1)
    assert (ids[0], ids[-1], len(ids)) == (2, 3, 64)
    assert ids[1:-1].tolist() == list(range(5 + 62, 5 + 124))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1000, 4097])
def test_the_permutation_visits_every_number_once(n):
    places = permuted(np.arange(n), n, 5, 3)
    assert sorted(places.tolist()) == list(range(n))
    some = np.array([n - 1, 0])
    assert permuted(some, n, 5, 3).tolist() == places[some].tolist()  # each draw by itself
    if n > 7:
        assert places.tolist() != permuted(np.arange(n), n, 6, 3).tolist()
        assert np.corrcoef(places, np.arange(n))[0, 1] < 0.35


def test_a_source_without_text_gives_its_share_to_the_others_in_proportion():
    mixture = Mixture(s2orc=0.4, abstracts=0.2, uspto=0.3, fineweb_edu=0.1)
    given = shares_at(mixture, {"s2orc", "abstracts", "granted_text"})
    assert given == pytest.approx({"s2orc": 2 / 3, "abstracts": 1 / 3})
    with pytest.raises(UserError, match="only granted_text"):
        shares_at(mixture, {"granted_text"})


def test_the_tokens_drawn_are_in_the_shares_of_the_mixture(home):
    corpus = Corpus(_cache(home), TINY.mlm, seed=0)
    names = corpus.cache.source_names
    drawn = dict.fromkeys(names, 0)
    for step in range(80):
        for piece in corpus.drawn(step):
            name = names[corpus.cache.sources[corpus.pieces.texts[piece]]]
            drawn[name] += int(corpus.pieces.lengths[piece])
    total = sum(drawn.values())
    assert total == pytest.approx(80 * TINY.mlm.batch_tokens, rel=0.03)
    for name, share in corpus.shares.items():
        assert drawn[name] / total == pytest.approx(share, abs=0.02), name
    assert corpus.summary()["fineweb_edu"]["share_given"] == 0  # no page before 2013
    assert "fineweb_edu" in corpus.moved()


def test_a_pass_ends_before_a_piece_comes_again(home):
    corpus = Corpus(_cache(home), load_settings("tiny", ["mlm.bucket_steps=1"]).mlm, seed=0)
    rows = corpus._rows["s2orc"]
    rate = corpus._rates["s2orc"]
    steps = int(len(rows) / rate)
    found = [p for step in range(steps) for p in corpus.drawn(step) if p in set(rows.tolist())]
    assert len(found) == len(set(found)) and len(found) > 0.95 * len(rows)
    twice = [p for step in range(2 * steps + 2) for p in corpus.drawn(step)]
    assert corpus.summary()["s2orc"]["passes"] > 0
    assert sum(p in set(rows.tolist()) for p in twice) > 1.9 * len(rows)


def test_a_step_is_drawn_by_itself_and_length_buckets_save_padding(home):
    cache = _cache(home)
    wide = load_settings("tiny", ["mlm.bucket_steps=8", "mlm.max_length=128"]).mlm
    forward, backward = Corpus(cache, wide, seed=0), Corpus(cache, wide, seed=0)
    steps = list(range(16))
    one = {step: forward.drawn(step).tolist() for step in steps}
    two = {step: backward.drawn(step).tolist() for step in reversed(steps)}
    assert one == two and all(one.values())
    other = Corpus(cache, wide, seed=1)
    assert one[0] != other.drawn(0).tolist()

    def useful(corpus):
        made = [b for step in steps for b in batches(corpus, step, 600)]
        return sum(int(b["attention_mask"].sum()) for b in made) / sum(
            b["input_ids"].numel() for b in made
        )

    narrow = load_settings("tiny", ["mlm.bucket_steps=1", "mlm.max_length=128"]).mlm
    assert useful(forward) > 0.9
    assert useful(forward) > useful(Corpus(cache, narrow, seed=0)) + 0.02
    assert sum(map(len, one.values())) == sum(
        len(Corpus(cache, narrow, seed=0).drawn(step)) for step in steps
    )


def test_rows_after_the_cutoff_change_no_draw_and_no_cached_byte(home):
    caches = [_cache(home, name) for name in ("whole", "prefix")]
    folders = [next((home / f"cache-{name}").glob("tokens-*")) for name in ("whole", "prefix")]
    assert folders[0].name == folders[1].name
    for file in ("tokens.u16", "offsets.npy", "doc_ids.npy", "sources.npy", "sources.json"):
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes(), file
    one, two = (Corpus(cache, TINY.mlm, seed=3) for cache in caches)
    for step in (0, 7, 19):
        for a, b in zip(batches(one, step, 600), batches(two, step, 600), strict=True):
            assert all((a[key] == b[key]).all() for key in a)


def test_the_cache_holds_the_slice_and_is_made_once(home, monkeypatch):
    with Lake(home / "whole") as lake:
        first = open_cache(lake, 2012, home / "tokenizer", home / "once")
        rows = lake.read("pretrain_text", ["doc_id", "text"], cutoff=2012)
    tokenizer = load_tokenizer(home / "tokenizer")
    assert first.doc_ids.tolist() == rows["doc_id"].to_pylist()
    for i in (0, 5, len(rows) - 1):
        ids = tokenizer.encode(rows["text"][i].as_py(), add_special_tokens=False).ids
        assert first.tokens[first.offsets[i] : first.offsets[i + 1]].tolist() == ids
    monkeypatch.setattr("pytrain.token_cache._make", None)  # a second making would fail
    with Lake(home / "whole") as lake:
        again = open_cache(lake, 2012, home / "tokenizer", home / "once")
        assert [(r.name, r.rows) for r in lake.reads] == [("pretrain_text", len(rows))]
    assert (again.tokens == first.tokens).all()
    with Lake(home / "whole") as lake, pytest.raises(TypeError):
        open_cache(lake, 2013, home / "tokenizer", home / "once")  # another slice, another cache


def test_a_cache_within_a_licence_holds_its_texts_alone(home):
    whole, kept = _cache(home), _cache(home, licence_at_most="cc-by")
    assert kept.source_names == ("granted_text", "uspto")
    at = np.isin(np.array(whole.source_names)[whole.sources], kept.source_names)
    assert kept.doc_ids.tolist() == whole.doc_ids[at].tolist()


def test_the_budget_of_the_paper_exhausts_the_scarcest_primary_source():
    """By hand: 100 tokens of s2orc at .4 last for 250, twice for 500; granted text is no bar."""
    cache = _made([98, 298, 8], [0, 1, 2], ("s2orc", "abstracts", "granted_text"))
    sets = ["mlm.tokens=null", "mlm.max_length=512", "mlm.mixture.s2orc=.4", "mlm.passes=2"]
    sets += ["mlm.mixture.abstracts=.4", "mlm.mixture.granted_text=.2", "mlm.batch_tokens=1024"]
    corpus = Corpus(cache, load_settings("tiny", [*sets, "mlm.micro_tokens=512"]).mlm, seed=0)
    assert corpus.budget == 2 * 100 / 0.4
    assert corpus.steps == 1


def test_what_the_slice_is_read_for_is_what_the_draws_take(home):
    """Tables 6 and 7: the consumption printed is that of all steps drawn, one by one."""
    settings = load_settings("tiny", ["mlm.tokens=40000"])
    corpus = Corpus(_cache(home), settings.mlm, seed=0)
    lines = [line.split("\t") for line in consumption_lines(corpus, 2012)]
    assert lines[1][:4] == ["2012", "40000", "1024", "39"]
    assert sum(map(int, lines[1][4:])) == 39
    taken = np.zeros(len(corpus.cache.source_names))
    for step in range(corpus.steps):
        pieces = corpus.drawn(step)
        codes = corpus.cache.sources[corpus.pieces.texts[pieces]]
        taken += np.bincount(codes, corpus.pieces.lengths[pieces], len(taken))
    table = {line[0]: line[1:] for line in lines[4:]}
    for code, name in enumerate(corpus.cache.source_names):
        assert int(table[name][3]) == pytest.approx(taken[code], rel=0.05), name
    assert table["fineweb_edu"] == ["0", "0.1000", "0.0000", "0", "0.0000"]


def test_a_step_reads_its_own_pieces_and_never_the_corpus(tmp_path):
    """Eight gigabytes of tokens in a file of holes: a few pages of it come into memory."""
    n_texts, size = 2_000, 2_000_000
    with (tmp_path / "tokens.u16").open("wb") as file:
        file.truncate(2 * n_texts * size)
    cache = TokenCache(
        tokens=np.memmap(tmp_path / "tokens.u16", "<u2", "r", shape=(n_texts * size,)),
        offsets=np.arange(0, n_texts * size + 1, size),
        doc_ids=np.arange(n_texts),
        sources=np.zeros(n_texts, np.uint8),
        source_names=("abstracts",),
    )
    asked = ["mlm.max_length=8192", "mlm.batch_tokens=32768", "mlm.micro_tokens=8192"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    corpus = Corpus(cache, load_settings("tiny", asked).mlm, seed=0)
    seen = [len(corpus.ids(piece)) for step in range(8) for piece in corpus.drawn(step)]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert sum(seen) == pytest.approx(8 * 32_768, rel=0.05)
    assert (after - before) * 1024 < 300e6  # of 8e9


def test_two_processes_that_want_one_cache_make_it_once(home, tmp_path):
    code = (
        "import sys; from pathlib import Path; from warehouse.tables import Lake;"
        "from pytrain.token_cache import open_cache;"
        "home = Path(sys.argv[1]);"
        "lake = Lake(home / 'whole');"
        "made = open_cache(lake, 2012, home / 'tokenizer', Path(sys.argv[2]));"
        "print(int(made.tokens.astype('i8').sum()))"
    )
    command = [sys.executable, "-c", code, str(home), str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    sums = {one.communicate()[0].strip() for one in both}
    assert [one.returncode for one in both] == [0, 0] and len(sums) == 1
    assert sorted(p.suffix for p in tmp_path.iterdir() if p.is_dir()) == [""]
