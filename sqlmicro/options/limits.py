"""The limits there are of what a class may tell of a sensitive column: one declaration each.

Options of methods, gates of audits, searches, bounds, the sentences of a report and what a certificate says derive from
it. Each is a class in `sqlmicro.guarantees.limits`, or in another package with an entry point in `sqlmicro.limits`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlmicro.options.catalogue import Catalogue
from sqlmicro.options.manifest import Entry
from sqlmicro.options.params import Param, Parameter

T = TypeVar("T", bound=type)


@dataclass(frozen=True, kw_only=True)
class DeclaredLimit(Entry):
    """What is known of a limit before its class is imported; its name is that of its option, and of a gate.

    Parameters
    ----------
    audit : str
        The audit that measures it.
    meaning : str
        What holds of a class, as part of a sentence; it may have `{value}`, and settings by their names.
    text : str
        The help of the option.
    source : str
        Where it is defined.
    at_least : bool
        Whether it is a number of values that a class has at least; of persons there must be as many.
    whole : bool
        Whether it is a whole number.
    most : float, optional
        The largest value of a limit from above.
    of_table : bool
        Whether a class is compared with the whole table.
    in_macros : bool
        Whether `sqlmicro audit --sql-macros` has a macro that measures it.
    template : str
        The SELECT of the columns of a class, `records` and `measure`, from `members` where it is a limit from below,
        else from `shares`. Empty: its audit has more than one.
    """

    audit: str
    meaning: str
    text: str
    source: str
    at_least: bool = False
    whole: bool = False
    most: float | None = None
    of_table: bool = False
    in_macros: bool = False
    template: str = ""

    @property
    def option(self) -> Parameter:
        """The option of a method that keeps it."""
        kind: Any = int | None if self.whole else float | None
        return Parameter(self.name, kind, None, Param(self.text, min=1 if self.at_least else 0, max=self.most))

    @property
    def templates(self) -> tuple[str, ...]:
        """What its SELECT reads, itself, and what sums up what it returns."""
        if not self.at_least:
            return ("audit/reference_shares.sql", "audit/shares.sql", self.template)
        summed = ("audit/at_most_persons.sql", "audit/class_summary.sql", "audit/person_summary.sql")
        return ("audit/cells.sql", self.template, *summed)

    @property
    def shown(self) -> str:
        """The option on the command line."""
        return self.option.option


LIMITS = Catalogue("limit", DeclaredLimit, ("sqlmicro.guarantees",))


def limit(
    name: str,
    *,
    audit: str,
    meaning: str,
    text: str,
    source: str,
    at_least: bool = False,
    whole: bool = False,
    most: float | None = None,
    of_table: bool = False,
    in_macros: bool = False,
    template: str = "",
) -> Callable[[T], T]:
    """Register the decorated class as a limit; see `DeclaredLimit`.

    It is a subclass of `sqlmicro.guarantees.rules.Limit`. Fields annotated with a `Param` are settings of its own.
    """

    def register(kind: T) -> T:
        declared = DeclaredLimit(
            **vars(Entry.of(name, kind)),
            audit=audit,
            meaning=meaning,
            text=text,
            source=source,
            at_least=at_least,
            whole=whole,
            most=most,
            of_table=of_table,
            in_macros=in_macros,
            template=template,
        )
        LIMITS.add(declared)
        kind.declared = declared  # type: ignore[attr-defined]
        return kind

    return register


def limits() -> dict[str, DeclaredLimit]:
    """Return every limit by the name of its option, plug-ins included."""
    return LIMITS.all()


def options() -> tuple[Parameter, ...]:
    """Return the options of all limits, each with its own settings."""
    return tuple(option for one in limits().values() for option in (one.option, *one.parameters))


def of_audit(name: str) -> DeclaredLimit | None:
    """Return the limit that an audit measures."""
    return next((one for one in limits().values() if one.audit == name), None)
