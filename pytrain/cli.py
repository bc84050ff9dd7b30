"""The command `pytrain`: one vintage, stage by stage or all at once."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pytrain.family import family
from pytrain.resume import can_resume, resume
from pytrain.stages import CHECKPOINTED, run_stage, run_together
from pytrain.stages import RUNNERS as _RUNNERS
from warehouse.commands import SEED, Group
from warehouse.errors import UserError
from warehouse.years import years_of

_YEAR = click.option("--year", type=int, required=True, help="The cutoff: nothing later is read.")


def _vintage(command: Callable, year: Callable = _YEAR) -> Callable:
    """The options of every stage; --track is the setting `track`."""

    @functools.wraps(command)
    def tracked(*, track: str | None, overrides: tuple[str, ...], **options: Any) -> None:
        command(overrides=(*overrides, f"track={track}") if track else overrides, **options)

    made = tracked
    for option in (
        click.option(
            "--track",
            type=click.Choice(["tensorboard"]),
            help="Also write the log for: tensorboard --logdir runs",
        ),
        click.option("--force", is_flag=True, help="Replace a finished run of this name."),
        click.option(
            "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change one setting."
        ),
        click.option(
            "--seed", type=SEED, default=0, show_default=True, help="Of every random stream."
        ),
        click.option(
            "--preset", default="sample", show_default=True, help="paper, sample or tiny."
        ),
        year,
    ):
        made = option(made)
    return made


@click.group(
    cls=Group,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "PYTRAIN",
        "show_default": True,
    },
)
@click.version_option(package_name="scitlake", prog_name="pytrain")
def cli() -> None:
    """Train the models of one cutoff year from the lake.

    SCITLAKE_WAREHOUSE is the lake folder, RUNS_ROOT where the runs go.
    """


cli.add_command(resume)
cli.add_command(family)


def _settings(preset: str, overrides: tuple[str, ...]) -> Any:
    from pytrain.config import load_settings

    return load_settings(preset, overrides)


def _check_year(year: int) -> None:
    from warehouse.tables import Lake

    with Lake() as lake:
        lake.check_year(year)


def _stage(
    stage: str, year: int, preset: str, seed: int, overrides: tuple[str, ...], force: bool
) -> None:
    settings = _settings(preset, overrides)
    _check_year(year)
    run_stage(stage, settings, year, seed, force)


@cli.command(epilog="Example: pytrain tokenizer --year 2013")
@_vintage
@click.option(
    "--terms",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON with terms and their years: say which are one token, per year; train nothing.",
)
@click.option(
    "--fertility", is_flag=True, help="Tokens per word by source and year; train nothing."
)
def tokenizer(terms: Path | None, fertility: bool, **options: Any) -> None:
    """Byte-pair encoding on the papers and patents known by the cutoff."""
    if terms is None and not fertility:
        _stage("tokenizer", **options)
        return
    from pytrain import fertility as words
    from pytrain.terms import term_lines
    from pytrain.tokenizer import load_tokenizer, tokenizer_run
    from warehouse.tables import Lake

    settings, year = _settings(options["preset"], options["overrides"]), options["year"]
    made = load_tokenizer(tokenizer_run(settings, year, options["seed"]))
    for line in term_lines(made, terms, year) if terms else ():
        click.echo(line)
    if fertility:
        with Lake() as lake:
            counts = words.fertility(lake, year, made, settings.tokenizer)
        for line in words.fertility_lines(counts):
            click.echo(line)


@cli.command(epilog="Example: pytrain corpus --year 2013")
@_vintage
def corpus(year: int, preset: str, seed: int, overrides: tuple[str, ...], force: bool) -> None:
    """Say what pre-training reads: budget, steps, and passes by source; train nothing."""
    from pytrain.consumption import consumption_lines, vintage_corpus

    settings = _settings(preset, overrides)
    _check_year(year)
    for line in consumption_lines(vintage_corpus(settings, year, seed), year):
        click.echo(line)


@cli.command(epilog="Example: pytrain pretrain --year 2013 --set mlm.layers=2")
@_vintage
def pretrain(**options: Any) -> None:
    """A ModernBERT from scratch, by masked language modelling."""
    _stage("pretrain", **options)


@cli.command(epilog="Example: pytrain node2vec --year 2013")
@_vintage
def node2vec(**options: Any) -> None:
    """Vectors of the nodes of the citation graph as of the cutoff."""
    _stage("node2vec", **options)


@cli.command(epilog="Example: pytrain neighbours --year 2013")
@_vintage
def neighbours(**options: Any) -> None:
    """Training examples: exact neighbours of the anchors, near and far."""
    _stage("neighbours", **options)


@cli.command(epilog="Example: pytrain static --year 2013")
@_vintage
def static(**options: Any) -> None:
    """The fast sibling: contrastive token vectors, no layers."""
    _stage("static", **options)


@cli.command(epilog="Example: pytrain tune --year 2013 --init base")
@_vintage
@click.option(
    "--init",
    type=click.Choice(["base", "static"]),
    default="base",
    help="Start from the masked-language model (the paper's chain) or the static vintage.",
)
def tune(init: str, **options: Any) -> None:
    """Tune an encoder on the neighbour examples."""
    _stage("ci" if init == "base" else "static-ci", **options)


@cli.command("all", epilog="Example: pytrain all --year 2013 --preset sample")
@_vintage
@click.option("--processes", default=1, help="That share each training, by torchrun.")
def every(
    year: int, preset: str, seed: int, overrides: tuple[str, ...], force: bool, processes: int
) -> None:
    """Every stage of the cutoff, in order; those that are up to date are left as they are.

    A run made with other settings, parents or rows stops the command, which says what differs;
    --force makes such runs anew. A run that was stopped goes on from its last checkpoint.
    """
    from pytrain.run import run_path
    from pytrain.stale import why_stale
    from warehouse.tables import Lake

    settings = _settings(preset, overrides)
    _check_year(year)
    for stage in _RUNNERS:
        folder, reason = run_path(preset, year, stage, seed), None
        if (folder / "run.json").is_file():
            with Lake() as lake:
                reason = why_stale(stage, settings, year, seed=seed, lake=lake)
            if reason is None:
                click.echo(f"{folder.name}: up to date", err=True)
                click.echo(str(folder))
                continue
            if not force:
                raise UserError(f"run {folder} exists and {reason}. Make it anew with: --force")
            click.echo(f"{folder.name}: made anew, {reason}", err=True)
        if stage in CHECKPOINTED and processes > 1:
            words = ["--year", str(year), "--preset", preset, "--seed", str(seed)]
            words += [word for one in overrides for word in ("--set", one)]
            run_together(stage, words + ["--force"] * force, processes)
            continue
        again = stage in CHECKPOINTED and can_resume(stage, settings, year, seed)
        run_stage(stage, settings, year, seed, force, resume=again)


def _one_or_several(command: Callable) -> Callable:
    """The options of a stage, for one cutoff or for many."""
    one = click.option("--year", type=int, help="One cutoff: every stage and setting.")
    several = click.option("--years", help="Cutoffs, a line for each: 2010-2025, or 2013,2016.")
    return _vintage(command, lambda made: one(several(made)))


@cli.command(
    epilog="Examples: pytrain plan --year 2013 --preset paper | pytrain plan --years 2010-2025"
)
@_one_or_several
@click.option(
    "--machine",
    default="2-cores",
    help="2-cores, a100-40gb-x4, h100-80gb, h100-80gb-x8, h200-141gb.",
)
def plan(
    year: int | None,
    years: str | None,
    preset: str,
    seed: int,
    overrides: tuple[str, ...],
    force: bool,
    machine: str,
) -> None:
    """Say what `all` would make and take, and every setting, without making it.

    The preset `paper` is planned at the size of the paper's 2025; others at that of this lake.
    """
    if (year is None) == (years is None):
        raise UserError("give --year 2013 or --years 2010-2025, and not both")
    from pytrain import plan as stage_plan
    from pytrain.config import to_yaml
    from pytrain.run import run_path
    from pytrain.terms import plan_lines

    settings = _settings(preset, overrides)
    if years is not None:
        for line in stage_plan.year_lines(settings, years_of(years), machine):
            click.echo(line)
        return
    for stage in _RUNNERS:
        folder = run_path(preset, year, stage, seed)
        state = "made" if (folder / "run.json").is_file() else "to make"
        click.echo(f"{stage}\t{folder}\t{'to make anew' if force else state}")
    for line in plan_lines(settings):
        click.echo(line)
    for line in stage_plan.plan_lines(settings, year, machine):
        click.echo(line)
    click.echo(to_yaml(settings).rstrip())
