"""Plain readers of the sample's raw files, the oracle of its tests: stdlib only."""

import csv
import gzip
import io
import json
import re
import zipfile
from collections import defaultdict
from functools import cached_property
from pathlib import Path


def cleaned(abstract: str | None) -> str:
    """An abstract without what the sample plants in some: heading, markup, notice, white ends."""
    text = (abstract or "").removeprefix("<jats:title>Abstract</jats:title><jats:p>")
    text = text.removesuffix("</jats:p>").replace("&amp;", "&")
    text = re.sub(r" \u00a9 \d{4} The Authors\. All rights reserved\.$", "", text)
    return text.removeprefix("Abstract\n").strip()


class RawSample:
    """Every raw file of a sample folder, parsed the long way round."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def marker(self) -> dict:
        """What the generator says of the sample; real records have none."""
        return json.loads((self.folder / "sample.json").read_text())

    @property
    def faults(self) -> dict:
        return self.marker["faults"]

    def lines(self, pattern: str) -> list[str]:
        found = []
        for path in sorted(self.folder.glob(pattern)):
            found += gzip.decompress(path.read_bytes()).decode().splitlines()
        return found

    def json(self, pattern: str) -> list[dict]:
        """The records that parse."""
        records = []
        for line in self.lines(pattern):
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return records

    def tsv(self, name: str) -> list[list]:
        """Rows with the header; QUOTE_NONNUMERIC refuses a bare field that is no number."""
        with zipfile.ZipFile(self.folder / "patentsview" / f"{name}.tsv.zip") as archive:
            assert archive.namelist() == [f"{name}.tsv"]
            text = archive.read(f"{name}.tsv").decode()
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONNUMERIC
        )
        return list(reader)

    def table(self, name: str) -> list[dict]:
        """Rows of the full width by column name."""
        header, *rows = self.tsv(name)
        return [dict(zip(header, row, strict=True)) for row in rows if len(row) == len(header)]

    @cached_property
    def papers(self) -> dict:
        return {row["corpusid"]: row for row in self.json("s2ag/papers/*")}

    @cached_property
    def abstracts(self) -> dict:
        return {row["corpusid"]: row["abstract"] for row in self.json("s2ag/abstracts/*")}

    @cached_property
    def citations(self) -> list[dict]:
        return self.json("s2ag/citations/*")

    @cached_property
    def bodies(self) -> dict:
        return {row["corpusid"]: row["body"] for row in self.json("s2orc_v2/*")}

    @cached_property
    def bodies_v1(self) -> dict:
        return {row["corpusid"]: row["content"] for row in self.json("s2orc/*")}

    @cached_property
    def versions(self) -> list[dict]:
        return self.json("s2ag/paper-ids/*")

    @cached_property
    def merged(self) -> dict:
        """Merged id -> (the paper it is, year of its own record or None), pair by pair."""
        years = {
            key: row["year"] if 1800 <= int(row["year"] or 0) <= 2026 else None
            for key, row in self.papers.items()
            if isinstance(key, int)
        }
        sharing = defaultdict(set)
        for row in self.versions:
            if len(row["sha"]) == 40:
                sharing[row["sha"].lower()].add(row["corpusid"])
        for key in years:
            sharing[self.papers[key]["url"].rpartition("/")[2]].add(key)

        def rank(key: int) -> tuple:
            return (years.get(key) or 9999, key not in years, key)

        first = {key: key for ids in sharing.values() for key in ids}
        for ids in sharing.values():
            for key in ids:
                first[key] = min(first[key], *ids, key=rank)
        found = {}
        for key in first:
            paper = key
            while first[paper] != paper:
                paper = first[paper]
            if paper != key:
                found[key] = (paper, years.get(key))
        return found

    @cached_property
    def works(self) -> dict:
        rows = self.json("openalex/works/*/*.gz")
        return {int(row["id"].removeprefix("https://openalex.org/W")): row for row in rows}

    @cached_property
    def merged_works(self) -> dict:
        """Id that is gone -> the work it leads to."""
        found = {}
        for path in sorted(self.folder.glob("openalex/merged_ids/works/*.csv.gz")):
            for row in csv.DictReader(gzip.decompress(path.read_bytes()).decode().splitlines()):
                found[int(row["id"][1:])] = int(row["merge_into_id"][1:])
        return found

    @cached_property
    def patents(self) -> dict:
        return {row["patent_id"]: row for row in self.table("g_patent")}

    @cached_property
    def patent_abstracts(self) -> dict:
        return {r["patent_id"]: r["patent_abstract"] for r in self.table("g_patent_abstract")}

    @cached_property
    def applications(self) -> dict:
        return {row["patent_id"]: row for row in self.table("g_application")}

    @cached_property
    def patent_citations(self) -> list[dict]:
        return self.table("g_us_patent_citation")

    @cached_property
    def cpc(self) -> dict:
        found = defaultdict(list)
        for row in self.table("g_cpc_current"):
            found[row["patent_id"]].append(row)
        return found

    @cached_property
    def owners(self) -> dict:
        return {row["patent_id"]: row for row in self.table("g_assignee_disambiguated")}

    @cached_property
    def inventors(self) -> list[dict]:
        return self.table("g_inventor_disambiguated")

    @cached_property
    def publications(self) -> dict:
        return {int(r["pgpub_id"]): r for r in self.table("pg_published_application")}

    @cached_property
    def crosswalk(self) -> list[dict]:
        return self.table("pg_granted_pgpubs_crosswalk")

    def delimited(self, name: str, delimiter: str = ",") -> list[dict]:
        """Rows of a plain table by column name; the name of a zip stands for its one member."""
        text = self.member(name) if name.endswith(".zip") else (self.folder / name).read_text()
        lines = io.StringIO(text, newline="")
        return list(csv.DictReader(lines, delimiter=delimiter))

    def member(self, name: str) -> str:
        """The text of a zip's one member."""
        with zipfile.ZipFile(self.folder / name) as archive:
            (inside,) = archive.namelist()
            return archive.read(inside).decode()

    @cached_property
    def reliance(self) -> list[dict]:
        return self.delimited("reliance_on_science/_pcs_oa.csv")

    @cached_property
    def withdrawn(self) -> set[str]:
        """Numbers on the office's list, without zeros."""
        lines = self.member("uspto/withdrawn.zip").splitlines()
        return {re.sub(r"^([A-Z]*)0*", r"\1", line) for line in lines}

    @cached_property
    def fee_lines(self) -> list[str]:
        """Lines of the newer release, 57 characters but for the planted ones."""
        return self.member("uspto/MaintFeeEvents_20260512.zip").split("\r\n")[:-1]

    @cached_property
    def old_fee_lines(self) -> list[str]:
        """Lines of the older release, 51 characters."""
        return (self.folder / "uspto/MaintFeeEvents_20030602.txt").read_text().splitlines()

    @cached_property
    def values(self) -> dict[str, dict]:
        """Patent values of the newer release."""
        return {row["patent_num"]: row for row in self.delimited("kpss/KPSS_2024.zip")}

    @cached_property
    def firms(self) -> dict[str, dict]:
        """Assignees of the newer release, past its byte order mark."""
        rows = self.delimited("ocpb/ocpb_assigneeatfiling.csv")
        return {row["\ufeffpatent_id"]: row for row in rows}

    @cached_property
    def pair_rows(self) -> list[dict]:
        return self.delimited("patent_paper_pairs/_patent_paper_pairs.csv")

    @cached_property
    def researchers(self) -> list[dict]:
        return self.delimited("pqr/pqrs_dataset.tsv", "\t")

    @cached_property
    def families(self) -> dict[str, list[dict]]:
        found = defaultdict(list)
        for row in self.delimited("european_families/european_families.csv"):
            found[row["family_id"]].append(row)
        return found

    @cached_property
    def pages(self) -> list[dict]:
        import pyarrow.parquet as pq

        paths = sorted(self.folder.glob("fineweb_edu/data/*/*.parquet"))
        return [row for path in paths for row in pq.read_table(path).to_pylist()]

    def is_plain(self, patent: dict) -> bool:
        """A dated utility patent with a digits-only number, not withdrawn by flag or list."""
        return (
            patent["patent_type"] == "utility"
            and patent["withdrawn"] == 0
            and patent["patent_id"] not in self.withdrawn
            and patent["patent_id"].isdigit()
            and patent["patent_date"] != ""
        )

    def dated_texts(self) -> list[tuple[int, str]]:
        """(year in which it was written at the latest, text) of every text in the folder."""
        found = []
        for key, row in self.papers.items():
            if isinstance(row["year"], int) and 1900 < row["year"] < 2030:
                body = self.bodies.get(key) or {}
                parts = (row["title"], self.abstracts.get(key), body.get("text"))
                found += [(row["year"], text) for text in parts if text]
        filed = {key: row["filing_date"][:4] for key, row in self.applications.items()}
        for key, row in self.patents.items():
            if filed.get(key):
                year = int(filed[key])
                found += [(year, row["patent_title"]), (year, self.patent_abstracts.get(key, ""))]
        published = {k: row["filing_date"][:4] for k, row in self.publications.items()}
        for path in sorted(self.folder.glob("patentsview/*_text_*.zip")) + sorted(
            self.folder.glob("patentsview/*_claims_*.zip")
        ):
            for row in self.table(path.name.removesuffix(".tsv.zip")):
                pregrant = "pgpub_id" in row
                key = int(row["pgpub_id"]) if pregrant else row["patent_id"]
                year = (published if pregrant else filed).get(key)
                if year:
                    found += [(int(year), v) for k, v in row.items() if k.endswith("_text")]
        found += [(int(page["dump"][8:12]), page["text"]) for page in self.pages]
        return found
