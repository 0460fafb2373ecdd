"""Reports are dataclasses: their fields are what `--json` prints and what Python calls return.

A field is a key of the same name, unless its metadata say otherwise: `named` gives it another key, `OMITTED` leaves it
out where it is None, `INLINE` puts the keys of a dataclass or a mapping in its place, `WHOLE` marks a text of several
lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, Protocol, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints, runtime_checkable

from sqlmicro.system.printable import shown
from sqlmicro.system.sentences import Said

T = TypeVar("T")
Json: TypeAlias = dict[str, Any]
"""A report as `--json` prints it and as Python calls return it."""
Metadata = Mapping[str, object]
_KEY, _OMITTED, _INLINE, _WHOLE = "key", "omitted", "inline", "whole"
OMITTED: Metadata = {_OMITTED: True}
INLINE: Metadata = {_INLINE: True}
WHOLE: Metadata = {_WHOLE: True}


def named(key: str) -> Metadata:
    """Return the metadata of a field that has another key in JSON."""
    return {_KEY: key}


def key_of(field: Field[Any]) -> str:
    """Return the key of a field."""
    return str(field.metadata.get(_KEY, field.name))


def is_inline(field: Field[Any]) -> bool:
    """Tell whether the keys of a field's value stand in place of the field."""
    return _INLINE in field.metadata


def may_lack(field: Field[Any]) -> bool:
    """Tell whether the key of a field may be absent."""
    return _OMITTED in field.metadata


def as_json(report: Any) -> Any:
    """Return a report as what JSON has: a dataclass as a dictionary of its fields, all else as it is.

    >>> from dataclasses import dataclass, field
    >>> @dataclass(frozen=True)
    ... class Found:
    ...     which: str = field(metadata=named("pass"))
    ...     more: dict[str, int] = field(metadata=INLINE)
    ...     note: str | None = field(default=None, metadata=OMITTED)
    >>> as_json([Found("all", {"n": 3})])
    [{'pass': 'all', 'n': 3}]
    """
    if is_dataclass(report) and not isinstance(report, type):
        return dict(_items(report))
    if isinstance(report, Mapping):
        return {key: as_json(value) for key, value in report.items()}
    if type(report) in (list, tuple):
        return type(report)(as_json(value) for value in report)
    return report


def _items(report: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(report):
        value = getattr(report, field.name)
        if value is None and (may_lack(field) or is_inline(field)):
            continue
        if is_inline(field):
            yield from as_json(value).items()
        else:
            yield key_of(field), as_json(value)


def from_json(kind: type[T], value: Any) -> T:
    """Return a dataclass from what `as_json` made of it and JSON kept.

    Raises
    ------
    ValueError
        When it is something else.

    >>> from_json(list[Metadata], [{"a": 1}])
    [{'a': 1}]
    """
    found: T = _read(kind, value)
    return found


def _read(kind: Any, value: Any) -> Any:
    if is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, dict):
            raise ValueError(kind.__name__)
        hints = get_type_hints(kind)
        given = {field.name: value[key_of(field)] for field in fields(kind) if key_of(field) in value}
        needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}
        if needed - given.keys():
            raise ValueError(kind.__name__)
        return kind(**{name: _read(hints[name], part) for name, part in given.items()})
    inner = get_args(kind)
    if get_origin(kind) is list and isinstance(value, list):
        return [_read(inner[0], part) for part in value]
    if get_origin(kind) in (Union, UnionType) and value is not None:
        (kind,) = [one for one in inner if one is not NoneType]
        return _read(kind, value)
    return value


def harmless(report: Any) -> Any:
    r"""Return a report with every text in it as it is shown, names of columns among them; see `printable`.

    >>> harmless({"a\n": ["b\t", 1, None], "c": ("d",)})
    {'a\\n': ['b\\t', 1, None], 'c': ('d',)}
    """
    if isinstance(report, Said):
        return report.each(harmless)
    if isinstance(report, str):
        return shown(report)
    if isinstance(report, Mapping):
        return {harmless(key): harmless(value) for key, value in report.items()}
    if type(report) in (list, tuple):
        return type(report)(harmless(value) for value in report)
    if is_dataclass(report) and not isinstance(report, type):
        own = {f.name: getattr(report, f.name) for f in fields(report) if _WHOLE not in f.metadata}
        return replace(report, **{name: harmless(value) for name, value in own.items()})
    return report


@runtime_checkable
class Judged(Protocol):
    """A report of something that may fail: `passed` is None where nothing was demanded."""

    @property
    def passed(self) -> bool | None:
        """Whether what was demanded held."""


@runtime_checkable
class Warned(Protocol):
    """A report that may have a sentence that nobody should overlook."""

    @property
    def warned(self) -> str | None:
        """The sentence."""


@runtime_checkable
class Scripted(Protocol):
    """A report that may have the statements that were run."""

    @property
    def sql(self) -> str | None:
        """The script."""


@runtime_checkable
class Unpurged(Protocol):
    """A report of a release that should have been followed by a purge."""

    @property
    def left_unpurged(self) -> bool:
        """Whether the purge failed."""


@runtime_checkable
class Coded(Protocol):
    """A report of several things, with the exit code of the worst."""

    @property
    def exit_code(self) -> int:
        """The code."""


@runtime_checkable
class Reserved(Protocol):
    """A report that knows more than may be printed."""

    @property
    def printed(self) -> object:
        """What may be."""


def passed(report: object) -> bool | None:
    """Return whether what a report demanded held; None where it demanded nothing."""
    return report.passed if isinstance(report, Judged) else None
