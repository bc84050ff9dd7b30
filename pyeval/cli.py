"""The command `pyeval`: rows to stdout, progress to stderr."""

import json
from pathlib import Path

import click

from pyeval.export_cli import export, export_mteb
from pyeval.leaderboard_cli import check, leaderboard
from pyeval.report_cli import doctor, report, terminal
from warehouse.commands import MOST_RESAMPLES, RESAMPLES, SEED, Group
from warehouse.errors import UserError

_CONTEXT = {"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "PYEVAL"}


@click.group(
    cls=Group, context_settings=_CONTEXT, epilog="Example: pyeval run sample-2013-ci --whiten"
)
@click.version_option(package_name="scitlake")
def cli() -> None:
    """Score encoders on the tasks of the lake, in time and out of time."""


cli.add_command(export)
cli.add_command(export_mteb)
cli.add_command(report)
cli.add_command(doctor)
cli.add_command(leaderboard)
cli.add_command(check)


@cli.command(epilog="Example: pyeval tasks --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per task.")
@click.option("--sizes", is_flag=True, help="How large they are in this lake and in the paper.")
def tasks(as_json: bool, sizes: bool) -> None:
    """List the tasks: name, format, metric, inputs, who publishes the labels."""
    from dataclasses import asdict

    if sizes:
        from pyeval.command import built_sizes

        for n, row in enumerate(built_sizes()):
            if n == 0 and not as_json:
                click.echo("\t".join(row))
            said = ["" if value is None else str(value) for value in row.values()]
            click.echo(json.dumps(row) if as_json else "\t".join(said))
        return

    from pyeval.tasks import TASKS

    for task in TASKS.values():
        if as_json:
            click.echo(json.dumps(asdict(task)))
        else:
            metrics = "+".join(task.metrics)
            click.echo(f"{task.name}\t{task.format}\t{metrics}\t{task.inputs}\t{task.source}")


@cli.command(epilog="Example: pyeval run scibert chronobert-2013 --cutoff 2013")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
def baselines(as_json: bool) -> None:
    """List the papers' encoders by name: hub id, what year they claim, how they pool.

    `pyeval run NAME` takes the weights from RUNS_ROOT/baselines/NAME, or from the hub.
    """
    from pyeval.registry import rows

    for n, row in enumerate(rows()):
        if n == 0 and not as_json:
            click.echo("\t".join(row))
        click.echo(json.dumps(row) if as_json else "\t".join(map(str, row.values())))


@cli.command(
    epilog="Examples: pyeval run sample-2013-ci | pyeval run minilm tfidf-svd bm25 --cutoff 2013 "
    "| pyeval run sample-2013 random:sample-2013 --whiten --task patent_cite"
)
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--task", "names", multiple=True, help="A task name; all of them when left out.")
@click.option("--cutoff", type=int, help="Year that divides in time from out of time.")
@click.option("--whiten", is_flag=True, help="Score the whitened vectors as well as the raw ones.")
@click.option(
    "--whiten-documents",
    type=click.IntRange(100),
    default=20_000,
    show_default=True,
    help="Known by the cutoff, that whitening is fitted on; four per dimension are plenty.",
)
@click.option("--rolling", is_flag=True, help="Also a probe on labels known by the cutoff.")
@click.option(
    "--seen-pairs/--no-seen-pairs",
    default=True,
    help="Also apart: relevants that a citation by the cutoff joins to the query, and others.",
)
@click.option("--few-shot/--no-few-shot", default=True, help="Probes on 16 and 64 per class.")
@click.option(
    "--metrics",
    type=click.Choice(["arrays", "pytrec_eval"]),
    default="arrays",
    show_default=True,
    help="Who computes MAP and nDCG; they agree.",
)
@click.option("--resamples", type=RESAMPLES, default=1000, show_default=True)
@click.option(
    "--seed", type=SEED, default=0, show_default=True, help="Bootstrap and random weights."
)
@click.option("--max-length", type=click.IntRange(8), help="Tokens read; the model's own limit.")
@click.option(
    "--seen-basis",
    type=click.Choice(["production", "filing", "publication"]),
    help="What dated patent text in the model's training; its run.json says when left out.",
)
@click.option("--suite", help="SciRepEval instead: scitbert, sciembed or scijepa; needs --from.")
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    help="A benchmark's files instead of the lake's tasks; with --suite, SciRepEval's.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be scored, and stop.")
def run(models, names, cutoff, whiten, whiten_documents, rolling, seen_pairs, few_shot, metrics,
        resamples, seed, max_length, seen_basis, suite, folder, dry_run) -> None:  # fmt: skip
    """Score each MODEL: a run, a model folder, or a baseline.

    Baselines: tfidf-svd, tfidf, bm25, minilm, random:RUN, and the names that `pyeval baselines`
    lists. The first two are fitted on documents known by --cutoff; where it is left out, baselines
    take the cutoff of the models named with them. Scores are kept under RUNS_ROOT/scores;
    embeddings are kept too, so that a second scoring of the same model is quick.
    """
    from pyeval.sci_tasks import pick_suite
    from pyeval.tasks import pick

    if folder is not None and not folder.is_dir():
        raise UserError(f"no folder {folder}. Make one with: pyeval export --out {folder}")
    if suite and folder is None and not dry_run:
        raise UserError("--suite needs the released files: --from FOLDER. See: pyeval run --help")
    chosen = pick_suite(suite, names) if suite else pick(names)
    files = None
    if folder and not suite:
        from pyeval.folder import BenchmarkFolder

        files = BenchmarkFolder(folder)
        chosen = files.tasks([task.name for task in chosen] if names else ())
    if dry_run:
        for model in models:
            for task in chosen:
                click.echo(f"{model}\t{task.name}\t{'+'.join(task.metrics)}")
        return
    if suite:
        from pyeval.command import score_suites

        click.echo("model\twhitened\ttask\tmetric\tcolumn\tvalue\tlow\thigh\tn\tcontaminated")
        for row in score_suites(
            models, chosen, folder, cutoff=cutoff, resamples=resamples, max_length=max_length
        ):
            click.echo("\t".join(row))
        return
    from pyeval.command import score_models
    from pyeval.protocol import ScoreSettings

    settings = ScoreSettings(
        few_shot=ScoreSettings().few_shot if few_shot else (),
        rolling=rolling,
        seen_pairs=seen_pairs,
        metrics=metrics,
        resamples=resamples,
        seed=seed,
        seen_basis=seen_basis,
        whiten_documents=whiten_documents,
    )
    click.echo("model\twhitened\ttask\tmetric\tcolumn\tvalue\tlow\thigh\tn\tcontaminated")
    for row in score_models(
        models,
        chosen,
        settings,
        cutoff=cutoff,
        whiten=whiten,
        max_length=max_length,
        files=files,
    ):
        click.echo("\t".join(row))


@cli.command(
    epilog="Examples: pyeval compare sample-2013-ci sample-2013 | pyeval compare sample-2013-ci "
    "bm25@2013 --task patent_cite_distinct"
)
@click.argument("a")
@click.argument("b")
@click.option("--task", "names", multiple=True, help="A score name, such as patent_cite_distinct.")
@click.option("--column", default="out_of_time", show_default=True)
@click.option(
    "--resamples", type=click.IntRange(1, MOST_RESAMPLES), default=5000, show_default=True
)
@click.option("--seed", type=SEED, default=0, show_default=True)
@click.option(
    "--format", "how", type=click.Choice(["terminal", "markdown", "json"]), default="terminal"
)
def compare(a, b, names, column, resamples, seed, how) -> None:
    """Compare two scored systems example by example.

    Prints A - B with its 95% paired bootstrap interval, the ratio of the scores, and p values
    corrected over the tasks (Holm). Add +white to a name for its whitened vectors.
    """
    from dataclasses import asdict

    from pyeval.compare import compare as compare_systems

    found = compare_systems(a, b, tasks=names, column=column, resamples=resamples, seed=seed)
    if how == "json":
        for one in found:
            click.echo(json.dumps(asdict(one)))
        return
    from pyeval.render import differences, differences_markdown

    if how == "markdown":
        click.echo(differences_markdown(found, a, b), nl=False)
    else:
        click.echo(differences(found, a, b, *terminal()[:1], color=terminal()[1]), nl=False)


@cli.command(epilog="Example: pyeval card sample-2013-ci")
@click.argument("model")
@click.option("--documents", type=click.IntRange(2), default=1_000, show_default=True,
              help="That the geometry of the vectors is measured on.")  # fmt: skip
def card(model, documents) -> None:
    """Write the scores of MODEL and the geometry of its vectors into its card."""
    from pyeval.card import write_card

    click.echo(str(write_card(model, documents)))


@cli.command(
    epilog="Examples: pyeval embed sample-2013-ci mine.csv --out vectors.parquet | pyeval embed "
    'sample-2013-ci --sql "select doc_id as id, title, abstract, known_year as year '
    'from corpus.documents_asof(2013) limit 10" --out vectors.parquet'
)
@click.argument("model")
@click.argument("source", required=False)
@click.option("--sql", help="A SELECT on the lake that gives id, title, abstract and maybe year.")
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Parquet to write.",
)
@click.option(
    "--refuse-lookahead", is_flag=True, help="Stop if the model is later than a document."
)
@click.option("--cutoff", type=int, help="For tfidf-svd: the year it is fitted up to.")
@click.option("--max-length", type=click.IntRange(8), help="Tokens read; the model's own limit.")
def embed(model, source, sql, out, refuse_lookahead, cutoff, max_length) -> None:
    """Vectors of your own documents, by MODEL, as Parquet of id, vector, model, cutoff.

    SOURCE is a .csv, .parquet or .jsonl file with id, title, abstract and maybe year; - or
    nothing reads standard input.
    """
    if sql and source:
        raise UserError("give a file or --sql, not both. See: pyeval embed --help")
    from pyeval.command import embed_own

    n = embed_own(
        model,
        None if source in (None, "-") else Path(source),
        sql,
        out,
        refuse_lookahead=refuse_lookahead,
        cutoff=cutoff,
        max_length=max_length,
    )
    click.echo(f"{n:,} vectors in {out}", err=True)
