"""The benchmarks run, and each peer does the same work: they compare before they time."""

import json

import pytest
from click.testing import CliRunner

from tests.bench import __main__ as bench
from tests.bench import scores, text
from tests.bench.timing import Row

SMALL = {
    "mlm": lambda: text.mlm_step(layers=1, hidden=64, documents=8, per_batch=4),
    "embedding": lambda: text.embedding(documents=8),
    "reading": lambda: text.reading(documents=300, group=100),
    "probe": lambda: scores.probe(rows=600, width=16, epochs=2),
    "ridge": lambda: scores.ridge(rows=400, columns=16),
    "metrics": lambda: scores.metrics(queries=50),
    "retrieval": lambda: scores.retrieval(queries=20, corpus=1_000, width=32),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_measures_both_sides(name):
    for row in SMALL[name]():
        assert row.own > 0, row
        assert (row.other or 0) > 0 or "not installed" in row.note, row


def test_rows_are_written_with_the_machine(tmp_path, monkeypatch):
    made = [Row(kernel="k", peer="p", own=2.0, other=8.0, floor=3, limit=1.0), Row(
        kernel="k", peer="q", own=2.0, other=None, floor=3, note="q is not installed")]  # fmt: skip
    monkeypatch.setitem(bench.KERNELS, "metrics", lambda: made)
    done = CliRunner().invoke(bench.main, ["metrics", "--json", str(tmp_path / "new" / "b.json")])
    assert done.exit_code == 0, done.output
    assert "k\tp\t2.000\t8.000\t4.0\t3\t0.50\tmet\t" in done.stdout
    found = json.loads((tmp_path / "new" / "b.json").read_text())
    assert [row["verdict"] for row in found["rows"]] == ["met", "not measured"]
    assert found["machine"]["versions"]["numpy"]
