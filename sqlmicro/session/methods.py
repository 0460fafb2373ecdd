"""The verbs as methods of a session, made from their declared parameters; `methods.pyi` has the signatures for mypy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sqlmicro import api
from sqlmicro.options.common import MachineOptions, PublishSettings, RunOptions, names
from sqlmicro.options.docstrings import numpydoc
from sqlmicro.options.params import REQUIRED, Parameter, parameters
from sqlmicro.registry import methods as registered

OTHERS = ("profile", "audit", "attack", "safe-distance", "compare", "report", "register", "methods")
"""Verbs that are no methods; `run`, `purge` and `residue` want the file for themselves, `macros` the command line."""
_NOT_HERE = {
    "db", "attach", "jobs",
    *(name for options in (PublishSettings, MachineOptions, RunOptions) for name in names(parameters(options))),
}  # fmt: skip
_LEFT_OUT = _NOT_HERE - {"seed", "seed_file", "budget"}
RECORDS = ("table", "original", "control", "population", "release", "first", "second")
"""Parameters that take records: a name, or a relation or frame."""
_RELEASE = ("Release", "The records in memory, audited; `publish` writes them.")
_AUDIT = ("Audit", "What was measured, and whether the gates hold.")
_RESULT = ("Result", "What the command prints with --json.")
_KEPT = {"report": ("to", "overwrite"), "register": ("overwrite",), "compare": ("to", "overwrite")}


class Verbs:
    """Every verb as a method; what it does with the records is the session's."""

    def _anonymized(self, name: str, declared: tuple[Parameter, ...], given: Mapping[str, object]) -> Any:
        raise NotImplementedError

    def _found(self, name: str, declared: tuple[Parameter, ...], given: Mapping[str, object]) -> Any:
        raise NotImplementedError


def declared(name: str) -> tuple[Parameter, ...]:
    """Return the parameters of a verb in a session, the records or what is positional first.

    The database is the session's, the target that of `Release.publish`; other processes cannot share a connection.
    """
    kept = _KEPT.get(name, ())
    shown = [
        parameter
        for parameter in api.verbs()[name].parameters
        if not parameter.param.cli_only and (parameter.name in kept or parameter.name not in _LEFT_OUT)
    ]
    return tuple(sorted(shown, key=lambda parameter: parameter.name not in positional(shown)))


def takes_records(parameter: Parameter) -> bool:
    """Tell whether a parameter takes records: the population of a search is a number."""
    return parameter.name in RECORDS and parameter.base is not int


def positional(parameters: list[Parameter]) -> list[str]:
    """Return the names of the parameters that may be given without their name: the records, or what is needed."""
    named = [p.name for p in parameters if p.param.positional] or [p.name for p in parameters if p.name == "table"]
    return named or [p.name for p in parameters if p.default is REQUIRED]


def _method(name: str) -> Callable[..., Any]:
    own = declared(name)
    first = positional(list(own))
    signature = inspect.Signature([
        inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY),
        *(
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD if parameter.name in first else inspect.Parameter.KEYWORD_ONLY,
                default=parameter.default,
                annotation="Records" if takes_records(parameter) else parameter.type)
            for parameter in own
        ),
    ])  # fmt: skip
    anonymizes = name in registered()

    def method(self: Verbs, *args: Any, **kwargs: Any) -> Any:
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        del given["self"]
        return self._anonymized(name, own, given) if anonymizes else self._found(name, own, given)

    method.__signature__ = signature  # type: ignore[attr-defined]
    method.__name__ = name.replace("-", "_")
    method.__qualname__ = f"Session.{method.__name__}"
    returns = _RELEASE if anonymizes else _AUDIT if name == "audit" else _RESULT
    method.__doc__ = numpydoc(api.verbs()[name].description, own, returns, dict.fromkeys(RECORDS, "str or frame"))
    return method


for _name in (*registered(), *OTHERS):
    setattr(Verbs, _name.replace("-", "_"), _method(_name))
