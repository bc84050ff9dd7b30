"""The probed tasks against an oracle that shares no code with them: polars and sets, no SQL."""

import math
from collections import Counter, defaultdict

import polars as pl
import pytest
from oracle_draws import (
    SETTINGS,
    common_sample,
    in_hash_order,
    matched,
    splits,
    utility_patents,
)
from oracle_papers import benchmark_papers, current_works, linked_works


@pytest.fixture(scope="module")
def utility(table):
    """Granted utility patents with a date: patent_id, doc_id, grant_date, grant_year."""
    return utility_patents(table)


@pytest.fixture(scope="module")
def sample(table, utility):
    """The common patent sample: doc_id, grant_year, cpc_section."""
    return common_sample(table, utility)


@pytest.fixture(scope="module")
def filed(table, utility):
    """Filing year and grant year of every patent with text of the sample's years."""
    first = (
        table("staging.stg_patentsview__applications")
        .drop_nulls("filing_year")
        .group_by("patent_id")
        .agg(pl.col("filing_year").min())
    )
    years = pl.col("grant_year").is_between(
        SETTINGS["sample_first_year"], SETTINGS["sample_last_year"]
    )
    rows = utility.join(first, on="patent_id").filter(years)
    held = set(table("corpus.documents")["doc_id"])
    return {
        row["patent_id"]: (row["doc_id"], row["filing_year"], row["grant_year"])
        for row in rows.to_dicts()
        if row["doc_id"] in held
    }


def agree(table, task, expected):
    """The task is {doc_id: (task_year, label_year, label)} with the split of the hash order."""
    split = splits({doc_id: year for doc_id, (year, *_) in expected.items()}, task)
    rows = table(f"tasks.task_{task}")
    columns = ("doc_id", "task_year", "label_year", "label", "split")
    built = {row[0]: row[1:] for row in rows.select(columns).iter_rows()}
    assert len(rows) == len(built) == len(expected) > 100
    assert built == {doc_id: (*one, split[doc_id]) for doc_id, one in expected.items()}


def balanced(task, positives, candidates, names):
    """Examples of two classes; both arguments are {doc_id: (task_year, label_year)}."""
    drawn = matched(
        task,
        {doc_id: year for doc_id, (year, _) in positives.items()},
        {doc_id: year for doc_id, (year, _) in candidates.items()},
    )
    return {doc_id: (*years, names[0]) for doc_id, years in positives.items()} | {
        doc_id: (*candidates[doc_id], names[1]) for doc_id in drawn
    }


def test_subclasses_are_those_of_the_most_patents(table, utility, sample):
    year_of = dict(
        sample.filter(pl.col("cpc_section") != "?").select("doc_id", "grant_year").rows()
    )
    doc_of = dict(utility.select("patent_id", "doc_id").rows())
    codes = defaultdict(set)
    rows = table("staging.stg_patentsview__cpc_current").select("patent_id", "cpc_subclass")
    for patent_id, code in rows.iter_rows():
        if doc_of.get(patent_id) in year_of:
            codes[doc_of[patent_id]].add(code)
    counts = Counter(code for own in codes.values() for code in own)
    best = sorted(counts, key=lambda code: (-counts[code], code))
    frequent = set(best[: SETTINGS["frequent_subclasses"]])
    assert len(best) > len(frequent)
    expected = {
        doc_id: (year_of[doc_id], year_of[doc_id], sorted(own & frequent))
        for doc_id, own in codes.items()
        if own & frequent
    }
    assert len(expected) < len(codes)
    agree(table, "cpc_subclass", expected)


def test_assignee_types_are_those_of_the_assignee_listed_first(table, utility, sample):
    year_of = dict(sample.select("doc_id", "grant_year").rows())
    doc_of = dict(utility.select("patent_id", "doc_id").rows())
    kinds = {2: "firm", 3: "firm", 4: "individual", 5: "individual"}
    kinds |= dict.fromkeys((6, 7, 8, 9), "government_nonprofit")
    expected = {}
    for row in table("staging.stg_patentsview__assignees").sort("assignee_sequence").to_dicts():
        doc_id = doc_of.get(row["patent_id"])
        if doc_id in year_of and row["assignee_sequence"] == 0:
            year = year_of[doc_id]
            expected[doc_id] = (year, year, kinds[row["assignee_type"] % 10])
    assert {label for *_, label in expected.values()} == set(kinds.values())
    agree(table, "assignee_type", expected)


@pytest.fixture(scope="module")
def firms(table, filed):
    """Rows of the newer release on patents of the benchmark, with their years."""
    rows = table("staging.stg_ocpb__assignee_at_filing").unique().to_dicts()
    held = [row | {"years": filed[row["patent_id"]]} for row in rows if row["patent_id"] in filed]
    assert len({row["patent_id"] for row in held}) == len(held)
    return held


def dated(rows):
    """{doc_id: (filing year, the later of filing and grant)}."""
    return {d: (f, max(f, g)) for d, f, g in (row["years"] for row in rows)}


def test_public_assignees_and_as_many_others(table, firms):
    positives = dated(row for row in firms if row["is_public"])
    candidates = dated(row for row in firms if row["is_public"] is False)
    expected = balanced("academic_public", positives, candidates, ("public", "other"))
    agree(table, "academic_public", expected)


def test_backed_firms_and_as_many_others(table, firms):
    bar = SETTINGS["min_vc_score"]
    positives = dated(row for row in firms if row["is_vc_backed"] and row["vc_score"] >= bar)
    candidates = dated(row for row in firms if row["is_vc_backed"] is False)
    agree(table, "vc_backed", balanced("vc_backed", positives, candidates, ("backed", "other")))


def test_foreign_assignees(table, firms):
    expected = {
        d: (f, max(f, g), "foreign" if row["is_foreign"] else "us")
        for row in firms
        for d, f, g in (row["years"],)
    }
    agree(table, "us_foreign", expected)


def test_values_are_logarithms(table, filed):
    first = {}
    rows = table("staging.stg_kpss__patent_values").drop_nulls("issue_year")
    for row in rows.sort("issue_date", "xi_real", "permno").to_dicts():
        first.setdefault(row["patent_id"], row)
    expected = {
        d: (f, max(f, g, first[patent_id]["issue_year"]), math.log(first[patent_id]["xi_real"]))
        for patent_id, (d, f, g) in filed.items()
        if patent_id in first
    }
    agree(table, "kogan_value", expected)


def last_whole_year(days):
    """The last year in whose December something is dated."""
    last = max(days)
    return last.year - (last.month != 12)


def anniversary(day, years):
    """The same day `years` later; 28 February for a leap day that has none."""
    leap = (day.month, day.day) == (2, 29)
    return day.replace(year=day.year + years, day=28 if leap else day.day)


def test_fee_histories(table, utility, sample):
    events = defaultdict(list)
    rows = table("staging.stg_uspto__maintenance_fee_events").drop_nulls("event_date")
    for patent_id, day, kind in rows.select("patent_id", "event_date", "kind").unique().iter_rows():
        events[patent_id].append((day, {"expired": 1, "reinstated": 2}.get(kind, 0), kind))
    held = set(table("intermediate.int_patents")["patent_id"])
    observed = last_whole_year(e[0] for one in held & set(events) for e in events[one])
    window = SETTINGS["renewal_years"]
    last = min(SETTINGS["renewal_last_grant"], observed - window)
    granted = dict(utility.select("doc_id", "grant_date").rows())
    patent_of = dict(utility.select("doc_id", "patent_id").rows())
    expected = {}
    for doc_id, year in sample.select("doc_id", "grant_year").iter_rows():
        end = anniversary(granted[doc_id], window)
        history = sorted(event for event in events[patent_of[doc_id]] if event[0] <= end)
        turns = [k for _, _, k in history if k in ("expired", "reinstated", "petition_granted")]
        if year > last or not (turns or any(kind == "paid_8" for *_, kind in history)):
            continue
        kept = any(kind == "paid_8" for *_, kind in history) or turns[-1] != "expired"
        expected[doc_id] = (year, year + window, "maintained" if kept else "lapsed")
    assert Counter(label for *_, label in expected.values()).total() == len(expected)
    agree(table, "renewal", expected)


def test_granted_and_abandoned_applications(table, utility, sample):
    texts = dict(
        table("staging.stg_patentsview__pg_abstracts").select("pgpub_id", "abstract").rows()
    )
    first, application_of = {}, {}
    for row in (
        table("staging.stg_patentsview__pg_published_applications").sort("pgpub_id").to_dicts()
    ):
        if row["filing_year"] is None:
            continue
        name = row["application_id"] or f"pgpub:{row['pgpub_id']}"
        application_of[row["pgpub_id"]] = name
        if row["patent_type"] == "utility" and row["title"] and texts.get(row["pgpub_id"]):
            first.setdefault(name, row)
    rows = table("staging.stg_patentsview__pg_granted_pgpubs_crosswalk").to_dicts()
    grants = defaultdict(set)
    for row in rows:
        if row["patent_id"]:
            grants[row["application_id"]].add(row["patent_id"])
            grants[application_of.get(row["pgpub_id"])].add(row["patent_id"])
    dates = dict(table("intermediate.int_patents").select("patent_id", "grant_date").rows())
    pairs = [row for row in rows if row["pgpub_id"] in application_of and row["patent_id"] in dates]
    observed = last_whole_year(d for row in pairs if (d := dates[row["patent_id"]]))
    wait = SETTINGS["grant_abandon_years"]
    last = min(SETTINGS["grant_abandon_last_filing"], observed - wait)
    doc_of = dict(utility.select("patent_id", "doc_id").rows())
    year_of = dict(sample.select("doc_id", "grant_year").rows())
    positives, candidates = {}, {}
    for name, row in first.items():
        filed = row["filing_year"]
        if filed > last:
            continue
        if not grants[name]:
            candidates[row["doc_id"]] = (filed, filed + wait)
        granted = [year_of[doc_of[p]] for p in grants[name] if doc_of.get(p) in year_of]
        if granted:
            positives[row["doc_id"]] = (filed, max(filed, min(granted)))
    expected = balanced("grant_abandon", positives, candidates, ("granted", "abandoned"))
    agree(table, "grant_abandon", expected)


@pytest.fixture(scope="module")
def current(table):
    """A function from an OpenAlex number to what the work is now."""
    return current_works(table)


@pytest.fixture(scope="module")
def links(table):
    """Everything that links a work to a patent."""
    return linked_works(table)


@pytest.fixture(scope="module")
def papers(table, links, current):
    """The papers of the benchmark: OpenAlex number -> (doc_id, year)."""
    return benchmark_papers(table, links, current)


@pytest.fixture(scope="module")
def granted(table):
    """doc_id -> (day, whether it is a utility patent) of every patent with a date."""
    rows = table("intermediate.int_patents").drop_nulls("grant_date")
    columns = ("doc_id", "grant_date", "is_utility")
    return {doc_id: (day, utility) for doc_id, day, utility in rows.select(columns).iter_rows()}


def test_paired_patents(table, filed, sample, links, papers, current, granted):
    pairs = links[1]
    years = {d: (f, g) for d, f, g in filed.values()}
    known = dict(table("intermediate.int_dated_works").select("work_id", "known_year").rows())
    positives = {}
    for (patent, work), score in pairs.items():
        if score >= SETTINGS["min_pair_score"] and patent in years:
            filing, grant = years[patent]
            first = max(grant, known.get(work) or grant)
            positives[patent] = (filing, min(first, positives.get(patent, (0, first))[1]))
    observed = last_whole_year(granted[patent][0] for patent, _ in pairs if patent in granted)
    anyhow = {patent for patent, _ in pairs}
    candidates = {
        doc_id: (years[doc_id][0], max(years[doc_id]))
        for doc_id in sample["doc_id"]
        if doc_id in years and doc_id not in anyhow and years[doc_id][1] <= observed
    }
    expected = balanced("ppp_patent", positives, candidates, ("paired", "unpaired"))
    assert len(expected) < 2 * len(positives) + 1
    agree(table, "ppp_patent", expected)


def test_paired_papers(table, links, papers, current, filed, granted):
    citations, pairs, _ = links
    known = dict(table("intermediate.int_dated_works").select("work_id", "known_year").rows())
    grants = {d: g for d, _, g in filed.values()}
    anyhow, positives, candidates = set(), {}, {}
    for (patent, work), score in pairs.items():
        if current(work) not in papers:
            continue
        doc_id, year = papers[current(work)]
        anyhow.add(doc_id)
        if score >= SETTINGS["min_pair_score"]:
            both = patent in granted and known.get(work)
            first = max(year, max(granted[patent][0].year, known[work]) if both else year)
            positives[doc_id] = (year, min(first, positives.get(doc_id, (0, first))[1]))
    observed = last_whole_year(granted[patent][0] for patent, _ in pairs if patent in granted)
    held = dict(table("intermediate.int_task_patents").select("doc_id", "grant_year").rows())
    assert set(grants) <= set(held)
    for patent, work in citations:
        if patent in held and current(work) in papers:
            doc_id, year = papers[current(work)]
            if doc_id not in anyhow and year <= observed:
                first = max(year, held[patent])
                candidates[doc_id] = (year, min(first, candidates.get(doc_id, (0, first))[1]))
    agree(table, "ppp_paper", balanced("ppp_paper", positives, candidates, ("paired", "unpaired")))


def even(task, positives, candidates):
    """Two classes that are equal in every year; both arguments are {doc_id: (year, label_year)}."""
    kept = in_hash_order(positives, f"capped:{task}")[: SETTINGS["researcher_examples"]]
    expected = balanced(
        task, {one: positives[one] for one in kept}, candidates, ("researcher", "other")
    )
    found = {}
    for year in {year for year, *_ in expected.values()}:
        here = {one: row for one, row in expected.items() if row[0] == year}
        others = [one for one, row in here.items() if row[2] == "other"]
        ours = in_hash_order(set(here) - set(others), f"positives:{task}")[: len(others)]
        found |= {one: here[one] for one in (*others, *ours)}
    counts = Counter((year, label) for year, _, label in found.values())
    assert all(counts[year, "other"] == counts[year, "researcher"] for year, _ in counts)
    return found


def test_patents_of_researchers(table, filed, granted):
    number = {patent_id: doc_id for patent_id, (doc_id, *_) in filed.items()}
    confidence = {}
    rows = table("staging.stg_pqr__researchers").select("inventor_id", "author_id", "confidence")
    for inventor, author, sure in rows.iter_rows():
        key = inventor, author
        if sure is not None:
            confidence[key] = min(sure, confidence.get(key, sure))
        else:
            confidence.setdefault(key, None)
    listed = table("staging.stg_pqr__inventor_patents")
    best, anyhow = {}, {inventor for inventor, _ in confidence}
    for (inventor, _), sure in confidence.items():
        best[inventor] = max(best.get(inventor, 0), sure or 0)
    all_patents = dict(table("intermediate.int_patents").select("patent_id", "doc_id").rows())
    days = [granted[d][0] for p in listed["patent_id"] if (d := all_patents.get(p)) in granted]
    observed = last_whole_year(days)
    years = {d: (f, g) for d, f, g in filed.values()}
    positives, matched_at_all = {}, set()
    for inventor, patent in listed.select("inventor_id", "patent_id").iter_rows():
        doc_id = number.get(patent)
        if doc_id and inventor in anyhow:
            matched_at_all.add(doc_id)
            if best[inventor] >= SETTINGS["min_researcher_confidence"]:
                positives[doc_id] = (years[doc_id][0], max(years[doc_id]))
    candidates = {
        doc_id: (filing, max(filing, grant))
        for doc_id, (filing, grant) in years.items()
        if doc_id not in matched_at_all and grant <= observed
    }
    agree(table, "pqr_patent", even("pqr_patent", positives, candidates))


def test_papers_of_researchers(table, links, papers):
    sure, anyhow = set(), set()
    for (work, _, _), confidence in links[2].items():
        if work in papers:
            anyhow.add(work)
            if confidence is not None and confidence >= SETTINGS["min_researcher_confidence"]:
                sure.add(work)
    listed = set(table("staging.stg_pqr__author_works")["work_id"])
    observed = max(papers[work][1] for work in listed & set(papers)) - 1
    positives = {papers[work][0]: (papers[work][1],) * 2 for work in sure}
    candidates = {
        doc_id: (year, year)
        for work, (doc_id, year) in papers.items()
        if work not in anyhow and year <= observed
    }
    agree(table, "pqr_paper", even("pqr_paper", positives, candidates))


def test_uptake(table, links, papers, current, granted):
    citing = defaultdict(set)
    for patent, work in links[0]:
        if current(work) in papers and granted.get(patent, (None, False))[1]:
            citing[papers[current(work)]].add(patent)
    assert len(citing) < SETTINGS["uptake_papers"]
    expected = {
        doc_id: (year, max(year, *(granted[p][0].year for p in own)), float(len(own)))
        for (doc_id, year), own in citing.items()
    }
    agree(table, "science_uptake", expected)
