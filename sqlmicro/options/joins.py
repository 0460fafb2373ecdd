"""What somebody who holds all releases of a job file can join, and what of it is known from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class JoinOptions:
    """Over which joins k is counted, and what an attacker knows."""

    join_depth: Annotated[
        int | None,
        Param(
            "Over how many keys in a row the tables can be joined. Default: all. 0 says that they are handed to "
            "different people: then k is not counted over joins.",
            min=0,
        ),
    ] = None
    min_join_k: Annotated[
        int | None,
        Param("Persons who are alike in all that joins tell, at least. Default: the smallest k of the tables.", min=1),
    ] = None
    known: Annotated[
        tuple[str, ...],
        Param(
            "What is known of the rows that a person has in a table: count, sum(A), avg(A), min(A), max(A), or none; "
            "such as 'orders: count, sum(amount)'. Default: count, of every table.",
            metavar="TABLE:WHAT",
            whole=True,
        ),
    ] = ()
    max_cross_table: Annotated[
        float | None,
        Param(
            "Look for persons by the pattern of their rows in the releases: at most this share may be found. 1 only "
            "measures it.",
            min=0,
            max=1,
            share=True,
        ),
    ] = None
