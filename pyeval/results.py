"""Score rows and the evidence beneath them, kept as Parquet."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.beside import file_beside
from warehouse.errors import UserError, unknown
from warehouse.sources import runs_root

ROWS = pa.schema(
    [
        ("model", pa.string()),
        ("model_fingerprint", pa.string()),
        ("cutoff", pa.int32()),  # the year that divides in time from out of time
        ("whitened", pa.bool_()),
        ("task", pa.string()),  # with its variant: patent_cite_distinct, cpc_section_16shot
        ("variant", pa.string()),  # "", "distinct", "16shot", "rolling"
        ("format", pa.string()),
        ("metric", pa.string()),
        ("column", pa.string()),  # all, in_time, out_of_time, text_seen
        ("value", pa.float64()),  # 0 to 100; null without examples or where undefined
        ("low", pa.float64()),  # 95% bootstrap interval over examples
        ("high", pa.float64()),
        ("n", pa.int64()),  # test examples or queries
        ("n_train", pa.int64()),
        ("contaminated", pa.bool_()),  # the model was trained on these labels
        ("states_cutoff", pa.bool_()),  # false: the model may know any year
        ("settings", pa.string()),  # JSON
        ("task_fingerprint", pa.string()),
        ("versions", pa.string()),  # JSON
        ("seconds", pa.float64()),
    ]
)
ITEMS = pa.schema(
    [
        ("task", pa.string()),
        ("metric", pa.string()),
        ("item_id", pa.int64()),
        ("task_year", pa.int32()),
        ("column", pa.string()),  # in_time, out_of_time, text_seen; empty without a cutoff
        ("value", pa.float64()),  # retrieval: the query's score, 0 to 1
        ("target", pa.float64()),  # regression
        ("predicted", pa.float64()),
        ("truth", pa.list_(pa.string())),  # classification: true classes among those scored
        ("guesses", pa.list_(pa.list_(pa.string()))),  # the same per seed
    ]
)


def scores_folder() -> Path:
    """Where scores are kept."""
    return runs_root() / "scores"


def stem(
    model: str,
    cutoff: int | None,
    own_cutoff: int | None,
    whitened: bool,
    benchmark: str | None = None,
) -> str:
    """The file name of a system's scores: model[~benchmark][@cutoff][+white].

    The cutoff is in it where it is not the model's own, so that a baseline scored for two
    vintages keeps both; the benchmark where it is a folder of files, not the lake.
    """
    at = f"@{cutoff}" if cutoff is not None and cutoff != own_cutoff else ""
    of = f"~{benchmark}" if benchmark else ""
    return f"{model}{of}{at}{'+white' if whitened else ''}"


def save(name: str, rows: list[dict], items: pa.Table) -> list[str]:
    """Writes a system's scores; tasks scored before and not now are kept.

    Returns:
        The tasks that were dropped, because the model of that name has changed since.
    """
    folder = scores_folder()
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows, ROWS)
    dropped: list[str] = []
    if (folder / f"{name}.parquet").is_file():
        before, before_items = read(name), read_items(name)
        now = set(table.column("task").to_pylist())
        kept = [row for row in before.to_pylist() if row["task"] not in now]
        print_of = {row["model_fingerprint"] for row in rows}
        stale = {row["task"] for row in kept if row["model_fingerprint"] not in print_of}
        dropped = sorted(stale)
        kept = [row for row in kept if row["task"] not in stale]
        table = pa.concat_tables([pa.Table.from_pylist(kept, ROWS), table])
        keep = {row["task"] for row in kept}
        mask = pa.array([task in keep for task in before_items.column("task").to_pylist()])
        items = pa.concat_tables([before_items.filter(mask), items])
    _write(items, folder / f"{name}_items.parquet")
    _write(table, folder / f"{name}.parquet")
    return dropped


def names() -> list[str]:
    """The systems that have scores."""
    found = scores_folder().glob("*.parquet")
    return sorted(path.stem for path in found if not path.stem.endswith("_items"))


def find(name: str) -> str:
    """The file name of a system's scores: exact, or the only one at some cutoff.

    Raises:
        UserError: none, or several.
    """
    known = names()
    if name in known:
        return name
    base, white = name.removesuffix("+white"), "+white" if name.endswith("+white") else ""
    fits = [
        one for one in known if one.startswith(f"{base}@") and one.endswith("+white") == bool(white)
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise UserError(f"{name} was scored at several cutoffs. Say which: {', '.join(fits)}")
    raise unknown("scored system", name, known, f"pyeval run {base}")


def read(name: str) -> pa.Table:
    """The score rows of a system."""
    return pq.read_table(scores_folder() / f"{name}.parquet").select(ROWS.names).cast(ROWS)


def read_items(name: str) -> pa.Table:
    """The evidence of a system."""
    return pq.read_table(scores_folder() / f"{name}_items.parquet").select(ITEMS.names).cast(ITEMS)


def read_all(chosen: Iterable[str] = ()) -> list[dict]:
    """The rows of these systems, or of all.

    Raises:
        UserError: nothing was scored yet.
    """
    picked = [find(name) for name in chosen] or names()
    if not picked:
        raise UserError(f"no scores in {scores_folder()}. Make some with: pyeval run MODEL")
    return [{**row, "system": name} for name in picked for row in read(name).to_pylist()]


def _write(table: pa.Table, path: Path) -> None:
    with file_beside(path) as partial:
        pq.write_table(table, partial, compression="zstd")
