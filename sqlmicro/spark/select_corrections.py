"""What is corrected in a SELECT for Spark: joins, windows, names, and clauses that Spark does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlmicro.spark.nodes import call

if TYPE_CHECKING:
    from sqlglot import exp


def order_of_records(node: exp.Expression) -> exp.Expression:
    """A window without order follows the physical order of the relation, which `rowid` has."""
    from sqlglot import exp

    ordered = isinstance(node, exp.Window) and isinstance(node.this, (exp.RowNumber, exp.Lead, exp.Lag))
    if not ordered or node.args.get("order") or node.args.get("alias"):
        return node
    column = exp.column(_rowid_in(node))
    select: Any = node.find_ancestor(exp.Select)
    if isinstance(node.this, exp.RowNumber) and not (select.args.get("where") or select.args.get("joins")):
        return exp.paren(exp.Add(this=column, expression=exp.Literal.number(1)))  # needs no sort
    node.set("order", exp.Order(expressions=[exp.Ordered(this=column, nulls_first=True)]))
    return node


def _rowid_in(node: exp.Expression) -> str:
    """Return the name that the rowid has where the SELECT around a node reads from."""
    from sqlglot import exp

    select: Any = node.find_ancestor(exp.Select)
    table = select.args["from_"].this
    for cte in node.root().find_all(exp.CTE):
        if cte.alias == table.name:
            for projection in cte.this.selects:
                if isinstance(projection, exp.Alias) and projection.this.name == "rowid":
                    return str(projection.alias)
    return "rowid"


def without_order(select: exp.Expression) -> exp.Expression:
    """A relation that is staged has no order: to sort it, Spark would compute it twice, once for the bounds."""
    if not select.args.get("limit"):
        select.set("order", None)
    return select


def in_parts(select: Any) -> exp.Expression:
    """Which file of a release a record is in, and where in it, goes by what the release is put in order by."""
    from sqlglot import exp

    (ordered,) = select.args["order"].pop().expressions
    place = exp.column(_unused("place", select), quoted=True)
    columns = [exp.column(name, quoted=True) for name in select.named_selects]
    drawn = select.select(ordered.this.as_(place.name, quoted=True), copy=False)
    made = exp.select(*columns).from_(drawn.subquery("drawn"))
    made.set("distribute", exp.Distribute(expressions=[place]))
    made.set("sort", exp.Sort(expressions=[place.copy()]))
    return made


def _unused(name: str, select: Any) -> str:
    """Return a name that no column of a SELECT has."""
    while name.lower() in {taken.lower() for taken in select.named_selects}:
        name += "_"
    return name


def nearest_joins(node: exp.Expression) -> exp.Expression:
    """ASOF LEFT JOIN b ON x >= b.y takes the record of b with the greatest y up to x."""
    from sqlglot import exp

    if not isinstance(node, exp.Join) or node.method != "ASOF":
        return node
    alias = node.this.alias_or_name
    source = node.this.copy()
    nearest = node.args["on"].find(exp.GTE).expression.copy()
    found = exp.select("*").from_(source).where(node.args["on"].copy())
    found = found.order_by(exp.Ordered(this=nearest, desc=True, nulls_first=False)).limit(1)
    lateral = exp.Lateral(this=found.subquery(), alias=exp.TableAlias(this=exp.to_identifier(alias)))
    return exp.Join(this=lateral, side=node.side, on=exp.true())


def positional_joins(node: exp.Expression) -> exp.Expression:
    """a POSITIONAL JOIN b: relations that have a row for every record, in the order of row_id, are joined by it."""
    from sqlglot import exp

    if not isinstance(node, exp.Join) or node.method != "POSITIONAL":
        return node
    select: Any = node.find_ancestor(exp.Select)
    sides = select.args["from_"].this.alias_or_name, node.this.alias_or_name
    return exp.Join(this=node.this, on=exp.EQ(**{
        side: exp.column("row_id", table=table) for side, table in zip(("this", "expression"), sides, strict=True)
    }))  # fmt: skip


def aliases(node: exp.Expression) -> exp.Expression:
    """WHERE knows the names that the SELECT gives; inside an expression ORDER BY means the column, not the new name."""
    from sqlglot import exp

    if not isinstance(node, exp.Select):
        return node
    given = {
        projection.alias: projection.this
        for projection in node.selects
        if isinstance(projection, exp.Alias)
        and projection.alias not in {column.name for column in projection.this.find_all(exp.Column)}
    }
    where, order = node.args.get("where"), node.args.get("order")
    source: Any = node.args.get("from_")
    for column in list(where.find_all(exp.Column)) if where else ():
        if not column.table and column.name in given:
            column.replace(exp.paren(given[column.name].copy()))
    for ordered in order.expressions if order else ():
        for column in ordered.find_all(exp.Column):
            renamed = isinstance(given.get(column.name), exp.Column)
            if renamed and column.parent is not ordered and not column.table:
                column.set("table", exp.to_identifier(source.this.alias_or_name, quoted=True))
    return node


def joined_columns(node: exp.Expression) -> exp.Expression:
    """USING moves its columns to the front of t.* on Spark; ON leaves them where they are."""
    from sqlglot import exp

    if not isinstance(node, exp.Select) or not any(isinstance(p, exp.Column) and p.is_star for p in node.selects):
        return node
    for join in node.args.get("joins") or ():
        names = join.args.get("using")
        if names:
            left, right = node.args["from_"].this.alias_or_name, join.this.alias_or_name
            pairs = [exp.EQ(this=exp.column(i.name, left), expression=exp.column(i.name, right)) for i in names]
            join.set("using", None)
            join.set("on", exp.and_(*pairs))
    return node


def tables_of_sets(node: exp.Expression) -> exp.Expression:
    """GROUPING of several columns has a bit for each; Spark's takes one column."""
    from sqlglot import exp

    if not isinstance(node, exp.Grouping) or len(node.expressions) < 2:
        return node
    total: exp.Expression | None = None
    for power, column in enumerate(reversed(node.expressions)):
        one = exp.cast(exp.Grouping(expressions=[column]), "bigint")
        bit = exp.Mul(this=one, expression=exp.Literal.number(2**power))
        total = bit if total is None else exp.Add(this=total, expression=bit)
    assert total is not None
    return exp.paren(total)


def materialized(node: exp.Expression) -> exp.Expression:
    """Spark decides by itself what it computes once."""
    if node.key == "cte":
        node.set("materialized", None)
    return node


def read_once(select: Any) -> Any:
    """A table of a WITH that is read once is a subquery.

    Spark numbers the tables of all WITHs of a statement before it looks for what is persisted. So it does not find what
    was made with a WITH of its own where there is another one (4.3).
    """
    from sqlglot import exp

    found = select.args.get("with_")
    if found is None or found.args.get("recursive"):
        return select
    for table in list(found.expressions):
        readers = [
            one for one in select.find_all(exp.Table)
            if not one.db and one.name.lower() == table.alias.lower()
        ]  # fmt: skip
        if len(readers) == 1 and not table.alias_column_names and not readers[0].args.get("joins"):
            table.pop()
            readers[0].replace(table.this.subquery(readers[0].alias_or_name, copy=False))
    if not found.expressions:
        select.set("with_", None)
    return select


def ranges(node: exp.Expression) -> exp.Expression:
    """FROM range(n) has a column called range."""
    from sqlglot import exp

    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.GenerateSeries):
        return node
    numbers = exp.Table(this=call("range", node.this.args["end"]))
    return exp.select(exp.column("id").as_("range")).from_(numbers).subquery("numbers")


def unnested(node: exp.Expression) -> exp.Expression:
    """Several lists may be unnested side by side among the columns; Spark zips them and explodes that."""
    from sqlglot import exp

    if not isinstance(node, exp.Select):
        return node
    found = [explode for projection in node.selects for explode in projection.find_all(exp.Explode)]
    if not found or (len(found) == 1 and isinstance(found[0].parent, exp.Alias)):
        return node
    lists = [explode.this.copy() for explode in found]
    for number, explode in enumerate(found):
        name = explode.this.name if isinstance(explode.this, exp.Column) else str(number)
        explode.replace(exp.column(name, table="u", quoted=True))
    if node.args.get("from_") is None:
        node.from_(exp.select(exp.Literal.number(1)).subquery("nothing"), copy=False)
    view = exp.Lateral(
        this=exp.Explode(this=call("arrays_zip", *lists)),
        view=True,
        alias=exp.TableAlias(this=exp.to_identifier("v"), columns=[exp.to_identifier("u")]),
    )
    node.append("laterals", view)
    return node


def qualified(node: exp.Expression) -> exp.Expression:
    """QUALIFY is a WHERE around the SELECT; sqlglot's own rewriting puts a new column in place of the old one."""
    from sqlglot import exp

    if not isinstance(node, exp.Select) or not node.args.get("qualify"):
        return node
    condition = node.args["qualify"].this
    node.set("qualify", None)
    names = [projection.alias_or_name for projection in node.selects]
    marker = _unused("qualified", node)
    inner = node.copy().select(condition.as_(marker))
    inner.set("with_", None)
    columns: list[exp.Expression] = [exp.column(name, quoted=True) for name in names]
    if "*" in names:
        columns = [exp.Star(except_=[exp.column(marker)])]
    outer = exp.select(*columns).from_(inner.subquery("all_rows")).where(exp.column(marker))
    outer.set("with_", node.args.get("with_"))
    return outer
