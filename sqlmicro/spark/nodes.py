"""Small parts of syntax trees, for the corrections."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """Return a call of a function of Spark's."""
    from sqlglot import exp

    return exp.Anonymous(this=name, expressions=list(arguments))


def called(node: exp.Expression, name: str) -> bool:
    """Tell whether a node calls a function that sqlglot does not know, by its name."""
    from sqlglot import exp

    return isinstance(node, exp.Anonymous) and str(node.this).lower() == name


def function_of(body: exp.Expression, *names: str) -> exp.Expression:
    """Return a lambda of these names."""
    from sqlglot import exp

    return exp.Lambda(this=body, expressions=[exp.to_identifier(name) for name in names])
