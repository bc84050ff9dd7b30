"""A lake of some six hundred documents, written straight into DuckDB: the marts, nothing before.

For unit tests of the readers and trainers. Topics are planted: a document uses the words of its
topic and cites earlier documents of the same topic. Every draw depends on the document's own name
alone, so a lake that ends in 2012 is a prefix of one that ends in 2015.
"""

import hashlib
import random
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

FIRST_YEAR, LAST_YEAR = 2004, 2015
PATENT, PGPUB, WEB = 1_000_000_000_000, 100_000_000_000_000, 100_000_000_000_000_000
TOPICS, _TOPIC_WORDS = 6, 25
SYLLABLES = [one + two for one in "bcdfghklmnprstvwxz" for two in "aeiou"]


def _rng(*name: object) -> random.Random:
    return random.Random(hashlib.sha256(":".join(map(str, name)).encode()).digest())


@cache
def _word(*name: object) -> str:
    rng = _rng("word", *name)
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.choice([2, 3])))


def coined(year: int) -> str:
    """The term first written in `year`; every document of that year or later may use it."""
    return f"{_word('coined', year)}tron{chr(ord('a') + year - FIRST_YEAR)}x"


def topic_words(topic: int) -> list[str]:
    """The words of a topic, half of what its documents say."""
    return [_word("topic", topic, i) for i in range(_TOPIC_WORDS)]


def _text(rng: random.Random, topic: int, year: int, words: int) -> str:
    said = []
    for _ in range(words):
        draw = rng.random()
        if draw < 0.5:
            said.append(_word("topic", topic, rng.randrange(_TOPIC_WORDS)))
        elif draw < 0.54:
            said.append(coined(rng.randint(FIRST_YEAR, year)))
        else:
            said.append(_word("common", min(rng.randrange(60), rng.randrange(60))))
    return " ".join(said)


def _documents(last_year: int) -> list[dict]:
    documents = []
    for kind in ("paper", "patent"):
        for i in range(300):
            rng = _rng(kind, i)
            year, topic = rng.randint(FIRST_YEAR, LAST_YEAR), rng.randrange(TOPICS)
            number = rng.randrange(1_000_000, 9_000_000)
            documents.append(
                {
                    "doc_id": number if kind == "paper" else PATENT + number,
                    "doc_uri": f"{'s2' if kind == 'paper' else 'us'}:{number}",
                    "doc_type": kind,
                    "known_year": year,
                    "filing_year": None if kind == "paper" else year - 2,
                    "title": _text(_rng(kind, i, "title"), topic, year, 7),
                    "abstract": _text(_rng(kind, i, "abstract"), topic, year, 45),
                    "topic": topic,
                    "name": f"{kind}-{i}",
                }
            )
    kept = [one for one in documents if one["known_year"] <= last_year]
    return sorted(kept, key=lambda one: (one["known_year"], one["doc_id"]))


def _edges(documents: list[dict]) -> list[dict]:
    edges = []
    for i, citing in enumerate(documents):
        rng = _rng(citing["name"], "cites")
        older = [d for d in documents[:i] if d["topic"] == citing["topic"]]
        if citing["doc_type"] == "paper":
            older = [d for d in older if d["doc_type"] == "paper"]
        same = [d for d in older if d["doc_type"] == citing["doc_type"]]
        picks = same if rng.random() < 0.9 else older
        for cited in rng.sample(picks, min(len(picks), rng.randint(0, 5))):
            edges.append(
                {
                    "citing_id": citing["doc_id"],
                    "cited_id": cited["doc_id"],
                    "edge_type": f"{citing['doc_type']}_{cited['doc_type']}",
                    "known_year": max(citing["known_year"], cited["known_year"]),
                }
            )
    return sorted(edges, key=lambda e: (e["known_year"], e["citing_id"], e["cited_id"]))


def _nodes(documents: list[dict], edges: list[dict]) -> list[dict]:
    first: dict[int, int] = {}
    for edge in edges:
        for end in (edge["citing_id"], edge["cited_id"]):
            first.setdefault(end, edge["known_year"])
    kinds = {one["doc_id"]: one["doc_type"] for one in documents}
    ordered = sorted((year, doc_id) for doc_id, year in first.items())
    return [
        {"node_id": n, "doc_id": doc_id, "doc_type": kinds[doc_id], "known_year": year}
        for n, (year, doc_id) in enumerate(ordered)
    ]


SAME_WORK = pa.schema(
    [
        ("doc_id", pa.int64()),
        ("work_id", pa.int64()),
        ("via", pa.string()),
        ("known_year", pa.int32()),
    ]
)


def _same_work(documents: list[dict], last_year: int) -> list[dict]:
    """Applications 0..11 became the patents of the same numbers, where the dates allow it."""
    patents = {one["name"]: one for one in documents if one["doc_type"] == "patent"}
    links = []
    for i in range(12):
        filed, grant = (
            _rng("application", i).randint(FIRST_YEAR, LAST_YEAR),
            patents.get(f"patent-{i}"),
        )
        if grant and filed <= grant["known_year"] <= last_year:
            links.append(
                {
                    "doc_id": grant["doc_id"],
                    "work_id": PGPUB + 20_000_000 + i,
                    "via": "crosswalk",
                    "known_year": grant["known_year"],
                }
            )
    return sorted(links, key=lambda one: (one["known_year"], one["doc_id"]))


def _texts(documents: list[dict], last_year: int) -> list[dict]:
    rows = []
    published = {link["doc_id"] for link in _same_work(documents, last_year)}
    for one in documents:
        year, name, topic = one["known_year"], one["name"], one["topic"]
        long = _text(_rng(name, "long"), topic, year, 150)
        if one["doc_type"] == "paper":
            rows.append((one["doc_id"], "abstracts", year, year, None, one["abstract"]))
            if one["doc_id"] % 5 == 0:
                rows.append((one["doc_id"], "s2orc", year, year, None, long))
        elif one["doc_id"] not in published:  # pre-grant text wins
            text = f"{one['abstract']} {long}"
            filing = one["filing_year"]
            rows.append((one["doc_id"], "granted_text", year, year, filing, text))
    for i in range(150):  # applications, dated by filing; published the year after
        rng = _rng("application", i)
        year = rng.randint(FIRST_YEAR, LAST_YEAR)
        text = _text(rng, rng.randrange(TOPICS), year, 150)
        rows.append((PGPUB + 20_000_000 + i, "uspto", year, year + 1, year, text))
    for i in range(40):
        rng = _rng("page", i)
        year = rng.randint(2013, LAST_YEAR)
        text = "webonlyword " * 20 + _text(rng, rng.randrange(TOPICS), year, 60)
        rows.append((WEB + i, "fineweb_edu", year, year, None, text))
    keys = ("doc_id", "source", "known_year", "public_year", "filing_year", "text")
    kept = [row for row in rows if row[2] <= last_year]
    return [dict(zip(keys, row, strict=True)) for row in kept]


MACROS = """
create view corpus.pretrain_text as
    select doc_id, source, known_year::integer as known_year, public_year, filing_year, text
    from read_parquet('{text}/*/*/*.parquet', hive_partitioning = true);
-- Here texts of patents have a known licence, cc-by, and no others.
create macro corpus.pretrain_asof(
    cutoff, basis := 'production', licence_at_most := cast(null as varchar)
) as table
    select doc_id, source, known_year, public_year, filing_year, text
    from corpus.pretrain_text
    where case
        when basis = 'publication' then greatest(known_year, public_year)
        when basis = 'filing' and source = 'granted_text' then least(filing_year, known_year)
        else known_year
    end <= cutoff
    and case
        when licence_at_most is null then true
        when licence_at_most = 'cc-by' then source in ('uspto', 'granted_text')
        else error('licence ' || licence_at_most || ' is unknown')
    end;
create macro graph.anchors_asof(cutoff) as table
    with drawn as (
        select doc_id, node_id, doc_type, doc_type as pool
        from graph.graph_nodes
        where known_year <= cutoff
        qualify row_number() over (
            partition by doc_type order by md5(doc_type || cutoff || ':' || doc_id), doc_id
        ) <= 150
    ),
    citing as (
        select doc_id, node_id, doc_type, 'patent_citing_paper' as pool
        from graph.graph_nodes
        where known_year <= cutoff and doc_id in (
            select citing_id from graph.citation_edges
            where edge_type = 'patent_paper' and known_year <= cutoff
        )
        qualify row_number() over (order by md5('citing' || cutoff || ':' || doc_id), doc_id) <= 50
    )
    from citing
    union all
    from drawn where doc_id not in (select doc_id from citing);
"""


def make_tiny_lake(folder: Path, last_year: int = LAST_YEAR) -> Path:
    """Write `lake.duckdb` and `text/` under the folder, with no row after `last_year`."""
    folder = Path(folder)
    documents = _documents(last_year)
    edges = _edges(documents)
    texts = _texts(documents, last_year)
    for year, source in sorted({(row["known_year"], row["source"]) for row in texts}):
        rows = [r for r in texts if (r["known_year"], r["source"]) == (year, source)]
        part = folder / "text" / f"known_year={year}" / f"source={source}"
        part.mkdir(parents=True, exist_ok=True)
        schema = pa.schema(
            [
                ("doc_id", pa.int64()),
                ("public_year", pa.int32()),
                ("filing_year", pa.int32()),
                ("text", pa.string()),
            ]
        )
        pq.write_table(
            pa.Table.from_pylist(sorted(rows, key=lambda r: r["doc_id"]), schema),
            part / "tiny_0.parquet",
        )
    tables = {
        "corpus.documents": (
            pa.Table.from_pylist(documents).drop(["topic", "name"]),
            "known_year, doc_id",
        ),
        "corpus.same_work": (
            pa.Table.from_pylist(_same_work(documents, last_year), SAME_WORK),
            "known_year, doc_id",
        ),
        "graph.citation_edges": (pa.Table.from_pylist(edges), "known_year, citing_id, cited_id"),
        "graph.graph_nodes": (pa.Table.from_pylist(_nodes(documents, edges)), "node_id"),
        "audit.lake_span": (
            pa.table({"first_year": [1976], "last_year": [last_year]}),
            "first_year",
        ),
    }
    partial = folder / "lake.duckdb.partial"
    with duckdb.connect(str(partial)) as connection:
        for schema in ("corpus", "graph", "audit", "tasks"):
            connection.sql(f"create schema {schema}")
        for name, (table, order) in tables.items():
            connection.register("given", table)
            years = [c for c in table.column_names if c.endswith("_year")]
            cast = ", ".join(f"{year}::integer as {year}" for year in years)
            connection.execute(
                f"create table {name} as select * replace ({cast}) from given order by {order}"
                if years
                else f"create table {name} as from given order by {order}"
            )
            connection.unregister("given")
        connection.execute(MACROS.format(text=folder.resolve() / "text"))
    partial.rename(folder / "lake.duckdb")
    return folder
