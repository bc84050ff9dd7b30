"""The tasks as data: one row each, read like the paper's Table 1."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from warehouse.errors import UserError, unknown

Format = Literal["classify", "regress", "retrieve"]

METRICS: dict[str, frozenset[str]] = {
    "classify": frozenset({"macro_f1", "binary_f1"}),
    "regress": frozenset({"kendall_tau"}),
    "retrieve": frozenset({"map", "ndcg_at_10", "p_at_5", "p_at_10"}),
}
LABELS: dict[str, str] = {
    "macro_f1": "macro F1",
    "binary_f1": "F1",
    "kendall_tau": "tau",
    "map": "MAP",
    "ndcg_at_10": "nDCG@10",
    "p_at_5": "P@5",
    "p_at_10": "P@10",
}


@dataclass(frozen=True, slots=True)
class Task:
    """A label table and how to score it; the SQL model `task_<name>` holds the rows.

    A retrieval task has a second SQL model, `corpus_<name>`, the documents ranked, and where a
    query is made of several documents a third, `queries_<name>`, that lists them.
    """

    name: str
    format: Format
    metric: str  # the score that enters the means, on a 0-100 scale
    # "patent", "application", "paper", or "query>corpus"; "patents>" where a query is several
    inputs: str
    source: str  # who publishes the labels
    also: tuple[str, ...] = ()  # further metrics, printed beside
    multilabel: bool = False
    positive: str = ""  # the positive class of binary_f1
    beside: str = ""  # a class whose F1 is printed beside, as `<name>_<class>`
    log1p: bool = False  # the target is a count: regress log(1 + x)
    citations: bool = False  # labels are made of the citations that tuning trains on
    distinct: bool = False  # scored without near-copies too, as `<name>_distinct`
    parts: bool = False  # a query is the mean of several documents
    corpus_size: int = 0  # documents ranked for each query; 0 unless format="retrieve"

    def __post_init__(self) -> None:
        """A row that contradicts itself fails at import."""
        wrong = {self.metric, *self.also} - METRICS[self.format]
        if wrong:
            raise ValueError(f"{self.name}: {sorted(wrong)} is no metric of {self.format}")
        if (self.metric == "binary_f1") != bool(self.positive):
            raise ValueError(f"{self.name}: binary_f1 needs its positive class, and only it")
        if self.beside and not self.positive:
            raise ValueError(f"{self.name}: a class beside belongs to binary_f1")
        if (self.format == "retrieve") != bool(self.corpus_size):
            raise ValueError(f"{self.name}: a corpus size belongs to retrieval, and only there")
        if self.parts and self.format != "retrieve":
            raise ValueError(f"{self.name}: only a query is made of several documents")

    @property
    def table(self) -> str:
        """The view that holds the labels."""
        return f"tasks.task_{self.name}"

    @property
    def corpus_table(self) -> str:
        """The view that holds the documents ranked."""
        return f"tasks.corpus_{self.name}"

    @property
    def queries_table(self) -> str:
        """The view that lists the documents of each query, where they are several."""
        return f"tasks.queries_{self.name}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metric of record first, then those printed beside it."""
        return (self.metric, *self.also)


_NDCG = ("ndcg_at_10",)

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("cpc_section", "classify", "macro_f1", "patent", "USPTO"),
        Task("cpc_subclass", "classify", "macro_f1", "patent", "USPTO", multilabel=True),
        Task("assignee_type", "classify", "macro_f1", "patent", "USPTO"),
        Task("academic_public", "classify", "binary_f1", "patent", "OCPB", positive="public"),
        # The foreign class is the rare one: its F1 is printed beside.
        Task(
            "us_foreign", "classify", "binary_f1", "patent", "OCPB", positive="us", beside="foreign"
        ),
        Task("vc_backed", "classify", "binary_f1", "patent", "OCPB", positive="backed"),
        Task("grant_abandon", "classify", "binary_f1", "application", "USPTO", positive="granted"),
        Task("renewal", "classify", "binary_f1", "patent", "USPTO", positive="maintained"),
        Task("ppp_patent", "classify", "binary_f1", "patent", "PPP", positive="paired"),
        Task("ppp_paper", "classify", "binary_f1", "paper", "PPP", positive="paired"),
        Task("pqr_patent", "classify", "binary_f1", "patent", "PQR", positive="researcher"),
        Task("pqr_paper", "classify", "binary_f1", "paper", "PQR", positive="researcher"),
        Task("grant_year", "regress", "kendall_tau", "patent", "USPTO"),
        Task(
            "forward_citation",
            "regress",
            "kendall_tau",
            "patent",
            "USPTO",
            log1p=True,
            citations=True,
        ),
        Task("kogan_value", "regress", "kendall_tau", "patent", "KPSS"),
        Task(
            "science_uptake",
            "regress",
            "kendall_tau",
            "paper",
            "RoS",
            log1p=True,
            citations=True,
        ),
        Task(
            "same_inventor",
            "retrieve",
            "map",
            "patent>patent",
            "USPTO",
            also=_NDCG,
            corpus_size=100_000,
        ),
        Task(
            "patent_cite",
            "retrieve",
            "map",
            "patent>patent",
            "USPTO",
            also=_NDCG,
            citations=True,
            distinct=True,
            corpus_size=100_000,
        ),
        Task(
            "patent_cocite",
            "retrieve",
            "map",
            "patent>patent",
            "USPTO",
            also=_NDCG,
            citations=True,
            distinct=True,
            corpus_size=100_000,
        ),
        Task(
            "same_initial_assignee",
            "retrieve",
            "map",
            "patent>patent",
            "OCPB",
            also=_NDCG,
            corpus_size=100_000,
        ),
        Task(
            "assignee_patent_match",
            "retrieve",
            "map",
            "patents>patent",
            "USPTO",
            also=("p_at_5", "p_at_10"),
            parts=True,
            corpus_size=100_000,
        ),
        Task(
            "patent_paper_citation",
            "retrieve",
            "map",
            "patent>paper",
            "RoS",
            also=_NDCG,
            citations=True,
            corpus_size=500_000,
        ),
        Task(
            "paper_patent_retrieval",
            "retrieve",
            "map",
            "paper>patent",
            "RoS",
            also=_NDCG,
            citations=True,
            corpus_size=100_000,
        ),
        Task(
            "papers_cocite",
            "retrieve",
            "map",
            "paper>paper",
            "RoS",
            also=_NDCG,
            citations=True,
            corpus_size=100_000,
        ),
        Task(
            "ppp_paper_patent",
            "retrieve",
            "map",
            "paper>patent",
            "PPP",
            also=_NDCG,
            corpus_size=100_000,
        ),
        Task(
            "pqr_patent_paper",
            "retrieve",
            "map",
            "patent>paper",
            "PQR",
            also=_NDCG,
            corpus_size=500_000,
        ),
        Task(
            "pqr_paper_patent",
            "retrieve",
            "map",
            "paper>patent",
            "PQR",
            also=_NDCG,
            corpus_size=100_000,
        ),
        # Ours: the papers' own citations, which every lake with Semantic Scholar can score.
        Task(
            "paper_cite",
            "retrieve",
            "map",
            "paper>paper",
            "Semantic Scholar",
            also=_NDCG,
            citations=True,
            corpus_size=500_000,
        ),
    )
}


_SCORED_WITH = {
    f"{task.name}_{variant}": task.name
    for task in TASKS.values()
    for variant in (task.distinct and "distinct", task.beside)
    if variant
}


def pick(names: Iterable[str]) -> list[Task]:
    """The tasks of these names in the table's order; all of them when none is named."""
    wanted = set(names)
    for name in sorted(wanted):
        base = _SCORED_WITH.get(name)
        if base:
            raise UserError(f"{name!r} is scored together with {base!r}. Run: --task {base}")
        if name not in TASKS:
            raise unknown("task", name, TASKS, "pyeval tasks")
    return [task for task in TASKS.values() if not wanted or task.name in wanted]
