"""Honesty of the scores: oracles score 100, chance scores chance, nothing is left out silently."""

import json
from collections import Counter
from dataclasses import replace

import duckdb
import numpy as np
import pytest
import tiny_tasks
from tiny_tasks import CUTOFF, SECTIONS, documents, make_task_lake

from pyeval import columns, protocol
from pyeval.bootstrap import F1Evidence, MeanEvidence, TauEvidence, interval, value, weights
from pyeval.embed import Cache, embed_documents, read_documents
from pyeval.labels import Labels, read_labels
from pyeval.probes import ProbeSettings
from pyeval.protocol import ScoreSettings, measure_labels
from pyeval.score import load_benchmark, score
from pyeval.tasks import TASKS, Task, pick
from warehouse.errors import CheckFailed
from warehouse.tables import Lake

# Seen and unseen pairs: tests/test_seen_pairs.py.
FAST = ScoreSettings(few_shot=(), resamples=40, seen_pairs=False, probe=ProbeSettings(epochs=5))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_task_lake(tmp_path_factory.mktemp("lake"))


@pytest.fixture(scope="module")
def lake(folder):
    with Lake(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def benchmark(lake):
    return load_benchmark(lake, pick([]))


def scored(lake, system, names, settings=FAST, *, benchmark=None, **more):
    """Score rows by (task, metric, column)."""
    benchmark = benchmark or load_benchmark(lake, pick(names))
    found = {}
    for scores in score(system, benchmark, lake, settings, **{"cutoff": CUTOFF} | more):
        for row in scores.rows:
            found[row["task"], row["metric"], row["column"]] = row
    return found


@pytest.mark.parametrize(("kind", "name"), [("patent", "patent_cite"), ("paper", "paper_cite")])
def test_an_encoder_that_knows_the_citations_scores_100(lake, kind, name):
    rows = scored(lake, tiny_tasks.system(tiny_tasks.citing_oracle(kind)), [name])
    for (_, _, column), row in rows.items():
        assert row["value"] == pytest.approx(100) or (row["n"] == 0 and row["value"] is None)
        assert row["n"] > 4 or column == columns.TEXT_SEEN
    assert {metric for _, metric, _ in rows} == {"map", "ndcg_at_10"}


def test_an_encoder_that_knows_the_class_scores_100(lake):
    vectors = {one["doc_id"]: np.eye(len(SECTIONS))[one["topic"]] for one in documents("patent")}
    settings = ScoreSettings(few_shot=(4,), resamples=50)
    rows = scored(lake, tiny_tasks.system(tiny_tasks.knowing(vectors)), ["cpc_section"], settings)
    for task in ("cpc_section", "cpc_section_4shot"):
        assert rows[task, "macro_f1", "all"]["value"] == pytest.approx(100)
    assert rows["cpc_section_4shot", "macro_f1", "all"]["n_train"] == 4 * len(SECTIONS)


def test_an_encoder_that_knows_the_year_orders_it(lake):
    angle = {one["doc_id"]: (one["known_year"] - 2003) / 20 for one in documents("patent")}
    vectors = {i: np.array([np.cos(a), np.sin(a)]) for i, a in angle.items()}
    rows = scored(lake, tiny_tasks.system(tiny_tasks.knowing(vectors)), ["grant_year"])
    assert rows["grant_year", "kendall_tau", "all"]["value"] > 99


def test_an_encoder_that_knows_nothing_scores_at_chance(lake, benchmark):
    rows = scored(lake, tiny_tasks.system(tiny_tasks.hashed), [], benchmark=benchmark)
    labels = benchmark.labels["patent_cite"]
    chance = 100 * len(labels.relevant[0]) / len(labels.ids) / len(labels.corpus)
    assert rows["patent_cite", "map", "all"]["value"] < 5 * chance < 15
    assert rows["cpc_section", "macro_f1", "all"]["value"] < 100 / len(SECTIONS) + 12
    assert abs(rows["grant_year", "kendall_tau", "all"]["value"]) < 20


def test_an_encoder_that_sees_no_difference_scores_at_chance_and_is_not_whitened(lake, benchmark):
    blind = tiny_tasks.system(tiny_tasks.constant)
    rows = scored(lake, blind, [], benchmark=benchmark)
    assert rows["grant_year", "kendall_tau", "all"]["value"] == 0
    assert rows["cpc_section", "macro_f1", "all"]["value"] < 100 / len(SECTIONS)
    assert rows["patent_cite", "map", "all"]["value"] < 15
    with pytest.raises(CheckFailed, match="all the same"):
        scored(lake, blind, [], benchmark=benchmark, whitened=True)


def test_a_document_without_text_fails_the_run(tmp_path):
    folder = make_task_lake(tmp_path / "lake")
    with duckdb.connect(str(folder / "lake.duckdb")) as opened:
        doc_id = opened.sql("select doc_id from tasks.corpus_paper_cite limit 1").fetchall()[0][0]
        opened.execute("update corpus.documents set abstract = ' ' where doc_id = ?", [doc_id])
    with Lake(folder) as lake, pytest.raises(CheckFailed, match=rf"1 of the .* {doc_id}"):
        load_benchmark(lake, pick(["paper_cite"]))


def test_an_encoder_that_gives_too_few_or_broken_vectors_fails_the_run(lake, benchmark):
    short = tiny_tasks.system(lambda titles, abstracts: np.ones((len(titles) - 1, 4), "float32"))
    broken = tiny_tasks.system(lambda titles, abstracts: np.full((len(titles), 4), np.nan))
    for system, said in ((short, "vectors for"), (broken, "nan")):
        with pytest.raises(CheckFailed, match=said):
            scored(lake, system, [], benchmark=benchmark)


def test_columns_hold_the_queries_counted_by_hand(lake):
    """In time by the query's year; late queries apart by whether their text had been read."""
    rows = scored(lake, tiny_tasks.system(tiny_tasks.hashed), ["patent_cite"])
    queries = {row["query_id"]: row["task_year"] for row in tiny_tasks.query_rows("patent")[0]}
    read = set(tiny_tasks.applications())
    late = {q for q, year in queries.items() if year > CUTOFF}
    expected = {
        "all": len(queries),
        "in_time": len(queries) - len(late),
        "out_of_time": len(late - read),
        "text_seen": len(late & read),
    }
    assert {c: rows["patent_cite", "map", c]["n"] for c in expected} == expected
    assert all(expected.values())


@pytest.mark.parametrize(
    ("links", "read"),
    [
        ([], set()),
        ([("late", "early")], {"late"}),  # the early one names the work
        ([("early", "late")], {"late"}),  # the late one does
        ([("early", "third"), ("late", "third")], {"late"}),  # neither does
        ([("other", "early")], {"other"}),
    ],
)
def test_a_text_read_under_any_id_of_its_work_is_seen(tmp_path, links, read):
    early = min(documents(), key=lambda one: one["known_year"])["doc_id"]
    late, other = [one["doc_id"] for one in documents() if one["known_year"] == 2015][:2]
    ids = {"early": early, "late": late, "other": other, "third": 2_000_000_000_001}
    folder = make_task_lake(tmp_path / "lake")
    with duckdb.connect(str(folder / "lake.duckdb")) as opened:
        opened.execute("delete from corpus.same_work")
        for doc_id, work_id in links:
            row = [ids[doc_id], ids[work_id], "doi", 2015]
            opened.execute("insert into corpus.same_work values (?, ?, ?, ?)", row)
    with Lake(folder) as lake:
        found = columns.text_seen(lake, np.array([late, other]), CUTOFF)
    assert {name for name, one in zip(("late", "other"), found, strict=True) if one} == read


def test_the_columns_add_up_to_all(lake, benchmark):
    rows = scored(lake, tiny_tasks.system(tiny_tasks.hashed), [], benchmark=benchmark)
    for task, metric, _ in {key for key in rows if key[2] == "all"}:
        parts = [rows[task, metric, c]["n"] for c in ("in_time", "out_of_time", "text_seen")]
        assert sum(parts) == rows[task, metric, "all"]["n"]


def test_an_empty_column_has_no_value_rather_than_zero(lake):
    rows = scored(lake, tiny_tasks.system(tiny_tasks.hashed), ["patent_cite"], cutoff=2015)
    late = rows["patent_cite", "map", "out_of_time"]
    assert (late["n"], late["value"], late["low"]) == (0, None, None)


def test_without_a_cutoff_only_all_examples_are_scored(lake):
    rows = scored(lake, tiny_tasks.system(tiny_tasks.hashed), ["patent_cite"], cutoff=None)
    assert {column for _, _, column in rows} == {"all"}


def test_only_a_tuned_models_citation_tasks_are_contaminated_and_only_in_time(lake, benchmark):
    tuned = tiny_tasks.system(tiny_tasks.hashed, tuned=True)
    flagged = {
        key for key, row in scored(lake, tuned, [], benchmark=benchmark).items()
        if row["contaminated"]
    }  # fmt: skip
    assert {(task, column) for task, _, column in flagged} == {
        (f"{task}{variant}", column)
        for task, variants in {
            "patent_cite": ("", "_distinct"),
            "patent_cocite": ("", "_distinct"),
            "patent_paper_citation": ("",),
            "paper_patent_retrieval": ("",),
            "papers_cocite": ("",),
            "paper_cite": ("",),
            "forward_citation": ("",),
            "science_uptake": ("",),
        }.items()
        for variant in variants
        for column in ("all", "in_time")
    }
    untuned = tiny_tasks.system(tiny_tasks.hashed)
    assert not any(
        row["contaminated"] for row in scored(lake, untuned, [], benchmark=benchmark).values()
    )


def test_near_copies_leave_the_relevants_and_the_ranking_of_their_query(lake):
    """An encoder that finds near-copies only: what is left of each query finds nothing."""
    rows, corpus = tiny_tasks.query_rows("patent")
    place = {row["doc_id"]: i for i, row in enumerate(corpus)}
    vectors = {doc_id: np.eye(len(place))[i] for doc_id, i in place.items()}
    rest: dict[int, int] = {}
    for row in rows:
        near = row["trigram_overlap"] > 0.2
        vectors.setdefault(row["query_id"], np.zeros(len(place)))[place[row["doc_id"]]] = near
        rest[row["query_id"]] = rest.get(row["query_id"], 0) + (not near)
    scores = scored(lake, tiny_tasks.system(tiny_tasks.knowing(vectors)), ["patent_cite"])
    copies = {row["query_id"] for row in rows if row["trigram_overlap"] > 0.2}
    only_copies = {query for query, left in rest.items() if left == 0}
    assert only_copies and only_copies < copies
    assert scores["patent_cite", "map", "all"]["n"] == len(rest)
    assert scores["patent_cite_distinct", "map", "all"]["n"] == len(rest) - len(only_copies)
    assert scores["patent_cite_distinct", "map", "all"]["value"] < 10
    assert scores["patent_cite", "map", "all"]["value"] > 30


def test_both_metric_engines_give_the_same_scores(lake):
    system = tiny_tasks.system(tiny_tasks.hashed)
    ours = scored(lake, system, ["patent_cite"])
    theirs = scored(
        lake, system, ["patent_cite"], ScoreSettings(metrics="pytrec_eval", resamples=0)
    )
    for key, row in ours.items():
        assert row["value"] == pytest.approx(theirs[key]["value"], abs=1e-9)


def test_the_rolling_probe_trains_on_labels_known_by_the_cutoff(lake):
    settings = ScoreSettings(few_shot=(), rolling=True, resamples=0)
    rows = scored(lake, tiny_tasks.system(tiny_tasks.hashed), ["forward_citation"], settings)
    with_labels = tiny_tasks.label_rows(lambda one: 0.0, label_after=3, last_year=2013)
    train = [row for row in with_labels if row["split"] == "train"]
    known = [row for row in train if row["task_year"] + 3 <= CUTOFF]
    assert rows["forward_citation", "kendall_tau", "all"]["n_train"] == len(train)
    assert rows["forward_citation_rolling", "kendall_tau", "all"]["n_train"] == len(known)
    assert 0 < len(known) < len(train)
    for column in ("all", "in_time", "out_of_time", "text_seen"):  # the same test rows, beside
        tested = [rows[f"forward_citation{one}", "kendall_tau", column]["n"]
                  for one in ("", "_rolling")]  # fmt: skip
        assert tested[0] == tested[1]


def test_a_few_shot_probe_trains_on_k_of_each_class_drawn_from_train_by_hash():
    """Classes of 30, 6 and 2 train rows give 4, 4 and 2; each seed draws its own."""
    task = Task("cpc_section", "classify", "macro_f1", "patent", "USPTO")
    sizes = {"A": 30, "B": 6, "C": 2}
    label = [name for name, n in sizes.items() for _ in range(n + 5)]
    test = np.array([i >= n for n in sizes.values() for i in range(n + 5)])
    labels = replace(made_labels(task, label, len(label)), test=test)
    train = np.flatnonzero(~test)
    drawn = [protocol._few(labels, train, 4, seed) for seed in range(3)]
    for rows in drawn:
        assert not test[rows].any()
        assert Counter(labels.label[rows].tolist()) == {"A": 4, "B": 4, "C": 2}
    assert len({tuple(rows) for rows in drawn}) == 3
    # A later row takes at most one place in its class, and moves no other class.
    rest = protocol._few(labels, train[train != drawn[0][0]], 4, 0)
    assert len(set(drawn[0]) - set(rest)) == 1
    vectors = np.eye(len(label), dtype=np.float32)
    few = measure_labels(labels, vectors, ScoreSettings(few_shot=(4,)), None)[1]
    assert (few.name, few.n_train) == ("cpc_section_4shot", 10)


def test_a_rolling_probe_without_a_train_row_is_undefined_not_zero(lake):
    settings = ScoreSettings(few_shot=(), rolling=True, resamples=0)
    for name in ("cpc_section", "grant_year"):
        metric = TASKS[name].metric
        rows = scored(lake, tiny_tasks.system(tiny_tasks.hashed), [name], settings, cutoff=1999)
        row = rows[f"{name}_rolling", metric, "all"]
        assert row["n_train"] == 0 and row["value"] is None and row["n"] > 0


def made_labels(task, label, n):
    rows = np.arange(n, dtype=np.int64)
    said = np.empty(n, dtype=object)
    said[:] = label
    return Labels(task, rows, rows * 0 + 2010, rows * 0 + 2010, rows % 5 == 0, said, "made")


def test_a_binary_task_is_scored_on_its_positive_class_alone():
    """The probe finds half of the positives and no negative wrongly: F1 = 2/3."""
    task = Task("academic_public", "classify", "binary_f1", "patent", "OCPB", positive="yes")
    rng = np.random.default_rng(0)
    yes = rng.random(400) < 0.5
    shown = yes & ((np.arange(400) % 5 != 0) | (np.arange(400) % 10 == 0))
    vectors = np.where(shown[:, None], [1.0, 0.0], [0.0, 1.0]).astype(np.float32)
    labels = made_labels(task, ["yes" if one else "no" for one in yes], 400)
    one = measure_labels(labels, vectors, ScoreSettings(few_shot=()), None)[0]
    found = (shown & labels.test).sum() / (yes & labels.test).sum()
    assert value(one.evidence) == pytest.approx(100 * 2 * found / (1 + found))
    assert one.classes == ("yes",)


def test_a_task_with_several_labels_is_learned_and_drawn_few_shot():
    task = Task("cpc_subclass", "classify", "macro_f1", "patent", "USPTO", multilabel=True)
    rng = np.random.default_rng(1)
    held = rng.random((500, 3)) < 0.4
    held[~held.any(axis=1), 0] = True
    label = [tuple(np.array(["A01B", "B60K", "H04L"])[row]) for row in held]
    settings = ScoreSettings(few_shot=(16,), probe=ProbeSettings(epochs=200))
    whole, few = measure_labels(
        made_labels(task, label, 500), (held + 0.01).astype(np.float32), settings, None
    )
    assert value(whole.evidence) > 90
    assert value(few.evidence) > 60 and 16 <= few.n_train <= 3 * 16


def test_whitening_turns_a_blind_cosine_into_a_seeing_one(lake):
    """Two loud directions hide the topic from the cosine, not from a whitened one."""
    planted = documents()
    loud = np.zeros((len(planted), 60))
    loud[:, 58:] = 3 * np.random.default_rng(0).normal(size=(len(planted), 2))
    hidden = {one["doc_id"]: np.eye(60)[one["topic"]] + loud[i] for i, one in enumerate(planted)}
    system = tiny_tasks.system(tiny_tasks.knowing(hidden))
    raw = scored(lake, system, ["patent_cite"])["patent_cite", "map", "all"]
    white = scored(lake, system, ["patent_cite"], whitened=True)["patent_cite", "map", "all"]
    assert white["value"] > 1.3 * raw["value"]
    assert white["whitened"] and white["model_fingerprint"] != raw["model_fingerprint"]


def test_whitening_is_fitted_on_documents_known_by_the_cutoff(lake, tmp_path):
    """Later documents may say what they like: the transform, and so the scores, stay."""
    late = {one["title"] for one in documents() if one["known_year"] > 2006}

    def shouting(titles, abstracts):
        return tiny_tasks.hashed(titles, abstracts) * [[9.0 if t in late else 1.0] for t in titles]

    told = [
        scored(lake, tiny_tasks.system(embed, cutoff=2006), ["patent_cite"], cutoff=2006,
               whitened=True)["patent_cite", "map", "in_time"]["model_fingerprint"]
        for embed in (tiny_tasks.hashed, shouting)
    ]  # fmt: skip
    assert told[0] == told[1]


def test_whitening_on_fewer_documents_is_another_model(lake):
    """Each reads that many documents, and the rows tell the two apart."""
    found = {}
    for count in (100, 150):
        given = []

        def counting(titles, abstracts, given=given):
            given.extend(titles)
            return tiny_tasks.hashed(titles, abstracts)

        system = tiny_tasks.system(counting)
        scored(lake, system, ["patent_cite"])
        raw = len(given)
        white = scored(
            lake, system, ["patent_cite"], replace(FAST, whiten_documents=count), whitened=True
        )
        assert len(given) == 2 * raw + count
        found[count] = white["patent_cite", "map", "all"]["model_fingerprint"]
    assert found[100] != found[150]


def test_each_text_is_embedded_once_and_kept(lake, benchmark, tmp_path):
    seen: list[str] = []

    def counting(titles, abstracts):
        seen.extend(titles)
        return tiny_tasks.hashed(titles, abstracts)

    system = tiny_tasks.system(counting)
    first = scored(lake, system, [], benchmark=benchmark, cache_root=tmp_path)
    assert len(seen) == len(set(seen)) == len(benchmark.documents.ids)
    again = scored(lake, system, [], benchmark=benchmark, cache_root=tmp_path)
    assert len(seen) == len(benchmark.documents.ids)
    assert {k: r["value"] for k, r in first.items()} == {k: r["value"] for k, r in again.items()}


def test_the_cache_is_keyed_by_encoder_and_text(lake, tmp_path):
    ids = read_labels(lake, TASKS["cpc_section"]).ids[:20]
    some = read_documents(lake, ids)
    first = embed_documents(some, tiny_tasks.hashed, Cache(tmp_path, "a", ""))
    other = embed_documents(some, lambda t, a: -tiny_tasks.hashed(t, a), Cache(tmp_path, "b", ""))
    np.testing.assert_array_equal(first, -other)
    np.testing.assert_array_equal(
        first, embed_documents(some, tiny_tasks.constant, Cache(tmp_path, "a", ""))
    )


def test_the_same_seed_gives_the_same_interval_and_it_holds_the_score(lake):
    system = tiny_tasks.system(tiny_tasks.hashed)
    one, two = (scored(lake, system, ["patent_cite"])["patent_cite", "map", "all"] for _ in "ab")
    assert (one["low"], one["high"]) == (two["low"], two["high"])
    assert one["low"] < one["value"] < one["high"]


def test_the_fingerprint_of_a_task_changes_with_its_rows_and_its_texts(tmp_path, benchmark):
    folder = make_task_lake(tmp_path / "lake")
    prints = [benchmark.labels["cpc_section"].fingerprint]
    with Lake(folder) as lake:
        assert (
            load_benchmark(lake, pick(["cpc_section"])).labels["cpc_section"].fingerprint in prints
        )
    for change in (
        "update tasks.task_cpc_section set split = 'train' where doc_id = (select min(doc_id) "
        "from tasks.task_cpc_section where split = 'test')",
        "update corpus.documents set title = title || ' more' where doc_id = (select min(doc_id) "
        "from tasks.task_cpc_section)",
    ):
        with duckdb.connect(str(folder / "lake.duckdb")) as opened:
            opened.execute(change)
        with Lake(folder) as lake:
            found = load_benchmark(lake, pick(["cpc_section"])).labels["cpc_section"].fingerprint
        assert found not in prints
        prints.append(found)


def test_a_score_row_says_how_it_was_made(lake):
    row = scored(lake, tiny_tasks.system(tiny_tasks.hashed), ["patent_cite"])[
        "patent_cite", "map", "all"
    ]
    said = json.loads(row["settings"])
    assert said["built_with"] == {"near_copy_overlap": "0.2"}
    assert said["depth"] == 200 and said["corpus"] > 100 and said["seen_basis"] == ["production"]
    assert "torch" in json.loads(row["versions"])


def test_a_bootstrap_interval_covers_the_truth_about_as_often_as_it_says():
    """Means of 60 exponential values: near 95% of intervals hold the mean of the law."""
    rng = np.random.default_rng(0)
    held = 0
    for seed in range(200):
        low, high = interval(MeanEvidence(rng.exponential(0.3, 60)), resamples=300, seed=seed)
        held += low <= 30 <= high
    assert 175 <= held <= 198


def test_resamples_of_f1_equal_f1_of_the_repeated_examples():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(1)
    truth, guess = rng.integers(0, 3, (2, 30))
    evidence = F1Evidence(truth[:, None] == range(3), (guess[:, None] == range(3))[:, None, :])
    drawn = next(weights(30, 1, 0))
    rows = np.repeat(np.arange(30), drawn[0])
    expected = f1_score(
        truth[rows], guess[rows], labels=sorted(set(truth[rows])), average="macro", zero_division=0
    )
    assert evidence.statistic(drawn)[0] == pytest.approx(100 * expected)


def test_a_large_sample_of_tau_has_the_interval_of_its_size(monkeypatch):
    """The m out of n shortcut gives about the width of the full bootstrap."""
    from pyeval import bootstrap

    rng = np.random.default_rng(2)
    target = rng.normal(size=1500)
    evidence = TauEvidence(target, target + rng.normal(size=1500))
    full = interval(evidence, resamples=200)
    monkeypatch.setattr(bootstrap, "TAU_RESAMPLE_MAX", 300)
    short = interval(evidence, resamples=200)
    assert short[1] - short[0] == pytest.approx(full[1] - full[0], rel=0.25)
    assert short[0] < value(evidence) < short[1]
