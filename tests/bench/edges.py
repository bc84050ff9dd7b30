"""Dated edges at scale: the lake's own SQL beside polars and pandas, each in a process of its own.

Run by `python -m tests.bench.edges`; `make bench` runs it at a tenth of the full size. CPU seconds
are those of the work, without imports; peak memory is that of the whole process.
"""

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
import jinja2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.sources import project_dir

CUTOFFS = range(2013, 2026)
FULL = (50_000_000, 5_000_000)  # citations, documents
BLOCK = 5_000_000
MEMORY = "2GB"
# Floors of the ratio, peer to lake: CPU beside pandas and polars, memory beside pandas, and 13
# yearly graphs beside 13 builds.
FLOORS = {"pandas": 1.6, "polars": 1.5, "pandas memory": 4.0, "13 builds": 6.0}


def write_inputs(folder: Path, citations: int, documents: int) -> None:
    """Documents with sparse ids and a year, and citations of a skewed, noisy kind.

    Papers cite no patents. A twentieth of the citations names a document that is not held, a
    fiftieth is a repeat, and a few in a thousand are self loops.
    """
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(1, 40 * documents, documents + documents // 20))
    keys = rng.permutation(keys)[:documents].astype(np.int64)
    years = (1976 + 50 * np.sqrt(rng.random(len(keys)))).astype(np.int32)
    is_paper = rng.random(len(keys)) < 0.75
    types = pa.array(np.where(is_paper, "paper", "patent"))
    table = pa.table({"doc_id": keys, "doc_type": types, "known_year": years})
    pq.write_table(table, folder / "documents.parquet")
    schema = pa.schema([("citing_id", pa.int64()), ("cited_id", pa.int64())])
    with pq.ParquetWriter(folder / "citations.parquet", schema) as writer:
        for start in range(0, citations, BLOCK):
            size = min(BLOCK, citations - start)
            citing = rng.integers(0, len(keys), size)
            cited = (len(keys) * rng.random(size) ** 2).astype(np.int64)
            turned = is_paper[citing] & ~is_paper[cited]
            citing, cited = np.where(turned, cited, citing), np.where(turned, citing, cited)
            citing, cited = keys[citing], keys[cited]
            cited = np.where(rng.random(size) < 0.05, -cited, cited)
            cited = np.where(rng.random(size) < 0.003, citing, cited)
            again = size // 50
            citing[-again:], cited[-again:] = citing[:again], cited[:again]
            writer.write_table(pa.table([citing, cited], schema=schema))


def model(name: str) -> str:
    """The SQL of one of the lake's models, reading tables by their bare names."""
    (path,) = (project_dir() / "models_sql").glob(f"*/{name}.sql")
    return jinja2.Template(path.read_text(encoding="utf-8")).render(
        ref=lambda table: table, function=lambda table: table, config=lambda **settings: ""
    )


def open_lake(folder: Path):
    """DuckDB as a build opens it, with one thread and little memory."""
    import duckdb

    con = duckdb.connect(str(folder / "lake.duckdb"))
    con.execute(f"set memory_limit = '{MEMORY}'")
    con.execute("set threads = 1")
    con.execute("set preserve_insertion_order = false")
    con.execute("set temp_directory = ?", [str(folder / "tmp")])
    return con


def lake_edges(folder: Path) -> list[int]:
    """graph.citation_edges by its own SQL, from the citations as they are listed."""
    con = open_lake(folder)
    rule = (project_dir() / "dbt_project/functions/later_year.sql").read_text(encoding="utf-8")
    con.execute(f"create or replace macro later_year(one_year, other_year) as ({rule})")
    for table in ("documents", "citations"):
        found = f"from read_parquet('{folder}/{table}.parquet')"
        if table == "citations":  # none of them runs through another record
            found = f"select *, cast(null as integer) as link_year {found}"
        name = "int_citations_unioned" if table == "citations" else table
        con.execute(f"create or replace view {name} as {found}")
    con.execute(f"create or replace table int_citations as {model('int_citations')}")
    con.execute(f"create or replace table citation_edges as {model('citation_edges')}")
    con.execute("drop table int_citations")  # the file's size is that of the graph
    return checksum(con, "citation_edges")


def lake_nodes(folder: Path) -> list[int]:
    """graph.graph_nodes by its own SQL."""
    con = open_lake(folder)
    con.execute(f"create or replace table graph_nodes as {model('graph_nodes')}")
    return [con.sql("select count(*) from graph_nodes").fetchall()[0][0]]


def lake_years(folder: Path) -> list[int]:
    """The 13 yearly graphs as the lake has them: a view per year, and one pass that counts."""
    con = open_lake(folder)
    con.execute("create or replace view lake_span as select 1976 as first_year, 2025 as last_year")
    con.execute(f"create or replace table graph_by_year as {model('graph_by_year')}")
    for year in CUTOFFS:
        con.execute(
            f"create or replace view edges_{year} as from citation_edges where known_year <= {year}"
        )
    sql = "select edges from graph_by_year where cutoff >= 2013 order by cutoff"
    return [row[0] for row in con.sql(sql).fetchall()]


def years_apart(folder: Path) -> list[int]:
    """The peer: 13 tables, each built and counted by itself from the dated one."""
    con = open_lake(folder)
    found = []
    for year in CUTOFFS:
        con.execute(
            "create or replace table one_year as"
            f" select * from citation_edges where known_year <= {year}"
        )
        found.append(con.sql("select count(*) from one_year").fetchall()[0][0])
    con.execute("drop table one_year")
    return found


def checksum(con, table: str) -> list[int]:
    """Rows, and sums that a wrong pair or year would change."""
    return [int(n) for n in con.sql(
        f"select count(*), sum(known_year), sum((citing_id * 31 + cited_id) % 1000003) from {table}"
    ).fetchall()[0]]  # fmt: skip


def polars_edges(folder: Path) -> list[int]:
    """The same rows in the same order by polars' streaming engine."""
    import polars as pl

    documents = pl.scan_parquet(folder / "documents.parquet")
    edges = (
        pl.scan_parquet(folder / "citations.parquet")
        .unique()
        .filter(pl.col("citing_id") != pl.col("cited_id"))
        .join(documents, left_on="citing_id", right_on="doc_id")
        .join(documents, left_on="cited_id", right_on="doc_id", suffix="_cited")
        .select(
            "citing_id",
            "cited_id",
            edge_type=pl.col("doc_type") + "_" + pl.col("doc_type_cited"),
            known_year=pl.max_horizontal("known_year", "known_year_cited"),
        )
        .sort("known_year", "citing_id", "cited_id")
    )
    edges.sink_parquet(folder / "polars.parquet")
    pair = (pl.col("citing_id") * 31 + pl.col("cited_id")) % 1000003
    found = pl.scan_parquet(folder / "polars.parquet").select(
        pl.len().cast(pl.Int64),
        pl.col("known_year").cast(pl.Int64).sum(),
        pair.sum().alias("pairs"),
    )
    return [int(n) for n in found.collect(engine="streaming").row(0)]


def pandas_edges(folder: Path) -> list[int]:
    """The same by pandas."""
    import pandas as pd

    documents = pd.read_parquet(folder / "documents.parquet")
    documents["doc_type"] = documents["doc_type"].astype("category")
    edges = pd.read_parquet(folder / "citations.parquet").drop_duplicates()
    edges = edges[edges["citing_id"] != edges["cited_id"]]
    for end in ("citing", "cited"):
        ends = documents.rename(
            columns={"doc_id": f"{end}_id", "doc_type": f"{end}_type", "known_year": f"{end}_year"}
        )
        edges = edges.merge(ends, on=f"{end}_id")
    edges["known_year"] = edges[["citing_year", "cited_year"]].max(axis=1)
    edges["edge_type"] = edges["citing_type"].cat.codes * 2 + edges["cited_type"].cat.codes
    edges = edges[["citing_id", "cited_id", "edge_type", "known_year"]]
    edges = edges.sort_values(["known_year", "citing_id", "cited_id"])
    edges.to_parquet(folder / "pandas.parquet")
    pairs = (edges["citing_id"] * 31 + edges["cited_id"]) % 1000003
    return [len(edges), int(edges["known_year"].sum()), int(pairs.sum())]


STAGES: dict[str, Callable[[Path], list[int]]] = {
    "dated edges": lake_edges,
    "graph nodes": lake_nodes,
    "13 yearly graphs": lake_years,
    "13 builds": years_apart,
    "polars": polars_edges,
    "pandas": pandas_edges,
}


def measure(stage: str, folder: Path) -> dict:
    """Run a stage in a process of its own; CPU seconds, peak memory in bytes, and its answer."""
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.edges", "--stage", stage, "--folder", str(folder)],
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    answer = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise click.ClickException(f"{stage} ended with {process.returncode}")
    found = json.loads(answer)
    return {
        "cpu_s": round(found["cpu_s"], 2),
        "peak_gb": round(used.ru_maxrss * 1024 / 1e9, 2),
        "answer": found["answer"],
    }


def bench(citations: int, documents: int, say: Callable[[str], None]) -> dict:
    """Every stage at one size; raises when two engines do not agree."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as name:
        folder = Path(name)
        write_inputs(folder, citations, documents)
        stages = {}
        for stage in STAGES:
            stages[stage] = measure(stage, folder)
            say(f"{stage}: {stages[stage]['cpu_s']} CPU s, {stages[stage]['peak_gb']} GB")
        file_gb = round((folder / "lake.duckdb").stat().st_size / 1e9, 4)
        shutil.rmtree(folder / "tmp", ignore_errors=True)
    for peer in ("polars", "pandas"):
        if stages[peer]["answer"] != stages["dated edges"]["answer"]:
            raise click.ClickException(f"the lake and {peer} do not agree: {stages}")
    if stages["13 builds"]["answer"] != stages["13 yearly graphs"]["answer"]:
        raise click.ClickException(f"the yearly graphs do not agree: {stages}")
    return {
        "citations": citations,
        "documents": documents,
        "edges": stages["dated edges"]["answer"][0],
        "memory_limit": MEMORY,
        "threads": 1,
        "file_gb": file_gb,
        "stages": {
            stage: {key: made[key] for key in ("cpu_s", "peak_gb")}
            for stage, made in stages.items()
        },
    }


def ratios(made: dict) -> dict[str, float]:
    """How many times as much each peer takes."""
    stages = made["stages"]
    own, years = stages["dated edges"], stages["13 yearly graphs"]
    return {
        "pandas": round(stages["pandas"]["cpu_s"] / own["cpu_s"], 2),
        "polars": round(stages["polars"]["cpu_s"] / own["cpu_s"], 2),
        "pandas memory": round(stages["pandas"]["peak_gb"] / own["peak_gb"], 2),
        "13 builds": round(stages["13 builds"]["cpu_s"] / years["cpu_s"], 2),
    }


@click.command()
@click.option("--scale", default=0.1, show_default=True, help="Of 5e7 citations, 5e6 documents.")
@click.option("--out", type=click.Path(path_type=Path), help="JSON file to add the figures to.")
@click.option("--stage", hidden=True)
@click.option("--folder", type=click.Path(path_type=Path), hidden=True)
def main(scale: float, out: Path | None, stage: str | None, folder: Path | None) -> None:
    """Print a line per stage and the ratios to the peers."""
    if stage:
        importlib.import_module(stage if stage in ("polars", "pandas") else "duckdb")
        started = time.process_time()
        answer = STAGES[stage](folder)
        click.echo(json.dumps({"cpu_s": time.process_time() - started, "answer": answer}))
        return
    citations, documents = (round(scale * full) for full in FULL)
    made = bench(citations, documents, click.echo)
    made["ratios"] = ratios(made)
    for peer, ratio in made["ratios"].items():
        click.echo(f"{peer}: {ratio} times the lake's, floor {FLOORS[peer]}")
    if out:
        sizes = json.loads(out.read_text(encoding="utf-8")) if out.is_file() else []
        sizes = [size for size in sizes if size["citations"] != citations] + [made]
        sizes.sort(key=lambda size: size["citations"])
        out.write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
