"""What can be listed without being imported: methods, audits, attacks and commands with their parameters.

`sqlmicro/manifest.json` is written from the declarations by `SQLMICRO_GOLDEN=write pytest tests/test_manifest.py`,
which also tests that it says what they say.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sqlmicro.options.params import REQUIRED, Param, Parameter, parameters

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FILE = Path(__file__).parents[1] / "manifest.json"
Written = Mapping[str, Any]
"""A declaration as JSON has it."""
T = TypeVar("T", bound="DataclassInstance")
_KINDS: dict[str, Any] = {"bool": bool, "int": int, "float": float, "str": str, "names": tuple[str, ...]}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Something that a catalogue lists: a function by its name, docstring and parameters; it is imported when used."""

    name: str
    module: str
    attribute: str
    description: str
    parameters: tuple[Parameter, ...]
    load: Callable[[], Callable[..., Any]] = field(repr=False, compare=False)
    """Returns the function; its module is imported then."""

    @staticmethod
    def of(name: str, function: Callable[..., Any]) -> Entry:
        """Return what a function that is decorated says of itself."""
        return Entry(
            name=name,
            module=function.__module__,
            attribute=function.__name__,
            description=inspect.cleandoc(function.__doc__ or ""),
            parameters=parameters(function),
            load=lambda: function,
        )

    @property
    def function(self) -> Callable[..., Any]:
        """The function that was decorated."""
        return self.load()

    @property
    def summary(self) -> str:
        """The first line of the docstring: what is listed of it."""
        return self.description.partition("\n")[0]


@dataclass(frozen=True, kw_only=True)
class Described:
    """What is known of a command before its module is imported."""

    name: str
    text: str
    parameters: tuple[Parameter, ...]


@cache
def _file() -> dict[str, list[Written]]:
    found: dict[str, list[Written]] = json.loads(FILE.read_bytes())
    return found


def listed(kind: str) -> list[Written]:
    """Return everything of a kind as it is written."""
    return _file()[kind]


@cache
def verbs() -> dict[str, Described]:
    """Return what is written of the commands that are no methods."""
    return {one["name"]: read(Described, one) for one in listed("verb")}


def read(made: type[T], found: Written, **others: Any) -> T:
    """Return an object with the fields that are written, and others."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    if "parameters" in values:
        values["parameters"] = tuple(_parameter(one) for one in found["parameters"])
    return made(**values, **others)


def written(one: DataclassInstance) -> Written:
    """Return the fields of an object as JSON has them, without those that are as they are where nothing is said.

    >>> written(Described(name="do", text="Do it.", parameters=()))
    {'name': 'do', 'text': 'Do it.', 'parameters': []}
    """
    found: dict[str, Any] = {}
    for name, value in ((f.name, getattr(one, f.name)) for f in fields(one) if f.compare):
        if name == "parameters":
            found[name] = [_of_parameter(parameter) for parameter in value]
        elif value != next(f.default for f in fields(one) if f.name == name):
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def _of_parameter(parameter: Parameter) -> Written:
    found: dict[str, Any] = {"name": parameter.name}
    if parameter.choices:
        found["choices"] = parameter.choices
    else:
        found["type"] = _NAMES[parameter.base]
    if parameter.optional:
        found["optional"] = True
    if parameter.default is not REQUIRED:
        found["default"] = parameter.default
    return {**found, **written(parameter.param)}


def _parameter(found: Written) -> Parameter:
    rest = dict(found)
    name, default, optional = rest.pop("name"), rest.pop("default", REQUIRED), rest.pop("optional", False)
    kind = Literal[tuple(rest.pop("choices"))] if "choices" in rest else _KINDS[rest.pop("type")]
    default = tuple(default) if isinstance(default, list) else default
    return Parameter(name, kind | None if optional else kind, default, Param(**rest))
