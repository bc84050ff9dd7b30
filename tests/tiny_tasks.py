"""Task tables on the tiny lake, made of its planted topics, and encoders that know the answers."""

import functools
import hashlib
import shutil
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from tiny_lake import (
    FIRST_YEAR,
    LAST_YEAR,
    PGPUB,
    _documents,
    _edges,
    _rng,
    make_tiny_lake,
)

from pyeval.systems import System
from pyeval.tasks import TASKS

CUTOFF = 2012
WORK = 2_000_000_000_000  # first id of OpenAlex works
SECTIONS = "ABCDEF"
READ_BEFORE_GRANT = 10  # patents granted after the cutoff whose application was filed by it


def _share(name: str, doc_id: int) -> float:
    return int(hashlib.md5(f"{name}:{doc_id}".encode()).hexdigest()[:8], 16) / 2**32


def documents(kind: str | None = None) -> list[dict]:
    """The planted documents, with their topic."""
    return [one for one in _documents(2015) if kind in (None, one["doc_type"])]


def applications() -> dict[int, int]:
    """Late patents that stand in the training text as an application: doc_id -> pgpub id."""
    late = [one["doc_id"] for one in documents("patent") if one["known_year"] > CUTOFF]
    filed = {i: _rng("application", i).randint(FIRST_YEAR, LAST_YEAR) for i in range(150)}
    early = [i for i, year in filed.items() if year <= CUTOFF]
    pairs = zip(late[:READ_BEFORE_GRANT], early, strict=False)
    return {doc_id: PGPUB + 20_000_000 + i for doc_id, i in pairs}


def label_rows(label, label_after: int = 0, last_year: int = 2015) -> list[dict]:
    """Rows of a task on patents; a fifth are test, by hash."""
    return [
        {
            "doc_id": one["doc_id"],
            "task_year": one["known_year"],
            "label_year": one["known_year"] + label_after,
            "split": "test" if _share("split", one["doc_id"]) < 0.3 else "train",
            "label": label(one),
        }
        for one in documents("patent")
        if one["known_year"] <= last_year
    ]


def probe_rows() -> dict[str, list[dict]]:
    """Every task that a probe reads off a document, its label made of the planted topic."""
    made = {}
    for task in TASKS.values():
        if task.format == "retrieve":
            continue
        if task.multilabel:
            made[task.table] = label_rows(lambda one: [f"S{one['topic']}", f"T{one['topic'] // 2}"])
        elif task.positive:
            other = task.beside or "other"
            names = (task.positive, other)
            made[task.table] = label_rows(lambda one, names=names: names[one["topic"] % 2])
        elif task.format == "regress":
            made[task.table] = label_rows(lambda one: float(one["topic"]))
        else:
            made[task.table] = label_rows(lambda one: SECTIONS[one["topic"]])
    return made


def query_rows(kind: str) -> tuple[list[dict], list[dict]]:
    """Queries with the documents they cite, and the corpus: everything that is no query.

    The first relevant document of every second query is marked as its near-copy.
    """
    held = {one["doc_id"]: one for one in documents(kind)}
    queries = [i for i in held if _share("query", i) < 0.35]
    cites: dict[int, list[int]] = {}
    for edge in _edges(documents()):
        pair = edge["citing_id"], edge["cited_id"]
        if pair[0] in queries and pair[1] in held and pair[1] not in queries:
            cites.setdefault(pair[0], []).append(pair[1])
    rows = [
        {
            "query_id": query,
            "doc_id": doc_id,
            "relevant": 1,
            "task_year": held[query]["known_year"],
            "label_year": held[query]["known_year"],
            "trigram_overlap": 0.9 if place == 0 and n % 2 == 0 else 0.05,
        }
        for n, (query, cited) in enumerate(sorted(cites.items()))
        for place, doc_id in enumerate(sorted(cited))
    ]
    return rows, [{"doc_id": i} for i in held if i not in queries]


def portfolio_rows() -> tuple[list[dict], list[dict]]:
    """Queries of two patents each, with what either cites, and the documents of each query."""
    rows, _ = query_rows("patent")
    singles = sorted({row["query_id"] for row in rows})
    query_of = {one: singles[n - n % 2] for n, one in enumerate(singles)}
    year_of = {one["doc_id"]: one["known_year"] for one in documents("patent")}
    year: dict[int, int] = {}
    for one, query in query_of.items():
        year[query] = max(year.get(query, 0), year_of[one])
    pairs = sorted({(query_of[row["query_id"]], row["doc_id"]) for row in rows})
    keys = ("query_id", "doc_id", "relevant", "task_year", "label_year")
    return (
        [
            dict(zip(keys, (query, doc_id, 1, year[query], year[query]), strict=True))
            for query, doc_id in pairs
        ],
        [{"query_id": query, "doc_id": one} for one, query in query_of.items()],
    )


def works() -> list[dict]:
    """OpenAlex's record of each planted paper: an id and a title of its own."""
    return [
        {
            "doc_id": WORK + one["doc_id"],
            "publication_year": one["known_year"],
            "title": one["title"] + " (work)",
            "abstract": f"{one['title']} as OpenAlex has it",
        }
        for one in documents("paper")
    ]


def linked_rows(inputs: str) -> tuple[list[dict], list[dict]]:
    """Queries and corpus of a task between patents and works, "patent>paper" for example."""
    asked, ranked = ("work" if kind == "paper" else kind for kind in inputs.split(">"))
    held = {
        "patent": sorted(one["doc_id"] for one in documents("patent")),
        "work": sorted(one["doc_id"] for one in works()),
    }
    year = {one["doc_id"]: one["known_year"] for one in documents("patent")}
    year |= {one["doc_id"]: one["publication_year"] for one in works()}
    queries = [one for one in held[asked] if _share("query", one) < 0.2]
    corpus = [one for one in held[ranked] if one not in queries]
    rows = []
    for query in queries:
        for n in range(1 + query % 3):
            doc_id = corpus[int(_share(f"relevant {n}", query) * len(corpus))]
            dates = (year[query], max(year[query], year[doc_id]))
            rows.append((query, doc_id, 1, *dates, 0.0))
    keys = ("query_id", "doc_id", "relevant", "task_year", "label_year", "trigram_overlap")
    rows = [dict(zip(keys, row, strict=True)) for row in sorted(set(rows))]
    return rows, [{"doc_id": one} for one in corpus]


def make_task_lake(folder: Path) -> Path:
    """A tiny lake with all task tables; about 300 patents and 300 papers.

    The tables are made once per process and copied; the text stays where the first one put it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(_template().name) / "lake.duckdb", folder / "lake.duckdb")
    return folder


@functools.cache
def _template() -> tempfile.TemporaryDirectory:
    made = tempfile.TemporaryDirectory()
    _make(Path(made.name))
    return made


def _make(folder: Path) -> None:
    make_tiny_lake(folder)
    cited = {}
    for edge in _edges(documents()):
        cited[edge["cited_id"]] = cited.get(edge["cited_id"], 0) + 1
    patents, patent_corpus = query_rows("patent")
    papers, paper_corpus = query_rows("paper")
    portfolios, portfolio_parts = portfolio_rows()
    pairs = applications()
    work = [(patent, application, "crosswalk", 2014) for patent, application in pairs.items()]
    keys = ("doc_id", "work_id", "via", "known_year")
    tables = probe_rows() | {
        "tasks.task_grant_year": label_rows(lambda one: float(one["known_year"])),
        "tasks.task_forward_citation": label_rows(
            lambda one: float(cited.get(one["doc_id"], 0)), label_after=3, last_year=2013
        ),
        "tasks.task_patent_cite": patents,
        "tasks.corpus_patent_cite": patent_corpus,
        "tasks.task_patent_cocite": patents[::-1],
        "tasks.corpus_patent_cocite": patent_corpus,
        "tasks.task_same_inventor": patents,
        "tasks.corpus_same_inventor": patent_corpus,
        "tasks.task_same_initial_assignee": patents,
        "tasks.corpus_same_initial_assignee": patent_corpus,
        "tasks.task_assignee_patent_match": portfolios,
        "tasks.queries_assignee_patent_match": portfolio_parts,
        "tasks.corpus_assignee_patent_match": patent_corpus,
        "tasks.task_paper_cite": papers,
        "tasks.corpus_paper_cite": paper_corpus,
        "tasks.task_settings": [
            {"task": "patent_cite", "setting": "near_copy_overlap", "value": "0.2"}
        ],
        "corpus.same_work": [dict(zip(keys, one, strict=True)) for one in work],
    }
    tables["tasks.benchmark_papers"] = works()
    tables["audit.sources"] = [
        {
            "source": source, "table_name": name, "present": True, "n_rows": 300,
            "latest_year": 2015, "licence": licence, "switches_on": "documents",
            "get_it_from": "planted",
        }
        for source, name, licence in (
            ("patentsview", "g_patent", "CC BY 4.0"),
            ("openalex", "works", "CC0"),
            ("s2ag", "papers", "ODC-BY 1.0"),
        )
    ]  # fmt: skip
    no_application = {"doc_id": -1, "title": "", "abstract": ""}  # a table needs a row here
    tables.setdefault("tasks.benchmark_applications", [no_application])
    for task in TASKS.values():
        if task.format == "retrieve" and "paper" in task.inputs and task.name != "paper_cite":
            tables[task.table], tables[task.corpus_table] = linked_rows(task.inputs)
    with duckdb.connect(str(folder / "lake.duckdb")) as lake:
        for name, rows in tables.items():
            lake.register("given", pa.Table.from_pylist(rows))
            lake.execute(f"create or replace table {name} as from given")
            lake.unregister("given")


def hashed(titles, abstracts, dims: int = 64) -> np.ndarray:
    """Random unit vectors that depend on the text alone: an encoder that knows nothing."""
    out = np.empty((len(titles), dims), dtype=np.float32)
    for i, (title, abstract) in enumerate(zip(titles, abstracts, strict=True)):
        seed = int(hashlib.md5(f"{title}|{abstract}".encode()).hexdigest()[:12], 16)
        out[i] = np.random.default_rng(seed).normal(size=dims)
    return out / np.linalg.norm(out, axis=1, keepdims=True)


def constant(titles, abstracts) -> np.ndarray:
    """One vector for every text."""
    return np.full((len(titles), 8), 8**-0.5, dtype=np.float32)


def knowing(vector_of: dict[int, np.ndarray]):
    """An encoder that recognises each document and gives it the vector it is told to."""
    held = [*documents(), *works()]
    by_title = {one["title"]: vector_of.get(one["doc_id"]) for one in held}
    dims = len(next(iter(vector_of.values())))
    spare = np.zeros(dims, dtype=np.float32)

    def embed(titles, abstracts) -> np.ndarray:
        known = [by_title[title] for title in titles]
        return np.stack([spare if one is None else one for one in known]).astype(np.float32)

    return embed


def citing_oracle(kind: str):
    """Ranks what a query cites above everything else, and only that."""
    rows, corpus = query_rows(kind)
    place = {row["doc_id"]: i for i, row in enumerate(corpus)}
    vectors = {doc_id: np.eye(len(place))[i] for doc_id, i in place.items()}
    for row in rows:
        vectors.setdefault(row["query_id"], np.zeros(len(place)))[place[row["doc_id"]]] = 1.0
    return knowing(vectors)


def system(embed, name: str = "probe", **more) -> System:
    """An encoder of the tests with a cutoff of its own."""
    given = {"cutoff": CUTOFF, "states_cutoff": True, "tuned": False, "fingerprint": name} | more
    return System(name=name, embed=embed, **given)
