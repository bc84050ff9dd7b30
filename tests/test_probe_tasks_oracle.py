"""The probed tasks against an oracle that shares no code with them: polars and sets, no SQL."""

import math
from collections import Counter, defaultdict

import duckdb
import polars as pl
import pytest
from oracle_draws import SETTINGS, common_sample, matched, splits, utility_patents


@pytest.fixture(scope="module")
def table(sample_lake):
    """A function from a table's name to the whole table."""
    with duckdb.connect(str(sample_lake / "lake.duckdb"), read_only=True) as lake:
        yield lambda name: lake.sql(f"select * from {name}").pl()


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
