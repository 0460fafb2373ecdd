"""The audits there are: one decorated function each; gates and settings of `sqlmicro audit` derive from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from sqlmicro.audits.row import Found
from sqlmicro.errors import InputError
from sqlmicro.guarantees.rules import Limit
from sqlmicro.options.catalogue import Catalogue
from sqlmicro.options.limits import DeclaredLimit, limits
from sqlmicro.options.manifest import Entry
from sqlmicro.options.params import Param, Parameter
from sqlmicro.registry import late

Need = Literal["quasi", "sensitive", "weight", "household", "original", "match", "population", "frame", "control"]


class NothingToMeasure(InputError):  # noqa: N818
    """An audit has no object here: no numeric column, no pair of them, no records."""


@dataclass(frozen=True, kw_only=True)
class Audit(Entry):
    """An audit: what it needs, which gate holds it to a threshold, and where it comes from."""

    gate: str
    source: str
    needs: tuple[Need, ...] = ()
    at_least: bool = False
    whole: bool = False
    on_request: bool = False
    templates: tuple[str, ...] = ()

    @property
    def option(self) -> Parameter:
        """The gate as an option of `sqlmicro audit` and a key of an audit step."""
        bound = "at least" if self.at_least else "at most"
        kind: Any = int | None if self.whole else float | None
        return Parameter(self.gate, kind, None, Param(f"Gate: {self.name} must be {bound} this.", min=0))

    def holds(self, value: float, threshold: float) -> bool:
        """Tell whether a value keeps to a threshold; what floating-point arithmetic cannot tell apart does.

        >>> audits()["t-closeness"].holds(0.1 + 0.2, 0.3), audits()["k-anonymity"].holds(2, 3)
        (True, False)
        """
        if self.at_least:
            return value >= threshold - abs(threshold) * _ROUNDING
        return value <= threshold + abs(threshold) * _ROUNDING


_ROUNDING = 1e-9
AUDITS = Catalogue("audit", Audit, ("sqlmicro.audits",))


def audit(
    name: str,
    *,
    gate: str,
    at_least: bool = False,
    needs: tuple[Need, ...] = (),
    whole: bool = False,
    on_request: bool = False,
    source: str,
    templates: tuple[str, ...] = (),
) -> Callable[[Callable[..., Found | list[Found]]], Callable[..., Found | list[Found]]]:
    """Register the decorated function as an audit.

    It is called `f(audited, limit, **settings)` with an `audited.AuditedRelease` and the threshold of its gate, or
    None, which only serves to count what lies beyond, and returns a `Found`, or one for every sensitive column or
    column of the release. `gate` is the name of the option that holds its value to a threshold, from below if
    `at_least`, as a whole number if `whole`; it is empty for what only explains. What costs much runs only
    `on_request`: by --measure, or by its gate.
    """

    def register(function: Callable[..., Found | list[Found]]) -> Callable[..., Found | list[Found]]:
        AUDITS.add(
            Audit(
                **vars(Entry.of(name, function)),
                gate=gate,
                source=source,
                needs=needs,
                at_least=at_least,
                whole=whole,
                on_request=on_request,
                templates=templates,
            )
        )
        return function

    return register


def audit_of(kind: type[Limit], *templates: str) -> Callable[[Callable[..., list[Found]]], Callable[..., list[Found]]]:
    """Register the decorated function as the audit of a limit, which says all but what else it has to tell."""

    def register(function: Callable[..., list[Found]]) -> Callable[..., list[Found]]:
        AUDITS.add(_of_limit(kind.declared, Entry.of(kind.declared.audit, function), templates))
        return function

    return register


def _of_limit(limit: DeclaredLimit, entry: Entry, templates: tuple[str, ...] = ()) -> Audit:
    return Audit(
        **{**vars(entry), "parameters": limit.parameters},
        gate=limit.name,
        source=limit.source,
        needs=("quasi", "sensitive"),
        at_least=limit.at_least,
        whole=limit.whole,
        templates=templates or limit.templates,
    )


def audits() -> dict[str, Audit]:
    """Return every audit by name: ours in the order in which `sqlmicro/audits/__init__.py` names their modules.

    A limit that another package brings has an audit by its SELECT.
    """
    known = AUDITS.all()
    others = {one.audit: one for one in limits().values() if one.audit not in known}
    return {**known, **{name: _by_select(one) for name, one in others.items()}}


def _by_select(limit: DeclaredLimit) -> Audit:
    classes = late("sqlmicro.audits.classes")
    entry = Entry(
        name=limit.audit, module=limit.module, attribute=limit.attribute, description=limit.description,
        parameters=limit.parameters, load=lambda: partial(classes.measured, limit),
    )  # fmt: skip
    return _of_limit(limit, entry)


def find(name: str) -> Audit:
    """Return the audit called `name`, or raise ParameterError with the nearest name."""
    return audits().get(name) or AUDITS.find(name, "audit, --measure")


def gates() -> tuple[Parameter, ...]:
    """Return the gates of all audits, as options."""
    return tuple(found.option for found in audits().values() if found.gate)


def settings() -> tuple[Parameter, ...]:
    """Return the settings of all audits, each once."""
    return tuple({parameter.name: parameter for found in audits().values() for parameter in found.parameters}.values())
