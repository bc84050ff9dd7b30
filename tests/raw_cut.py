"""Copies a raw folder without the rows after a year, by the dates of the publishers' own files.

A row is after y when the document it describes is: papers by Semantic Scholar year, patents by
grant, pre-grant publications by filing, web pages by dump. A record that carries such a date goes
by it, though its document may have an earlier record; a row on two documents goes with the later
one. An OpenAlex work stands for the paper that its DOI names. What has no date (broken lines,
undated or unheld documents) stays: nobody could say that it is later.
"""

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

Year = int | None
RESOLVER = re.compile(r"^(https?://(dx\.)?doi\.org/|doi:)")


def year_of(value: object) -> Year:
    """The year that a value starts with, if it is one that a document can have."""
    found = re.match(r"\d{4}", str(value))
    return int(found[0]) if found and 1800 <= int(found[0]) <= 2026 else None


class RawCut:
    """A raw folder and the year of each document in it."""

    def __init__(self, source: Path) -> None:
        """Read the dates; of several records of a document the earliest counts."""
        self.source = source
        self.papers, self.patents, self.publications = {}, {}, {}
        self.works, self.dois = {}, {}
        for record in self.rows("s2ag/papers/*.gz"):
            year, key = year_of(record["year"]), record["corpusid"]
            _keep_earliest(self.papers, key, year)
            _keep_earliest(self.dois, _doi((record["externalids"] or {}).get("DOI")), year)
        for record in self.rows("openalex/works/*/*.gz"):
            _keep_earliest(self.works, record["id"], self._work_year(record))
        for row in self.rows("openalex/merged_ids/works/*.csv.gz"):
            year = self.works.get(f"https://openalex.org/{row['merge_into_id']}")
            _keep_earliest(self.works, f"https://openalex.org/{row['id']}", year)
        for row in self.rows("patentsview/g_patent.tsv.zip"):
            _keep_earliest(self.patents, row.get("patent_id"), year_of(row.get("patent_date")))
        for row in self.rows("patentsview/pg_published_application.tsv.zip"):
            _keep_earliest(self.publications, row["pgpub_id"], year_of(row["filing_date"]))

    def write(
        self,
        target: Path,
        last: int,
        *,
        backwards: bool = False,
        also: Callable[[str, dict], bool] = lambda path, row: False,
    ) -> dict[str, tuple[int, int]]:
        """Write the folder without the rows after `last`; a file without a row is not written.

        Args:
            target: the folder to make.
            last: the last year that stays.
            backwards: write the rows of each file from last to first.
            also: (file, row) -> True for a row to leave out as well.

        Returns:
            Rows kept and left out of each folder or table.
        """
        counts: dict[str, tuple[int, int]] = {}
        for path in sorted(p for p in self.source.rglob("*") if p.is_file()):
            name = path.relative_to(self.source).as_posix()
            if name == "sample.json":
                continue
            read, write = container(path)
            header, rows = read(path)
            kept = [raw for raw, row in rows if not self._after(name, row, last, also)]
            table = re.sub(r"(_\d{3,8})?\.[a-z.]+$|/[^/]*(=|CC-MAIN).*", "", name)
            before = counts.get(table, (0, 0))
            counts[table] = (before[0] + len(kept), before[1] + len(rows) - len(kept))
            if kept:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                write(target / name, header, kept[::-1] if backwards else kept)
        return counts

    def _after(self, name: str, row: dict, last: int, also: Callable[[str, dict], bool]) -> bool:
        return any(y is not None and y > last for y in self._years(name, row)) or also(name, row)

    def _years(self, name: str, row: dict) -> Iterable[Year]:
        """The years of the documents that a row describes."""
        if name.startswith("s2ag/papers/"):
            return [year_of(row.get("year"))]
        if name.startswith("s2ag/citations/"):
            return [self.papers.get(row.get(f"{end}corpusid")) for end in ("citing", "cited")]
        if name.startswith(("s2ag/", "s2orc_v2/", "s2orc/")):
            return [self.papers.get(row.get("corpusid"))]
        if name.startswith("openalex/merged_ids/"):
            return [self.works.get(f"https://openalex.org/{row['id']}")]
        if name.startswith("openalex/"):
            return [self._work_year(row)]
        if name.startswith("fineweb_edu/"):
            return [year_of(row["dump"].removeprefix("CC-MAIN-"))]
        if name.startswith("reliance_on_science/"):
            patent = re.sub(r"^us-0*([a-z]*)0*(\d+)-.*$", r"\1\2", row["patent"]).upper()
            work = self.works.get(f"https://openalex.org/W{row['oaid']}")
            return [self.patents.get(patent), work]
        if name.startswith("patent_paper_pairs/"):
            return [self._patent(row["patent"]), self._work(row["paperid"])]
        if name.startswith("uspto/"):
            # A number alone, or an event: its day and code stand at the end.
            fields = row["line"].split()
            days = [year_of(fields[-2])] if len(fields) > 2 else []
            return [self._patent(fields[0]), *days]
        if name.startswith("kpss/"):
            day = row["issue_date"]
            issued = year_of(day[-4:] if "/" in day else day)
            return [self._patent(row["patent_num"]), issued]
        if name.startswith("ocpb/"):
            return [self._patent(next(iter(row.values())))]
        if name.startswith("pqr/"):
            return [self._patent(row.get("patent_id")), self._work(row.get("work_id"))]
        if name.startswith("european_families/"):
            return [year_of(row["publication_date"]), self._work(row["cited_work"])]
        if name.startswith("patentsview/g_patent.tsv"):
            return [year_of(row.get("patent_date"))]
        if name.startswith("patentsview/pg_published_application.tsv"):
            return [year_of(row.get("filing_date"))]
        if name.startswith("patentsview/"):
            return [
                self.patents.get(row.get("patent_id")),
                self.patents.get(row.get("citation_patent_id")),
                self.publications.get(row.get("pgpub_id")),
            ]
        raise ValueError(f"which document does a row of {name} describe?")

    def _patent(self, number: str | None) -> Year:
        bare = (number or "").upper().removeprefix("US-").lstrip("0")
        return self.patents.get(re.sub(r"^([A-Z]*)0*", r"\1", bare))

    def _work(self, work: str | None) -> Year:
        return self.works.get(f"https://openalex.org/{work}")

    def _work_year(self, work: dict) -> Year:
        return self.dois.get(_doi(work.get("doi")), year_of(work.get("publication_year")))

    def rows(self, pattern: str) -> list[dict]:
        """The rows that parse, of the files that match, by column."""
        found = []
        for path in sorted(self.source.glob(pattern)):
            found += [row for _, row in container(path)[0](path)[1] if row]
        return found


def add_rows(path: Path, *rows: dict) -> None:
    """Append rows to a raw file of the folder, with the columns that it has."""
    read, write = container(path)
    header, old = read(path)
    if path.suffix == ".zip":
        names = next(csv.reader([header.text], delimiter="\t"))
        new = ["\t".join(_quoted(row.get(name)) for name in names) for row in rows]
    else:
        new = rows if path.suffix == ".parquet" else map(json.dumps, rows)
    write(path, header, [raw for raw, _ in old] + [*new])


def _quoted(value: object) -> str:
    return '"' + str(value or "").replace('"', '""') + '"'


def _keep_earliest(years: dict, key: object, year: Year) -> None:
    if key and year is not None:
        years[key] = min(year, years.get(key, year))


def _doi(value: str | None) -> str:
    return RESOLVER.sub("", (value or "").strip().lower()).strip()


def container(path: Path) -> tuple[Callable, Callable]:
    """How to read a file as (header, [(raw row, fields)]), and how to write it again."""
    if path.name.endswith(".csv.gz"):
        return _read_csv_gz, _write_csv_gz
    return {
        ".gz": (_read_lines, _write_lines),
        ".zip": (_read_zip, _write_zip),
        ".csv": (_read_text, _write_text),
        ".tsv": (_read_text, _write_text),
        ".txt": (_read_text, _write_text),
        ".parquet": (_read_parquet, _write_parquet),
    }[path.suffix]


class Header(NamedTuple):
    """What stands before the rows of a text file, and the file's name, a zip's member's if any."""

    name: str
    text: str | None  # plain lines have none


def _read_lines(path: Path) -> tuple[None, list]:
    rows = []
    for line in gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]:
        try:
            rows.append((line, json.loads(line)))
        except json.JSONDecodeError:
            rows.append((line, {}))
    return None, rows


def _write_lines(path: Path, header: None, rows: list[str]) -> None:
    path.write_bytes(gzip.compress("".join(f"{row}\n" for row in rows).encode(), mtime=0))


def _records(name: str, text: str) -> tuple[Header, list]:
    """The header, and the records as they are written with their fields by name."""
    if name.endswith(".txt"):
        lines = text.splitlines()
        return Header(name, None), [(line, {"line": line}) for line in lines]
    records, open_one = [], ""
    for line in text.split("\n")[:-1]:
        open_one += line
        if open_one.count('"') % 2:
            open_one += "\n"  # a line break inside quotes
        else:
            records.append(open_one)
            open_one = ""
    mark = "\t" if name.endswith(".tsv") else ","
    fields = [next(csv.reader(io.StringIO(r, newline=""), delimiter=mark)) for r in records]
    named = [dict(zip(fields[0], row, strict=False)) for row in fields]
    return Header(name, records[0]), list(zip(records, named, strict=True))[1:]


def _text(header: Header, rows: list[str]) -> bytes:
    lines = rows if header.text is None else [header.text, *rows]
    return "".join(f"{line}\n" for line in lines).encode()


def _read_zip(path: Path) -> tuple[Header, list]:
    with zipfile.ZipFile(path) as archive:
        (name,) = archive.namelist()
        return _records(name, archive.read(name).decode())


def _write_zip(path: Path, header: Header, rows: list[str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(header.name, _text(header, rows))


def _read_text(path: Path) -> tuple[Header, list]:
    return _records(path.name, path.read_bytes().decode())


def _write_text(path: Path, header: Header, rows: list[str]) -> None:
    path.write_bytes(_text(header, rows))


def _read_csv_gz(path: Path) -> tuple[Header, list]:
    return _records(path.stem, gzip.decompress(path.read_bytes()).decode())


def _write_csv_gz(path: Path, header: Header, rows: list[str]) -> None:
    path.write_bytes(gzip.compress(_text(header, rows), mtime=0))


def _read_parquet(path: Path) -> tuple[object, list]:
    table = pq.read_table(path)
    rows = table.to_pylist()
    return table.schema, list(zip(rows, rows, strict=True))


def _write_parquet(path: Path, schema: object, rows: list[dict]) -> None:
    import pyarrow as pa

    pq.write_table(pa.Table.from_pylist(rows, schema), path)
