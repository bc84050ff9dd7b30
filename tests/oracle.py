"""Documents, edges and anchors of a cutoff from the raw files by polars: the SQL's second opinion.

Written from the rules (the paper's sections 4-5 and Appendix A, and who wins where records
compete), not from the models. It reads the containers with the standard library and knows none of
the project's macros, ids or readers. No SQL.
"""

import datetime
import hashlib
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl
from sample_files import RawSample

FIRST_YEAR, LAST_YEAR = 1800, datetime.date.today().year  # other years are typing errors
PATENT_BASE = 1_000_000_000_000  # doc_id of a US utility patent: this and its number
SEED = "scitlake-0"
ANCHORS = {"paper": 180_000, "patent": 120_000, "patent_citing_paper": 50_000}  # Appendix A


def _year(value: object) -> int | None:
    """A plausible year from a number or from an ISO date."""
    try:
        year = int(str(value)[:4])
    except ValueError:
        return None
    return year if FIRST_YEAR <= year <= LAST_YEAR else None


def _day(value: str) -> bool:
    """Whether a field is a date or empty; anything else breaks the row."""
    try:
        return not value.strip() or bool(datetime.date.fromisoformat(value.strip()))
    except ValueError:
        return False


def _whole(value: object) -> bool:
    """Whether a value is a whole number, in quotes or bare, or empty."""
    text = str("" if value is None else value).strip()
    try:
        return not text or float(text).is_integer()
    except ValueError:
        return False


def _says_something(text: str | None) -> bool:
    """Whether a text holds a character that one can see."""
    return any(
        unicodedata.category(c)[0] != "Z" and unicodedata.category(c) not in ("Cc", "Cf")
        for c in text or ""
    )


def _doi(value: str | None) -> str | None:
    """A DOI without its resolver, in lower case."""
    text = (value or "").strip().lower()
    for prefix in ("https://", "http://", "dx.", "www.", "doi.org/", "doi:"):
        text = text.removeprefix(prefix)
    return text.strip() or None


def _number(office_form: str) -> str:
    """A patent number of any office form as PatentsView writes it: no country, kind or zeros."""
    parts = [p for p in office_form.strip().upper().split("-") if p]
    if parts and parts[0] == "US":
        parts = parts[1:]
    text = parts[0] if parts else ""
    letters = "".join(c for c in text if c.isalpha())
    digits = text.lstrip("0").removeprefix(letters).lstrip("0")
    return letters + digits if digits.isdigit() else text


def _rank(pool: str, cutoff: int, doc_id: int) -> str:
    """Where a document stands in the draw of a pool."""
    return hashlib.md5(f"{SEED}:anchors-{pool}-{cutoff}:{doc_id}".encode()).hexdigest()


@dataclass(frozen=True)
class Oracle:
    """Tables from a raw folder in the sample's layout."""

    folder: Path

    @cached_property
    def raw(self) -> RawSample:
        """The raw files, parsed."""
        return RawSample(self.folder)

    @cached_property
    def papers(self) -> pl.DataFrame:
        """One row per paper: of several records the one known first, then the lowest."""
        rows = [
            (row["corpusid"], _year(row.get("year")), row.get("title"),
             _doi((row.get("externalids") or {}).get("DOI")))
            for row in self.raw.json("s2ag/papers/*")
            if isinstance(row.get("corpusid"), int) and _whole(row.get("year"))
        ]  # fmt: skip
        schema = {"doc_id": pl.Int64, "known_year": pl.Int32, "title": pl.String, "doi": pl.String}
        return (
            pl.DataFrame(rows, schema, orient="row")
            .sort("doc_id", "known_year", "title", "doi", nulls_last=True)
            .unique("doc_id", keep="first", maintain_order=True)
        )

    @cached_property
    def patents(self) -> pl.DataFrame:
        """One row per utility patent that is granted and not withdrawn, dated or not."""
        rows = [
            (row["patent_id"], row["patent_date"].strip() or None, row["patent_title"],
             row["patent_type"], row["withdrawn"])
            for row in self.raw.table("g_patent")
            if row["patent_id"] and _whole(row["num_claims"]) and _day(row["patent_date"])
        ]  # fmt: skip
        columns = ["number", "date", "title", "type", "withdrawn"]
        return (
            pl.DataFrame(rows, columns, orient="row")
            .sort("number", "date", "title", nulls_last=True)
            .unique("number", keep="first", maintain_order=True)
            .filter(
                pl.col("type").eq("utility"),
                pl.col("withdrawn").cast(pl.Float64, strict=False).fill_null(0).ne(1),
                pl.col("number").str.contains(r"^\d+$"),
            )
            .with_columns(
                doc_id=PATENT_BASE + pl.col("number").cast(pl.Int64),
                known_year=pl.col("date").str.slice(0, 4).cast(pl.Int32),
            )
        )

    def _texts(self, rows: list[dict], key: str, text: str) -> pl.DataFrame:
        """One abstract per key: of several the one whose md5 is lowest."""
        found = [
            (row[key], row[text], hashlib.md5(row[text].encode()).hexdigest())
            for row in rows
            if _says_something(row.get(text))
        ]
        frame = pl.DataFrame(found, [key, "abstract", "md5"], orient="row")
        return frame.sort(key, "md5").unique(key, keep="first").drop("md5")

    @cached_property
    def documents(self) -> pl.DataFrame:
        """Every dated document with a title and an abstract."""
        abstracts = [
            row for row in self.raw.json("s2ag/abstracts/*") if isinstance(row["corpusid"], int)
        ]
        papers = self.papers.join(
            self._texts(abstracts, "corpusid", "abstract"), left_on="doc_id", right_on="corpusid"
        ).with_columns(
            doc_uri="s2:" + pl.col("doc_id").cast(pl.String),
            doc_type=pl.lit("paper"),
            filing_year=pl.lit(None, pl.Int32),
        )
        filed = pl.DataFrame(
            [
                (row["patent_id"], _year(row["filing_date"]))
                for row in self.raw.table("g_application")
                if _day(row["filing_date"])
            ],
            {"number": pl.String, "filing_year": pl.Int32},
            orient="row",
        )
        texts = self._texts(self.raw.table("g_patent_abstract"), "patent_id", "patent_abstract")
        patents = (
            self.patents.join(texts, left_on="number", right_on="patent_id")
            .join(filed.group_by("number").agg(pl.col("filing_year").min()), "number", "left")
            .with_columns(doc_uri="us:" + pl.col("number"), doc_type=pl.lit("patent"))
        )
        columns = ["doc_id", "doc_uri", "doc_type", "known_year", "filing_year", "title",
                   "abstract"]  # fmt: skip
        both = pl.concat([papers.select(columns), patents.select(columns)])
        return both.filter(
            pl.col("known_year").is_between(FIRST_YEAR, LAST_YEAR),
            pl.col("title").map_elements(_says_something, return_dtype=pl.Boolean),
        ).sort("known_year", "doc_id")

    def _papers_of_works(self) -> pl.DataFrame:
        """The paper of each OpenAlex work by DOI; both ways the one known first wins."""
        holders = (
            self.papers.filter(pl.col("doi").is_not_null())
            .sort("doi", "known_year", "doc_id", nulls_last=True)
            .unique("doi", keep="first", maintain_order=True)
        )
        works = pl.DataFrame(
            [
                (int(row["id"].rpartition("W")[2]), _doi(row.get("doi")))
                for row in self.raw.json("openalex/works/*/*.gz")
            ],
            {"work": pl.Int64, "doi": pl.String},
            orient="row",
        )
        return (
            works.join(holders, "doi")
            .sort("work", "known_year", "doc_id", nulls_last=True)
            .unique("work", keep="first", maintain_order=True)
            .select("work", paper="doc_id")
        )

    def _pairs(self) -> pl.DataFrame:
        """(citing, cited) of the three kinds of citation, as the files list them."""
        papers = [
            (row["citingcorpusid"], row["citedcorpusid"])
            for row in self.raw.json("s2ag/citations/*")
            if isinstance(row["citingcorpusid"], int) and row["citedcorpusid"] is not None
        ]
        patents = [
            (PATENT_BASE + int(row["patent_id"]), PATENT_BASE + int(row["citation_patent_id"]))
            for row in self.raw.table("g_us_patent_citation")
            if _whole(row["citation_sequence"])
            and row["patent_id"].isdigit()
            and row["citation_patent_id"].isdigit()
        ]
        reliance = [
            (int(row["oaid"].upper().removeprefix("W")), PATENT_BASE + int(_number(row["patent"])))
            for row in self.raw.reliance
            if row["patent"].lower().startswith("us-")
            and _number(row["patent"]).isdigit()
            and len(_number(row["patent"])) < 10  # eleven digits: an application
            and int(row["confscore"] or 1) >= 1
        ]
        links = pl.DataFrame(reliance, {"work": pl.Int64, "citing": pl.Int64}, orient="row")
        links = links.join(self._papers_of_works(), "work")
        schema = {"citing": pl.Int64, "cited": pl.Int64}
        return pl.concat(
            [
                pl.DataFrame(papers + patents, schema, orient="row"),
                links.select("citing", cited="paper"),
            ]
        )

    @cached_property
    def edges(self) -> pl.DataFrame:
        """Each citation once, between two documents, dated by the later one."""
        ends = self.documents.select("doc_id", "doc_type", "known_year")
        return (
            self._pairs()
            .unique()
            .filter(pl.col("citing") != pl.col("cited"))
            .join(ends, left_on="citing", right_on="doc_id")
            .join(ends, left_on="cited", right_on="doc_id", suffix="_cited")
            .select(
                citing_id="citing",
                cited_id="cited",
                edge_type=pl.col("doc_type") + "_" + pl.col("doc_type_cited"),
                known_year=pl.max_horizontal("known_year", "known_year_cited"),
            )
            .sort("known_year", "citing_id", "cited_id")
        )

    def nodes(self, cutoff: int) -> pl.DataFrame:
        """Documents with an edge by the cutoff, numbered by (first year with an edge, id)."""
        edges = self.edges.filter(pl.col("known_year") <= cutoff)
        ends = [edges.select("known_year", doc_id=end) for end in ("citing_id", "cited_id")]
        return (
            pl.concat(ends)
            .group_by("doc_id")
            .agg(pl.col("known_year").min())
            .join(self.documents.select("doc_id", "doc_type"), "doc_id")
            .sort("known_year", "doc_id")
            .with_row_index("node_id")
            .with_columns(pl.col("node_id").cast(pl.Int64))
        )

    def anchors(self, cutoff: int, sizes: dict[str, int] = ANCHORS) -> pl.DataFrame:
        """Three draws; a patent drawn into both patent pools stands in the citing one."""
        nodes = self.nodes(cutoff)
        citing = self.edges.filter(
            pl.col("edge_type") == "patent_paper", pl.col("known_year") <= cutoff
        )["citing_id"]
        members = {
            "paper": pl.col("doc_type") == "paper",
            "patent_citing_paper": pl.col("doc_id").is_in(citing.implode()),
            "patent": pl.col("doc_type") == "patent",
        }
        drawn: list[pl.DataFrame] = []
        for pool, belongs in members.items():
            order = [(_rank(pool, cutoff, key), key) for key in nodes.filter(belongs)["doc_id"]]
            keys = [key for _, key in sorted(order)[: sizes[pool]]]
            rows = nodes.filter(pl.col("doc_id").is_in(keys))
            drawn.append(rows.with_columns(pool=pl.lit(pool)))
        columns = ["doc_id", "node_id", "doc_type", "pool"]
        return (
            pl.concat([frame.select(columns) for frame in drawn])
            .unique("doc_id", keep="first", maintain_order=True)
            .sort("node_id")
        )
