"""Parameters, declared once: the command line, job files and Python calls derive from the declaration.

A setting of a method, an audit or an attack is a keyword parameter of its function, an option is a field of a frozen
class; both are annotated with `Annotated[type, Param(...)]`. Types are `bool`, `int`, `float`,
`str`, `Literal[...]` and `tuple[str, ...]`, each also as `... | None` for "not given".
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from sqlmicro.errors import ParameterError, did_you_mean, nearest
from sqlmicro.system.printable import kind, quoted
from sqlmicro.system.stores import refuse_secret

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
REQUIRED = inspect.Parameter.empty
LONGEST_NAME, LONGEST_PATH, MOST_LINE_ENDS = 255, 4000, 2
Part = Literal[
    "k", "weights", "target", "candidates", "key", "effort", "certified", "population", "local", "recoding", "risks"
]  # fmt: skip
"""The smallest group, in any parameter called k; the column of weights; the one that models are to tell; whether
candidates are published; the file with the key of pseudonyms; how long to search; whether the loss is proven; a table
of everybody; whether one value becomes several; the file that says what was decided; which records are treated."""


@dataclass(frozen=True)
class Param:
    """What a parameter means: its help text, its bounds, and how the command line shows it.

    `whole` values are taken as they are; others that are many are comma lists on the command line. `private` ones are
    not quoted in messages. A `share` may be a percentage on the command line. A `later` setting came to a method that
    releases were made with: where it is not given, they draw the same random numbers as before. `part` is what a
    setting is to the program, whatever its method calls it. Values that are many are texts; `numbers` may be given as
    such, too.
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
    share: bool = False
    later: bool = False
    numbers: bool = False
    part: Part | None = None


Target = Annotated[
    str | None,
    Param(
        "Column that models are to tell, released as it is: k holds without it, and a limit, such as --min-l, with it.",
        metavar="COLUMN",
        later=True,
        part="target",
    ),
]
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

    @cached_property
    def optional(self) -> bool:
        """Whether None ("not given") is allowed."""
        return type(None) in get_args(self.type)

    @cached_property
    def base(self) -> Any:
        """The type without `| None`."""
        if get_origin(self.type) in (Union, types.UnionType):
            return next(part for part in get_args(self.type) if part is not type(None))
        return self.type

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The values of a Literal, else nothing."""
        return get_args(self.base) if get_origin(self.base) is Literal else ()

    @cached_property
    def many(self) -> bool:
        """Whether the parameter takes a list of names."""
        return get_origin(self.base) is tuple

    @property
    def option(self) -> str:
        """The name on the command line."""
        return "--" + self.name.rstrip("_").replace("_", "-")  # a word of Python has one behind it

    @property
    def part(self) -> Part | None:
        """What the setting is to the program."""
        return "k" if self.name == "k" else self.param.part

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
            word = value if isinstance(value, str) else ""
            if word not in self.choices:
                must = f"must be one of {', '.join(self.choices)}"
                raise ParameterError(label, must, quoted(value), nearest(word, self.choices) if word else "")
            return value
        if self.many:
            if self.param.numbers and isinstance(value, list | tuple):
                value = [str(item) if type(item) is int else item for item in value]
            if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
                got = "something else" if self.param.private else _list_of(value)
                raise ParameterError(label, "must be a list of names", got, 'Write ["a", "b"]')
            return tuple(self._check_text(item, label) for item in value)
        checked = self._check_scalar(value, label)
        return self._check_text(checked, label) if isinstance(checked, str) else checked

    def _check_text(self, text: str, label: str) -> str:
        if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
            got = "other text" if self.param.private else quoted(text)
            raise ParameterError(label, "must be UTF-8 text without NUL characters", got)
        if text.count("\n") > MOST_LINE_ENDS and self.param.metavar != "TEXT":
            must = f"a name or a value has at most {MOST_LINE_ENDS} line ends: more are the content of a file"
            raise ParameterError(label, must, str(text.count("\n")), "Give the name of the file or table")
        if self.param.metavar.startswith("FILE"):
            check_path(text, label)
        if "FILE" in self.param.metavar or "TABLE" in self.param.metavar:
            refuse_secret(text, label)
        return text

    def _check_scalar(self, value: Any, label: str) -> Any:
        if self.base is float and type(value) is int:
            value = float(value)
        if type(value) is not self.base:
            needed = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}[self.base]
            raise ParameterError(label, f"must be {needed}{self._bounds()}", self._got(value))
        if self.base in (int, float):
            low, high = self.param.min, self.param.max
            if value != value or (low is not None and value < low) or (high is not None and value > high):
                needed = "a whole number" if self.base is int else "a number"
                raise ParameterError(label, f"must be {needed}{self._bounds()}", self._got(value))
        return value

    def _got(self, value: object) -> str:
        return "something else" if self.param.private else quoted(value)

    def _bounds(self) -> str:
        low, high = self.param.min, self.param.max
        if low is not None and high is not None:
            return f" from {low:g} to {high:g}"
        if low is not None:
            return f" of at least {low:g}"
        return f" of at most {high:g}" if high is not None else ""


def _list_of(value: object) -> str:
    """Return what came in place of a list of names, without what is in it."""
    if not isinstance(value, list | tuple):
        return quoted(value)
    return "a list with " + ", ".join(sorted({kind(item) for item in value if not isinstance(item, str)}))


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


@dataclass(frozen=True)
class Registered:
    """Marks a field that holds, by name, the values of parameters that a catalogue declares, plug-ins included.

    It is written `Annotated[Mapping[str, object], Registered(gates)]`; in their class they stand where the field does.
    """

    declared: Callable[[], tuple[Parameter, ...]]


def parameters(declaring: Callable[..., Any] | type) -> tuple[Parameter, ...]:
    """Return what a function declares by its parameters, or a class by its fields, in order.

    A class has its own first, then those of its bases, in the order in which it names them.

    >>> def f(X, *, k: Annotated[int, Param("Smallest group.", min=2)] = 3): ...
    >>> [(p.name, p.default, p.option) for p in parameters(f)]
    [('k', 3, '--k')]
    """
    if isinstance(declaring, type):
        return tuple(_of_class(declaring).values())
    found = []
    for name, parameter in inspect.signature(declaring).parameters.items():
        base, extra = _annotated(parameter.annotation, declaring.__globals__)
        if isinstance(extra, Param):
            found.append(Parameter(name, base, parameter.default, extra))
    return tuple(found)


def _of_class(declaring: type) -> dict[str, Parameter]:
    found: dict[str, Parameter] = {}
    for one in _own(declaring).values():
        found |= {p.name: p for p in (one.declared() if isinstance(one, Registered) else (one,))}
    for base in declaring.__bases__:
        found |= {name: one for name, one in _of_class(base).items() if name not in found}
    return found


@cache
def _own(declaring: type) -> dict[str, Parameter | Registered]:
    """Return what the fields of a class itself declare, by their names."""
    found: dict[str, Parameter | Registered] = {}
    for name, hint in inspect.get_annotations(declaring).items():
        base, extra = _annotated(hint, vars(sys.modules[declaring.__module__]))
        if isinstance(extra, Registered):
            found[name] = extra
        elif extra is not None:
            found[name] = Parameter(name, base, vars(declaring).get(name, REQUIRED), extra)
    return found


def _annotated(hint: Any, names: dict[str, object]) -> tuple[Any, Param | Registered | None]:
    """Return the type and our mark of an annotation; only those that have one are evaluated.

    The arrays of a kernel are annotated with numpy, which is not imported yet.
    """
    if isinstance(hint, str):
        if not hint.startswith("Annotated[") and get_origin(names.get(hint)) is not Annotated:
            return None, None
        hint = eval(hint, names)
    if get_origin(hint) is not Annotated:
        return None, None
    base, *extras = get_args(hint)
    return base, next((extra for extra in extras if isinstance(extra, Param | Registered)), None)


def settle(declared: tuple[Parameter, ...], given: Mapping[str, object], where: str) -> dict[str, Any]:
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


def take(options: type[T], given: Mapping[str, object], where: str) -> T:
    """Return the options of a class: the given ones, checked as by `settle`, and the defaults of the others."""
    return filled(options, settle(parameters(options), given, where))


def filled(options: type[T], values: Mapping[str, object]) -> T:
    """Return the options of a class from values that are checked; other values are left out."""
    found: dict[str, object] = {}
    for name, one in (item for base in options.__mro__ for item in _own(base).items()):
        if isinstance(one, Registered):
            found[name] = {p.name: values[p.name] for p in one.declared() if p.name in values}
        elif name in values:
            found[name] = values[name]
    return options(**found)


def carried(options: type[T], others: DataclassInstance, **changed: object) -> T:
    """Return the options of a class with the values that others have under the same names, but for what is changed."""
    return options(**{f.name: getattr(others, f.name) for f in fields(options) if hasattr(others, f.name)} | changed)


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


def split_blocks(text: str) -> list[str]:
    """Split blocks at semicolons that are not inside double quotes.

    >>> split_blocks('a,b;"c;d",e')
    ['a,b', '"c;d",e']
    """
    blocks, quoted = [""], False
    for char in text:
        quoted ^= char == '"'
        if char == ";" and not quoted:
            blocks.append("")
        else:
            blocks[-1] += char
    return blocks


def _value(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
