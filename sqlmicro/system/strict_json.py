"""JSON that somebody else may have written, read as dataclasses: nothing but what their types say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text", NoneType: "null"}


class NotAsDeclaredError(ValueError):
    """What a document has in a place is not what its type says: the place, and what must be there. No value."""

    def __init__(self, place: str, must: str) -> None:
        super().__init__(f"{place or 'the document'} must be {must}")
        self.place, self.must = place or "the document", must


def strictly(kind: type[T], value: Any) -> T:
    """Return a dataclass from JSON, if that has every field in its type, and no other key.

    Raises
    ------
    NotAsDeclaredError
        With the first place that is something else.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Bin:
    ...     ends: list[float | None]
    >>> strictly(Bin, {"ends": [1, None]})
    Bin(ends=[1.0, None])
    >>> strictly(Bin, {"ends": ["1"]})
    Traceback (most recent call last):
        ...
    sqlmicro.system.strict_json.NotAsDeclaredError: ends[0] must be a number or null
    """
    found: T = _read(kind, value, "")
    return found


def _read(kind: Any, value: Any, place: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _of_union(inner, value, place)
    if origin is Literal:
        if value not in inner or type(value) not in map(type, inner):
            raise NotAsDeclaredError(place, "one of " + ", ".join(map(str, inner)))
        return value
    if origin is list:
        if type(value) is not list:
            raise NotAsDeclaredError(place, "a list")
        return [_read(inner[0], part, f"{place}[{number}]") for number, part in enumerate(value)]
    if origin is dict:
        if type(value) is not dict:
            raise NotAsDeclaredError(place, "an object")
        return {key: _read(inner[1], part, f"{place}.…") for key, part in value.items()}
    if is_dataclass(kind):
        return _object(kind, value, place)
    return _scalar(kind, value, place)


def _of_union(kinds: tuple[Any, ...], value: Any, place: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not NoneType]
    try:
        return _read(others[0], value, place)
    except NotAsDeclaredError as found:
        if found.place != (place or "the document") or len(others) > 1:
            raise
        raise NotAsDeclaredError(place, f"{found.must} or null") from None


def _object(kind: Any, value: Any, place: str) -> Any:
    if type(value) is not dict:
        raise NotAsDeclaredError(place, "an object")
    own, hints = _declared(kind)
    for name in _but(value, own):
        raise NotAsDeclaredError(place, f"an object without {name}")
    for name in _but(own, value):
        if own[name].default is MISSING and own[name].default_factory is MISSING:
            raise NotAsDeclaredError(place, f"an object with {name}")
    before = f"{place}." if place else ""
    return kind(**{name: _read(hints[name], part, before + name) for name, part in value.items()})


@cache
def _declared(kind: Any) -> tuple[dict[str, Field[Any]], dict[str, Any]]:
    """Return the fields of a dataclass, and their types."""
    return {field.name: field for field in fields(kind)}, get_type_hints(kind)


def _but(some: Mapping[str, Any], others: Mapping[str, Any]) -> Iterator[str]:
    yield from (name if name in others or name.isidentifier() else "other keys" for name in some if name not in others)


def _scalar(kind: Any, value: Any, place: str) -> Any:
    if kind is float and type(value) is int:
        value = float(value) if abs(value) < 2**1000 else math.inf
    fine = type(value) is kind and not (kind is float and not math.isfinite(value))
    if kind is str and fine:
        fine = "\0" not in value and not any("\ud800" <= char <= "\udfff" for char in value)
    if not fine:
        raise NotAsDeclaredError(place, _NAMES[kind])
    return value
