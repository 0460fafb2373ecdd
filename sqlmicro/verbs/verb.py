"""A verb: what the command line, Python and job files call by one name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

from sqlmicro.options import manifest
from sqlmicro.options.common import MethodOptions
from sqlmicro.options.docstrings import numpydoc
from sqlmicro.options.params import Parameter, filled, parameters, settle, take
from sqlmicro.registry import Method
from sqlmicro.system import packages
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import Json, as_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


@dataclass(frozen=True)
class Verb(Generic[T]):
    """A verb: its name, and what loads the class of its options and the function that does it."""

    name: str
    load: Callable[[], tuple[type[T], Callable[[T, Progress], Any]]]

    @cached_property
    def _loaded(self) -> tuple[type[T], Callable[[T, Progress], Any]]:
        return self.load()

    @property
    def options(self) -> type[T]:
        """The class of its options."""
        return self._loaded[0]

    @property
    def action(self) -> Callable[[T, Progress], Any]:
        """What does it, and returns its report: a dataclass."""
        return self._loaded[1]

    @property
    def declared(self) -> manifest.Described:
        """What its module says of it: what the manifest is written from."""
        return manifest.Described(
            name=self.name, text=inspect.cleandoc(self._does.__doc__ or ""), parameters=parameters(self.options)
        )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What may be given; its module is imported only where a plug-in may add to it."""
        return (self.declared if packages.any_plug_in() else manifest.verbs()[self.name]).parameters

    @property
    def text(self) -> str:
        """What it does."""
        return manifest.verbs()[self.name].text

    @property
    def description(self) -> str:
        """What it does, with the notes of its docstring."""
        return self.text

    @property
    def returns(self) -> Any:
        """The class of its report, or the union of several."""
        return get_type_hints(self._does)["return"]

    @property
    def _does(self) -> Callable[..., Any]:
        return self.action.func if isinstance(self.action, partial) else self.action

    def take(self, given: Mapping[str, object], where: str = "") -> T:
        """Return what was given as options, or raise ParameterError."""
        return take(self.options, given, where or self.name)

    def run(self, given: Mapping[str, object], progress: Progress, where: str = "") -> Any:
        """Do it with what was given, and return the report."""
        return self.action(self.take(given, where), progress)

    def function(self) -> Callable[..., Json]:
        """Return the verb as a Python function with its real signature."""
        shown = [parameter for parameter in self.parameters if not parameter.param.cli_only]
        first = [p.name for p in shown if p.param.positional] or [p.name for p in shown if p.name == "table"]

        def call(*args: Any, **kwargs: Any) -> Json:
            bound = signature.bind(*args, **kwargs)
            many = {parameter.name for parameter in shown if parameter.many}
            given = {key: _as_names(value) if key in many else value for key, value in bound.arguments.items()}
            report: Json = as_json(self.run(given, Progress(enabled=False)))
            return report

        signature = inspect.Signature([
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD if parameter.name in first else inspect.Parameter.KEYWORD_ONLY,
                default=parameter.default, annotation=parameter.type)
            for parameter in sorted(shown, key=lambda parameter: parameter.name not in first)
        ], return_annotation=Json)  # fmt: skip
        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__name__ = call.__qualname__ = self.name.replace("-", "_")
        call.__doc__ = numpydoc(self.description, shown, ("dict", "What the command prints with --json."))
        return call


@dataclass(frozen=True)
class MethodVerb(Verb[MethodOptions]):
    """The command of a method: its own settings, k first, and of the shared options those that mean something."""

    method: Method

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What may be given."""
        own = sorted(self.method.settings, key=lambda parameter: parameter.part != "k")
        return (*own, *(option for option in parameters(MethodOptions) if self.method.takes(option.name)))

    @property
    def text(self) -> str:
        """What the method does, in one line."""
        return self.method.summary

    @property
    def description(self) -> str:
        """What the method does, with the notes of its docstring."""
        return self.method.description

    def take(self, given: Mapping[str, object], where: str = "") -> MethodOptions:
        """Return what was given as options, or raise ParameterError."""
        values = settle(self.parameters, given, where or self.name)
        own = {parameter.name: values[parameter.name] for parameter in self.method.settings}
        return replace(filled(MethodOptions, values), settings=own)


def _as_names(value: Any) -> Any:
    """Return one name or several as a tuple."""
    return (value,) if isinstance(value, str) else value
