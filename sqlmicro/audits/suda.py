"""SUDA scores: how easily a record that is unique can be told apart by few columns."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Annotated

from sqlmicro.audits.registry import Found, audit
from sqlmicro.audits.subject import Subject
from sqlmicro.errors import InputError
from sqlmicro.params import Param

_MOST_SUBSETS = 2000


@audit(
    "suda",
    needs=("quasi",),
    gate="max_suda",
    on_request=True,
    source="Elliot, Manning & Ford (2002); Manning, Haglin & Keane (2008)",
    templates=("audit/cells.sql", "audit/minimal_uniques.sql", "audit/suda_scores.sql"),
)
def suda(
    subject: Subject,
    limit: float | None,
    *,
    suda_size: Annotated[int, Param("SUDA: look for special uniques in up to so many columns.", min=1)] = 3,
) -> Found:
    """The highest SUDA score of a record: how many small combinations of columns it is unique in.

    Returns
    -------
    Found
        The value is the highest score; `total` over all records, `records` with a score, `minimal_uniques`, and
        `contributions`, the share in percent of the total that comes from combinations with each column.

    Raises
    ------
    InputError
        With so many columns that there are more than 2 000 combinations.

    Notes
    -----
    A minimal sample unique is a set of n of the m columns in which a record is unique, and in no part of the set. It
    counts (2^(m - n) - 1)/binomial(m, n), as in sdcMicro and the IHSN tool; Elliot et al. (2002) use the product of
    m - i for i from n to the largest size, which orders the records much alike. NULL is a value of its own. One GROUP
    BY of the classes for each of the sum of binomial(m, n) combinations.
    """
    m, size = len(subject.quasi), min(suda_size, len(subject.quasi))
    number = sum(comb(m, n) for n in range(1, size + 1))
    if number > _MOST_SUBSETS:
        raise InputError(
            "audit, --suda-size",
            f"at most {_MOST_SUBSETS:,} combinations of columns can be looked at",
            f"{number:,} of up to {size} of {m} columns",
            "Choose a smaller --suda-size, or fewer columns",
        )
    if subject.nulls == "wildcard":
        reason = "a record with a NULL that matches every value is in several classes; use own_value or exclude"
        return Found(None, detail={"reason": reason})
    bits = {column: 2**index for index, column in enumerate(subject.quasi)}
    subsets = [
        (sum(bits[column] for column in chosen), n, chosen)
        for n in range(1, size + 1)
        for chosen in combinations(subject.quasi, n)
    ]
    uniques = subject.stage(
        "audit/minimal_uniques.sql",
        f"minimal_uniques_{size}",
        view=False,
        cells=subject.cells,
        columns=subject.quasi,
        subsets=subsets,
    )
    rows = subject.warehouse.rows(
        "audit/suda_scores.sql",
        minimal_uniques=uniques,
        weights=[(n, (2 ** (m - n) - 1) / comb(m, n)) for n in range(1, size + 1)],
        columns=list(bits.items()),
    )
    found = {name: (highest or 0.0, total or 0.0, records) for name, highest, total, records in rows}
    highest, total, records = found.pop(None)
    shares = {name: 100 * part / total if total else 0.0 for name, (_, part, _) in found.items()}
    return Found(highest, detail={"total": total, "records": records, "size": size, "contributions": shares})
