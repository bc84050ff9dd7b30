"""Documents, edges and anchors of a cutoff from the raw files by polars: the SQL's second opinion.

Written from the rules (the paper's sections 4-5 and Appendix A, and who wins where records
compete), not from the models. It reads the containers with the standard library and knows none of
the project's macros, ids or readers. No SQL.
"""

import csv
import datetime
import gzip
import hashlib
import re
import unicodedata
import zipfile
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl
from sample_files import RawSample, cleaned

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
    """Tables from a raw folder in the sample's layout; `clean` as the lake's clean_abstracts.

    Cleaning knows what the sample plants and no more: of other records both sides leave abstracts
    as they are.
    """

    folder: Path
    clean: bool = True

    @cached_property
    def raw(self) -> RawSample:
        """The raw files, parsed."""
        return RawSample(self.folder)

    @cached_property
    def records(self) -> list[dict]:
        """Paper records of a whole id and a whole year."""
        return [
            {"id": row["corpusid"], "year": _year(row.get("year")), "title": row.get("title"),
             "doi": _doi((row.get("externalids") or {}).get("DOI")),
             "sha": (row.get("url") or "").lower().rstrip("/").rpartition("/")[2]}
            for row in self.raw.json("s2ag/papers/*")
            if isinstance(row.get("corpusid"), int) and _whole(row.get("year"))
        ]  # fmt: skip

    @cached_property
    def merged(self) -> dict[int, tuple[int, int | None]]:
        """Merged id -> (the paper that it is, first year of its own records).

        Each id steps to the first known of all ids that share one of its versions, until there is
        none known before.
        """
        years: dict[int, int | None] = {}
        for record in self.records:
            held = [y for y in (years.get(record["id"]), record["year"]) if y is not None]
            years[record["id"]] = min(held, default=None)
        found = [(record["sha"], record["id"]) for record in self.records]
        found += [(row["sha"].lower(), row["corpusid"]) for row in self.raw.versions]
        sharing: dict[str, set[int]] = defaultdict(set)
        for sha, key in found:
            if re.fullmatch("[0-9a-f]{40}", sha):
                sharing[sha].add(key)

        def rank(key: int) -> tuple[int, bool, int]:
            return years.get(key) or LAST_YEAR + 1, key not in years, key

        step: dict[int, int] = {}
        for ids in sharing.values():
            first = min(ids, key=rank)
            for key in ids:
                step[key] = min(step.get(key, key), first, key=rank)
        merged = {}
        for key in step:
            paper = key
            while step[paper] != paper:
                paper = step[paper]
            if paper != key:
                merged[key] = (paper, years.get(key))
        return merged

    def _paper_of(self, key: int) -> tuple[int, int | None]:
        """The paper of an id, and the year before which the id did not lead there."""
        return self.merged.get(key, (key, None))

    @cached_property
    def papers(self) -> pl.DataFrame:
        """One row per paper: of several records of its id the one known first, then the lowest."""
        rows = [
            (record["id"], record["year"], record["title"], record["doi"])
            for record in self.records
            if record["id"] not in self.merged
        ]
        schema = {"doc_id": pl.Int64, "known_year": pl.Int32, "title": pl.String, "doi": pl.String}
        return (
            pl.DataFrame(rows, schema, orient="row")
            .sort("doc_id", "known_year", "title", "doi", nulls_last=True)
            .unique("doc_id", keep="first", maintain_order=True)
        )

    @cached_property
    def withdrawn(self) -> list[str]:
        """Numbers on the office's own list, as PatentsView writes them."""
        path = self.folder / "uspto" / "withdrawn.zip"
        if not path.is_file():
            return []
        with zipfile.ZipFile(path) as archive:
            lines = [archive.read(name).decode() for name in archive.namelist()]
        return [_number(line) for line in "\n".join(lines).split()]

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
                ~pl.col("number").is_in(self.withdrawn),
                pl.col("number").str.contains(r"^\d+$"),
            )
            .with_columns(
                doc_id=PATENT_BASE + pl.col("number").cast(pl.Int64),
                known_year=pl.col("date").str.slice(0, 4).cast(pl.Int32),
            )
        )

    def _paper_abstracts(self) -> pl.DataFrame:
        """One abstract per paper: its own id's first, then by the year of the merged record."""
        clean = cleaned if self.clean else str
        rows = []
        for row in self.raw.json("s2ag/abstracts/*"):
            text = row.get("abstract") and clean(row["abstract"])
            if isinstance(row["corpusid"], int) and _says_something(text):
                paper, year = self._paper_of(row["corpusid"])
                other = row["corpusid"] if row["corpusid"] in self.merged else None
                rows.append((paper, year, other, hashlib.md5(text.encode()).hexdigest(), text))
        schema = {"doc_id": pl.Int64, "abstract_year": pl.Int32, "other": pl.Int64,
                  "md5": pl.String, "abstract": pl.String}  # fmt: skip
        frame = pl.DataFrame(rows, schema, orient="row")
        return frame.sort("doc_id", "abstract_year", "other", "md5", nulls_last=False).unique(
            "doc_id", keep="first", maintain_order=True
        )

    def _patent_abstracts(self) -> pl.DataFrame:
        """One abstract per patent: of several the one whose md5 is lowest."""
        found = [
            (row["patent_id"], text, hashlib.md5(text.encode()).hexdigest())
            for row in self.raw.table("g_patent_abstract")
            if _says_something(text := row.get("patent_abstract"))
        ]
        frame = pl.DataFrame(found, ["number", "abstract", "md5"], orient="row")
        return frame.sort("number", "md5").unique("number", keep="first").drop("md5")

    @cached_property
    def documents(self) -> pl.DataFrame:
        """Every dated document with a title and an abstract."""
        papers = (
            self.papers.filter(pl.col("known_year").is_not_null())
            .join(self._paper_abstracts(), "doc_id")
            .with_columns(
                known_year=pl.max_horizontal("known_year", "abstract_year"),
                doc_uri="s2:" + pl.col("doc_id").cast(pl.String),
                doc_type=pl.lit("paper"),
                filing_year=pl.lit(None, pl.Int32),
            )
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
        patents = (
            self.patents.join(self._patent_abstracts(), "number")
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

    def _doi_papers(self) -> dict[str, tuple[int, int]]:
        """DOI -> (year of the record that is known first with it, its paper)."""
        found: dict[str, tuple[int, int]] = {}
        for record in self.records:
            if record["doi"]:
                holder = (record["year"] or LAST_YEAR + 1, self._paper_of(record["id"])[0])
                found[record["doi"]] = min(holder, found.get(record["doi"], holder))
        return found

    def _works_into(self) -> dict[int, set[int]]:
        """Id of an OpenAlex work that is gone -> the works that it leads to."""
        found = defaultdict(set)
        for path in sorted(self.folder.glob("openalex/merged_ids/works/*.csv.gz")):
            for row in csv.DictReader(gzip.decompress(path.read_bytes()).decode().splitlines()):
                found[int(row["id"].strip("W"))].add(int(row["merge_into_id"].strip("W")))
        return found

    def _papers_of_works(self) -> pl.DataFrame:
        """The paper of each cited OpenAlex work by DOI; of several the one known first wins."""
        holders, into = self._doi_papers(), self._works_into()
        dois = defaultdict(set)
        for row in self.raw.json("openalex/works/*/*.gz"):
            dois[int(row["id"].rpartition("W")[2])].add(_doi(row.get("doi")))
        rows = []
        for work in {*dois, *into}:
            records = {work}
            while more := {end for key in records for end in into.get(key, ())} - records:
                records |= more
            papers = [holders[doi] for key in records for doi in dois[key] if doi in holders]
            if papers:
                rows.append((work, *min(papers)))
        schema = {"work": pl.Int64, "link_year": pl.Int32, "cited": pl.Int64}
        return pl.DataFrame(rows, schema, orient="row")

    def _pairs(self) -> pl.DataFrame:
        """(citing, cited) of the three kinds of citation, and since when the link leads there."""
        papers = []
        for row in self.raw.json("s2ag/citations/*"):
            ends = (row["citingcorpusid"], row["citedcorpusid"])
            if isinstance(ends[0], int) and ends[1] is not None:
                (citing, since), (cited, also) = (self._paper_of(end) for end in ends)
                papers.append((citing, cited, max(since or 0, also or 0)))
        patents = [
            (PATENT_BASE + int(row["patent_id"]), PATENT_BASE + int(row["citation_patent_id"]), 0)
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
        schema = {"citing": pl.Int64, "cited": pl.Int64, "link_year": pl.Int32}
        return pl.concat(
            [pl.DataFrame(papers + patents, schema, orient="row"), links.select(*schema)]
        )

    @cached_property
    def edges(self) -> pl.DataFrame:
        """Each citation once, between two documents, dated by the later one or a later link."""
        ends = self.documents.select("doc_id", "doc_type", "known_year")
        return (
            self._pairs()
            .group_by("citing", "cited")
            .agg(pl.col("link_year").min())
            .filter(pl.col("citing") != pl.col("cited"))
            .join(ends, left_on="citing", right_on="doc_id")
            .join(ends, left_on="cited", right_on="doc_id", suffix="_cited")
            .select(
                citing_id="citing",
                cited_id="cited",
                edge_type=pl.col("doc_type") + "_" + pl.col("doc_type_cited"),
                known_year=pl.max_horizontal("known_year", "known_year_cited", "link_year"),
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
