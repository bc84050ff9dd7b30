"""Whether a finished run is still what its settings, parents and rows would give."""

from pytrain.config import Settings, load_settings, section
from pytrain.run import STAGES, read_run, run_path
from warehouse.tables import Lake, TableRead

# Settings that change how a run is watched over, not what comes of it.
_NO_MATTER = ("save_every", "log_every")


def why_stale(stage: str, settings: Settings, year: int, *, seed: int, lake: Lake) -> str | None:
    """What of a finished run is no longer so: settings, parents or rows; None when nothing.

    Raises:
        UserError: no finished run.
    """
    folder = run_path(settings.preset, year, stage, seed)
    made, key = read_run(folder), STAGES[stage][1]
    before = section(load_settings(str(folder / "config.yaml")), key)
    changes = [
        name
        for name, value in section(settings, key).items()
        if before[name] != value and name.rsplit(".", 1)[-1] not in _NO_MATTER
    ]
    if changes:
        return f"its settings differ: {', '.join(changes)}"
    for parent in made["parents"]:
        path = folder.parent / parent["name"] / "run.json"
        if not path.is_file() or read_run(path.parent)["fingerprint"] != parent["fingerprint"]:
            return f"its parent {parent['name']} is gone or was made anew"
    for read in made["tables_read"]:
        was = TableRead(**{**read, "columns": tuple(read["columns"])})
        now = lake.fingerprint(
            was.name,
            was.columns,
            cutoff=was.cutoff,
            basis=was.basis,
            licence_at_most=was.licence_at_most,
        )
        if now != was:
            return f"the lake's rows of {was.name} as of {was.cutoff} changed"
    return None
