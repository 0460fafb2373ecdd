"""Which records a mask treats: those whose risk, in a table that `audit --per-record` wrote, is so.

What a targeted swap is told: what makes a person rare in a region, and which households are similar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param

Risk = Literal["individual", "household", "suda", "dis-suda", "class-size"]
Operator = Literal[">", ">=", "<", "<="]
WhereRisk = Annotated[
    str | None,
    Param(
        "Treat the records whose risk is so, such as '> 0.2', by what audit --per-record wrote of the table.",
        metavar="'> NUMBER'", later=True, part="risks",
    ),
]  # fmt: skip
WhichRisk = Annotated[Risk, Param("With --where-risk: which risk of a record counts.", later=True)]
RiskTable = Annotated[
    str, Param("With --where-risk: the table of risks in the schema sqlmicro.", metavar="NAME", later=True)
]
COLUMNS: dict[Risk, str] = {
    "individual": "individual_risk", "household": "household_risk", "suda": "suda", "dis-suda": "dis_suda",
    "class-size": "class_size",
}  # fmt: skip
"""Where a table of risks has them."""
_WRITTEN = re.compile(r"\s*(>=|<=|>|<)\s*(\d+(?:\.\d*)?|\.\d+)\s*")


@dataclass(frozen=True)
class Bound:
    """A comparison that a risk must fulfil."""

    operator: Operator
    number: float

    @property
    def by_operator(self) -> dict[str, list[float]]:
        """The number in a list under the word for its operator; the lists of the others are empty."""
        words = {">": "above", ">=": "at_least", "<": "below", "<=": "at_most"}
        return {word: [self.number] if sign == self.operator else [] for sign, word in words.items()}


def bound(text: str, where: str) -> Bound:
    """Return the comparison that a text says: an operator and a number, nothing else.

    >>> bound("> 0.2", "pram"), bound("<=3", "pram")
    (Bound(operator='>', number=0.2), Bound(operator='<=', number=3.0))

    Raises
    ------
    ParameterError
        For any other text.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None:
        must = "is one of >, >=, <, <= and a number"
        raise ParameterError(f"{where}, where_risk", must, repr(text), "Write '> 0.2'")
    operator: Operator = found[1]  # type: ignore[assignment]
    return Bound(operator, float(found[2]))


RiskColumns = Annotated[
    tuple[str, ...],
    Param(
        "With targeted: what makes a person rare in a region, if few have the same values.", metavar="A,B", later=True
    ),
]
MinCount = Annotated[
    int | None,
    Param(
        "With targeted: so many persons of a region with the same --risk-columns are not rare. Default: 3.",
        min=1,
        later=True,
    ),
]
Similar = Annotated[
    str | None,
    Param(
        "With targeted: what two households must have in common, and what will do where none has. Default: the number "
        "of members.",
        metavar='"A,B;A"',
        later=True,
    ),
]
CarryAlong = Annotated[
    tuple[str, ...],
    Param("With targeted: those of --columns that are no level of regions, and go along.", metavar="A,B", later=True),
]
