"""The verbs: each is a function here, a command of `sqlmicro`, and, where it makes sense, a step of a job file.

A verb is loaded when it is asked for: the program starts sooner, and most runs ask for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from sqlmicro.options.common import MethodOptions, NoOptions
from sqlmicro.registry import Method, late
from sqlmicro.registry import methods as registered
from sqlmicro.system.reporting import Json
from sqlmicro.verbs.verb import MethodVerb, Verb

Load = Callable[[], tuple[Any, Callable[..., Any]]]
"""Loads the class of the options of a verb, and what does it."""


def _knowing_all(load: Load) -> Load:
    """Return what loads a verb that is told of the others."""

    def loaded() -> tuple[Any, Callable[..., Any]]:
        options, action = load()
        return options, partial(action, verbs())

    return loaded


_OWN: dict[str, Load] = {
    "register": lambda: late("sqlmicro.verbs.register", "RegisterOptions", "register_values"),
    "profile": lambda: late("sqlmicro.verbs.register", "ProfileOptions", "profile_values"),
    "audit": lambda: late("sqlmicro.verbs.audit", "AuditOptions", "audit_values"),
    "safe-distance": lambda: late("sqlmicro.verbs.safe_distance", "SafeDistanceOptions", "safe_distance_values"),
    "attack": lambda: late("sqlmicro.verbs.attack", "AttackOptions", "attack_values"),
    "compare": lambda: late("sqlmicro.verbs.compare", "CompareOptions", "compare_values"),
    "macros": lambda: late("sqlmicro.verbs.macros", "MacrosOptions", "macros_values"),
    "purge": lambda: late("sqlmicro.verbs.erase", "PurgeOptions", "purge_values"),
    "residue": lambda: late("sqlmicro.verbs.erase", "ResidueOptions", "residue_values"),
    "ledger": lambda: late("sqlmicro.verbs.ledger", "LedgerOptions", "ledger_values"),
    "check": lambda: late("sqlmicro.verbs.over_policy", "CheckOptions", "check_values"),
    "certify": lambda: late("sqlmicro.verbs.certify", "CertifyOptions", "certify_values"),
    "verify": lambda: late("sqlmicro.verbs.certify", "VerifyOptions", "verify_values"),
    "decrypt": lambda: late("sqlmicro.mask.encrypt", "DecryptOptions", "decrypt_values"),
    "series": lambda: late("sqlmicro.verbs.ledger", "SeriesVerbOptions", "series_values"),
    "report": lambda: late("sqlmicro.verbs.report", "ReportOptions", "report_values"),
    "publish-draft": _knowing_all(
        lambda: late("sqlmicro.verbs.job_file", "PublishDraftOptions", "publish_draft_values")
    ),
    "run": _knowing_all(lambda: late("sqlmicro.verbs.job_file", "JobFileOptions", "run_values")),
    "init": lambda: late("sqlmicro.jobs.draft", "InitOptions", "init_values"),
    "hierarchy": lambda: late("sqlmicro.verbs.hierarchy", "HierarchyOptions", "hierarchy_values"),
    "subset": lambda: late("sqlmicro.verbs.subset", "SubsetOptions", "subset_values"),
    "scan": lambda: late("sqlmicro.jobs.policy", "ScanOptions", "scan_values"),
    "plan": lambda: late("sqlmicro.jobs.approval", "PlanOptions", "plan_values"),
    "apply": lambda: late("sqlmicro.verbs.job_file", "ApplyOptions", "apply_values"),
    "explain": lambda: late("sqlmicro.jobs.explain", "ExplainOptions", "explain_values"),
    "schema": _knowing_all(lambda: late("sqlmicro.verbs.schema", "SchemaOptions", "schema_values")),
    "methods": lambda: late("sqlmicro.verbs.described", "MethodsOptions", "methods_values"),
    "warm-up": lambda: (NoOptions, partial(late("sqlmicro.verbs.warm_up", "warm_up_values"), python_function)),
}


class _Verbs(Mapping[str, Verb[Any]]):
    """The verbs by their names on the command line: ours, and one of every method."""

    def __contains__(self, name: object) -> bool:
        return name in _OWN or name in registered()

    def __iter__(self) -> Iterator[str]:
        yield from (*_OWN, *registered())

    def __len__(self) -> int:
        return len(_OWN) + len(registered())

    def __getitem__(self, name: str) -> Verb[Any]:
        return _verb(name) if name in _OWN else _method_verb(registered()[name])


@cache
def _verb(name: str) -> Verb[Any]:
    return Verb(name, _OWN[name])


def _method_verb(method: Method) -> MethodVerb:
    def load() -> tuple[type[MethodOptions], Callable[..., Any]]:
        return MethodOptions, partial(late("sqlmicro.verbs.release", "release_values"), method)

    return MethodVerb(method.name, load, method)


def verbs() -> Mapping[str, Verb[Any]]:
    """Return every verb by its name on the command line."""
    return _Verbs()


def python_function(name: str) -> Callable[..., Json]:
    """Return a verb as a Python function with its real signature.

    >>> python_function("methods")("mdav")["module"]
    'sqlmicro.group.mdav'
    """
    return verbs()[name].function()
