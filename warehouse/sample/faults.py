"""The faults of real bulk files that the sample holds, and what the lake must do with each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from warehouse.sample.settings import stream

# malformed:  quarantined, counts toward the threshold
# undated:    quarantined, does not count
# unmatched:  kept in staging, counted in audit.unmatched
# dropped:    kept in staging, in no mart
# normalised: read as if it were written properly
# kept:       ordinary content that careless readers trip over
Handling = Literal["malformed", "undated", "unmatched", "dropped", "normalised", "kept"]

# A table gets malformed rows only from this length on, so that they stay far below the build's
# threshold of one in a thousand.
_MALFORMED_FROM = 2_000


class Fault(NamedTuple):
    """One kind of fault: how often, in which table, and what is right."""

    name: str
    table: str
    count: int  # rows at scale 1 and above; fewer at smaller scales, at least one
    handling: Handling
    what: str


FAULTS: Final[tuple[Fault, ...]] = (
    # Semantic Scholar
    Fault("paper_broken_line", "s2ag/papers", 1, "malformed", "half a JSON line"),
    Fault("paper_wrong_type", "s2ag/papers", 1, "malformed", "corpusid is a word"),
    Fault("paper_year_null", "s2ag/papers", 10, "undated", "year null"),
    Fault("paper_year_zero", "s2ag/papers", 3, "undated", "year 0"),
    Fault("paper_year_2099", "s2ag/papers", 3, "undated", "year 2099"),
    Fault("paper_without_title", "s2ag/papers", 3, "dropped", "title empty or blank"),
    Fault("paper_doi_upper_case", "s2ag/papers", 20, "normalised", "DOI in upper case"),
    Fault("paper_doi_prefixed", "s2ag/papers", 9, "normalised", "DOI with a resolver prefix"),
    Fault("paper_doi_shared", "s2ag/papers", 3, "kept", "DOI of another, earlier paper"),
    Fault("abstract_absent", "s2ag/abstracts", 60, "dropped", "paper without an abstract row"),
    Fault("abstract_empty", "s2ag/abstracts", 6, "dropped", "abstract null, empty or blank"),
    Fault("abstract_french", "s2ag/abstracts", 8, "kept", "French: in no pre-training text"),
    Fault("abstract_german", "s2ag/abstracts", 8, "kept", "German: in no pre-training text"),
    Fault("abstract_placeholder", "s2ag/abstracts", 6, "kept", "'No abstract available.'"),
    Fault("abstract_newline", "s2ag/abstracts", 10, "kept", "line breaks inside"),
    Fault("abstract_markup", "s2ag/abstracts", 8, "normalised", "JATS tags and entities"),
    Fault("abstract_notice", "s2ag/abstracts", 8, "normalised", "a copyright notice at the end"),
    Fault("abstract_unheld", "s2ag/abstracts", 3, "unmatched", "of a paper that is not held"),
    Fault("citation_broken_line", "s2ag/citations", 1, "malformed", "half a JSON line"),
    Fault("citation_wrong_type", "s2ag/citations", 1, "malformed", "citingcorpusid is a word"),
    Fault("citation_cited_null", "s2ag/citations", 40, "dropped", "citedcorpusid null"),
    Fault("citation_unheld", "s2ag/citations", 30, "unmatched", "cites a paper that is not held"),
    Fault("citation_duplicate", "s2ag/citations", 25, "dropped", "same pair, new citationid"),
    Fault("citation_self_loop", "s2ag/citations", 5, "dropped", "a paper cites itself"),
    Fault("citation_forward", "s2ag/citations", 6, "kept", "cites a later paper"),
    Fault("paper_merged", "s2ag/papers", 6, "normalised", "a later record of a paper, merged"),
    Fault("abstract_of_merged_id", "s2ag/abstracts", 4, "normalised", "under an old id"),
    Fault("citation_of_merged_id", "s2ag/citations", 12, "normalised", "cites an old id"),
    Fault("version_upper_case", "s2ag/paper_ids", 8, "normalised", "hash in upper case"),
    Fault("version_unheld", "s2ag/paper_ids", 5, "kept", "version of a paper that is not held"),
    Fault("version_broken_line", "s2ag/paper_ids", 1, "malformed", "half a JSON line"),
    Fault("version_short_hash", "s2ag/paper_ids", 1, "malformed", "39 digits of 40"),
    Fault("body_null", "s2orc_v2", 3, "dropped", "body text null"),
    Fault("body_annotations_null", "s2orc_v2", 12, "kept", "annotations null"),
    Fault("body_offsets_text", "s2orc_v2", 4, "normalised", "start and end as strings"),
    Fault("body_offsets_outside", "s2orc_v2", 4, "normalised", "a span ends after the text"),
    Fault("body_v1_null", "s2orc", 2, "dropped", "text null"),
    Fault("body_v1_unmarked", "s2orc", 2, "dropped", "neither abstract nor paragraphs marked"),
    Fault("body_v1_no_paragraphs", "s2orc", 3, "normalised", "paragraphs null, abstract marked"),
    Fault("body_v1_offsets_text", "s2orc", 3, "normalised", "start as strings"),
    Fault("body_v1_offsets_outside", "s2orc", 3, "normalised", "a span ends after the text"),
    Fault("body_v1_other", "s2orc", 20, "kept", "a paper that the second version has too"),
    # OpenAlex
    Fault("work_title_html", "openalex/works", 10, "kept", "tags and entities in the title"),
    Fault("work_index_gap", "openalex/works", 8, "normalised", "positions with gaps"),
    Fault("work_index_text", "openalex/works", 4, "normalised", "index as a JSON string"),
    Fault("work_index_null", "openalex/works", 80, "kept", "no abstract"),
    Fault("work_year_null", "openalex/works", 5, "undated", "year null"),
    Fault("work_paratext", "openalex/works", 3, "dropped", "is_paratext"),
    Fault("work_xpac", "openalex/works", 3, "dropped", "is_xpac"),
    Fault("work_retracted", "openalex/works", 3, "dropped", "is_retracted"),
    Fault("work_unlinked", "openalex/works", 40, "unmatched", "DOI of a paper that is not held"),
    Fault("work_merged", "openalex/merged_ids", 120, "normalised", "cited by an id that is gone"),
    # PatentsView, granted
    Fault("patent_short_row", "g_patent", 1, "malformed", "three fields of eight"),
    Fault("patent_bad_integer", "g_patent", 1, "malformed", "num_claims is a word"),
    Fault("patent_undated", "g_patent", 3, "undated", "patent_date empty"),
    Fault("patent_withdrawn", "g_patent", 10, "dropped", "withdrawn 1"),
    Fault("patent_title_quotes", "g_patent", 8, "normalised", "doubled inner quotes"),
    Fault("patent_title_tab", "g_patent", 4, "kept", "a tab inside the quotes"),
    Fault("patent_title_newline", "g_patent", 4, "kept", "a line break inside the quotes"),
    Fault("patent_design", "g_patent", 20, "dropped", "design (D)"),
    Fault("patent_plant", "g_patent", 8, "dropped", "plant (PP)"),
    Fault("patent_reissue", "g_patent", 8, "dropped", "reissue (RE)"),
    Fault("patent_reissue_as_utility", "g_patent", 3, "dropped", "RE id typed utility"),
    Fault("patent_sir", "g_patent", 4, "dropped", "statutory invention registration (H)"),
    Fault("patent_without_abstract", "g_patent_abstract", 15, "dropped", "no abstract row"),
    Fault("patent_abstract_empty", "g_patent_abstract", 3, "dropped", "abstract empty"),
    Fault("patent_abstract_quotes", "g_patent_abstract", 10, "normalised", "doubled quotes"),
    Fault("patent_abstract_newline", "g_patent_abstract", 10, "kept", "tab and line break"),
    Fault("application_unpadded", "g_application", 8, "normalised", "id lost its leading zero"),
    Fault("application_undated", "g_application", 6, "kept", "filing_date empty: no filing year"),
    Fault("cite_day_00", "g_us_patent_citation", 6, "normalised", "day 00: no date, row kept"),
    Fault("cite_date_zero", "g_us_patent_citation", 4, "normalised", "0000-00-00: no date"),
    Fault("cite_bad_integer", "g_us_patent_citation", 1, "malformed", "sequence is a word"),
    Fault("cite_duplicate", "g_us_patent_citation", 30, "dropped", "the same row again"),
    Fault("cite_self_loop", "g_us_patent_citation", 3, "dropped", "a patent cites itself"),
    Fault("cite_unheld", "g_us_patent_citation", 1500, "unmatched", "cites a patent not held"),
    Fault("cite_design", "g_us_patent_citation", 12, "dropped", "cites a design patent"),
    Fault("cpc_absent", "g_cpc_current", 90, "kept", "utility patent without CPC"),
    Fault("cpc_sequence_gap", "g_cpc_current", 60, "normalised", "sequence starts at 1"),
    Fault("assignee_id_null", "g_assignee_disambiguated", 12, "kept", "assignee_id empty"),
    Fault("assignee_part", "g_assignee_disambiguated", 8, "normalised", "type 12: part interest"),
    Fault("inventor_entity", "g_inventor_disambiguated", 4, "kept", "HTML entity in the id"),
    Fault("reference_newline", "g_other_reference", 5, "kept", "a line break inside the quotes"),
    # PatentsView, pre-grant
    Fault("pgpub_republished", "pg_published_application", 15, "kept", "a second publication"),
    Fault("pgpub_unpadded", "pg_published_application", 5, "normalised", "id lost its zero"),
    Fault("pgpub_undated", "pg_published_application", 3, "undated", "filing_date empty"),
    Fault("pgpub_plant", "pg_published_application", 4, "dropped", "plant application"),
    Fault("crosswalk_not_granted", "pg_granted_pgpubs_crosswalk", 0, "kept",
          "patent null, its flag FALSE: every abandoned application"),
    # Reliance on Science
    Fault("ros_duplicate", "reliance_on_science", 20, "dropped", "pair repeated"),
    Fault("ros_european", "reliance_on_science", 15, "dropped", "EP patent"),
    Fault("ros_pregrant", "reliance_on_science", 10, "dropped", "pre-grant publication key"),
    Fault("ros_leading_zero", "reliance_on_science", 8, "normalised", "us-07654321-b2"),
    Fault("ros_reissue", "reliance_on_science", 2, "dropped", "us-0re35000-e1"),
    Fault("ros_upper_case", "reliance_on_science", 10, "normalised", "reftype 'App'"),
    Fault("ros_unheld_work", "reliance_on_science", 25, "unmatched", "oaid not held"),
    # The patent office's own files
    Fault("withdrawn_listed", "withdrawn", 20, "dropped", "on the list, its flag 0"),
    Fault("withdrawn_design", "withdrawn", 2, "normalised", "D0345393"),
    Fault("withdrawn_unheld", "withdrawn", 12, "unmatched", "number without a record"),
    Fault("fee_short_line", "maintenance_fee_events", 1, "malformed", "cut after two fields"),
    Fault("fee_bad_date", "maintenance_fee_events", 1, "malformed", "letters in the date"),
    Fault("fee_undated", "maintenance_fee_events", 3, "undated", "event date of zeros"),
    Fault("fee_filing_zero", "maintenance_fee_events", 5, "normalised", "filing date of zeros"),
    Fault("fee_filing_blank", "maintenance_fee_events", 5, "normalised", "filing date blank"),
    Fault("fee_without_places", "maintenance_fee_events", 4, "normalised",
          "fields parted by blanks, at no fixed place"),
    Fault("fee_old_layout", "maintenance_fee_events", 0, "normalised",
          "51 characters: every event of the older release"),
    Fault("fee_old_code", "maintenance_fee_events", 0, "normalised", "codes of three digits"),
    Fault("fee_duplicate", "maintenance_fee_events", 12, "dropped", "the same event again"),
    Fault("fee_same_day", "maintenance_fee_events", 8, "kept", "EXP. and EXPX on one day"),
    Fault("fee_reinstated", "maintenance_fee_events", 8, "kept", "EXP., then REIN"),
    Fault("fee_reissue", "maintenance_fee_events", 2, "kept", "000000RE35000"),
    Fault("fee_unheld", "maintenance_fee_events", 10, "unmatched", "a patent not held"),
    # KPSS
    Fault("value_undated", "patent_values", 2, "undated", "issue_date empty"),
    Fault("value_filing_blank", "patent_values", 8, "kept", "filing_date empty"),
    Fault("value_cites_blank", "patent_values", 10, "kept", "cites empty"),
    Fault("value_unheld", "patent_values", 6, "unmatched", "a patent of 1926"),
    Fault("value_older_release", "patent_values", 0, "dropped",
          "other values, order and dates: every row of the older release"),
    # Founding Patents
    Fault("firm_byte_order_mark", "ocpb", 1, "normalised", "byte order mark, names in capitals"),
    Fault("firm_unmatched", "ocpb", 15, "kept", "scores empty: no match"),
    Fault("firm_year_with_point", "ocpb", 10, "normalised", "founding year 1990.0"),
    Fault("firm_unheld", "ocpb", 4, "unmatched", "a patent not held"),
    Fault("firm_older_release", "ocpb", 0, "dropped", "every row of the older release"),
    # Patent-paper pairs
    Fault("pair_days_blank", "patent_paper_pairs", 6, "kept", "daysdiffcont empty"),
    Fault("pair_repeated", "patent_paper_pairs", 4, "dropped", "again, with a higher score"),
    Fault("pair_plant", "patent_paper_pairs", 2, "kept", "a plant patent"),
    Fault("pair_unheld_work", "patent_paper_pairs", 5, "unmatched", "a work not held"),
    # Pasteur's quadrant
    Fault("researcher_index", "pqr", 1, "normalised", "a first column without a name"),
    Fault("researcher_confidence_absent", "pqr", 6, "normalised", "computed from the counts"),
    Fault("researcher_old_id", "pqr", 5, "kept", "an author id of the older kind"),
    Fault("researcher_repeated", "pqr", 3, "dropped", "again, with a higher confidence"),
    Fault("researcher_patent_unheld", "pqr", 5, "unmatched", "a patent not held"),
    Fault("researcher_work_unheld", "pqr", 8, "unmatched", "a work not held"),
    # European families
    Fault("family_undated", "european_families", 2, "undated", "publication_date empty"),
    Fault("family_without_text", "european_families", 4, "dropped", "no title, blank abstract"),
    Fault("family_lower_case", "european_families", 3, "normalised", "office ep, EP-1234567-A1"),
    Fault("family_later_member", "european_families", 6, "kept", "the EP member comes later"),
    Fault("family_tie", "european_families", 4, "kept", "two EP members of one day"),
    Fault("family_unheld_work", "european_families", 5, "unmatched", "a work not held"),
    # FineWeb-Edu
    Fault("page_repeated", "fineweb_edu", 30, "kept", "same text in a later dump, new id"),
    Fault("page_same_id", "fineweb_edu", 5, "dropped", "same id in a later dump"),
    Fault("page_not_english", "fineweb_edu", 5, "dropped", "a French page"),
)  # fmt: skip
_BY_NAME: Final = {fault.name: fault for fault in FAULTS}


@dataclass(slots=True)
class FaultBook:
    """Chooses which rows are faulty and remembers them for `sample.json`.

    Attributes:
        seed: of the sample.
        scale: of the sample.
        planted: fault name -> keys of its rows.
    """

    seed: int
    scale: float
    planted: dict[str, list[Any]] = field(default_factory=dict)
    _used: dict[str, set[Any]] = field(default_factory=dict)

    def take(self, name: str, keys: Sequence[Any]) -> set[Any]:
        """Keys of the rows that get the fault; no row of a table gets two.

        Args:
            name: one of `FAULTS`.
            keys: the candidates, in a fixed order.
        """
        fault = _BY_NAME[name]
        used = self._used.setdefault(fault.table, set())
        free = [key for key in keys if key not in used]
        chosen = stream(self.seed, "fault", name).sample(
            free, min(self._count(fault, len(keys)), len(free))
        )
        used.update(chosen)
        self.planted[name] = sorted(chosen)
        return set(chosen)

    def extra(self, name: str, rows: int) -> int:
        """Number of extra rows of the fault in a table of `rows` rows."""
        return self._count(_BY_NAME[name], rows)

    def note(self, name: str, keys: list[Any]) -> None:
        """Record the keys of extra rows that a writer made itself."""
        self.planted[name] = keys

    def _count(self, fault: Fault, rows: int) -> int:
        if fault.handling == "malformed":
            return fault.count if rows >= _MALFORMED_FROM else 0
        return max(1, round(fault.count * min(1.0, self.scale)))
