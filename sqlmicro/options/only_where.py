"""Which rows of a table that is changed in place are anonymized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class OnlyWhereOptions:
    """Which rows come of age, and what becomes of those that find no class."""

    only_where: Annotated[
        str | None,
        Param(
            "With --in-place: anonymize the rows for which this condition holds, with --series also those that were "
            "anonymized before; leave the others as they are. See sqlmicro help retention.",
            metavar="SQL",
            whole=True,
        ),
    ] = None
    waiting: Annotated[
        Literal["keep", "join", "empty"],
        Param(
            "With --only-where: what becomes of rows that have come of age, and for which no class opened within "
            "--patience days. keep: they wait as they are. join: each takes the values of the nearest class of an "
            "earlier night; who has copies of the table of two nights sees which row that is. empty: their columns "
            "become NULL."
        ),
    ] = "keep"

    def refuse_elsewhere(self, *, in_place: bool) -> None:
        """Refuse what goes with a table some rows of which are changed in place, anywhere else.

        Raises
        ------
        ParameterError
            With the option.
        """
        if self.only_where is None and self.waiting != "keep":
            raise ParameterError("--waiting", "goes with --only-where", "none", "Say which rows come of age")
        if self.only_where is not None and not in_place:
            must = "anonymizes some rows of a table in place, and leaves the others there as they are"
            raise ParameterError("--only-where", must, "no --in-place", "Add --in-place")
