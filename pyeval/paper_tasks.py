"""The tasks of the paper's tables: 27 of PatRepEval and 18 of SciRepEval, by category."""

from dataclasses import dataclass
from typing import Literal

from pyeval.sci_tasks import SCI_TASKS, SUITES

Benchmark = Literal["Sci", "Pat"]

BENCHMARKS: dict[Benchmark, str] = {"Sci": "SciRepEval", "Pat": "PatRepEval"}
# Formats of the score rows, as the paper calls them.
CATEGORIES = {"classify": "Classification", "regress": "Regression", "retrieve": "Proximity"}


@dataclass(frozen=True, slots=True)
class PaperTask:
    """One column of the paper's tables."""

    name: str  # as in the score rows
    title: str
    benchmark: Benchmark
    category: str  # a key of `CATEGORIES`
    metric: str  # the one that enters the means


def _pat(category: str, metric: str, *names: str) -> tuple[PaperTask, ...]:
    return tuple(
        PaperTask(name, _TITLES.get(name, _spelt(name)), "Pat", category, metric) for name in names
    )


def _spelt(name: str) -> str:
    """ppp_paper_patent is written PPP Paper Patent."""
    capitals = {"cpc", "ppp", "pqr", "us", "vc"}
    return " ".join(
        word.upper() if word in capitals else word.capitalize() for word in name.split("_")
    )


_TITLES = {
    "sci_fos": "Fields of Study",
    "sci_drsm": "DRSM",
    "sci_max_hindex": "Max h-index",
    "sci_relish": "RELISH",
    "sci_scidocs_cite": "SciDocs Cite",
    "sci_scidocs_view": "SciDocs View",
    "sci_scidocs_cocite": "SciDocs Cocite",
    "sci_scidocs_read": "SciDocs Read",
    "sci_nfcorpus": "NFCorpus",
    "sci_trec_covid": "TREC-CoVID",
}

# Source: scitbert.txt, Table 1; proximity tasks enter the means with MAP (patrepeval.md).
PATREPEVAL: tuple[PaperTask, ...] = (
    *_pat("classify", "macro_f1", "cpc_section", "cpc_subclass", "assignee_type"),
    *_pat(
        "classify", "binary_f1",
        "academic_public", "us_foreign", "vc_backed", "grant_abandon", "renewal",
        "ppp_patent", "ppp_paper", "pqr_patent", "pqr_paper",
    ),
    *_pat(
        "regress", "kendall_tau",
        "grant_year", "forward_citation", "kogan_value", "science_uptake",
    ),
    *_pat(
        "retrieve", "map",
        "same_inventor", "patent_cite", "patent_cocite", "same_initial_assignee",
        "assignee_patent_match", "patent_paper_citation", "paper_patent_retrieval",
        "papers_cocite", "ppp_paper_patent", "pqr_patent_paper", "pqr_paper_patent",
    ),
)  # fmt: skip
# Source: scitbert.txt, section SciRepEval: 18 of its 24 tasks.
SCIREPEVAL: tuple[PaperTask, ...] = tuple(
    PaperTask(
        name,
        _TITLES.get(name, _spelt(name.removeprefix("sci_"))),
        "Sci",
        SCI_TASKS[name].kept_as,
        SCI_TASKS[name].metrics[0],
    )
    for category in CATEGORIES
    for name in SUITES["scitbert"]
    if SCI_TASKS[name].kept_as == category
)
PAPER_TASKS: dict[str, PaperTask] = {task.name: task for task in (*SCIREPEVAL, *PATREPEVAL)}


def tasks_of(benchmark: Benchmark, category: str) -> tuple[PaperTask, ...]:
    """The tasks whose mean is one cell of Table 2."""
    return tuple(
        task
        for task in PAPER_TASKS.values()
        if (task.benchmark, task.category) == (benchmark, category)
    )
