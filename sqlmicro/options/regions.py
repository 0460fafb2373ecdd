"""What a targeted swap is told: what makes a person rare in a region, and which households are similar."""

from __future__ import annotations

from typing import Annotated

from sqlmicro.options.params import Param

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
