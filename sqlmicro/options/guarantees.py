"""What must hold of every class of a release, asked for in the words of the gates of `sqlmicro audit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.options.params import Param


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
