"""Relevants that a citation joins to their query, apart from those that none does."""

import json
from dataclasses import replace

import duckdb
import numpy as np
import pytest
import tiny_tasks
from test_score import FAST as WHOLE
from test_score import scored as scored_with
from tiny_tasks import CUTOFF, documents, make_task_lake

from pyeval.labels import read_labels
from pyeval.protocol import depth_needed
from pyeval.seen_pairs import NEVER, CitedPairs, first_cited
from pyeval.tasks import TASKS
from warehouse.tables import Lake

FAST = replace(WHOLE, seen_pairs=True)


def scored(lake, system, names, settings=FAST, **more):
    return scored_with(lake, system, names, settings, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The tiny lake with one more tie: a citation that only another record of a patent has."""
    made = make_task_lake(tmp_path_factory.mktemp("lake"))
    patents = sorted(one["doc_id"] for one in documents("patent"))
    with duckdb.connect(str(made / "lake.duckdb")) as lake:
        lake.sql(f"""
            insert into graph.citation_edges by name
            select {max(patents)} as citing_id, 999999 as cited_id, * exclude (citing_id, cited_id)
            from graph.citation_edges order by known_year desc, citing_id desc limit 1""")
        lake.execute(
            "insert into corpus.same_work values (?, ?, 'doi', 2015)", [999999, patents[3]]
        )
        lake.sql("""
            create table ordered as from graph.citation_edges
            order by known_year, citing_id, cited_id""")
        lake.sql("drop table graph.citation_edges")
        lake.sql("create table graph.citation_edges as from ordered")
    return made


@pytest.fixture(scope="module")
def lake(folder):
    with Lake(folder) as opened:
        yield opened


def works(lake):
    rows = lake.query("select doc_id, work_id from corpus.same_work").read_all().to_pydict()
    return dict(zip(rows["doc_id"], rows["work_id"], strict=True))


def cited_by_hand(lake):
    """Unordered pair of works -> first year, by a loop over the edges."""
    work_of, found = works(lake), {}
    rows = lake.query("select citing_id, cited_id, known_year from graph.citation_edges").read_all()
    for citing, cited, year in zip(*(c.to_pylist() for c in rows.columns), strict=True):
        pair = frozenset((work_of.get(citing, citing), work_of.get(cited, cited)))
        if len(pair) == 2:
            found[pair] = min(year, found.get(pair, NEVER))
    return found


def test_years_of_citations_follow_works_and_not_the_direction(lake):
    held = np.array(sorted(one["doc_id"] for one in documents()))
    a, b = np.repeat(held, 40), np.tile(held[:40], len(held))
    work_of, by_hand = works(lake), cited_by_hand(lake)
    expected = [
        by_hand.get(frozenset((work_of.get(x, x), work_of.get(y, y))), NEVER)
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    found = first_cited(lake, a, b)
    assert found.tolist() == expected == first_cited(lake, b, a).tolist()
    assert 20 < (found < NEVER).sum() < len(found)
    patents = sorted(one["doc_id"] for one in documents("patent"))
    through_another_record = first_cited(lake, np.array([patents[-1]]), np.array([patents[3]]))
    assert through_another_record[0] <= 2015


@pytest.mark.parametrize("name", ["patent_cite", "assignee_patent_match", "patent_paper_citation"])
def test_a_query_of_several_documents_is_cited_where_one_of_them_is(lake, name):
    queries = read_labels(lake, TASKS[name])
    by_hand, work_of = cited_by_hand(lake), works(lake)
    parts = {}
    for query, document in zip(*(side.tolist() for side in queries.parts), strict=True):
        parts.setdefault(query, []).append(work_of.get(document, document))
    expected = []
    for query, place in zip(*(side.tolist() for side in queries.relevant), strict=True):
        document = int(queries.corpus[place])
        right = work_of.get(document, document)
        expected.append(min(by_hand.get(frozenset((left, right)), NEVER) for left in parts[query]))
    assert CitedPairs(lake, [queries]).years(queries).tolist() == expected


def pairs_known_by_the_cutoff(lake, name):
    queries = read_labels(lake, TASKS[name])
    cited = CitedPairs(lake, [queries])(queries, CUTOFF)
    assert cited.any() and not cited.all()
    return queries, cited


def test_an_encoder_that_knows_the_seen_pairs_scores_on_them_alone(lake):
    """same_inventor shares its pairs with patent_cite here, so citations by 2012 are the seen."""
    queries, cited = pairs_known_by_the_cutoff(lake, "same_inventor")
    vectors = {int(doc): np.eye(len(queries.corpus))[i] for i, doc in enumerate(queries.corpus)}
    for query, document, seen in zip(*queries.relevant, cited, strict=True):
        own = vectors.setdefault(int(queries.ids[query]), np.zeros(len(queries.corpus)))
        own[document] = seen
    tuned = tiny_tasks.system(tiny_tasks.knowing(vectors), tuned=True)
    rows = scored(lake, tuned, ["same_inventor"])
    assert rows["same_inventor_seen", "map", "all"]["value"] == pytest.approx(100)
    assert rows["same_inventor_unseen", "map", "all"]["value"] < 15
    assert rows["same_inventor_seen", "map", "all"]["n"] == len(
        np.unique(queries.relevant[0][cited])
    )
    assert rows["same_inventor_unseen", "map", "all"]["n"] == len(
        np.unique(queries.relevant[0][~cited])
    )
    assert rows["same_inventor_seen", "map", "all"]["contaminated"]
    assert not rows["same_inventor_unseen", "map", "in_time"]["contaminated"]
    assert (
        json.loads(rows["same_inventor_seen", "map", "all"]["settings"])["relevants"] == cited.sum()
    )


def test_the_ranking_is_deep_enough_for_either_part(lake):
    queries, cited = pairs_known_by_the_cutoff(lake, "same_inventor")
    most = max(np.bincount(queries.relevant[0][one]).max() for one in (cited, ~cited))
    assert depth_needed(queries, FAST, cited) == FAST.depth + most
    assert depth_needed(queries, FAST, np.ones_like(cited)) == FAST.depth


def test_every_system_is_divided_alike_and_only_the_tuned_was_taught(lake):
    names, embed = ["same_inventor"], tiny_tasks.hashed
    untuned = scored(lake, tiny_tasks.system(embed), names)
    tuned = scored(lake, tiny_tasks.system(embed, tuned=True), names)
    whole = scored(lake, tiny_tasks.system(embed), names, WHOLE)
    assert {task for task, _, _ in whole} == {"same_inventor"}
    assert {task for task, _, _ in untuned} == {
        "same_inventor", "same_inventor_seen", "same_inventor_unseen"
    }  # fmt: skip
    for key, row in untuned.items():
        assert row["value"] == tuned[key]["value"]
        assert not row["contaminated"]
        assert tuned[key]["contaminated"] == key[0].endswith("_seen")


def test_without_a_cutoff_no_pair_is_known_to_be_seen(lake):
    tuned = tiny_tasks.system(tiny_tasks.hashed, tuned=True)
    rows = scored(lake, tuned, ["same_inventor"], cutoff=None)
    assert {task for task, _, _ in rows} == {"same_inventor"}
