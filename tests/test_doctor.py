"""Planted odd vintages are found with their cause, and none is found where none was planted."""

import csv
import json

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from paper_scores import family, noise
from safetensors.numpy import save_file
from tiny_tasks import documents, make_task_lake
from tokenizers import Tokenizer, models, pre_tokenizers

from pyeval import results
from pyeval.cli import cli
from pyeval.doctor import diagnose, odd, odd_scores, picture
from pyeval.outliers import expected, judge
from pyeval.vintages import Series, families, score_series, tokens_per_word
from pytrain.layout import sha256_of

YEARS = range(2006, 2013)


def test_a_value_is_held_against_the_line_through_its_neighbours():
    line = {2010: 1.0, 2011: 2.0, 2012: 9.0, 2013: 4.0, 2014: 5.0}
    # Slopes of the other four are all 1, so 2012 should be 3; the one odd value bends no line.
    assert expected(line, 2012) == pytest.approx(3.0)
    assert expected(line, 2010) == pytest.approx(1.0)  # slopes 7 1 1 -5 -2 1: median 1


def test_the_odd_value_of_a_straight_line_is_found_and_measured_in_floors():
    line = {year: 0.5 * (year - 2010) for year in range(2010, 2019)}
    found = judge(line | {2014: 3.0}, floor=0.1)
    assert [year for year, one in found.items() if one.odd] == [2014]
    assert found[2014].expected == pytest.approx(2.0) and found[2014].z == pytest.approx(10.0)
    assert all(abs(one.z) < 1e-9 for year, one in found.items() if year != 2014)


def test_two_odd_values_do_not_hide_each_other():
    line = dict.fromkeys(range(2010, 2020), 0.0) | {2013: 5.0, 2014: 5.0}
    assert [y for y, one in judge(line, floor=0.2).items() if one.odd] == [2013, 2014]


def test_a_trend_is_no_oddity_and_small_deviations_are_below_the_floor():
    trend = {year: 3.0 * (year - 2010) + (year - 2010) ** 2 * 0.01 for year in range(2010, 2023)}
    assert not any(one.odd for one in judge(trend, floor=0.1).values())
    level = dict.fromkeys(range(2010, 2016), 1.0) | {2012: 1.03}
    assert not any(one.odd for one in judge(level, floor=0.01).values())


def test_too_few_values_are_not_judged():
    assert judge({2010: 0.0, 2011: 0.0, 2012: 0.0, 2013: 99.0}, floor=0.1) == {}


def test_noise_is_rarely_called_odd():
    """Of a hundred noisy families of thirteen, as in the paper, few have an odd vintage."""
    rng = np.random.default_rng(0)
    called = sum(
        any(one.odd for one in judge(dict(enumerate(rng.normal(size=13))), floor=0.1).values())
        for _ in range(100)
    )
    assert called <= 15


def test_scores_of_the_planted_vintage_are_odd_and_its_tuned_sibling_is_not():
    rows = family(odd=2020)
    found = diagnose(odd(score_series(rows)))
    assert [(one.family, one.year, one.cause) for one in found] == [("sample", 2020, "scores")]
    assert len(found[0].findings) == 4  # all tasks and each category
    assert "--seed" in found[0].said()[0]
    assert diagnose(odd(score_series(family()))) == []


def test_the_score_measure_is_the_mean_of_z_scores_over_shared_tasks():
    rows = [one for one in family(range(2013, 2018), ()) if one["task"] in ("renewal", "ppp_paper")]
    dropped = [r for r in rows if not (r["model"] == "sample-2014" and r["task"] == "ppp_paper")]
    (series,) = [one for one in score_series(dropped) if one.family == "sample"][:1]
    assert series.name == "mean z-score over 1 task"
    values = np.array([r["value"] for r in rows if r["model"] in {f"sample-{y}" for y in
                       range(2013, 2018)} and r["task"] == "renewal"])  # fmt: skip
    want = (values - values.mean()) / values.std()
    assert list(series.values.values()) == pytest.approx(want.tolist())


def test_a_cause_is_the_first_in_the_order_of_making():
    series = [
        Series("f", cause, cause, 0.1, dict.fromkeys(range(9), 0.0) | {4: 5.0})
        for cause in ("scores", "geometry", "mixture")
    ]
    (one,) = diagnose(odd(series))
    assert one.cause == "mixture" and [f.cause for f in one.findings] == [
        "mixture", "geometry", "scores",
    ]  # fmt: skip
    assert one.said()[0] == "f, vintage 4: odd; look first at: mixture"


def test_names_are_parted_into_families():
    names = ["sample-2014", "sample-2013", "sample-2013-ci", "tfidf-svd", "sample-2013-tokenizer"]
    assert families(names) == {
        "sample": {2013: "sample-2013", 2014: "sample-2014"},
        "sample-ci": {2013: "sample-2013-ci"},
    }


def _tokenizer(whole_words: bool) -> Tokenizer:
    """A token per word that occurs, or per letter."""
    texts = [f"{one['title']} {one['abstract']}" for one in documents()]
    words = sorted({word for text in texts for word in text.split()}) if whole_words else []
    letters = sorted({letter for text in texts for letter in text})
    vocabulary = {token: i for i, token in enumerate(["[UNK]", *letters, *words])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]",
                                           continuing_subword_prefix=""))  # fmt: skip
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def make_run(root, year: int, *, letters=False, narrow=False, share=0.4, lr=0.001) -> None:
    """A static vintage of seeded vectors, with the files that a run leaves."""
    folder = root / f"tiny-{year}"
    model = folder / "model"
    (model / "1_Normalize").mkdir(parents=True)
    tokenizer = _tokenizer(whole_words=not letters)
    tokenizer.save(str(model / "tokenizer.json"))
    rng = np.random.default_rng(year)
    table = rng.normal(size=(tokenizer.get_vocab_size(), 16)) + (3.0 if narrow else 0.0)
    save_file({"embedding.weight": table.astype(np.float32)}, model / "model.safetensors")
    kinds = "sentence_transformers.models."
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{kinds}StaticEmbedding"},
        {"idx": 1, "name": "1", "path": "1_Normalize", "type": f"{kinds}Normalize"},
    ]
    own = {
        "cutoff": year, "preset": "tiny", "stage": "pretrain",
        "text_template": "{title} {abstract}",
        "max_length": None, "tokenizer_sha256": sha256_of(model / "tokenizer.json"),
    }  # fmt: skip
    sources = {
        "abstracts": {"share_given": share, "passes": 1.0},
        "uspto": {"share_given": 1 - share, "passes": 1.0},
    }
    held = [{"source": "all", "year": 0, "loss": 2.0 + 0.001 * noise("loss", year)}]
    run = {"name": folder.name, "notes": {"sources": sources, "held_out": held}}
    for path, content in (
        (model / "modules.json", modules),
        (model / "scitlake.json", own),
        (folder / "run.json", run),
    ):
        path.write_text(json.dumps(content))
    (folder / "config.yaml").write_text(yaml.safe_dump({"preset": "tiny", "mlm": {"lr": lr}}))


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS_ROOT", str(tmp_path / "runs"))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    make_task_lake(tmp_path / "lake")
    return tmp_path


def doctor(*args):
    result = CliRunner().invoke(cli, ["doctor", *args])
    return result, [line for line in result.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("planted", "cause", "measure"),
    [
        ({"letters": True}, "tokenizer", "tokens per word of texts known by 2006"),
        ({"share": 0.7}, "mixture", "share of abstracts"),
        ({"narrow": True}, "geometry", "mean cosine of two documents"),
        ({"lr": 0.1}, "settings", "mlm.lr is 0.1, expected 0.001"),
    ],
)
def test_each_planted_fault_is_named(home, planted, cause, measure):
    for year in YEARS:
        make_run(home / "runs", year, **(planted if year == 2009 else {}))
    result, lines = doctor("--check")
    assert result.exit_code == 1, result.output
    assert lines[0] == f"tiny, vintage 2009: odd; look first at: {cause}"
    assert any(measure in line for line in lines[1:])
    assert not any("vintage" in line and "2009" not in line for line in lines)


def test_a_sound_family_has_no_odd_vintage_and_every_measure_is_printed(home):
    for year in YEARS:
        make_run(home / "runs", year)
    result, lines = doctor("--check", "--json")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in lines]
    assert {row["cause"] for row in rows} == {"tokenizer", "text", "mixture", "fit", "geometry"}
    assert not any(row["odd"] for row in rows) and "no odd vintage" in result.stderr
    words = {row["value"] for row in rows if row["cause"] == "tokenizer"}
    assert words == {1.0}  # a token per word
    assert doctor("--no-text", "--json")[1] != lines


def test_few_vintages_are_measured_and_not_judged(home):
    for year in (2006, 2007):
        make_run(home / "runs", year, share=0.1 * (year - 2004))
    result, lines = doctor("--json")
    assert result.exit_code == 0 and "takes 5" in result.stderr
    assert all(json.loads(line)["odd"] is None for line in lines)


def test_tokens_per_word_counts_whole_texts(home):
    from pyeval.embed import sample_documents
    from warehouse.tables import Lake

    with Lake() as lake:
        chosen = sample_documents(lake, 2006, 20, "test")
    tokenizer = _tokenizer(whole_words=False)
    tokenizer.enable_truncation(4)
    pairs = zip(chosen.titles.to_pylist(), chosen.abstracts.to_pylist(), strict=True)
    words = " ".join(f"{title} {abstract}" for title, abstract in pairs).split()
    assert tokens_per_word(tokenizer, chosen) == pytest.approx(len("".join(words)) / len(words))
    assert tokenizer.truncation["max_length"] == 4


def test_the_report_says_what_scores_and_runs_show(home):
    rows = family(range(2006, 2013), (), odd=2009)
    for one in rows:
        one["model"] = one["model"].replace("sample", "tiny")
    for year in YEARS:
        make_run(home / "runs", year, share=0.7 if year == 2009 else 0.4)
    said = [(one.year, one.cause) for one in odd_scores(rows)]
    assert set(said) == {(2009, "mixture"), (2009, "scores")}


def test_scored_vintages_without_a_run_are_judged_by_their_scores(home):
    rows: dict[str, list[dict]] = {}
    for one in family(range(2013, 2020), (), odd=2016):
        rows.setdefault(one["model"], []).append({k: v for k, v in one.items() if k != "system"})
    for name, own in rows.items():
        results.save(name, own, results.ITEMS.empty_table())
    result, lines = doctor("--no-text")
    assert result.exit_code == 0 and lines[0].startswith("sample, vintage 2016: odd; scores alone")


def test_the_picture_draws_what_the_lines_of_json_say(home):
    for year in YEARS:
        make_run(home / "runs", year, share=0.7 if year == 2009 else 0.4)
    drawn = home / "doctor.svg"
    result, lines = doctor("--no-text", "--json", "--picture", str(drawn))
    assert result.exit_code == 0, result.output
    said = [json.loads(line) for line in lines]
    with drawn.with_suffix(".csv").open() as table:
        rows = list(csv.DictReader(table))
    names = ("family", "cause", "measure", "odd")
    assert [[one[n] for n in names] for one in rows] == [
        [str(one[n]) for n in names] for one in said
    ]
    for one, other in zip(rows, said, strict=True):
        for name in ("year", "value", "expected", "z"):
            assert float(one[name]) == pytest.approx(other[name])
    odd_ones = {(one["measure"], one["year"]) for one in rows if one["odd"] == "True"}
    assert odd_ones == {("share of abstracts", "2009"), ("share of uspto", "2009")}
    first = drawn.read_bytes()
    doctor("--no-text", "--picture", str(drawn))
    assert drawn.read_bytes() == first and first.startswith(b"<?xml")


def test_the_rings_of_the_picture_are_the_odd_vintages(home):
    """Read back from the axes: a ring at each odd value, a line through all values."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    level = dict.fromkeys(range(2006, 2013), 0.4)
    figure = picture([Series("f", "mixture", "share", 0.01, level | {2009: 0.7})])
    drawn = figure.make(plt, figure.rows)
    (axis,) = drawn.axes
    lines = [(list(one.get_xdata()), list(one.get_ydata())) for one in axis.get_lines()]
    plt.close(drawn)
    assert lines[0] == (list(level), list((level | {2009: 0.7}).values()))
    assert lines[2:] == [([2009], [0.7])]
    assert [one.get_text()[:4] for one in axis.texts] == ["2009"]


def test_a_mistake_gets_one_message(home):
    result, _ = doctor()
    assert result.exit_code == 2 and "pytrain family" in result.stderr
    make_run(home / "runs", 2006)
    result, _ = doctor("tiny-2060")
    assert result.exit_code == 2 and "Did you mean 'tiny-2006'" in result.stderr
    result, _ = doctor("--picture", "odd.gif")
    assert result.exit_code == 2 and "odd.gif in .gif" in result.stderr
