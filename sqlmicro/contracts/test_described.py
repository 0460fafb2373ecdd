"""What everything in the catalogues needs besides its function; the first failure lists what is missing."""

from __future__ import annotations

import importlib
from typing import Any

from sqlmicro.attacks.registry import Attack
from sqlmicro.audits.registry import Audit, audits
from sqlmicro.database import templates
from sqlmicro.errors import SqlmicroError
from sqlmicro.options.limits import DeclaredLimit
from sqlmicro.registry import Method, methods


def missing(item: Method | Audit | Attack | DeclaredLimit, sections: tuple[str, ...]) -> list[str]:
    """Return what the declaration of a method, an audit, an attack or a limit lacks."""
    found = []
    description = item.description
    if not item.summary.endswith("."):
        found.append("a docstring whose first line is one sentence: it is what `sqlmicro methods` lists")
    found += [f"a section {name!r} in its docstring" for name in sections if f"{name}\n---" not in description]
    if not item.source:
        found.append("source=: author and year, or a word that says it is your own")
    for parameter in item.parameters:
        if not parameter.param.help.endswith("."):
            found.append(f"a sentence that explains the parameter {parameter.name!r}, in its Param")
    for template in filter(None, item.templates):
        try:
            lacking = [word for word in templates.HEADER if not templates.header(template).get(word)]
        except SqlmicroError:
            found.append(f"the template {template}, in the folder sql")
        else:
            found += [f"a line '-- {word}:' at the head of {template}" for word in lacking]
    module: Any = importlib.import_module(item.module)
    if not module.__doc__:
        found.append(f"a docstring of the module {item.module}")
    return found


def test_a_method_has_all_it_needs(method: Method) -> None:
    """Options, job keys, Python calls, stubs, tables of the help and the job schema are made from these."""
    assert not missing(method, ("Returns",)), method.name


def test_an_audit_has_all_it_needs(audit: Audit) -> None:
    """Gates and settings of `sqlmicro audit` are made from these."""
    assert not missing(audit, ()), audit.name


def test_a_limit_has_all_it_needs(limit: DeclaredLimit) -> None:
    """Options, gates, sentences and the audit are made from these."""
    lacking = missing(limit, ())
    lacking += [] if limit.text.endswith(".") else ["text=: a sentence, the help of its option"]
    lacking += [] if limit.meaning else ["meaning=: what holds of a class"]
    others = {found.gate for found in audits().values() if found.name != limit.audit}
    others |= {setting.name for method in methods().values() for setting in method.own_settings}
    lacking += ["a name that no gate and no setting of a method has"] if limit.name in others else []
    assert not lacking, limit.name


def test_an_attack_has_all_it_needs(attack: Attack) -> None:
    """Settings of `sqlmicro attack` are made from these."""
    assert not missing(attack, ()), attack.name
