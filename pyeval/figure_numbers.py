"""The numbers that the paper's figures draw, as rows that stand beside each picture."""

from collections.abc import Collection, Sequence
from statistics import fmean

from pyeval.grid import Entry, Grid, category_means, ranks, z_scores
from pyeval.paper_tasks import BENCHMARKS, CATEGORIES, Benchmark, PaperTask
from pyeval.tasks import LABELS

Rows = list[dict[str, object]]

# The paper's selection cannot be read from its text; these are our choice, some of each format.
SELECTED: dict[Benchmark, tuple[str, ...]] = {
    "Pat": (
        "cpc_section", "grant_abandon", "renewal", "forward_citation", "kogan_value",
        "patent_cite", "same_inventor", "patent_paper_citation", "ppp_paper_patent",
    ),
    "Sci": (
        "sci_fos", "sci_biomimicry", "sci_cite_count", "sci_pub_year", "sci_same_author",
        "sci_high_influence_cite", "sci_scidocs_cite", "sci_search", "sci_nfcorpus",
    ),
}  # fmt: skip


def kind(entry: Entry) -> str:
    """What a colour says: baseline, vintage, or tuned vintage."""
    if entry.vintage is None:
        return "baseline"
    return "tuned vintage" if entry.vintage.tuned else "vintage"


def category_rows(grid: Grid) -> Rows:
    """Figure 1: every mean of a category that can be formed, by system."""
    return [
        {
            "category": CATEGORIES[category],
            "mean_of": part,
            "system": entry.label,
            "kind": kind(entry),
            "cutoff": entry.cutoff,
            "value": mean.value,
        }
        for entry in grid.entries
        for (category, part), mean in category_means(grid, entry.label).items()
        if mean.value is not None
    ]


def task_rows(
    grid: Grid,
    benchmark: Benchmark,
    *,
    vintages: Collection[int] = (),
    names: Collection[str] = (),
) -> Rows:
    """Figures 2 and 3: selected tasks by vintage, baselines beside.

    Args:
        grid: the scores.
        benchmark: Pat for Figure 2, Sci for Figure 3.
        vintages: years to draw; see `years_shown` when left out.
        names: tasks to draw; `SELECTED`, as far as there are scores, when left out.
    """
    years = set(vintages or years_shown(grid, benchmark))
    drawn = [task for task in grid.scored(benchmark) if task.name in (names or SELECTED[benchmark])]
    return [
        {
            "task": task.name,
            "title": task.title,
            "metric": _metric(task),
            "column": grid.column,
            "system": entry.label,
            "kind": kind(entry),
            "cutoff": entry.cutoff,
            "value": row["value"],
            "low": row["low"],
            "high": row["high"],
            "n": row["n"],
            "contaminated": row["contaminated"],
        }
        for entry in grid.entries
        if entry.vintage is None or entry.vintage.year in years
        for task in drawn
        if (row := grid.cells.get((entry.label, task.name)))
    ]


def years_shown(grid: Grid, benchmark: Benchmark) -> list[int]:
    """First and last vintage for Figure 2; for Figure 3 all, and of more than seven the odd ones.

    Source: scitbert.txt, Figures 2 (2013 and 2024) and 3 (odd years).
    """
    have = {label for label, task in grid.cells if task in {t.name for t in grid.scored(benchmark)}}
    years = sorted({e.vintage.year for e in grid.entries if e.vintage and e.label in have})
    if benchmark == "Pat":
        return sorted({*years[:1], *years[-1:]})
    return years if len(years) <= 7 else [year for year in years if year % 2]


def heat_rows(grid: Grid) -> Rows:
    """Figures 4 to 6: every score with its z-score and rank among the systems of the grid.

    A task that one system alone was scored on compares nothing and is left out.
    """
    held = {task: grid.values(task.name) for task in grid.scored()}
    held = {task: found for task, found in held.items() if len(found) > 1}
    order = {task: ranks(found) for task, found in held.items()}
    z = {task: z_scores(found) for task, found in held.items()}
    return [
        {
            "benchmark": BENCHMARKS[task.benchmark],
            "category": CATEGORIES[task.category],
            "task": task.name,
            "title": f"{task.benchmark} {task.title}",
            "metric": _metric(task),
            "column": grid.column,
            "system": entry.label,
            "value": found[entry.label],
            "mean": fmean(found.values()),
            "z": z[task].get(entry.label),
            "rank": order[task][entry.label],
            "systems": len(found),
        }
        for entry in grid.entries
        for task, found in held.items()
        if entry.label in found
    ]


def heat_grids(grid: Grid) -> Sequence[tuple[str, str, Grid]]:
    """Figure 4 of all systems, 5 of those that saw no pair of documents, 6 of those that did."""
    plain = [entry.label for entry in grid.entries if not entry.tuned]
    tuned = [entry.label for entry in grid.entries if entry.tuned]
    return (
        ("figure4", "All systems", grid),
        ("figure5", "Untuned systems", grid.only(plain)),
        ("figure6", "Tuned systems", grid.only(tuned)),
    )


def _metric(task: PaperTask) -> str:
    return LABELS.get(task.metric, {"ndcg": "nDCG"}.get(task.metric, task.metric))
