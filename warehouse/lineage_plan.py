"""What decides each column of a query, read off DuckDB's bound plan of it.

Source: `json_serialize_plan` of DuckDB's json extension, without optimizing. In a bound plan a
column is named by its place among the columns of the operator's children (below a table function
by the place in the operator that made it), so every operator is one rule on lists.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Column(NamedTuple):
    """A column of a stored table, or a function that is known no earlier than its release."""

    table: str  # schema.table
    name: str


Columns = frozenset[Column]
NONE: Columns = frozenset()


@dataclass(frozen=True)
class Relation:
    """What decides each column of a relation, and what decides which rows it has."""

    columns: tuple[Columns, ...]
    rows: Columns = NONE


# Parts of an expression that are other expressions; what else a plan writes there (bind data,
# constants, the body of a lambda, whose own places count its parameters) holds no column.
INSIDE = (
    "children", "child", "case_checks", "when_expr", "then_expr", "else_expr", "left", "right",
    "filter", "order_bys", "orders", "expression", "partitions", "arg_orders", "start_expr",
    "end_expr", "offset_expr", "default_expr", "filter_expr",
)  # fmt: skip
COLUMNS = ("BOUND_REF", "BOUND_COLUMN_REF")
EXPRESSIONS = (
    *COLUMNS, "BOUND_FUNCTION", "BOUND_CONSTANT", "BOUND_CASE", "BOUND_AGGREGATE", "BOUND_WINDOW",
    "BOUND_UNNEST", "BOUND_LAMBDA", "BOUND_CONJUNCTION", "BOUND_OPERATOR", "BOUND_CAST",
    "BOUND_COMPARISON", "BOUND_BETWEEN",
)  # fmt: skip
PASSED_ON = ("LOGICAL_ORDER_BY", "LOGICAL_LIMIT", "LOGICAL_DISTINCT", "LOGICAL_FILTER")
SET_OPERATIONS = ("LOGICAL_UNION", "LOGICAL_EXCEPT", "LOGICAL_INTERSECT")
JOINS = (
    "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_CROSS_PRODUCT", "LOGICAL_ASOF_JOIN",
    "LOGICAL_POSITIONAL_JOIN",
)  # fmt: skip


def relation_of(plan: Mapping[str, Any], undated: Sequence[str] = ()) -> Relation:
    """The lineage of a bound plan's result.

    Args:
        plan: one element of `plans` of `json_serialize_plan`.
        undated: names of functions to list as columns `functions.<name>`.

    Raises:
        ValueError: an operator whose lineage is not known here.
    """
    return _Reader(frozenset(undated)).read(plan)


class _Reader:
    """Reads one plan; holds the common table expressions met on the way down."""

    def __init__(self, undated: frozenset[str]) -> None:
        self.undated = undated
        self.named: dict[int, Relation] = {}
        self.made: dict[int, tuple[Columns, ...]] = {}  # by the index of what made them

    def read(self, node: Mapping[str, Any]) -> Relation:
        found = self._read(node)
        if "table_index" in node:
            self.made[node["table_index"]] = found.columns
        return found

    def _read(self, node: Mapping[str, Any]) -> Relation:
        kind = node["type"]
        if kind == "LOGICAL_GET":
            return self._scan(node)
        if kind in ("LOGICAL_DUMMY_SCAN", "LOGICAL_EMPTY_RESULT"):
            return Relation(())
        if kind in ("LOGICAL_MATERIALIZED_CTE", "LOGICAL_RECURSIVE_CTE"):
            return self._common(node)
        if kind == "LOGICAL_CTE_REF":
            return self.named[node["cte_index"]]
        if kind in JOINS:
            return self._join(node)
        below = [self.read(child) for child in node.get("children", [])]
        columns = tuple(column for one in below for column in one.columns)
        rows = NONE.union(*(one.rows for one in below))
        if kind in SET_OPERATIONS:
            merged = (NONE.union(*same) for same in zip(*(b.columns for b in below), strict=True))
            # Which rows a set operation leaves is decided by all of their values.
            return Relation(tuple(merged), rows if node["setop_all"] else rows.union(*columns))
        if kind in PASSED_ON:
            rows |= self._used(_conditions(node), columns)
            return Relation(_chosen(columns, node.get("projection_map")), rows)
        made = tuple(self._used(one, columns) for one in node.get("expressions", []))
        if kind == "LOGICAL_PROJECTION":
            return Relation(made, rows)
        if kind == "LOGICAL_AGGREGATE_AND_GROUP_BY":
            groups = tuple(self._used(one, columns) for one in node.get("groups", []))
            self.made |= {node["group_index"]: groups, node["aggregate_index"]: made}
            return Relation((*groups, *made), rows.union(*groups))
        if kind == "LOGICAL_WINDOW":
            self.made[node["window_index"]] = made
            return Relation((*columns, *made), rows)
        if kind == "LOGICAL_UNNEST":
            self.made[node["unnest_index"]] = made
            return Relation((*columns, *made), rows.union(*made))
        if kind == "LOGICAL_EXPRESSION_GET":
            listed = [[self._used(one, columns) for one in row] for row in node["expressions"]]
            return Relation(tuple(NONE.union(*same) for same in zip(*listed, strict=True)), rows)
        raise ValueError(f"the plan has a {kind}, whose columns are not known")

    def _common(self, node: Mapping[str, Any]) -> Relation:
        """A common table expression; one that reads itself is read until nothing is added."""
        first, body = node["children"]
        known = self.read(first)
        self.named[node["table_index"]] = known
        if node["type"] == "LOGICAL_MATERIALIZED_CTE":
            return self.read(body)
        while (found := _either(known, self.read(body))) != known:
            self.named[node["table_index"]] = known = found
        return known

    def _join(self, node: Mapping[str, Any]) -> Relation:
        left, right = (self.read(child) for child in node["children"])
        both = (*left.columns, *right.columns)
        decides = self._used(node.get("condition"), both)
        for condition in node.get("conditions", []):
            if "right" in condition:
                decides |= self._used(condition["left"], left.columns)
                decides |= self._used(condition["right"], right.columns)
            else:  # no comparison of the two sides, but a condition on their columns
                decides |= self._used(condition["left"], both)
        kind = node.get("join_type", "INNER")
        kept = _chosen(left.columns, node.get("left_projection_map"))
        if kind == "MARK":  # a column more: has the row a partner?
            return Relation((*kept, right.rows | decides), left.rows)
        rows = left.rows | right.rows | decides
        if kind in ("SEMI", "ANTI"):
            return Relation(kept, rows)
        joined = _chosen(right.columns, node.get("right_projection_map"))
        return Relation((*kept, *joined), rows)

    def _scan(self, node: Mapping[str, Any]) -> Relation:
        """A stored table, or a function such as range() or unnest() over the rows below it."""
        names, place = node["names"], node.get("function_data", {})
        below = [self.read(child) for child in node.get("children", [])]
        given = [column for one in below for column in one.columns]
        rows = NONE.union(*(one.rows for one in below))
        if "table" in place:
            table = f"{place['schema']}.{place['table']}"
            known = [frozenset({Column(table, name)}) for name in names]
        else:
            known = [NONE.union(*given)] * len(names)
        indexes = [one["index"] for one in node["column_indexes"]]
        # A scan that needs no column, as for count(*), asks for the row's own number.
        columns = [known[i] if i < len(known) else NONE for i in indexes]
        return Relation((*columns, *(given[i] for i in node.get("projected_input", []))), rows)

    def _used(self, expression: Any, columns: Sequence[Columns]) -> Columns:
        """The columns below that an expression reads."""
        found = []
        for part in _parts(expression):
            if "binding" in part:
                place = part["binding"]
                found.append(self.made[place["table_index"]][place["column_index"]])
            elif part["expression_class"] == "BOUND_REF":
                found.append(columns[part["index"]])
            elif "qname" in part and (name := part["qname"]["path"][-1]) in self.undated:
                found.append(frozenset({Column("functions", name)}))
        return NONE.union(*found)


def _chosen(columns: tuple[Columns, ...], places: Sequence[int] | None) -> tuple[Columns, ...]:
    return tuple(columns[place] for place in places) if places else columns


def _conditions(node: Mapping[str, Any]) -> list[Any]:
    names = ("expressions", "orders", "distinct_targets", "limit_val", "offset_val", "order_by")
    return [node[name] for name in names if name in node]


def _either(one: Relation, other: Relation) -> Relation:
    merged = (a | b for a, b in zip(one.columns, other.columns, strict=True))
    return Relation(tuple(merged), one.rows | other.rows)


def _parts(expression: Any) -> Iterator[Mapping[str, Any]]:
    """An expression and the expressions inside it."""
    if isinstance(expression, list):
        for one in expression:
            yield from _parts(one)
    elif isinstance(expression, dict):
        kind = expression.get("expression_class")
        if kind in EXPRESSIONS:
            yield expression
        elif kind:
            raise ValueError(f"the plan has a {kind}, whose columns are not known")
        for name in INSIDE:
            if name in expression:
                yield from _parts(expression[name])
