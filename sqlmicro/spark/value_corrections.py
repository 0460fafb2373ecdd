"""What is corrected in values for Spark: functions, types, and how numbers and lists become text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlmicro.spark.nodes import call, called, function_of

if TYPE_CHECKING:
    from sqlglot import exp

_LAST_DAY = 106_751_991  # 2^63 microseconds after 1970, which stand for an infinite timestamp


def session_variables(node: exp.Expression) -> exp.Expression:
    """getvariable('x') is the session variable x."""
    from sqlglot import exp

    if not called(node, "getvariable"):
        return node
    return exp.column(node.expressions[0].name, table="session", db="system")


def hashes(node: exp.Expression) -> exp.Expression:
    """hash() has 64 bits; Spark's own has 32, its xxhash64 as many."""
    return call("xxhash64", *node.expressions) if called(node, "hash") else node


def rows_of_values(node: exp.Expression) -> exp.Expression:
    """row() is a struct, of one value as well."""
    return call("struct", *node.expressions) if called(node, "row") else node


def sums_of_lists(node: exp.Expression) -> exp.Expression:
    """list_sum, list_avg and list_aggregate: Spark folds an array, and orders it by the first field of its structs."""
    from sqlglot import exp

    if called(node, "list_aggregate"):
        listed = node.expressions[0].find(exp.ArrayAgg).this
        return call(node.expressions[1].name, listed.copy())
    if not (called(node, "list_sum") or called(node, "list_avg")):
        return node
    array = node.expressions[0]
    added: exp.Expression = exp.column("b")
    aggregated = array.find(exp.ArrayAgg)
    if aggregated is not None and isinstance(aggregated.this, exp.Order):
        added = _in_structs(aggregated, "b")
        array = call("array_sort", array)
    added = exp.cast(added, "double")
    total = exp.Coalesce(
        this=exp.Add(this=exp.column("a"), expression=added), expressions=[exp.column("a"), added.copy()]
    )
    found = call("aggregate", array, exp.cast(exp.null(), "double"), function_of(total, "a", "b"))
    if called(node, "list_sum"):
        return found
    return exp.Div(this=found, expression=call("size", call("array_compact", array.copy())))


def _in_structs(aggregated: Any, name: str) -> exp.Expression:
    """Make an ordered list one of structs that array_sort orders alike, and return the value in a struct of a name."""
    from sqlglot import exp

    order = aggregated.this
    fields = [ordered.this.copy() for ordered in order.expressions] + [order.this.copy()]
    named = [part for i, field in enumerate(fields, 1) for part in (exp.Literal.string(f"field_{i}"), field)]
    aggregated.set("this", call("named_struct", *named))
    return exp.column(f"field_{len(fields)}", table=name)


def starts_of_lists(node: exp.Expression) -> exp.Expression:
    """list(… ORDER BY …)[1:n] is the first n in this order, and NULL where there is none."""
    from sqlglot import exp

    aggregated: Any = node.find(exp.ArrayAgg) if isinstance(node, exp.Bracket) else None
    if aggregated is None or not isinstance(aggregated.this, exp.Order):
        return node
    part: Any = node.expressions[0]
    value = _in_structs(aggregated, "b")
    values = call("transform", call("array_sort", node.this.copy()), function_of(value, "b"))
    return call("nullif", call("slice", values, part.this.copy(), part.expression.copy()), exp.Array(expressions=[]))


def lists_of_nothing(node: exp.Expression) -> exp.Expression:
    """list() of no values is NULL in DuckDB; collect_list makes an empty array of them."""
    from sqlglot import exp

    if isinstance(node, exp.ArrayToString) and node.find(exp.ArrayAgg) is not None:
        node.set("this", call("nullif", node.this.copy(), exp.Array(expressions=[])))
    return node


def lengths_of_lists(node: exp.Expression) -> exp.Expression:
    """len() of a list counts its members; the templates take the length of text by length()."""
    if node.key == "length" and (node.this.key == "array" or node.this.name == "probabilities"):
        return call("size", node.this)
    return node


def ordered_aggregates(node: exp.Expression) -> exp.Expression:
    """A sum or mean with ORDER BY is added up in that order, so that it repeats; Spark adds in any order."""
    from sqlglot import exp

    if isinstance(node, (exp.Sum, exp.Avg)) and isinstance(node.this, exp.Order):
        node.set("this", node.this.this)
    return node


def quantiles(node: exp.Expression) -> exp.Expression:
    """quantile_cont and quantile_disc take two arguments, Spark's have the order outside."""
    from sqlglot import exp

    if isinstance(node, exp.PercentileCont) and node.expression:
        return call("percentile", node.this, node.expression)
    if isinstance(node, exp.PercentileDisc) and node.expression:
        order = exp.Order(expressions=[exp.Ordered(this=node.this, nulls_first=True)])
        return exp.WithinGroup(this=call("percentile_disc", node.expression), expression=order)
    return node


def extremes(node: exp.Expression) -> exp.Expression:
    """least and greatest of one value are that value; Spark wants two."""
    from sqlglot import exp

    return node.this if isinstance(node, (exp.Least, exp.Greatest)) and not node.expressions else node


def rounding(node: exp.Expression) -> exp.Expression:
    """round_even is rint, or bround where digits are kept."""
    if not called(node, "round_even"):
        return node
    value, digits = node.expressions
    return call("rint", value) if digits.name == "0" else call("bround", value, digits)


def moments_in_time(node: exp.Expression) -> exp.Expression:
    """Days and microseconds since 1970; what a file of DuckDB's has for an infinite date is beyond the last day."""
    from sqlglot import exp

    if isinstance(node, exp.Sub) and isinstance(node.expression, exp.Cast) and node.expression.is_type("date"):
        return call("unix_date", exp.cast(node.this, "date"))
    if called(node, "epoch_us"):
        return call("unix_micros", exp.cast(node.expressions[0], "timestamptz"))
    if called(node, "make_timestamptz"):
        return call("timestamp_micros", *node.expressions)
    if isinstance(node, exp.UnixToTime):
        return exp.cast(call("timestamp_micros", node.this), exp.DataType.build("timestampntz"))
    if called(node, "isfinite"):
        value = node.expressions[0]
        if isinstance(value, exp.Cast):  # of a number
            bound = exp.cast(exp.Literal.string("Infinity"), "double")
            return exp.LT(this=exp.Abs(this=value), expression=bound)
        day = exp.Abs(this=call("unix_date", exp.cast(value, "date")))
        return exp.LT(this=day, expression=exp.Literal.number(_LAST_DAY))
    return node


def bits_of_numbers(node: exp.Expression) -> exp.Expression:
    """The bits of a floating-point number: its shortest decimal text, which tells -0.0 from 0.0; all NaN are one."""
    from sqlglot import exp

    if called(node, "signbit"):
        return call("startswith", _number_text(node.expressions[0]), exp.Literal.string("-"))
    if not isinstance(node, exp.Cast):
        return node
    if node.is_type("bit"):
        return _number_text(node.this)
    for part in node.to.find_all(exp.DataType):
        if part.this == exp.DType.BIT:
            part.replace(exp.DataType.build("text"))
    return node


def _number_text(value: exp.Expression) -> exp.Expression:
    from sqlglot import exp

    return exp.cast(exp.cast(value, "double"), "text")


def hexadecimal(node: exp.Expression) -> exp.Expression:
    """CAST('0x…' AS BIGINT) reads hexadecimal digits."""
    from sqlglot import exp

    if not isinstance(node, exp.Cast) or not node.is_type("bigint"):
        return node
    parts: list[Any] = list(node.this.flatten()) if isinstance(node.this, (exp.DPipe, exp.Concat)) else []
    if isinstance(node.this, exp.Concat):
        parts = list(node.this.expressions)
    if len(parts) != 2 or parts[0].name != "0x":
        return node
    base, ten = exp.Literal.number(16), exp.Literal.number(10)
    return exp.cast(call("conv", parts[1], base, ten), "bigint")


def types(node: exp.Expression) -> exp.Expression:
    """HUGEINT is a DECIMAL of 38 digits; a timestamp of any precision is one of microseconds, without a zone."""
    from sqlglot import exp

    if not isinstance(node, exp.DataType):
        return node
    if node.this == exp.DType.INT128:
        return exp.DataType.build("decimal(38, 0)")
    if node.this in (exp.DType.TIMESTAMP_S, exp.DType.TIMESTAMP_MS, exp.DType.TIMESTAMP_NS):
        return exp.DataType.build("timestampntz")
    return node


def nested_text(node: exp.Expression) -> exp.Expression:
    """What tells lists and structs apart as text is their JSON: Spark's text of ['a, b'] is that of ['a', 'b']."""
    from sqlglot import exp

    cast = node.this
    if not isinstance(node, exp.Encode) or not isinstance(cast, exp.Cast) or not cast.is_type("text"):
        return node
    kind = call("typeof", cast.this.copy())
    is_nested = call("rlike", kind, exp.Literal.string("^(array|map|struct)"))
    has_value = exp.Not(this=exp.Is(this=cast.this.copy(), expression=exp.null()))
    json = call("to_json", call("named_struct", exp.Literal.string("v"), cast.this.copy()))
    node.set("this", exp.Case().when(exp.and_(is_nested, has_value), json).else_(cast.copy()))
    return node


def enums(node: exp.Expression) -> exp.Expression:
    """An ENUM is text; where it is cast to for its order, the text is looked up among its values."""
    from sqlglot import exp

    if not isinstance(node, exp.Cast) or not node.is_type("enum"):
        return node
    if node.find_ancestor(exp.Ordered) is None:
        value: exp.Expression = node.this
        return value
    return call("array_position", exp.Array(expressions=list(node.to.expressions)), node.this)
