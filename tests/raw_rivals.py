"""Later records that compete with earlier ones for a place, added to a raw folder."""

from pathlib import Path

from raw_cut import RawCut, add_rows

LATER_DOI = "10.1000/first-of-all"  # sorts before every DOI of the sample


def add_rivals(raw: Path, year: int) -> None:
    """Add, for each rule by which one record wins, one after `year` that must not win."""
    cut = RawCut(raw)
    _rival_papers(raw, cut, year)
    _rival_merges(raw, cut, year)
    _rival_patents(raw, cut, year)
    _rival_publications(raw, cut, year)
    name = "fineweb_edu/data/CC-MAIN-{}-{}/000_00000.parquet"
    page = cut.rows(name.format(year, 20))[0]
    again = {**page, "dump": f"CC-MAIN-{year + 1}-10", "text": "Now it says something else. " * 20}
    add_rows(raw / name.format(year + 1, 10), again)


def _rival_papers(raw: Path, cut: RawCut, year: int) -> None:
    """Of one corpus id, of one DOI, and of one OpenAlex work; each is cited by a patent."""
    works = {work["id"].rpartition("W")[2]: work for work in cut.rows("openalex/works/*/*.gz")}
    cited = [row["oaid"] for row in cut.rows("reliance_on_science/_pcs_oa.csv")]
    early = [
        works[w] for w in dict.fromkeys(cited) if w in works and _is_early(cut, works[w], year)
    ]
    work, doi = early[0], early[1]["doi"].removeprefix("https://doi.org/")
    held = next(
        paper
        for paper in cut.rows("s2ag/papers/*.gz")
        if (paper["externalids"] or {}).get("DOI") == doi
    )
    later = {"title": "A", "year": year + 3, "publicationdate": None}
    add_rows(
        raw / "s2ag/papers/papers_000.jsonl.gz",
        {**held, **later},
        {**later, "corpusid": 7, "externalids": {"DOI": doi}},
        {**later, "corpusid": 8, "externalids": {"DOI": LATER_DOI}},
    )
    abstract = {"abstract": "On later things.", "openaccessinfo": {}}
    shard = raw / "s2ag/abstracts/abstracts_000.jsonl.gz"
    add_rows(shard, *({**abstract, "corpusid": key} for key in (7, 8)))
    shard = raw / "openalex/works/updated_date=2026-02-27/part_000.gz"
    add_rows(shard, {**work, "doi": LATER_DOI, "publication_year": year + 3})


def _rival_merges(raw: Path, cut: RawCut, year: int) -> None:
    """A later record that shares its version with early papers, so that their ids are merged.

    One is cited early on and has a DOI that a patent cites; the other shares versions with two
    papers, which it must not join.
    """
    papers = [p for p in cut.rows("s2ag/papers/*.gz") if cut.papers.get(p.get("corpusid")) == year]
    held, one, two = (paper for paper in papers[:3])
    later = {"title": "A", "year": year + 3, "publicationdate": None}
    works = [work for work in cut.rows("openalex/works/*/*.gz") if "elsewhere" in str(work["doi"])]
    cited = {row["oaid"] for row in cut.rows("reliance_on_science/_pcs_oa.csv")}
    doi = next(w["doi"] for w in works if w["id"].rpartition("W")[2] in cited)
    add_rows(
        raw / "s2ag/papers/papers_001.jsonl.gz",
        {**later, "corpusid": 9, "externalids": {"DOI": doi}, "url": held["url"]},
        {**later, "corpusid": 10, "externalids": {"DOI": None}, "url": ""},
    )
    add_rows(
        raw / "s2ag/abstracts/abstracts_001.jsonl.gz",
        {"corpusid": 9, "abstract": "Of a later record.", "openaccessinfo": {"license": "CC0"}},
    )
    citation = cut.rows("s2ag/citations/*.gz")[0]
    early = next(key for key, known in cut.papers.items() if known == year - 5)
    add_rows(
        raw / "s2ag/citations/citations_001.jsonl.gz",
        {**citation, "citingcorpusid": early, "citedcorpusid": 9},
    )
    shas = [paper["url"].rpartition("/")[2] for paper in (one, two)]
    add_rows(
        raw / "s2ag/paper-ids/paper-ids_000.jsonl.gz",
        *({"sha": sha, "corpusid": 10, "primary": True} for sha in shas),
    )


def _is_early(cut: RawCut, work: dict, year: int) -> bool:
    return bool(work["doi"]) and "elsewhere" not in work["doi"] and cut.works[work["id"]] < year - 4


def _rival_patents(raw: Path, cut: RawCut, year: int) -> None:
    """Of one patent number."""
    rows = cut.rows("patentsview/g_patent.tsv.zip")
    early = next(row for row in rows if row.get("patent_date", "").startswith(str(year - 5)))
    later = {**early, "patent_date": f"{year + 4}-03-07", "patent_title": "A"}
    add_rows(raw / "patentsview/g_patent.tsv.zip", later)


def _rival_publications(raw: Path, cut: RawCut, year: int) -> None:
    """Publications of one application: one joined by a later grant, one of a later filing."""
    at = raw / "patentsview"
    names = ("pg_published_application", "pg_granted_pgpubs_crosswalk")
    rows, links = (cut.rows(f"patentsview/{name}.tsv.zip") for name in names)
    published = {row["pgpub_id"]: row for row in rows}
    pending = next(
        link
        for link in links
        if (cut.publications.get(link["pgpub_id"]) or year + 1) <= year
        and (cut.patents.get(link["patent_id"]) or year) > year
    )
    again = {"pgpub_id": f"{year + 2}9900001", "published_date": f"{year + 2}-12-31"}
    filed = next(
        row
        for row in rows
        if row["filing_date"].startswith(str(year))
        and row["published_date"].startswith(str(year + 1))
    )
    # The same text, out a little earlier, but by its own record filed later.
    misdated = {"pgpub_id": f"{year + 1}0000001", "published_date": f"{year + 1}-01-02"}
    misdated["filing_date"] = f"{year + 1}-01-01"
    add_rows(
        at / f"{names[0]}.tsv.zip",
        {**published[pending["pgpub_id"]], **again},
        {**filed, **misdated},
    )
    add_rows(at / f"{names[1]}.tsv.zip", {**pending, "pgpub_id": again["pgpub_id"]})
    for part in ("brf_sum_text", "detail_desc_text", "draw_desc_text", "claims"):
        name = f"pg_{part}_{year + 1}.tsv.zip"
        same = [r for r in cut.rows(f"patentsview/{name}") if r["pgpub_id"] == filed["pgpub_id"]]
        add_rows(at / name, *({**row, "pgpub_id": misdated["pgpub_id"]} for row in same))
