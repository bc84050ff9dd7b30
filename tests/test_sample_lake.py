"""Every fault planted in the sample ends where the fault table says, in a lake built from it."""

import collections
import json

import duckdb
import pytest
from sample_files import RawSample

from warehouse.sample import FAULTS, MARKER


@pytest.fixture(scope="module")
def lake(sample_lake):
    with duckdb.connect(str(sample_lake / "lake.duckdb"), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def planted(sample_lake):
    return json.loads((sample_lake / "sample" / MARKER).read_text())["faults"]


def column(lake, sql: str, *keys) -> list:
    """The first column of a query; `$keys` is a list."""
    return [row[0] for row in lake.execute(sql, {"keys": list(keys)} if keys else None).fetchall()]


def uris(lake, *uris: str) -> set[str]:
    """Those of the documents that the corpus holds."""
    sql = "select doc_uri from corpus.documents where list_contains($keys, doc_uri)"
    return set(column(lake, sql, *uris))


def paper_ids(planted, *names) -> list[int]:
    return [key for name in names for key in planted[name]]


def test_malformed_and_undated_rows_are_in_quarantine_and_counted_apart(lake, planted):
    expected = collections.Counter()
    for fault in FAULTS:
        if fault.handling in ("malformed", "undated"):
            table = fault.table.split("/")[-1]
            expected[table, fault.handling == "malformed"] += len(planted[fault.name])
    found = collections.Counter()
    sql = "select table_name, counts, n_rows from audit.quarantined"
    for table, counts, rows in lake.sql(sql).fetchall():
        found[table, counts] += rows
    assert found == expected
    assert sum(expected.values()) > 20


def test_malformed_and_undated_documents_are_in_no_slice(lake, planted):
    papers = paper_ids(planted, "paper_year_null", "paper_year_zero", "paper_year_2099")
    patents = planted["patent_undated"] + planted["patent_bad_integer"]
    gone = [f"s2:{key}" for key in papers] + [f"us:{key}" for key in patents]
    assert uris(lake, *gone) == set()
    for key in papers:
        assert column(lake, f"from graph.graph_nodes select node_id where doc_id = {key}") == []


def test_unmatched_links_are_kept_and_counted(lake, planted):
    found = dict(lake.sql("select link, n_rows from audit.unmatched").fetchall())
    counts = {fault.name: len(planted[fault.name]) for fault in FAULTS}
    assert counts["citation_unheld"] in found.values()
    assert counts["abstract_unheld"] in found.values()
    assert counts["cite_unheld"] in found.values()
    assert counts["ros_unheld_work"] in found.values()
    for name, link in (
        ("withdrawn_unheld", "uspto withdrawn: its patent"),
        ("fee_unheld", "uspto fee event: its patent"),
        ("value_unheld", "patent value: its patent"),
        ("firm_unheld", "ocpb assignee at filing: its patent"),
        ("pair_unheld_work", "patent-paper pair: its work"),
        ("researcher_patent_unheld", "pqr link to a patent: its patent"),
        ("researcher_work_unheld", "pqr link to a work: its work"),
        ("family_unheld_work", "family citation: its work"),
    ):
        assert found[link] == counts[name], name
    sql = "select count(*) from staging.stg_s2ag__citations where cited_corpus_id is null"
    assert column(lake, sql) == [counts["citation_cited_null"]]


def test_rows_to_be_dropped_are_staged_and_reach_no_document(lake, planted):
    patents = [
        key
        for name in (
            "patent_withdrawn",
            "withdrawn_listed",
            "patent_design",
            "patent_plant",
            "patent_reissue",
            "patent_reissue_as_utility",
            "patent_sir",
            "patent_without_abstract",
            "patent_abstract_empty",
        )
        for key in planted[name]
    ]
    papers = paper_ids(planted, "paper_without_title", "abstract_absent", "abstract_empty")
    assert uris(lake, *[f"us:{k}" for k in patents], *[f"s2:{k}" for k in papers]) == set()
    staged = """select patent_id from staging.stg_patentsview__patents
    where list_contains($keys, patent_id)"""
    assert set(column(lake, staged, *patents)) == set(patents)


def test_an_edge_is_there_once_whatever_the_raw_files_repeat(lake, planted):
    for citing, cited in planted["citation_duplicate"]:
        sql = (
            f"from graph.citation_edges select 1 where citing_id = {citing} and cited_id = {cited}"
        )
        assert len(column(lake, sql)) <= 1
    loops = "from graph.citation_edges select 1 where citing_id = cited_id"
    assert column(lake, loops) == []
    twice = (
        """select 1 from graph.citation_edges group by citing_id, cited_id having count(*) > 1"""
    )
    assert column(lake, twice) == []
    forward = [
        column(
            lake,
            f"""select edges.known_year - documents.known_year from graph.citation_edges as edges
            join corpus.documents as documents on documents.doc_id = edges.citing_id
            where citing_id = {citing} and cited_id = {cited}""",
        )
        for citing, cited in planted["citation_forward"]
    ]
    # A citation of a later paper is known when that paper is.
    assert any(forward)
    assert all(years[0] > 0 for years in forward if years)


def test_dois_are_normalised_and_one_shared_by_two_papers_goes_to_the_earlier(lake, planted):
    names = ("paper_doi_upper_case", "paper_doi_prefixed")
    sql = "select doi from staging.stg_s2ag__papers where list_contains($keys, corpus_id)"
    found = column(lake, sql, *paper_ids(planted, *names))
    assert len(found) == len(paper_ids(planted, *names))
    assert all(doi.startswith("10.5555/sample.") for doi in found)
    shared = planted["paper_doi_shared"]
    sql = "select doc_id from intermediate.int_doi_papers where list_contains($keys, doc_id)"
    assert column(lake, sql, *shared) == []
    sql = "select work_id from corpus.same_work where via = 'doi' and list_contains($keys, doc_id)"
    owners = column(lake, sql, *shared)
    assert len(owners) == len(shared)
    assert not set(owners) & set(shared)


def test_a_merged_id_is_its_paper_and_no_document(lake, planted):
    seconds = {second: paper for paper, second in planted["paper_merged"]}
    assert uris(lake, *[f"s2:{key}" for key in seconds]) == set()
    sql = """select doc_id, doi from intermediate.int_doi_papers
    where doi like '10.5555/sample.again.%'"""
    owners = dict(lake.sql(sql).fetchall())
    assert len(owners) == len(seconds)
    assert set(owners) == set(seconds.values())
    sql = "select doc_id, work_id from corpus.same_work where via = 'merged'"
    assert dict(lake.sql(sql).fetchall()) == seconds
    papers = [paper for paper, _ in planted["abstract_of_merged_id"]]
    assert uris(lake, *[f"s2:{key}" for key in papers])
    sql = "select count(*) from intermediate.int_papers where list_contains($keys, doc_id)"
    assert column(lake, f"{sql} and abstract is not null", *papers) == [len(papers)]


def test_a_citation_of_a_merged_id_is_one_of_its_paper_dated_by_the_record(lake, planted):
    years = dict(lake.sql("select doc_id, known_year from corpus.documents").fetchall())
    again = dict(
        lake.sql("select corpus_id, known_year from intermediate.int_merged_ids").fetchall()
    )
    dated, through_records = 0, 0
    for citing, cited, named in planted["citation_of_merged_id"]:
        if citing in years and cited in years:
            sql = f"""select known_year from graph.citation_edges
            where citing_id = {citing} and cited_id = {cited}"""
            # No second citation of these pairs is in the sample.
            later = max(years[citing], years[cited], again[named] or 0)
            assert column(lake, sql) == [later]
            dated += 1
            through_records += later > max(years[citing], years[cited])
    assert dated > 8
    assert through_records > 0


def test_the_body_of_the_first_version_is_cut_out_whole(lake, planted, sample_lake):
    raw = RawSample(sample_lake / "sample")
    found = dict(lake.sql("select doc_id, text from corpus.pretrain_text"
                          " where source = 's2orc'").fetchall())  # fmt: skip
    gone = paper_ids(planted, "body_v1_null", "body_v1_unmarked")
    assert not set(gone) & set(found)
    checked = collections.Counter()
    kinds = {key: name for name in planted if name.startswith("body_v1") for key in planted[name]}
    for key, content in raw.bodies_v1.items():
        if key in gone or key not in found:
            continue
        _, _, after = content["text"].partition("\nIntroduction\n")
        body = "Introduction\n" + after
        for note in json.loads(content["annotations"]["bibentry"] or "[]")[:1]:
            body = content["text"][: note["start"]].partition("\nIntroduction\n")[2]
            body = "Introduction\n" + body
        expected = raw.bodies[key]["text"] if kinds.get(key) == "body_v1_other" else body.strip()
        assert found[key] == expected, kinds.get(key)
        checked[kinds.get(key)] += 1
    assert set(checked) == {None, "body_v1_no_paragraphs", "body_v1_offsets_text",
                            "body_v1_offsets_outside", "body_v1_other"}  # fmt: skip
    assert checked[None] > 40


def test_patent_fields_are_normalised(lake, planted):
    sql = """select application_id from staging.stg_patentsview__applications
    where list_contains($keys, patent_id)"""
    ids = column(lake, sql, *planted["application_unpadded"])
    assert ids
    assert all(len(name) == 8 and name.startswith("0") for name in ids)
    sql = """select title from staging.stg_patentsview__patents
    where list_contains($keys, patent_id)"""
    titles = column(lake, sql, *planted["patent_title_quotes"])
    assert titles
    assert all(title.count('"') == 2 and '""' not in title for title in titles)
    for mark, name in (("\t", "patent_title_tab"), ("\n", "patent_title_newline")):
        assert all(mark in title for title in column(lake, sql, *planted[name]))
    for name in ("cite_day_00", "cite_date_zero"):
        for patent_id, sequence in planted[name]:
            sql = f"""select citation_date from staging.stg_patentsview__us_patent_citations
            where patent_id = '{patent_id}' and citation_sequence = {sequence}"""
            assert None in column(lake, sql)


def test_an_abstract_comes_back_from_an_index_with_gaps_or_written_as_text(lake, planted):
    sql = """select count(*) from staging.stg_openalex__works as works
    join staging.stg_s2ag__papers as papers using (doi)
    join staging.stg_s2ag__abstracts as abstracts using (corpus_id)
    where list_contains($keys, works.work_id) and works.abstract = abstracts.abstract"""
    for name in ("work_index_gap", "work_index_text"):
        assert column(lake, sql, *planted[name])[0] >= len(planted[name]) // 2
    sql = """select count(*) from staging.stg_openalex__works
    where list_contains($keys, work_id) and abstract is not null"""
    assert column(lake, sql, *planted["work_index_null"]) == [0]


def test_reliance_keys_are_read_as_patent_numbers_or_dropped(lake, planted):
    numbers = {key.removeprefix("us-0").split("-")[0] for key, _ in planted["ros_leading_zero"]}
    sql = "select distinct patent_id from staging.stg_ros__patent_to_paper"
    held = set(column(lake, sql))
    assert numbers <= held
    assert not [number for number in held if number and number.startswith("0")]
    sql = """select count(*) from graph.citation_edges as edges
    join corpus.documents as documents on documents.doc_id = edges.citing_id
    where edges.edge_type = 'patent_paper' and documents.doc_type <> 'patent'"""
    assert column(lake, sql) == [0]


def test_a_reference_by_an_id_that_is_gone_reaches_the_work_it_leads_to(lake, planted):
    sql = """select count(*) from intermediate.int_patent_paper_links as links
    join staging.stg_openalex__merged_ids as merged using (work_id)
    where has_work and list_contains($keys, merged.into_work_id)"""
    assert column(lake, sql, *planted["work_merged"])[0] >= len(planted["work_merged"])
    sql = "select count(*) from audit.unmatched where link = 'reliance_on_science: OpenAlex work'"
    assert column(lake, sql) == [1]
    sql = "select n_rows from audit.unmatched where link = 'reliance_on_science: OpenAlex work'"
    assert column(lake, sql) == [len(planted["ros_unheld_work"])]


def test_foreign_text_is_a_document_and_no_pretraining_text(lake, planted):
    keys = paper_ids(planted, "abstract_french", "abstract_german")
    assert uris(lake, *[f"s2:{key}" for key in keys])
    sql = """select count(*) from corpus.pretrain_text
    where source = 'abstracts' and list_contains($keys, doc_id)"""
    assert column(lake, sql, *keys) == [0]
    sql = "select count(*) from corpus.pretrain_text where text like 'Nous présentons%'"
    assert column(lake, sql) == [0]


def test_a_page_crawled_again_under_its_id_is_kept_as_first_seen(lake, planted):
    for key in planted["page_same_id"]:
        sql = f"select crawl_year from staging.stg_fineweb__pages where page_id = '{key}'"
        years = column(lake, sql)
        sql = f"""select known_year from corpus.pretrain_text where source = 'fineweb_edu'
        and doc_id = (select min(doc_id) from staging.stg_fineweb__pages
        where page_id = '{key}')"""
        assert column(lake, sql) == [min(years)]


def test_a_listed_patent_is_withdrawn_and_cited_by_no_edge(lake, planted):
    keys = planted["withdrawn_listed"]
    sql = "select doc_id from intermediate.int_patents where withdrawn = 1 and {}"
    ids = column(lake, sql.format("list_contains($keys, patent_id)"), *keys)
    assert len(ids) == len(keys)
    sql = """select 1 from graph.citation_edges
    where list_contains($keys, citing_id) or list_contains($keys, cited_id)"""
    assert column(lake, sql, *ids) == []


def test_fee_events_of_both_layouts_arrive_once_in_the_order_of_a_day(lake, planted):
    sql = """select count(*) from intermediate.int_fee_events where patent_id = '{}'
    and strftime(event_date, '%Y%m%d') = '{}' and event_code = '{}'"""
    for name in ("fee_old_layout", "fee_duplicate", "fee_without_places", "fee_filing_blank"):
        for patent, day, code in planted[name][:20]:
            assert column(lake, sql.format(patent, day, code)) == [1], (name, patent, day, code)
    kinds = column(
        lake,
        """select distinct kind from intermediate.int_fee_events
    where regexp_full_match(event_code, 'M[0-9]{3}')""",
    )
    assert set(kinds) <= {"paid_4", "paid_8", "paid_12"} and kinds
    for key in planted["fee_same_day"]:
        codes = column(
            lake,
            f"""select event_code from intermediate.int_fee_events
        where patent_id = '{key}' order by event_date, step, event_code""",
        )
        assert codes[codes.index("EXPX") - 1] == "EXP."
    sql = """select filing_date from staging.stg_uspto__maintenance_fee_events
    where patent_id = '{}' and event_code = '{}' and strftime(event_date, '%Y%m%d') = '{}'"""
    for name in ("fee_filing_zero", "fee_filing_blank"):
        for patent, day, code in planted[name]:
            assert column(lake, sql.format(patent, code, day)) == [None]
    reissues = column(
        lake,
        """select patent_id from intermediate.int_fee_events
    where list_contains($keys, patent_id)""",
        *planted["fee_reissue"],
    )
    assert sorted(reissues) == sorted(planted["fee_reissue"])


def test_patent_values_are_those_of_the_newer_release(lake, planted):
    sql = "select max(issue_year) from staging.stg_kpss__patent_values"
    assert column(lake, sql) == [2024]  # the older one ends a year before
    sql = (
        "select count(*) from intermediate.int_patent_values where list_contains($keys, patent_id)"
    )
    older = planted["value_older_release"]
    undated = set(planted["value_undated"]) & set(older)
    assert column(lake, sql, *older) == [len(older) - len(undated)]


def test_firms_past_the_byte_order_mark_are_matched_or_not(lake, planted):
    sql = "select {} from intermediate.int_patent_firms where list_contains($keys, patent_id)"
    assert set(column(lake, sql.format("is_vc_backed"), *planted["firm_unmatched"])) == {None}
    years = column(lake, sql.format("founding_year"), *planted["firm_year_with_point"])
    assert len(years) == len(planted["firm_year_with_point"]) and min(years) >= 1950
    assert column(lake, "select distinct release from intermediate.int_patent_firms") == [
        "2024-07-10"
    ]


def test_pairs_count_once_with_the_lower_score(lake, planted):
    sql = """select score from intermediate.int_patent_paper_pairs
    where patent_id = '{}' and work_id = {}"""
    for patent, work in planted["pair_repeated"]:
        (score,) = column(lake, sql.format(patent.removeprefix("US-"), work[1:]))
        assert score < 4
    sql = """select patent_doc_id // 10000000000 from intermediate.int_patent_paper_pairs
    where list_contains($keys, patent_id)"""
    assert column(lake, sql, *planted["pair_plant"]) == [102] * len(planted["pair_plant"])


def test_researchers_have_a_confidence_and_link_only_by_their_own_ids(lake, planted):
    sql = """select confidence, author_id from staging.stg_pqr__researchers
    where starts_with(inventor_id, 'fl:au_ln:{:04d}-') order by confidence"""
    for key in planted["researcher_confidence_absent"]:
        ((share, _),) = lake.sql(sql.format(key)).fetchall()
        assert 0 < share <= 1
    for key in planted["researcher_repeated"]:
        (lower, _), _ = lake.sql(sql.format(key)).fetchall()
        found = f"""select distinct confidence from intermediate.int_pqr_patents
        where starts_with(inventor_id, 'fl:au_ln:{key:04d}-')"""
        assert column(lake, found) == [lower]
    for key in planted["researcher_old_id"]:
        ((_, author),) = lake.sql(sql.format(key)).fetchall()
        works = f"select count(*) from intermediate.int_pqr_works where author_id = '{author}'"
        assert author.startswith("A2") and column(lake, works) != [0]


def test_a_family_stands_for_its_first_year_and_the_order_of_offices(lake, planted):
    sql = """select family_id, office, title from intermediate.int_european_families
    where list_contains($keys, family_id)"""

    def found(name):
        rows = lake.execute(sql, {"keys": planted[name]}).fetchall()
        return [row[1:] for row in rows]

    assert found("family_without_text") == found("family_undated") == []
    assert {office for office, _ in found("family_later_member")} == {"NL"}
    assert {office for office, _ in found("family_lower_case")} == {"EP"}
    assert {title for _, title in found("family_tie")} == {"Of the lower application"}
    # A paper cited by a later member alone is cited in that member's year.
    sql = """select count(*) from intermediate.int_european_citations as citations
    join intermediate.int_european_families as families on citations.citing_id = families.doc_id
    where list_contains($keys, families.family_id) and citations.known_year = families.known_year"""
    assert column(lake, sql, *planted["family_later_member"]) == [0]


def test_each_task_has_rows_of_each_kind(lake):
    sections = column(lake, "select distinct label from tasks.task_cpc_section")
    assert sorted(sections) == list("ABCDEFGH")
    sql = "select count(distinct label) from tasks.task_grant_year where split = 'test'"
    assert column(lake, sql) == [25]
    assert column(lake, "select count(distinct label) from tasks.task_forward_citation")[0] > 8
    for task in ("patent_cite", "patent_cocite", "paper_cite"):
        queries = f"select count(distinct query_id) from tasks.task_{task} where task_year"
        assert column(lake, f"{queries} > 2013")[0] > 100
        assert column(lake, f"{queries} <= 2013")[0] > 50
