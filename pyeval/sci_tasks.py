"""SciRepEval's tasks as data, and the suites of them that the papers report."""

from dataclasses import dataclass
from typing import Literal

from warehouse.errors import unknown

SciFormat = Literal["classify", "regress", "proximity", "search", "reviewers", "triplets"]

# The format that a task's scores are kept and averaged under.
KEPT_AS: dict[SciFormat, str] = {
    "classify": "classify",
    "regress": "regress",
    "proximity": "retrieve",
    "search": "retrieve",
    "reviewers": "retrieve",
    "triplets": "retrieve",
}


@dataclass(frozen=True, slots=True)
class SciTask:
    """One task of SciRepEval as its harness runs it.

    Source: `scirepeval_tasks.jsonl` of the harness; sources.md, section 11.
    """

    name: str
    format: SciFormat
    texts: str  # config of allenai/scirepeval, or folder, that holds titles and abstracts
    test: str  # config of allenai/scirepeval_test, or folder, that holds labels
    metrics: tuple[str, ...]  # of record first; those that the harness prints
    multilabel: bool = False
    few_shot: tuple[tuple[int, int], ...] = ()  # (examples, repetitions)
    simple: bool = False  # proximity whose texts stand one a row, not as query and candidates
    fields: tuple[str, ...] = ("title", "abstract")

    @property
    def kept_as(self) -> str:
        """The format of its score rows."""
        return KEPT_AS[self.format]


_F1, _TAU, _MAP, _NDCG = ("macro_f1",), ("kendall_tau",), ("map",), ("ndcg",)
_BOTH, _SCIDOCS = ("map", "ndcg"), "scidocs_view_cite_read"
_FOS, _BIO, _DRSM = ((10, 50), (5, 100)), ((64, 50), (16, 100)), ((64, 50), (24, 100))
_HINDEX = "peer_review_score_hIndex"

SCI_TASKS: dict[str, SciTask] = {
    task.name: task
    for task in (
        SciTask("sci_fos", "classify", "fos", "fos", _F1, multilabel=True, few_shot=_FOS),
        SciTask(
            "sci_biomimicry", "classify", "biomimicry", "biomimicry", ("binary_f1",), few_shot=_BIO
        ),
        SciTask("sci_drsm", "classify", "drsm", "drsm", _F1, few_shot=_DRSM),
        SciTask("sci_mesh", "classify", "mesh_descriptors", "mesh_descriptors", _F1),
        SciTask("sci_scidocs_mag", "classify", "scidocs_mag_mesh", "scidocs_mag", _F1),
        SciTask("sci_scidocs_mesh", "classify", "scidocs_mag_mesh", "scidocs_mesh", _F1),
        SciTask("sci_cite_count", "regress", "cite_count", "cite_count", _TAU),
        SciTask("sci_pub_year", "regress", "pub_year", "pub_year", _TAU),
        SciTask("sci_peer_review_score", "regress", _HINDEX, "peer_review_score", _TAU),
        SciTask("sci_max_hindex", "regress", _HINDEX, "hIndex", _TAU),
        SciTask("sci_tweet_mentions", "regress", "tweet_mentions", "tweet_mentions", _TAU),
        SciTask("sci_same_author", "proximity", "same_author", "same_author", _MAP),
        SciTask(
            "sci_high_influence_cite",
            "proximity",
            "high_influence_cite",
            "high_influence_cite",
            _MAP,
        ),
        SciTask("sci_relish", "proximity", "relish", "relish", _NDCG),
        SciTask("sci_scidocs_cite", "proximity", _SCIDOCS, "scidocs_cite", _BOTH, simple=True),
        SciTask("sci_scidocs_view", "proximity", _SCIDOCS, "scidocs_view", _BOTH, simple=True),
        SciTask("sci_scidocs_cocite", "proximity", _SCIDOCS, "scidocs_cocite", _BOTH, simple=True),
        SciTask("sci_scidocs_read", "proximity", _SCIDOCS, "scidocs_read", _BOTH, simple=True),
        SciTask(
            "sci_paper_reviewer",
            "reviewers",
            "paper_reviewer_matching",
            "paper_reviewer_matching",
            ("p_at_5", "p_at_10"),
            simple=True,
        ),
        SciTask(
            "sci_cite_prediction", "triplets", "cite_prediction", "cite_prediction", ("accuracy",)
        ),
        SciTask(
            "sci_search",
            "search",
            "search",
            "search",
            _NDCG,
            fields=("title", "abstract", "venue", "year"),
        ),
        SciTask("sci_nfcorpus", "search", "nfcorpus", "nfcorpus", _NDCG),
        SciTask("sci_trec_covid", "search", "trec_covid", "trec_covid", _NDCG),
    )
}

_OUT_OF_THE_18 = (
    "sci_mesh",
    "sci_scidocs_mag",
    "sci_scidocs_mesh",
    "sci_paper_reviewer",
    "sci_cite_prediction",
)
SUITES: dict[str, tuple[str, ...]] = {
    "scitbert": tuple(name for name in SCI_TASKS if name not in _OUT_OF_THE_18),
    "sciembed": tuple(name for name in SCI_TASKS if name != "sci_cite_prediction"),
    "scijepa": (
        "sci_high_influence_cite",
        "sci_relish",
        "sci_scidocs_cite",
        "sci_scidocs_view",
        "sci_scidocs_cocite",
        "sci_scidocs_read",
        "sci_cite_prediction",
    ),
}


def pick_suite(suite: str, names: tuple[str, ...] = ()) -> list[SciTask]:
    """The tasks of a suite in the table's order, or those of them that are named.

    Raises:
        UserError: no such suite, or a task that is not in it.
    """
    if suite not in SUITES:
        raise unknown("suite", suite, SUITES, "pyeval tasks --suite scitbert")
    for name in names:
        if name not in SUITES[suite]:
            raise unknown(
                f"task of suite {suite}", name, SUITES[suite], f"pyeval tasks --suite {suite}"
            )
    return [SCI_TASKS[name] for name in SUITES[suite] if not names or name in names]
