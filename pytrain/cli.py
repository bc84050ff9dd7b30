"""The command `pytrain`: one vintage, stage by stage or all at once."""

import errno
import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from warehouse.errors import UserError

# Stage -> module that runs it, and its further arguments; imported only when it runs.
_RUNNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "tokenizer": ("pytrain.tokenizer", {}),
    "pretrain": ("pytrain.mlm", {}),
    "node2vec": ("pytrain.node2vec", {}),
    "neighbours": ("pytrain.neighbours", {}),
    "static": ("pytrain.static", {}),
    "ci": ("pytrain.tune", {"init": "base"}),
    "static-ci": ("pytrain.tune", {"init": "static"}),
}


class _Group(click.Group):
    """A full disk is a person's to mend, so it is one message too."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise UserError(
                    f"no space left on the disk ({error.filename or 'while writing'}). Nothing "
                    "half-written stands under a finished name. Free some, then run this again."
                ) from error
            raise


def _vintage(command: Callable) -> Callable:
    """The options of every stage."""
    for option in (
        click.option("--force", is_flag=True, help="Replace a finished run of this name."),
        click.option(
            "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change one setting."
        ),
        click.option("--seed", default=0, show_default=True, help="Of every random stream."),
        click.option(
            "--preset", default="sample", show_default=True, help="paper, sample or tiny."
        ),
        click.option("--year", type=int, required=True, help="The cutoff: nothing later is read."),
    ):
        command = option(command)
    return command


@click.group(
    cls=_Group,
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


def _settings(preset: str, overrides: tuple[str, ...]) -> Any:
    from pytrain.config import load_settings

    return load_settings(preset, overrides)


def _check_year(year: int) -> None:
    from warehouse.tables import Lake

    with Lake() as lake:
        lake.check_year(year)


def _run(stage: str, settings: Any, year: int, seed: int, force: bool) -> Path:
    """Run a stage, say how long it took, and print the folder."""
    module, more = _RUNNERS[stage]
    started = time.monotonic()
    folder = importlib.import_module(module).run(settings, year, seed=seed, force=force, **more)
    click.echo(f"{folder.name}: finished in {time.monotonic() - started:,.0f} s", err=True)
    click.echo(str(folder))
    return folder


def _stage(
    stage: str, year: int, preset: str, seed: int, overrides: tuple[str, ...], force: bool
) -> None:
    settings = _settings(preset, overrides)
    _check_year(year)
    _run(stage, settings, year, seed, force)


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
def every(year: int, preset: str, seed: int, overrides: tuple[str, ...], force: bool) -> None:
    """Every stage of the cutoff, in order; those that are up to date are left as they are.

    A run made with other settings, parents or rows stops the command, which says what differs;
    --force makes such runs anew.
    """
    from pytrain.run import run_path, why_stale
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
        _run(stage, settings, year, seed, force)


@cli.command(epilog="Example: pytrain plan --year 2013 --preset paper")
@_vintage
def plan(year: int, preset: str, seed: int, overrides: tuple[str, ...], force: bool) -> None:
    """Say what `all` would make, and every setting, without making it."""
    from pytrain.config import to_yaml
    from pytrain.run import run_path
    from pytrain.terms import plan_lines

    settings = _settings(preset, overrides)
    for stage in _RUNNERS:
        folder = run_path(preset, year, stage, seed)
        state = "made" if (folder / "run.json").is_file() else "to make"
        click.echo(f"{stage}\t{folder}\t{'to make anew' if force else state}")
    for line in plan_lines(settings):
        click.echo(line)
    click.echo(to_yaml(settings).rstrip())
