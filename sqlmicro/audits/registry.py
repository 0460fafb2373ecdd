"""The audits there are: one decorated function each; gates and settings of `sqlmicro audit` derive from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sqlmicro.audits.row import Detail
from sqlmicro.errors import InputError
from sqlmicro.options.manifest import Entry
from sqlmicro.options.params import Param, Parameter
from sqlmicro.registry import Catalogue

Need = Literal["quasi", "sensitive", "weight", "household", "original", "match", "population", "frame", "control"]


class NothingToMeasure(InputError):  # noqa: N818
    """An audit has no object here: no numeric column, no pair of them, no records."""


@dataclass(frozen=True)
class Found:
    """What an audit found: its value, the columns it is about, and what else it has to say.

    `value` is None where there is nothing to measure, such as a correlation of one column; `reason` says why.
    """

    value: float | None
    columns: tuple[str, ...] = ()
    detail: Detail | None = None
    reason: str | None = None
    free: float = 0.0
    """What nobody needs the release for: a gate from above does not ask for less."""


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


def audits() -> dict[str, Audit]:
    """Return every audit by name, in the order in which `sqlmicro/audits/__init__.py` names their modules."""
    return AUDITS.all()


def find(name: str) -> Audit:
    """Return the audit called `name`, or raise ParameterError with the nearest name."""
    return AUDITS.find(name, "audit, --measure")


def gates() -> tuple[Parameter, ...]:
    """Return the gates of all audits, as options."""
    return tuple(found.option for found in audits().values() if found.gate)


def settings() -> tuple[Parameter, ...]:
    """Return the settings of all audits, each once."""
    return tuple({parameter.name: parameter for found in audits().values() for parameter in found.parameters}.values())
