"""Which training objects draw on a column that was known later than the rule that dates them."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from warehouse.errors import UserError
from warehouse.lineage import Step, ancestors
from warehouse.sources import project_dir

# When a value can have been known, in the order of a document's life. `event` is the day that
# the row itself records; grant+4, +8 and +12 are the maintenance fees; `snapshot` is undated: what
# a publisher computes or corrects at each release.
KNOWN_AT = (
    "filing", "publication", "crawl", "grant", "event", "grant+4", "grant+8", "grant+12",
    "snapshot",
)  # fmt: skip
REGISTER = "dbt_project/seeds/leakage_channels.csv"


class Channel(NamedTuple):
    """One row of the register of leakage channels."""

    channel: str
    object: str  # pattern of schema.table
    source_column: str  # pattern of source.table.column
    reason: str


class Leak(NamedTuple):
    """A late column above a training object."""

    object: str
    source_column: str
    how: str  # value | rows
    known_at: str
    rule: str  # the latest that the object's own date allows; nothing when no rule names the source
    channel: str  # of the register; nothing when it is not listed

    def __str__(self) -> str:
        """One line that says what is wrong."""
        allowed = f"later than {self.rule}" if self.rule else "and no rule of it names that source"
        return f"{self.object} draws on {self.source_column}, known at {self.known_at}, {allowed}"


def register() -> list[Channel]:
    """The register of leakage channels, as the lake holds it in audit.leakage_channels."""
    with (project_dir() / REGISTER).open(encoding="utf-8", newline="") as lines:
        return [Channel(**row) for row in csv.DictReader(lines)]


def known_at(manifest: Mapping[str, Any]) -> dict[str, str]:
    """When each source column can have been known, as its YAML declares, by its full name.

    Raises:
        UserError: a column declares nothing, or a word that is not one of `KNOWN_AT`.
    """
    found = {}
    for source in manifest["sources"].values():
        for column in source["columns"].values():
            name = f"{source['source_name']}.{source['name']}.{column['name']}"
            found[name] = column["config"]["meta"].get("known_at")
    wrong = [f"  {name}: {said or 'nothing'}" for name, said in found.items()
             if said not in KNOWN_AT]  # fmt: skip
    if wrong:
        raise UserError(
            f"{len(wrong)} source column(s) do not declare config.meta.known_at as one of "
            f"{', '.join(KNOWN_AT)}:\n" + "\n".join(wrong)
        )
    return found


def find_leaks(
    manifest: Mapping[str, Any], steps: Iterable[Step], channels: Sequence[Channel]
) -> list[Leak]:
    """Every late column above every model that declares `known_by`, listed or not.

    `known_by` maps a pattern of source tables to the latest moment at which a column of theirs
    may be known for a row of the model to be rightly dated; the first pattern that fits counts.
    """
    declared, steps = known_at(manifest), list(steps)
    found = []
    for node in manifest["nodes"].values():
        rules = node["config"].get("meta", {}).get("known_by")
        if rules:
            name = f"{node['schema']}.{node['alias']}"
            found += _above(name, rules, declared, steps, channels)
    return found


def _above(
    name: str,
    rules: Mapping[str, str],
    declared: Mapping[str, str],
    steps: Sequence[Step],
    channels: Sequence[Channel],
) -> list[Leak]:
    found = []
    for column, how in ancestors(steps, name).items():
        source_column = f"{column.table}.{column.name}"
        if source_column not in declared and column.table != "functions":
            continue  # a model's column, whose own ancestors are looked at
        moment = declared.get(source_column, "snapshot")
        rule = next((r for pattern, r in rules.items() if fnmatchcase(column.table, pattern)), "")
        if not rule or KNOWN_AT.index(moment) > KNOWN_AT.index(rule):
            listed = (c.channel for c in channels if _fits(c, name, source_column))
            found.append(Leak(name, source_column, how, moment, rule, next(listed, "")))
    return found


def idle_channels(steps: Iterable[Step], channels: Sequence[Channel]) -> list[Channel]:
    """Rows of the register that no table of the lake draws on: they hide what comes later."""
    steps = list(steps)
    drawn = {
        (table, f"{column.table}.{column.name}")
        for table in {step.table for step in steps}
        for column in ancestors(steps, table)
    }
    return [c for c in channels if not any(_fits(c, *pair) for pair in drawn)]


def _fits(channel: Channel, table: str, source_column: str) -> bool:
    return fnmatchcase(table, channel.object) and fnmatchcase(source_column, channel.source_column)
