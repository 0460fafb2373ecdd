"""What must hold of every class of a release, asked for in the words of the gates of `sqlmicro audit`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param

_LIMITS = ("min_l", "min_entropy_l", "min_recursive_l", "max_t", "max_alpha", "max_beta")


@dataclass(frozen=True, kw_only=True)
class GuaranteeOptions:
    """What must hold of every class besides its k records."""

    person: Annotated[
        tuple[str, ...],
        Param("Columns that say whose record it is: every class has k persons. They are left out.", metavar="A,B"),
    ] = ()
    sensitive: Annotated[
        tuple[str, ...],
        Param("Columns released as they are, of which a class must not tell too much.", metavar="A,B"),
    ] = ()
    min_l: Annotated[int | None, Param("Every class has this many sensitive values.", min=1)] = None
    min_entropy_l: Annotated[
        float | None, Param("The entropy of a class is that of this many equally frequent values.", min=1)
    ] = None
    min_recursive_l: Annotated[
        int | None, Param("Recursive (c, l)-diversity: the most frequent value is rarer than c times the rest.", min=1)
    ] = None
    c: Annotated[float, Param("Recursive (c, l)-diversity: the c in r1 < c (rl + ... + rm).", min=0)] = 2.0
    max_t: Annotated[
        float | None, Param("A class is this close to the table in the sensitive values, at most.", min=0, max=1)
    ] = None
    max_alpha: Annotated[float | None, Param("No sensitive value has a larger share of a class.", min=0, max=1)] = None
    max_beta: Annotated[
        float | None, Param("No sensitive value is more frequent in a class than in the table by this.", min=0)
    ] = None

    @property
    def limits(self) -> dict[str, float]:
        """What is demanded of every sensitive column, by the names of the gates."""
        return {name: value for name in _LIMITS if (value := getattr(self, name)) is not None}

    @property
    def asked(self) -> bool:
        """Whether anything is demanded besides k."""
        return bool(self.person or self.sensitive)

    def given(self) -> dict[str, object]:
        """Return what differs from the defaults.

        >>> GuaranteeOptions(sensitive=("diagnosis",), min_l=3).given()
        {'sensitive': ('diagnosis',), 'min_l': 3}
        """
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}

    def refuse_incomplete(self, where: str) -> None:
        """Refuse limits without a sensitive column, and a sensitive column without a limit.

        Raises
        ------
        ParameterError
            Then nothing would be guaranteed, or nobody would know of what.
        """
        shown = ", ".join("--" + name.replace("_", "-") for name in _LIMITS)
        if self.sensitive and not self.limits:
            raise ParameterError(
                f"{where}, sensitive", "a limit says what no class may tell of these columns", "none", f"Give {shown}"
            )
        if self.limits and not self.sensitive:
            named = ", ".join("--" + name.replace("_", "-") for name in self.limits)
            raise ParameterError(where, f"{named} is about sensitive columns", "none", "Name them with --sensitive A,B")


NO_GUARANTEE = GuaranteeOptions()
"""Nothing is demanded besides k."""
