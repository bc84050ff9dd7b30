"""`pyeval export` and `pyeval export-mteb`: the lake's benchmark as files."""

from pathlib import Path

import click

from warehouse.errors import UserError


@click.command(
    epilog="Example: pyeval export --out benchmark && pyeval run minilm --from benchmark"
)
@click.option("--task", "names", multiple=True, help="A task name; all of them when left out.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to make; it must not be there yet.",
)
def export(names, out) -> None:
    """Write the lake's benchmark as files: splits, documents, card, licences per source.

    Anyone can score on the folder with `pyeval run MODEL --from FOLDER`, without the lake.
    """
    from pyeval.export import export as write
    from pyeval.tasks import pick
    from warehouse.tables import Lake

    with Lake() as lake:
        metas = write(lake, pick(names), out)
    for meta in metas:
        sizes = [f"{meta[one]:,} {one.removeprefix('n_')}" for one in meta if one.startswith("n_")]
        click.echo(f"{meta['slug']}\t{', '.join(sizes)}")
    click.echo(f"{len(metas)} tasks in {out}; read {out / 'README.md'} on licences", err=True)


@click.command("export-mteb", epilog="Example: pyeval export-mteb benchmark")
@click.argument("folder", type=click.Path(path_type=Path))
def export_mteb(folder) -> None:
    """Put MTEB's task classes for the tasks of FOLDER into it, as mteb_tasks.py.

    FOLDER is what `pyeval export` wrote. The file needs the package mteb and nothing of this one.
    """
    from pyeval.folder_files import META
    from warehouse.beside import file_beside

    if not any(folder.glob(f"*/{META}")):
        raise UserError(f"{folder} holds no task. Make it with: pyeval export --out {folder}")
    classes = Path(__file__).with_name("mteb_tasks.py").read_bytes()
    with file_beside(folder / "mteb_tasks.py") as partial:
        partial.write_bytes(classes)
    click.echo(str(folder / "mteb_tasks.py"))
