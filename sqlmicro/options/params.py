"""Parameters, declared once in a signature: the command line, job files and Python calls derive from it.

A setting is a keyword parameter annotated with `Annotated[type, Param(...)]`. Types are `bool`, `int`, `float`,
`str`, `Literal[...]` and `tuple[str, ...]`, each also as `... | None` for "not given".
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from sqlmicro.errors import ParameterError, did_you_mean, nearest

REQUIRED = inspect.Parameter.empty
LONGEST_NAME, LONGEST_PATH = 255, 4000


@dataclass(frozen=True)
class Param:
    """What a parameter means: its help text, its bounds, and how the command line shows it.

    `whole` values are taken as they are; others that are many are comma lists on the command line. `private` ones are
    not quoted in messages.
    """

    help: str
    min: float | None = None
    max: float | None = None
    metavar: str = ""
    env: str = ""
    positional: bool = False
    cli_only: bool = False
    whole: bool = False
    private: bool = False


K = Annotated[int, Param("Smallest number of records in a group.", min=2)]
Representative = Annotated[Literal["mean", "median"], Param("What the values of a group are replaced by.")]
Remainder = Annotated[
    Literal["spread-from-both-ends", "last"],
    Param("Which group takes the records left over: the innermost, or the one with the largest values."),
]
"""What several methods are told in the same words."""


@dataclass(frozen=True)
class Parameter:
    """One declared parameter: its name, type, default and `Param`."""

    name: str
    type: Any
    default: Any
    param: Param

    @property
    def optional(self) -> bool:
        """Whether None ("not given") is allowed."""
        return type(None) in get_args(self.type)

    @property
    def base(self) -> Any:
        """The type without `| None`."""
        if get_origin(self.type) in (Union, types.UnionType):
            return next(part for part in get_args(self.type) if part is not type(None))
        return self.type

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a Literal, else nothing."""
        return get_args(self.base) if get_origin(self.base) is Literal else ()

    @property
    def many(self) -> bool:
        """Whether the parameter takes a list of names."""
        return get_origin(self.base) is tuple

    @property
    def option(self) -> str:
        """The name on the command line."""
        return "--" + self.name.replace("_", "-")

    def overriding(self) -> Parameter:
        """Return the parameter as one that is only given to take the place of a value: its default is None."""
        return replace(self, type=self.type | None, default=None)

    def check(self, value: Any, where: str) -> Any:
        """Return `value` in the declared type, or raise ParameterError saying what must hold."""
        label = f"{where}, {self.name}" if where else self.name
        if value is None:
            if self.optional:
                return None
            raise ParameterError(label, "a value is needed", "none", f"Give {self.option}")
        if self.choices:
            if value not in self.choices:
                raise ParameterError(
                    label,
                    f"must be one of {', '.join(self.choices)}",
                    repr(value),
                    nearest(str(value), self.choices),
                )
            return value
        if self.many:
            if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
                got = "something else" if self.param.private else repr(value)
                raise ParameterError(label, "must be a list of names", got, 'Write ["a", "b"]')
            return tuple(self._check_text(item, label) for item in value)
        checked = self._check_scalar(value, label)
        return self._check_text(checked, label) if isinstance(checked, str) else checked

    def _check_text(self, text: str, label: str) -> str:
        if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
            got = "other text" if self.param.private else repr(text)
            raise ParameterError(label, "must be UTF-8 text without NUL characters", got)
        if self.param.metavar.startswith("FILE"):
            check_path(text, label)
        return text

    def _check_scalar(self, value: Any, label: str) -> Any:
        if self.base is float and type(value) is int:
            value = float(value)
        if type(value) is not self.base:
            kind = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}[self.base]
            raise ParameterError(label, f"must be {kind}{self._bounds()}", repr(value))
        if self.base in (int, float):
            low, high = self.param.min, self.param.max
            if value != value or (low is not None and value < low) or (high is not None and value > high):
                kind = "a whole number" if self.base is int else "a number"
                raise ParameterError(label, f"must be {kind}{self._bounds()}", repr(value))
        return value

    def _bounds(self) -> str:
        low, high = self.param.min, self.param.max
        if low is not None and high is not None:
            return f" from {low:g} to {high:g}"
        if low is not None:
            return f" of at least {low:g}"
        return f" of at most {high:g}" if high is not None else ""


def check_path(text: str, where: str) -> None:
    """Refuse a path that no file system can hold, so that looking for it cannot fail.

    Raises
    ------
    ParameterError
        When it, or a name in it, is too long.
    """
    name = max(len(part.encode()) for part in text.split("/"))
    if name > LONGEST_NAME or len(text.encode()) > LONGEST_PATH:
        raise ParameterError(
            where,
            f"a path has at most {LONGEST_PATH} bytes, and {LONGEST_NAME} between two slashes",
            f"{len(text.encode())} and {name}",
        )


def parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters that `function` declares with `Param`, in order.

    >>> def f(X, *, k: Annotated[int, Param("Smallest group.", min=2)] = 3): ...
    >>> [(p.name, p.default, p.option) for p in parameters(f)]
    [('k', 3, '--k')]
    """
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        hint = parameter.annotation
        shared = get_origin(function.__globals__.get(hint)) is Annotated if isinstance(hint, str) else False
        if isinstance(hint, str) and (shared or hint.startswith("Annotated[")):
            # Only these are evaluated: the arrays of a kernel are annotated with numpy, which is not imported yet.
            hint = eval(hint, function.__globals__)
        if get_origin(hint) is Annotated:
            base, *extras = get_args(hint)
            param = next((extra for extra in extras if isinstance(extra, Param)), None)
            if param is not None:
                found.append(Parameter(name, base, parameter.default, param))
    return tuple(found)


def summary(function: Callable[..., Any]) -> str:
    """Return the first line of a docstring: what is listed of a method, an audit or an attack."""
    return (function.__doc__ or "").strip().partition("\n")[0]


def settle(declared: tuple[Parameter, ...], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a value for every declared parameter: the given one, checked, or the default.

    Raises
    ------
    ParameterError
        For an unknown name, a missing value, or a value of the wrong type or out of bounds.
    """
    known = {parameter.name: parameter for parameter in declared}
    for name in given:
        if name not in known:
            raise ParameterError(where, f"{name!r} is not a parameter here", do=did_you_mean(name, known))
    values = {}
    for name, parameter in known.items():
        value = given.get(name, parameter.default)
        if value is REQUIRED:
            raise ParameterError(f"{where}, {name}", "a value is needed", "none", f"Give {parameter.option}")
        values[name] = parameter.check(value, where)
    return values


_SPECIFICATION = re.compile(r"\s*([A-Za-z0-9+_-]+)\s*(?:\(([^()]*)\))?\s*")


def specification(text: str, where: str, what: str) -> tuple[str, dict[str, object]]:
    """Return name and parameters of what is written as `name(parameter=value, …)`.

    >>> specification("kmeans++(clusters=20)", "safe", "an algorithm")
    ('kmeans++', {'clusters': 20})

    Raises
    ------
    ParameterError
        For any other form, or a parameter that is given twice.
    """
    found = _SPECIFICATION.fullmatch(text)
    if found is None:
        raise ParameterError(where, f"{what} reads name or name(parameter=value, …)", repr(text))
    name, inside = found.group(1), found.group(2) or ""
    given: dict[str, object] = {}
    for item in filter(None, (part.strip() for part in inside.split(","))):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise ParameterError(where, f"a parameter of {what} reads name=value", repr(item))
        if key in given:
            raise ParameterError(f"{where}, {name}", f"{key!r} must be given once", "it twice")
        given[key.replace("-", "_")] = _value(value)
    return name, given


def specifications(texts: Iterable[str]) -> list[str]:
    """Split comma lists of specifications; commas in parentheses belong to them.

    >>> specifications(["mdav,swap(percent=10, how=rank)", "safe"])
    ['mdav', 'swap(percent=10, how=rank)', 'safe']
    """
    parts = (part.strip() for text in texts for part in re.split(r",(?![^()]*\))", text))
    return [part for part in parts if part]


def _value(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
