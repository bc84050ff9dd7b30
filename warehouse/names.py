"""Which table or slice of the lake a name means."""

import duckdb

from warehouse.errors import UserError, unknown

SLICES = {
    "documents": "corpus.documents_asof",
    "pretrain_text": "corpus.pretrain_asof",
    "edges": "graph.edges_asof",
    "nodes": "graph.nodes_asof",
    "anchors": "graph.anchors_asof",
}


def slice_of(name: str) -> str:
    """The key of `SLICES` that a name means.

    Raises:
        UserError: no slice is called so.
    """
    if short := _short_name(name):
        return short
    every = ", ".join(SLICES)
    raise unknown("slice", name, SLICES, f"lake show NAME --asof 2013, with one of {every}")


def _short_name(name: str) -> str | None:
    """The key of `SLICES` that is meant by edges, graph.edges, edges_asof or graph.edges_asof."""
    for short, function in SLICES.items():
        schema, bare = function.split(".")
        if name in (short, f"{schema}.{short}", bare, function):
            return short
    return None


def relation_of(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """The quoted name of a table that exists; nothing else ever gets into SQL.

    Raises:
        UserError: no table or several are called so, or it takes a cutoff.
    """
    known = con.execute(
        "select schema_name, table_name from duckdb_tables() where not internal union all "
        "select schema_name, view_name from duckdb_views() where not internal"
    ).fetchall()
    matches = [(s, t) for s, t in known if name in (f"{s}.{t}", t)]
    # A bare name means the mart, not the yearly view of the same name.
    matches = [pair for pair in matches if not pair[0][1:].isdigit() or "." in name]
    if len(matches) == 1:
        return '"{}"."{}"'.format(*matches[0])
    if matches:
        raise UserError(f"several tables are called {name!r}: "
                        + ", ".join(f"{s}.{t}" for s, t in sorted(matches)))  # fmt: skip
    if _short_name(name):
        raise UserError(f"{name} takes a cutoff. Write for example: lake show {name} --asof 2013")
    if inside := sorted(t for s, t in known if s == name):
        raise UserError(
            f"{name} is a schema. Name a table of it, for example: lake show {name}.{inside[0]}"
        )
    raise unknown(
        "table", name, [f"{s}.{t}" for s, t in known] + [t for _, t in known], "lake show"
    )
