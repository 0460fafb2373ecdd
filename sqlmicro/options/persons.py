"""The unit that is protected: whose records the rows of a table are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class PersonOptions:
    """Whose records the rows of a table are."""

    person: Annotated[
        tuple[str, ...],
        Param(
            "Columns that say whose record it is: k counts persons. They are left out, unless a step makes pseudonyms "
            "of them.",
            metavar="A,B",
        ),
    ] = ()
    of_person: Annotated[
        tuple[str, ...],
        Param(
            "With --person: columns with one value for each person, grouped once per person. Default: those that have.",
            metavar="A,B",
        ),
    ] = ()
    household: Annotated[
        tuple[str, ...],
        Param(
            "Columns that say of which household a record is: what is constant within one stays so, in classes of k "
            "households. They are left out.",
            metavar="A,B",
        ),
    ] = ()
    rows_are_persons: Annotated[
        bool, Param("Count rows, although a column repeats like the key of persons who have several.")
    ] = False

    def refuse_both(self, where: str) -> None:
        """Refuse persons of a table whose rows are said to be persons, and columns of the person without one.

        Raises
        ------
        ParameterError
            Then nobody would know what k counts.
        """
        if self.person and self.rows_are_persons:
            got = "--person and --rows-are-persons"
            raise ParameterError(f"{where}, person", "k counts persons or rows", got, "Leave one of them out")
        if self.of_person and not self.person:
            raise ParameterError(
                f"{where}, of_person", "names columns of the persons that --person tells apart", "no --person",
                "Give --person",
            )  # fmt: skip
