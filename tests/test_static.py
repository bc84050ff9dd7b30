"""The static vintage: vectors by hand, what it learns, and what it must not depend on."""

import json
import math

import numpy as np
import pytest
import torch
from graph_runs import YEAR, make_parents, settings_of, use
from safetensors.torch import load_file

from pytrain import static
from pytrain.bags import Bags, TokenTable, bags_of, inverse_frequency, new_table
from pytrain.config import TokenizerSettings
from pytrain.encoder import Encoder
from pytrain.pairs import read_documents
from pytrain.run import read_run, run_path
from pytrain.tokenizer import load_tokenizer, train_tokenizer
from warehouse.tables import Lake

TITLE, ABSTRACT = "A method of laying glass fibre", "Glass fibre is laid, and [SEP] it is cooled."


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    return [make_parents(tmp_path_factory.mktemp(f"to{year}"), year) for year in (2015, 2012)]


@pytest.fixture(scope="module")
def made(roots):
    """The static vintage of 2012, from a lake to 2015 and from the same lake to 2012."""
    folders = []
    for root in roots:
        with pytest.MonkeyPatch.context() as patch:
            use(patch, root)
            folders.append(static.run(settings_of(), YEAR, seed=0, force=False))
    return folders


def by_hand(folder, title: str, abstract: str) -> np.ndarray:
    """The definition: tokens of the text, their vectors, the mean, the length divided out."""
    table = load_file(folder / "model" / "model.safetensors")["embedding.weight"].numpy()
    tokenizer = load_tokenizer(folder / "model")
    tokenizer.encode_special_tokens = False
    ids = tokenizer.encode(f"{title} {abstract}", add_special_tokens=False).ids
    mean = np.mean([table[i] for i in ids], axis=0)
    return mean / np.linalg.norm(mean)


def test_vectors_equal_a_lookup_and_a_mean_by_hand(made):
    from sentence_transformers import SentenceTransformer

    expected = by_hand(made[0], TITLE, ABSTRACT)
    ours = Encoder.load(made[0]).embed([TITLE, "x"], [ABSTRACT, "y"])
    theirs = SentenceTransformer(str(made[0] / "model"), device="cpu").encode(f"{TITLE} {ABSTRACT}")
    assert np.allclose(ours[0], expected, atol=1e-6)
    assert np.allclose(theirs, expected, atol=1e-6)


def test_special_tokens_never_count(made):
    table = load_file(made[0] / "model" / "model.safetensors")["embedding.weight"]
    assert (table[:5] == 0).all() and (table[5:].norm(dim=1) > 0).all()


def test_the_seed_table_has_tokens_of_equal_length(made):
    table = load_file(made[0] / static.SEED_TABLE)["embedding.weight"]
    assert torch.allclose(table[5:].norm(dim=1), torch.ones(len(table) - 5), atol=1e-5)


def test_the_folder_names_its_kind_cutoff_and_parents(made):
    own = json.loads((made[0] / "model" / "scitlake.json").read_text())
    assert own["kind"] == "static" and own["cutoff"] == YEAR
    parents = [one["name"] for one in read_run(made[0])["parents"]]
    assert parents == ["tiny-2012-tokenizer", "tiny-2012-neighbours"]


def test_nothing_changes_when_later_rows_are_added(made):
    long, short = (read_run(folder)["artefacts"] for folder in made)
    assert long == short and f"{static.SEED_TABLE}" in long


def test_training_brings_title_and_abstract_of_held_out_documents_together(made, roots):
    """Documents of 2013-2015 were not read; their topics' words were."""
    query = f"select title, abstract from corpus.documents where known_year > {YEAR}"
    with Lake(roots[0] / "lake") as lake:
        rows = lake.query(query).read_all().to_pylist()
    nothing = [""] * len(rows)
    ranks = {}
    for name, random_weights in (("trained", False), ("random", True)):
        encoder = Encoder.load(made[0], random_weights=random_weights)
        titles = encoder.embed([r["title"] for r in rows], nothing)
        abstracts = encoder.embed(nothing, [r["abstract"] for r in rows])
        scores = titles @ abstracts.T
        ranks[name] = (scores > np.diag(scores)[:, None]).sum(1).mean()
    assert ranks["trained"] < 0.75 * ranks["random"]


def test_a_slice_without_a_graph_has_a_static_vintage_all_the_same(roots, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        use(patch, roots[1])
        folder = run_path("tiny", YEAR, "tokenizer")
        (tmp_path / "runs").mkdir()
        (tmp_path / "runs" / folder.name).symlink_to(folder)
        patch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
        settings = settings_of("static.graph_step_share=0", "static.seed_table=false")
        made = static.run(settings, YEAR, seed=0, force=False)
    assert read_run(made)["notes"]["free_tokens"]["steps"]["graph"] == 0
    assert not (made / static.SEED_TABLE).exists()


def test_bags_count_what_the_tokenizer_gives(roots):
    with pytest.MonkeyPatch.context() as patch:
        use(patch, roots[1])
        tokenizer = load_tokenizer(run_path("tiny", YEAR, "tokenizer"))
    texts = ["glass glass fibre", "", "fibre"]
    bags = bags_of(tokenizer, texts, 512)
    for i, text in enumerate(texts):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        low, high = bags.starts[i], bags.starts[i + 1]
        expected = dict(zip(*np.unique(ids, return_counts=True), strict=True)) if ids else {}
        found = zip(bags.tokens[low:high].tolist(), bags.counts[low:high].tolist(), strict=True)
        assert dict(found) == expected
    turned = bags.take(np.array([2, 0]))
    assert turned.sizes.tolist() == [bags.sizes[2], bags.sizes[0]]
    assert turned.tokens[turned.starts[1] :].tolist() == bags.tokens[: bags.starts[1]].tolist()


def test_the_table_sums_counts_times_vectors():
    table = np.array([[0, 0], [3, 0], [0, 2]], np.float32)
    bag = Bags(
        starts=np.array([0, 2]),
        tokens=np.array([1, 2], np.int32),
        counts=np.array([1, 2], np.float32),
    )
    arguments = [torch.from_numpy(x) for x in (bag.tokens.astype(np.int64), bag.starts[:1])]
    free = TokenTable(table, normalise=False)(*arguments, torch.from_numpy(bag.counts))
    assert free.tolist()[0] == pytest.approx([3 / 5, 4 / 5])
    equal = TokenTable(table, normalise=True)(*arguments, torch.from_numpy(bag.counts))
    assert equal.tolist()[0] == pytest.approx([1 / 5**0.5, 2 / 5**0.5])


def test_inverse_document_frequencies_by_hand():
    """Three texts; token 1 is in all of them, 2 in one (twice), 3 in none."""
    bags = Bags(
        starts=np.array([0, 2, 3, 4]),
        tokens=np.array([1, 2, 1, 1], np.int32),
        counts=np.array([1, 2, 1, 1], np.float32),
    )
    raw = np.array([math.log(4), 0, math.log(4 / 2), math.log(4)])
    found = inverse_frequency(bags, 4)
    assert found == pytest.approx(raw / math.sqrt((raw**2).mean()))
    assert found.dtype == np.float32 and (found**2).mean() == pytest.approx(1)
    everywhere = bags.take(np.array([1, 2]))
    assert (inverse_frequency(everywhere, 2)[1:] == 0).all()
    assert (inverse_frequency(everywhere.take(np.empty(0, int)), 2) == 1).all()


def test_a_new_table_is_zero_for_special_tokens_alone():
    table = new_table(40, 8, 0.02, torch.Generator().manual_seed(0))
    assert (table[:5] == 0).all() and abs(table[5:].std() - 0.02) < 0.005


def test_documents_are_read_with_the_text_of_their_application(roots):
    """A patent without granted text of its own takes the text of its publication."""
    with pytest.MonkeyPatch.context() as patch:
        use(patch, roots[0])
        with Lake() as lake:
            pairs = settings_of().static.pairs
            documents = read_documents(
                lake, YEAR, pairs, needed=np.empty(0, np.int64), text_pairs=True, later=True
            )
            links = lake.read("same_work", ["doc_id", "work_id"], cutoff=YEAR).to_pylist()
            texts = lake.read("pretrain_text", ["doc_id", "text"], cutoff=YEAR).to_pylist()
    by_id = {row["doc_id"]: row["text"] for row in texts}
    assert len(links) >= 2
    for link in links:
        row = documents.rows_of(np.array([link["doc_id"]]))[0]
        later = documents.later[row]
        assert later and later in by_id[link["work_id"]]
        assert documents.families[row, 0] == link["work_id"]
    assert documents.in_pairs.all() and all(documents.titles) and all(documents.abstracts)
    granted = documents.rows_of(np.array([i for i in by_id if i in set(documents.doc_ids)]))
    assert sum(bool(documents.later[i]) for i in granted) > 100
    for i in granted:  # the abstract before the description is left out
        assert documents.later[i][:40] not in documents.abstracts[i] or not documents.later[i]


def test_a_token_counts_no_oftener_than_the_repeats_allow():
    settings = TokenizerSettings(vocab_size=400, lowercase=True)
    tokenizer = train_tokenizer([["memory cell stores memory data " * 20]], settings)
    text = ["memory memory cell memory memory"]
    memory = tokenizer.encode("memory", add_special_tokens=False).ids[0]
    plain, capped = bags_of(tokenizer, text, 512), bags_of(tokenizer, text, 512, 2)
    assert plain.counts[plain.tokens == memory].tolist() == [4.0]
    assert capped.counts[capped.tokens == memory].tolist() == [2.0]
    assert capped.counts[capped.tokens != memory].tolist() == [1.0]
