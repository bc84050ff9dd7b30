"""The year from which training could read a text, as exported, against the slices themselves."""

import numpy as np
import pytest
import tiny_tasks
from tiny_tasks import CUTOFF, READ_BEFORE_GRANT, make_task_lake

from pyeval import columns
from pyeval.export import text_years
from warehouse.dated import BASES
from warehouse.tables import ALL, Lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    with Lake(make_task_lake(tmp_path_factory.mktemp("lake"))) as opened:
        yield opened


def test_text_years_count_every_id_of_a_work(lake):
    """A patent granted after the cutoff whose application was readable before it."""
    pairs = tiny_tasks.applications()
    ids = np.array(sorted(pairs))
    assert len(ids) == READ_BEFORE_GRANT
    by_basis = text_years(lake, ids)
    assert list(by_basis) == list(BASES)
    assert (by_basis["production"] <= CUTOFF).all()
    alone = np.array([one["doc_id"] for one in tiny_tasks.documents("patent")])
    alone = alone[~np.isin(alone, ids)]
    known = {one["doc_id"]: one["known_year"] for one in tiny_tasks.documents("patent")}
    assert text_years(lake, alone)["production"].tolist() == [known[i] for i in alone.tolist()]


@pytest.mark.parametrize("where", ["planted", "sample"])
def test_text_years_are_those_of_the_slices_on_each_basis(lake, sample_lake, where):
    """At any cutoff, what could be read is what `text_seen` finds in that basis's slice."""
    with Lake(sample_lake if where == "sample" else lake.folder) as tables:
        ids = tables.read("documents", ["doc_id"], cutoff=ALL).column(0).to_numpy()
        by_basis = text_years(tables, np.sort(ids)[::7])
        read = [one.name for one in tables.reads]
        assert sorted(read) == ["documents", "documents", "pretrain_text", "same_work"]
        for cutoff in (2001, CUTOFF, 2014):
            for basis, years in by_basis.items():
                seen = columns.text_seen(tables, np.sort(ids)[::7], cutoff, [basis])
                np.testing.assert_array_equal(years <= cutoff, seen, err_msg=f"{basis} {cutoff}")
    differ = by_basis["production"] != by_basis["publication"]
    assert differ.any() and (by_basis["production"] != by_basis["filing"]).any()
