"""The command `lake`: make raw files, build the lake, look into it."""

from pathlib import Path

import click

from warehouse.commands import SEED, Group
from warehouse.errors import UserError, idle_options

YEAR = click.IntRange(1, 9999)  # which of them a lake holds, it says itself
MOST = 2**63 - 1  # rows or edges that one can ask for


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "--version", package_name="scitlake")
def cli() -> None:
    """The lake: raw bulk files to dated tables in DuckDB.

    \b
    DATA_ROOT            folder of raw files (default: the generated sample)
    SCITLAKE_WAREHOUSE   folder of the lake (default: warehouse/lake)
    DUCKDB_MEMORY        memory a build may use (default: 3GB)
    DUCKDB_THREADS       threads of one query of a build (default: every core)
    """  # noqa: D301


@cli.command(epilog="Example: lake sample --scale 0.5 --out /data/sample")
@click.option("--seed", type=SEED, default=0, show_default=True,
              help="Of every draw: same seed, same bytes.")  # fmt: skip
@click.option("--scale", default=1.0, show_default=True, help="Multiplies the documents.")
@click.option("--shuffle-citations", is_flag=True, help="The control: citations at random.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to make [DATA_ROOT].")
def sample(seed: int, scale: float, shuffle_citations: bool, out: Path | None) -> None:
    """Write generated raw files in the publishers' own layouts."""
    from warehouse.sample import SampleSettings, generate
    from warehouse.sources import data_root

    folder = out or data_root()
    try:
        SampleSettings(seed=seed, scale=scale, shuffle_citations=shuffle_citations)
    except ValueError as error:
        raise UserError(f"{error}. Example: lake sample --scale 0.5") from error
    made = generate(folder, seed=seed, scale=scale, shuffle_citations=shuffle_citations)
    click.echo(f"{folder}: {'sample written' if made else 'is this sample already'}")


@cli.command(epilog="Example: lake build --set min_cited=1 --select +graph")
@click.option("--select", multiple=True, help="Only these models, as dbt selects them.")
@click.option("--set", "--vars", "pairs", multiple=True, metavar="KEY=VALUE",
              help="A variable of dbt_project.yml; may be given again.")  # fmt: skip
@click.option("--threads", type=click.IntRange(1, 256), default=2, show_default=True,
              help="Models built at a time.")  # fmt: skip
@click.option("--afresh", is_flag=True, help="Keep nothing of the last good lake.")
@click.option("--keep-last", is_flag=True,
              help="Keep the lake that is replaced as last.duckdb, for lake diff.")  # fmt: skip
def build(
    select: tuple[str, ...], pairs: tuple[str, ...], threads: int, afresh: bool, keep_last: bool
) -> None:
    """Build what has changed since the last good lake, beside it."""
    from warehouse.build import BuildSettings, build
    from warehouse.progress import Progress
    from warehouse.show import left_out
    from warehouse.sources import lake_file
    from warehouse.variables import parse_settings

    variables = parse_settings(pairs)
    settings = BuildSettings(
        select=select, variables=variables, threads=threads, afresh=afresh, keep_last=keep_last
    )
    with Progress() as progress:
        made = build(settings, progress.step)
    if not made["changed"]:
        click.echo(f"{lake_file()}: nothing has changed since it was built, {made['built']}")
        return
    if said := left_out():
        click.echo(said, err=True)
    click.echo(f"{lake_file()}: built in {made['seconds']} s from {made['data_root']}")


@cli.command(epilog="Example: lake sources --check")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--check", is_flag=True, help="Refuse a snapshot that looks scrambled.")
def sources(as_json: bool, check: bool) -> None:
    """Say for each raw table whether it is there, what was read, and what it switches on."""
    import json

    from warehouse.show import check_snapshots, source_rows, table

    if check:
        idle_options("--check", {"--json": as_json})
        click.echo(check_snapshots())
        return

    rows = source_rows()
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
        return
    shown = ("source", "table_name", "required", "present", "n_files", "n_rows", "n_rejected",
             "latest_year", "licence", "switches_on")  # fmt: skip
    click.echo(table(shown, [[row[name] for name in shown] for row in rows]))
    absent = [row for row in rows if not row["present"]]
    if absent:
        click.echo("\nAbsent, so what they switch on is empty. Get them from:")
        for place in dict.fromkeys(row["get_it_from"] for row in absent):
            names = ", ".join(r["table_name"] for r in absent if r["get_it_from"] == place)
            click.echo(f"  {names}: {place}")


@cli.command(epilog="Example: lake show graph.graph_by_year; lake show edges --asof 2013")
@click.argument("name", metavar="[TABLE]", required=False)
@click.option("--asof", type=YEAR, metavar="YEAR", help="The slice known by the end of YEAR.")
@click.option("--licence-at-most", metavar="NAME",
              help="Of pretrain_text: rows whose licences ask no more.")  # fmt: skip
@click.option("--limit", type=click.IntRange(0, MOST), metavar="N",
              help="Rows at most.  [default: 20]")  # fmt: skip
def show(
    name: str | None, asof: int | None, licence_at_most: str | None, limit: int | None
) -> None:
    """List the tables of the lake, or the first rows of one."""
    from warehouse.show import list_tables, show_table, table

    if name:
        columns, rows = show_table(name, asof, 20 if limit is None else limit, licence_at_most)
    else:
        idle_options(
            "the list of tables",
            {"--asof": asof, "--licence-at-most": licence_at_most, "--limit": limit},
            "Name a table: lake show documents --asof 2013",
        )
        columns, rows = list_tables()
    click.echo(table(columns, rows))


@cli.command(epilog="Example: lake docs && xdg-open warehouse/lake/docs/index.html")
def docs() -> None:
    """Write one offline page: every table and the lineage from raw file to command."""
    from warehouse.show import write_docs

    click.echo(write_docs())


@cli.command(epilog="Example: lake lineage documents.known_year; lake lineage --check")
@click.argument("name", metavar="[TABLE[.COLUMN]]", required=False)
@click.option("--check", is_flag=True, help="Refuse columns known later than what they date.")
def lineage(name: str | None, check: bool) -> None:
    """Say which source columns decide a table or a column, and when each is known."""
    from warehouse import lineage_show
    from warehouse.show import table

    if check:
        idle_options("--check", {f"the name {name}": name})
        click.echo(lineage_show.check())
    else:
        click.echo(table(*lineage_show.lineage_rows(name)))


@cli.command(epilog="Example: lake diff warehouse/lake/last.duckdb")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path), required=False)
@click.option("--all", "every", is_flag=True, help="Years in which nothing differs, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def diff(old: Path, new: Path | None, every: bool, as_json: bool) -> None:
    """Say which rows differ between two builds, by table and year.

    OLD and NEW are lake folders or their DuckDB files; NEW is this lake when not given.
    """
    from warehouse.diff import diff as compare
    from warehouse.diff import only_in_one, refuse_itself
    from warehouse.show import table
    from warehouse.sources import lake_folder

    if new is None:
        new = lake_folder()
        refuse_itself(old, new)
    found = compare(old, new)
    if not every:
        found = found.filter(sum(found[name] for name in found.columns[3:-1]) > 0)
    if as_json:
        click.echo(found.write_ndjson(), nl=False)
    else:
        click.echo(table(found.columns, found.rows()))
    for place, names in zip((old, new), only_in_one(old, new), strict=True):
        if names:
            click.echo(f"only in {place}: {', '.join(names)}", err=True)
    if found.is_empty():
        click.echo("no row differs", err=True)


@cli.command(epilog="Example: lake report corpus --asof 2013")
@click.argument("name", type=click.Choice(("corpus", "graph", "anchors")))
@click.option("--asof", type=YEAR, metavar="YEAR", help="This cutoff alone.")
@click.option("--tokenizer", type=click.Path(path_type=Path),
              help="Estimate tokens with the tokenizer.json of this folder.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def report(name: str, asof: int | None, tokenizer: Path | None, as_json: bool) -> None:
    """Say how large the corpus, the graph or the anchor pools are at each cutoff."""
    from warehouse.report import report as made
    from warehouse.show import table
    from warehouse.sources import lake_folder
    from warehouse.tables import Lake

    with Lake(lake_folder()) as lake:
        found = made(lake, name, asof, tokenizer)
    if as_json:
        click.echo(found.write_ndjson(), nl=False)
    else:
        click.echo(table(found.columns, found.rows()))


@cli.command(epilog="Example: lake plan --edges 642000000 --json")
@click.option("--edges", type=click.IntRange(1, MOST), default=642_000_000, show_default=True,
              help="Distinct citations between documents; the paper's graph of 2025.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def plan(edges: int, as_json: bool) -> None:
    """Say what time and memory the citation graph takes, before it is built."""
    import dataclasses
    import json

    from warehouse.plan import plan as estimate
    from warehouse.show import table

    made = estimate(edges)
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(made)))
        return
    rows = [
        [one.stage, f"{one.cpu_s / 60:.1f}", f"{one.peak_gb:.1f}", f"{one.measured_at:,}"]
        for one in made.stages
    ]
    click.echo(table(("stage", "CPU minutes", "memory, GB", "measured at edges"), rows))
    click.echo(
        f"\n{edges:,} edges, one thread, DuckDB at {made.memory_limit}: a file of about "
        f"{made.file_gb:.0f} GB, and {made.disk_gb:.0f} GB free for what does not fit in memory."
    )
