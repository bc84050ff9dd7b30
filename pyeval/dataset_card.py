"""The card of an exported benchmark: tasks, sizes, sources and the licence of each."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pyeval.tasks import TASKS, Task
from warehouse.tables import ALL, Lake
from warehouse.versions import versions_of

_COLUMNS = [
    "source", "table_name", "present", "n_rows", "latest_year", "licence", "switches_on",
    "get_it_from",
]  # fmt: skip
# Where the texts of a task's documents come from, by what its inputs name.
_TEXTS = {
    "patent": ("patentsview.g_patent", "patentsview.g_patent_abstract"),
    "application": (
        "patentsview.pg_published_application", "patentsview.pg_published_application_abstract"
    ),
    "paper": ("openalex.works",),
}  # fmt: skip
_OF_S2 = ("s2ag.papers", "s2ag.abstracts")  # the papers of paper_cite, our own task


def sources_of(task: Task, rows: Iterable[dict]) -> list[dict]:
    """The raw tables that a task's labels and texts are made of, among rows of audit.sources."""
    texts = {
        name
        for kind in task.inputs.replace("patents", "patent").split(">")
        for name in (_OF_S2 if task.name == "paper_cite" else _TEXTS[kind])
    }
    return [
        row
        for row in rows
        if row["present"]
        and (
            f"{row['source']}.{row['table_name']}" in texts
            or task.name in row["switches_on"].split(", ")
        )
    ]


def write_card(lake: Lake, metas: Sequence[dict], n_documents: int, path: Path) -> None:
    """Write README.md of an export.

    Args:
        lake: what was exported.
        metas: the meta.json of each task.
        n_documents: rows of documents.parquet.
        path: where the card goes.
    """
    rows = lake.read("audit.sources", _COLUMNS, cutoff=ALL).to_pylist()
    used = {meta["slug"]: sources_of(TASKS[meta["slug"]], rows) for meta in metas}
    every = {f"{row['source']}.{row['table_name']}": row for one in used.values() for row in one}
    licences = sorted({row["licence"] for row in every.values()})
    first, last = lake.years()
    lines = [
        "# A benchmark of patents and papers, built from raw records",
        "",
        f"{len(metas)} tasks on {n_documents:,} documents of a lake that spans {first}-{last}, "
        f"built by SciTLake {versions_of(('scitlake',))['scitlake']} with the rules of PatRepEval "
        "(arXiv 2610.12207, Appendix B). It is a build of those rules, not the published files.",
        "",
        "Score an encoder on it with `pyeval run MODEL --from <this folder>`.",
        "",
        "## Tasks",
        "",
        "| task | format | metric | train | test | queries | corpus | labels | licences |",
        "|---|---|---|--:|--:|--:|--:|---|---|",
    ]
    for meta in metas:
        sizes = [
            f"{meta[name]:,}" if name in meta else ""
            for name in ("n_train", "n_test", "n_queries", "n_corpus")
        ]
        own = sorted({row["licence"] for row in used[meta["slug"]]})
        cells = [meta["slug"], meta["task_type"], ", ".join(meta["metric"]), *sizes,
                 meta["label_source"], "; ".join(own)]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "## Sources",
        "",
        "Each row of the tasks and each text keeps the licence of the table it comes from. Whoever "
        "passes this folder on is bound by all of them: " + "; ".join(licences) + ".",
        "",
        "| table | rows | latest year | licence | from |",
        "|---|--:|--:|---|---|",
    ]
    for name, row in sorted(every.items()):
        cells = [name, f"{row['n_rows']:,}", str(row["latest_year"] or ""), row["licence"],
                 row["get_it_from"]]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *_FILES]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


_FILES = (
    "## Files",
    "",
    "- `documents.parquet`: `doc_id`, the publisher's id in `doc_uri`, `title`, `abstract`; "
    "`known_year`, from which on it is a document of the lake's corpus (null: only the benchmark "
    "reads it); `text_year_production`, `_publication`, `_filing`: the first year in which a "
    "training slice, dated in that way, holds its text under any id of its work.",
    "- `<task>/train.parquet`, `test.parquet`: `doc_id`, `task_year`, `label_year` (the first year "
    "in which the label could be known), `label`.",
    "- `<task>/queries.parquet` (`query_id`, `task_year`, `label_year`; `documents` where a query "
    "is the mean of several), `corpus.parquet` (`doc_id`), `qrels.parquet` (`query_id`, `doc_id`, "
    "`relevant`, `label_year`, `edge_year`, from which on a citation joins the two works; "
    "`trigram_overlap` with the query, above 0.2 a near-copy).",
    "- `<task>/meta.json`: the names of the columns, the sizes and the settings of the build.",
)
