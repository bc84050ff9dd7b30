"""The marts of the sample lake against plain Python and polars over the same raw files."""

import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import duckdb
import polars as pl
import pytest
from raw_folder import write_required
from sample_files import RawSample, cleaned

from warehouse.language import language_share
from warehouse.runner import run_dbt
from warehouse.sources import project_dir

CUTOFFS = (2004, 2013, 2025)
FUNCTIONS = {
    "documents": "corpus.documents_asof",
    "pretrain_text": "corpus.pretrain_asof",
    "edges": "graph.edges_asof",
    "nodes": "graph.nodes_asof",
    "anchors": "graph.anchors_asof",
}
PATENT, PGPUB, WORK = 1_000_000_000_000, 100_000_000_000_000, 2_000_000_000_000


@pytest.fixture(scope="module")
def con(sample_lake):
    with duckdb.connect(str(sample_lake / "lake.duckdb"), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def raw(sample_lake):
    return RawSample(sample_lake / "sample")


def year_of(value):
    """A year that the lake takes for one, from an integer, digits in quotes or a date."""
    digits = str(value or "")[:4]
    return int(digits) if digits.isdigit() and 1800 <= int(digits) <= 2026 else None


def is_whole(paper):
    """True for a record whose declared values are of their types; others are quarantined."""
    year = paper["year"]
    return isinstance(paper["corpusid"], int) and (year is None or str(year).isdigit())


def bare_doi(value):
    """The DOI in lower case, without resolver."""
    return re.sub(r"^(https?://)?(dx\.)?doi\.org/|^doi:", "", (value or "").strip().lower())


@pytest.fixture(scope="module")
def documents(raw):
    """corpus.documents the long way round: doc_id, doc_type, known_year, title, abstract."""
    # A merged id's abstract is its paper's; in the sample no such id has a year of its own.
    abstracts = {raw.merged.get(k, (k,))[0]: text for k, text in raw.abstracts.items()}
    papers = [
        (key, "paper", year_of(row["year"]), row["title"], cleaned(abstracts.get(key)))
        for key, row in raw.papers.items()
        if is_whole(row) and key not in raw.merged
    ]
    patents = [
        (PATENT + int(key), "patent", year_of(row["patent_date"]), row["patent_title"],
         raw.patent_abstracts.get(key))
        for key, row in raw.patents.items()
        if raw.is_plain(row)
    ]  # fmt: skip
    table = pl.DataFrame(
        papers + patents,
        schema={"doc_id": pl.Int64, "doc_type": pl.String, "known_year": pl.Int32,
                "title": pl.String, "abstract": pl.String},
        orient="row",
    )  # fmt: skip
    blank = pl.col("title", "abstract").str.strip_chars().fill_null("") == ""
    kept = table.filter(pl.col("known_year").is_not_null() & ~pl.any_horizontal(blank))
    return kept.sort("known_year", "doc_id")


@pytest.fixture(scope="module")
def edges(raw, documents):
    """graph.citation_edges the long way round, sorted."""
    by_doi = {}
    for key, row in raw.papers.items():
        doi = bare_doi((row.get("externalids") or {}).get("DOI"))
        if doi and is_whole(row):
            rank = (year_of(row["year"]) or 9999, raw.merged.get(key, (key,))[0])
            by_doi[doi] = min(rank, by_doi.get(doi, rank))
    works = {key: bare_doi(row.get("doi")) for key, row in raw.works.items()}
    pairs = []
    for row in raw.citations:
        ends = (row["citingcorpusid"], row["citedcorpusid"])
        if all(isinstance(end, int) for end in ends):
            found = [raw.merged.get(end, (end, None)) for end in ends]
            pairs.append((*(end for end, _ in found), max(year or 0 for _, year in found)))
    pairs += [
        (PATENT + int(r["patent_id"]), PATENT + int(r["citation_patent_id"]), 0)
        for r in raw.patent_citations
        if r["patent_id"].isdigit() and r["citation_patent_id"].isdigit()
        # A sequence in words is malformed and its row in the quarantine.
        if isinstance(r["citation_sequence"], float)
    ]
    for row in raw.reliance:
        number = re.fullmatch(r"us-0*(\d{1,8})-[a-z]\d?", row["patent"].lower())
        work = int(row["oaid"])
        paper = by_doi.get(works.get(raw.merged_works.get(work, work)))
        if number and paper:
            pairs.append((PATENT + int(number[1]), paper[1], paper[0]))
    known = documents.select("doc_id", "doc_type", "known_year")
    found = pl.DataFrame(pairs, schema=["citing_id", "cited_id", "link_year"], orient="row")
    found = found.group_by("citing_id", "cited_id").agg(pl.min("link_year").cast(pl.Int32))
    found = found.filter(pl.col("citing_id") != pl.col("cited_id"))
    found = found.join(known, left_on="citing_id", right_on="doc_id")
    found = found.join(known, left_on="cited_id", right_on="doc_id", suffix="_cited")
    return found.select(
        "citing_id",
        "cited_id",
        edge_type=pl.col("doc_type") + "_" + pl.col("doc_type_cited"),
        known_year=pl.max_horizontal("known_year", "known_year_cited", "link_year"),
    ).sort("known_year", "citing_id", "cited_id")


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_documents_are_those_that_polars_finds_in_the_raw_files(con, documents, cutoff):
    columns = ", ".join(documents.columns)
    found = con.sql(f"select {columns} from corpus.documents_asof({cutoff})").pl()
    assert found.equals(documents.filter(pl.col("known_year") <= cutoff))


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_edges_are_those_that_polars_finds_in_the_raw_files(con, edges, cutoff):
    expected = edges.filter(pl.col("known_year") <= cutoff)
    assert set(expected["edge_type"]) == {"paper_paper", "patent_patent", "patent_paper"}
    assert con.sql(f"from graph.edges_asof({cutoff})").pl().equals(expected)


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_nodes_are_numbered_by_first_edge_and_start_at_zero_every_year(con, edges, cutoff):
    first = {}
    for citing, cited, _, year in edges.iter_rows():
        for doc in (citing, cited):
            first[doc] = min(year, first.get(doc, year))
    expected = sorted((year, doc) for doc, year in first.items() if year <= cutoff)
    found = con.sql(
        f"select node_id, known_year, doc_id from graph.nodes_asof({cutoff})"
    ).fetchall()
    assert found == [(node, *key) for node, key in enumerate(expected)]


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_small_pools_are_taken_whole_and_a_citing_patent_is_in_one_pool(con, edges, cutoff):
    known = edges.filter(pl.col("known_year") <= cutoff)
    citing = set(known.filter(pl.col("edge_type") == "patent_paper")["citing_id"])
    nodes = set(known["citing_id"]) | set(known["cited_id"])
    pools = defaultdict(list)
    for doc_id, pool in con.sql(
        f"select doc_id, pool from graph.anchors_asof({cutoff})"
    ).fetchall():
        pools[pool].append(doc_id)
    assert sorted(pools["patent_citing_paper"]) == sorted(citing)
    assert sorted(pools["patent"]) == sorted({d for d in nodes if d > PATENT} - citing)
    assert sorted(pools["paper"]) == sorted(d for d in nodes if d < PATENT)


def test_abstracts_of_other_languages_are_documents_but_no_text(con, raw, documents):
    dated = documents.filter(pl.col("doc_type") == "paper")
    score = {text: language_share(text) for text in set(dated["abstract"])}
    english = {
        doc for doc, text in dated.select("doc_id", "abstract").iter_rows() if score[text] >= 0.6
    }
    texts = con.sql("select doc_id from corpus.pretrain_text where source = 'abstracts'").fetchall()
    foreign = set(raw.faults["abstract_french"]) | set(raw.faults["abstract_german"])
    assert foreign & set(dated["doc_id"])
    assert not foreign & {doc for (doc,) in texts}
    assert english <= {doc for (doc,) in texts}


def long_texts(raw, stem, key):
    """Sections of every document in the order summary, description, figures, claims."""
    sections = defaultdict(list)
    for order, (name, text, sequence) in enumerate(
        (
            ("brf_sum_text", "summary_text", None),
            ("detail_desc_text", "description_text", None),
            ("draw_desc_text", "draw_desc_text", "draw_desc_sequence"),
            ("claims", "claim_text", "claim_sequence"),
        )
    ):
        for path in sorted(raw.folder.glob(f"patentsview/{stem}_{name}_*.tsv.zip")):
            for row in raw.table(path.name.removesuffix(".tsv.zip")):
                if row[text].strip():
                    place = int(row[sequence]) if sequence else 0
                    sections[row[key]].append((order, place, row[text]))
    return {k: "\n\n".join(t for *_, t in sorted(rows)) for k, rows in sections.items()}


def test_pregrant_text_is_dated_by_filing_and_joined_by_blank_lines(con, raw):
    texts = {int(k): text for k, text in long_texts(raw, "pg", "pgpub_id").items()}
    expected = {
        PGPUB + key: (year_of(row["filing_date"]), year_of(row["published_date"]), texts[key])
        for key, row in raw.publications.items()
        if key in texts and year_of(row["filing_date"])
    }
    found = con.sql(
        "select doc_id, known_year, public_year, text from corpus.pretrain_text"
        " where source = 'uspto'"
    ).fetchall()
    assert {doc: tuple(rest) for doc, *rest in found} == {
        doc: expected[doc] for doc in expected.keys() & {row[0] for row in found}
    }
    # What is missing repeats the text of an earlier publication of its application.
    dropped = expected.keys() - {row[0] for row in found}
    kept_texts = {row[3] for row in found}
    assert all(expected[doc][2] in kept_texts for doc in dropped)


def test_granted_text_is_there_only_where_no_pregrant_text_is(con, raw):
    texts = long_texts(raw, "g", "patent_id")
    pregrant = {
        doc - PGPUB
        for (doc,) in con.sql(
            "select doc_id from corpus.pretrain_text where source = 'uspto'"
        ).fetchall()
    }
    replaced = {
        r["patent_id"] for r in raw.crosswalk if r["pgpub_id"] and int(r["pgpub_id"]) in pregrant
    }
    expected = {
        PATENT + int(key): "\n\n".join(filter(None, (raw.patent_abstracts.get(key, ""), text)))
        for key, text in texts.items()
        if key not in replaced and raw.is_plain(raw.patents[key])
    }
    found = dict(
        con.sql(
            "select doc_id, text from corpus.pretrain_text where source = 'granted_text'"
        ).fetchall()
    )
    assert len(expected) > 100
    assert found == expected


def test_web_pages_are_dated_by_their_dump(con, raw):
    found = con.sql(
        "select known_year, count(*) from corpus.pretrain_text"
        " where source = 'fineweb_edu' group by 1"
    ).fetchall()
    first = {}
    for page in sorted(raw.pages, key=lambda page: page["dump"]):
        first.setdefault(page["id"], page)  # of two pages with one id the one known first counts
    expected = Counter(
        int(page["dump"][8:12]) for page in first.values() if language_share(page["text"]) >= 0.6
    )
    assert dict(found) == expected


ASKED = ("cc-by", "cc-by-sa", "cc-by-nc", "publisher-specific-oa")
# What each licence of the sample lets in, written out and not taken from the lake's own order.
WITHIN = {
    "cc-by": {"cc-by", "odc-by"},
    "cc-by-sa": {"cc-by", "odc-by", "cc-by-sa"},
    "cc-by-nc": {"cc-by", "odc-by", "cc-by-sa", "cc-by-nc"},
    "publisher-specific-oa": {"cc-by", "odc-by", "cc-by-sa", "cc-by-nc"},
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_slice_within_a_licence_holds_its_rows_and_none_of_unknown_licence(con, asked):
    whole = con.sql("select * exclude (text) from corpus.pretrain_asof(2013)").pl()
    assert whole["licence"].null_count() > 10
    query = f"from corpus.pretrain_asof(2013, licence_at_most := '{asked}')"
    found = con.sql(f"select * exclude (text) {query}").pl()
    assert found.equals(whole.filter(pl.col("licence").is_in(sorted(WITHIN[asked]))))
    assert 0 < len(found) < len(whole)


def test_no_licence_in_the_sample_asks_less_than_attribution(con):
    query = "select count(*) from corpus.pretrain_asof(2013, licence_at_most := 'cc0')"
    assert con.sql(query).fetchall() == [(0,)]  # the publishers ask to be named


def test_an_unknown_licence_is_an_error_that_names_the_known_ones(con):
    with pytest.raises(duckdb.InvalidInputException, match="licence CCBY is unknown: .*cc-by-nc"):
        con.sql("from corpus.pretrain_asof(2013, licence_at_most := 'CCBY')").fetchall()


def test_texts_keep_the_licence_that_their_raw_record_gives(con, raw):
    spelled = {"CCBY": "cc-by", "CCBYNC": "cc-by-nc", "CCBYSA": "cc-by-sa", None: None}
    given = {
        raw.merged.get(row["corpusid"], (row["corpusid"],))[0]: row["openaccessinfo"]["license"]
        for row in raw.json("s2ag/abstracts/*")
    }
    rows = con.sql("select doc_id, licence from corpus.pretrain_text"
                   " where source = 'abstracts'").fetchall()  # fmt: skip
    assert len(rows) > 4_000
    assert rows == [(doc_id, spelled[given[doc_id]]) for doc_id, _ in rows]


def test_licences_of_a_cutoff_are_those_of_its_slice(con):
    counted = con.sql("select source, licence, is_unknown, n_texts from audit.licences_by_year"
                      " where cutoff = 2013").fetchall()  # fmt: skip
    found = Counter(con.sql("select source, licence from corpus.pretrain_asof(2013)").fetchall())
    assert {(source, licence): n for source, licence, _, n in counted} == found
    assert all(unknown == (licence is None) for _, licence, unknown, _ in counted)


@pytest.mark.parametrize("threads", [1, 4])
def test_a_slice_streams_in_its_stored_order(con, threads):
    con.execute(f"set threads = {threads}")
    for query in (
        "select known_year, source, doc_id from corpus.pretrain_asof(2025)",
        "select known_year, doc_id from corpus.documents_asof(2025)",
        "select known_year, citing_id, cited_id from graph.edges_asof(2025)",
        "select node_id from graph.nodes_asof(2025)",
    ):
        rows = con.sql(query).fetchall()
        assert rows == sorted(rows)
        assert len(set(rows)) == len(rows)


def test_each_basis_selects_on_its_own_date(con):
    whole = con.sql("select * exclude (text) from corpus.pretrain_text").pl()
    granted = (pl.col("source") == "granted_text") & pl.col("filing_year").is_not_null()
    filed = pl.when(granted).then(pl.min_horizontal("filing_year", "known_year"))
    dates = {
        "production": pl.col("known_year"),
        "publication": pl.max_horizontal("known_year", "public_year"),
        "filing": filed.otherwise(pl.col("known_year")),
    }
    sizes = {}
    for basis, date in dates.items():
        query = f"select * exclude (text) from corpus.pretrain_asof(2013, basis := '{basis}')"
        found = con.sql(query).pl()
        assert found.equals(whole.filter(date <= 2013))
        sizes[basis] = len(found)
    assert sizes["publication"] < sizes["production"] < sizes["filing"]


@pytest.mark.parametrize("function", FUNCTIONS.values())
@pytest.mark.parametrize("year", ["1890", "2099", "null"])
def test_a_wrong_year_is_an_error_that_names_it_and_the_span(con, function, year):
    with pytest.raises(
        duckdb.InvalidInputException, match=f"cutoff {year} is outside .* 1976-2025"
    ):
        con.sql(f"select count(*) from {function}({year})").fetchall()


def test_an_unknown_basis_is_an_error_that_names_the_known_ones(con):
    with pytest.raises(duckdb.InvalidInputException, match="production, publication or filing"):
        con.sql("from corpus.pretrain_asof(2013, basis := 'grant')").fetchall()


def test_a_year_has_a_view_of_each_slice_and_no_other_year_has(con):
    schemas = con.sql(
        "select schema_name from information_schema.schemata"
        " where schema_name like 'y____' order by 1"
    ).fetchall()
    first, last = con.sql("select first_year, last_year from audit.lake_span").fetchall()[0]
    assert [name for (name,) in schemas] == [f"y{year}" for year in range(first, last + 1)]
    for year in (first, *CUTOFFS):
        for view, function in FUNCTIONS.items():
            same = (
                con.sql(f"from y{year}.{view}")
                .pl()
                .equals(con.sql(f"from {function}({year})").pl())
            )
            assert same, (year, view)


def test_slices_work_from_any_folder_and_under_another_name(sample_lake, tmp_path, edges):
    code = f"""
import duckdb
here = duckdb.connect({str(sample_lake / "lake.duckdb")!r}, read_only=True)
print(len(here.sql("from graph.edges_asof(2013)").fetchall()))
print(len(here.sql("from y2013.pretrain_text").fetchall()) > 0)
there = duckdb.connect()
there.sql("attach {str(sample_lake / "lake.duckdb")!r} as science (read_only)")
print(len(there.sql("from science.y2013.edges").fetchall()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    n_edges = str(edges.filter(pl.col("known_year") <= 2013).height)
    assert done.stdout.split() == [n_edges, "True", n_edges]


def test_a_year_that_is_not_known_makes_no_edge(con):
    years = con.sql(
        "select corpus.later_year(2010, 2015), corpus.later_year(2015, 2010),"
        " corpus.later_year(2010, null), corpus.later_year(null, 2010)"
    ).fetchall()
    assert years == [(2015, 2015, None, None)]


def test_works_go_by_an_id_that_was_known_no_later(con, raw):
    rows = con.sql("select doc_id, work_id, via, known_year from corpus.same_work").fetchall()
    years = {key: year_of(row["year"]) for key, row in raw.papers.items() if is_whole(row)}
    years |= {WORK + key: year_of(row.get("publication_year")) for key, row in raw.works.items()}
    years |= {
        PATENT + int(k): year_of(r["patent_date"]) for k, r in raw.patents.items() if k.isdigit()
    }
    years |= {PGPUB + key: year_of(r["filing_date"]) for key, r in raw.publications.items()}
    assert {via for _, _, via, _ in rows} == {"doi", "merged", "application", "crosswalk"}
    merged = {paper for paper, _ in raw.merged.values()}
    for doc, work, via, known in rows:
        # The DOI of a merged record ties its paper to a work later than its own year.
        assert years[work] <= known
        assert years[doc] == known or (via == "doi" and doc in merged and years[doc] < known)
        assert (years[work], work) < (years[doc], doc)
    assert not {row[1] for row in rows} & {row[0] for row in rows}


@pytest.fixture(scope="module")
def small_lake(tmp_path_factory):
    """A lake of the required raw tables alone, built by plain dbt in a relative lake folder."""
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SCITLAKE_DB", raising=False)
        patch.setenv("DATA_ROOT", str(write_required(folder / "raw")))
        patch.setenv("SCITLAKE_WAREHOUSE", str(folder / "lake"))
        run_dbt(
            ["run", "--select", "+pretrain_asof"],
            env={"SCITLAKE_WAREHOUSE": os.path.relpath(folder / "lake", project_dir())},
        )  # fmt: skip
    return folder / "lake"


def test_sources_without_text_leave_no_file_and_no_row(small_lake):
    with duckdb.connect(str(small_lake / "lake.duckdb"), read_only=True) as lake:
        listed = lake.sql(
            "select path, source, known_year, n_rows from audit.text_files"
        ).fetchall()
        assert [row[1:] for row in listed] == [("abstracts", 2010, 1)]
        files = [str(path) for path in small_lake.rglob("text/**/*.parquet")]
        assert [str(Path(row[0]).resolve()) for row in listed] == files
        assert all(Path(row[0]).is_absolute() for row in listed)
        rows = lake.sql("from corpus.pretrain_asof(2010)").fetchall()
        text = (1, "abstracts", 2010, 2010, None, "On one thing.", "odc-by", "cc-by")
        assert rows == [text]
        empty = lake.sql("select count(*) from intermediate.int_text_uspto").fetchall()
        assert empty == [(0,)]
        assert lake.sql("from y2010.pretrain_text").fetchall() == rows
        views = lake.sql("select view_name from duckdb_views() where schema_name = 'y2010'")
        assert views.fetchall() == [("pretrain_text",)]  # only the slices that were built
