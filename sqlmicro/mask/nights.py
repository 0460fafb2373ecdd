"""A night of a series by a recoding: that of the first night is applied to every other one.

Records are of one class only if they are recoded alike. Whom the recoding does not know, since her values are outside
of it, waits, as does who is alone in her combination. When k of them have waited for `patience` days, or when they are
more than the share `waiting` of all, they are a *cohort*: the method recodes them by themselves, so that each of its
combinations has k of them, and these open classes. So a class is always made of k records that the method has released
with one combination of values, in one night. Who has changed keeps her seat and the values of her class, unless persons
move; then nobody is recoded anew, since the first recoding alone says who has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sqlmicro.database.carried import FileSeries, Nights
from sqlmicro.database.columns import Column
from sqlmicro.errors import InputError, Need, ParameterError, demand
from sqlmicro.group.records import Seater, seat
from sqlmicro.mask import applied, decided
from sqlmicro.mask import population as everybody
from sqlmicro.mask.recoding_file import from_text
from sqlmicro.missing.vectors import Scales
from sqlmicro.registry import Method
from sqlmicro.system.reporting import as_json
from sqlmicro.work import Kind, NewValues, Outcome, Rows, Work

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name

TEMPLATES = (
    "mask/recoded_night.sql",
    "mask/founded_classes.sql",
    "mask/recoded_strata.sql",
    "mask/with_cohort.sql",
)
_ALONE = Column("", "BIGINT", "place")
"""The number of a record that the recoding does not know, which no other has."""


@runtime_checkable
class Cohorts(Protocol):
    """A series of a method that groups column by column: it says which records are grouped tonight."""

    def admitted(self, work: Work, group: Callable[[], object]) -> None:
        """Let `group` group the records that come into the release tonight, and make its rows."""


def run_tonight(work: Work, method: Method, settings: Mapping[str, Any], k: int, seater: Seater) -> None:
    """Run a method in a night of a series: on who comes in tonight, on all, or as it was decided the first night."""
    if isinstance(seater, Cohorts):
        seater.admitted(work, lambda: method.function(work, **settings))
    elif isinstance(seater, FileSeries | Nights):
        method.function(work, **settings)
    elif method.stage == "group":
        _seat_groups(work, method, settings, seater)
    else:
        _seat(work, method, settings, k, seater)


def _seat_groups(work: Work, method: Method, settings: Mapping[str, Any], seater: Seater) -> None:
    """Seat the records of a night in the groups that a method makes in SQL in the first one: who has equal values.

    Raises
    ------
    ParameterError
        For representatives that are no means.
    """
    if settings.get("representative", "mean") != "mean":
        must = "publishes the means of a class, of which two nights tell no more than one"
        raise ParameterError("--series", must, f"--representative {settings['representative']}", "Leave it out")

    def grouped() -> np.ndarray:
        first = work.again("first")
        method.function(first, **settings)
        columns = [(column, "r") for column in everybody.strata(work)]
        (values,) = {new.relation for new in first.outcome.values.values()}
        classes = work.run("mask/recoded_classes.sql", "classes", relation=work.relation, values=values,
                           columns=[*((column, "v") for column in work.columns), *columns])  # fmt: skip
        found = work.warehouse.arrays("mask/class_of_records.sql", relation=work.relation, classes=classes)
        return found["label"] - 1

    seat(work, Scales(list(work.columns), [], []), dict.fromkeys(work.columns, 1.0), seater, grouped)


def _seat(work: Work, method: Method, settings: Mapping[str, Any], k: int, seater: Seater) -> None:
    """Recode the records of a night as those of the first one, and give them the values of their class in the series.

    Raises
    ------
    ParameterError, InputError
        When the method cannot make a series so, or its first night is impossible.
    """
    recoded = _recoded(work, method, settings, seater)
    strata = everybody.strata(work)
    alike = [*work.columns, _ALONE]
    night = copy(work)
    night.relation = _as_recoded(work, recoded.outcome, method)
    left = seater.left_over(night, alike)
    if left.any():
        night.relation = _with_cohort(work, night, method, settings, left)

    def grouped() -> np.ndarray:
        own = [(column, "r") for column in (*work.columns, *strata)]
        classes = work.run(
            "mask/recoded_classes.sql", "classes", relation=night.relation, values=night.relation, columns=own
        )
        found = work.warehouse.arrays("mask/class_of_records.sql", relation=night.relation, classes=classes)
        return found["label"] - 1

    def representatives(founders: Name) -> Name:
        return work.run("mask/founded_classes.sql", "founded_classes", founders=founders, relation=night.relation,
                        columns=work.columns)  # fmt: skip

    import numpy as np

    X = np.empty((work.warehouse.count(night.relation), 0))
    seated = seater.settled(night, X, grouped, representatives, alike=alike)
    account = replace(recoded.outcome.account, notes=work.outcome.account.notes)
    work.outcome, values = Outcome({}, Rows(seated.rows, complete=True), account), recoded.outcome.values
    work.count_groups(seated.groups)
    shown = work.run("replace/by_label.sql", "seated_values", groups=seated.groups,
                     representatives=seated.representatives, columns=work.columns)  # fmt: skip
    work.replace_all(work.columns, shown, {column: _kind(method, values.get(column)) for column in work.columns})


def _kind(method: Method, recoded: NewValues | None) -> Kind:
    """Return of what kind the values of a column are in every night, whether or not it is recoded in this one."""
    if recoded is None or (method.name == "suppress" and recoded.kind == "number"):
        return "nominal"
    return recoded.kind


def _as_recoded(work: Work, outcome: Outcome, method: Method) -> Name:
    """Return the records of a step with the values that an outcome has for them."""
    values = next(iter(outcome.values.values())).relation if outcome.values else work.relation
    own, new = (dict(work.warehouse.describe(relation)) for relation in (work.relation, values))
    taken = [
        (column, "v", new[column.staged]) if column in outcome.values else (column, "r", own[column.staged])
        for column in work.columns
    ]
    return work.run(
        "mask/recoded_night.sql", "recoded_night", relation=work.relation, values=values, columns=taken,
        others=[*everybody.strata(work), *work.demand.of_nights], partial=method.name == "suppress",
    )  # fmt: skip


def _with_cohort(work: Work, night: Work, method: Method, settings: Mapping[str, Any], left: np.ndarray) -> Name:
    """Return the records of a night, those that are `left` over (n,) as the method recodes them by themselves.

    They stay as they are where so few cannot be recoded, or would get values of another type.
    """
    import pyarrow as pa

    cohort = work.again("cohort")
    found = work.warehouse.arrays("mask/recoded_strata.sql", relation=night.relation, strata=everybody.strata(work))
    if settings.get("hierarchy"):
        left = left & found["known"]  # of a value that is in no hierarchy nothing is guessed
    left = left & _enough(found["stratum"], left, int(settings.get("until_k") or settings.get("k") or 0))
    if not left.any():
        return night.relation
    rows = work.load(pa.table({"row_id": found["row_id"][left]}), "cohort", "filled with who is recoded anew tonight")
    cohort.relation = cohort.run("history/cohort.sql", "comes", relation=work.relation, cohort=rows)
    try:
        method.function(cohort, **{**settings, **({"recoding_to": None} if "recoding_to" in settings else {})})
    except InputError:
        return night.relation
    made = _as_recoded(cohort, cohort.outcome, method)
    types, new = (dict(work.warehouse.describe(relation)) for relation in (night.relation, made))
    columns = [replace(column, type=types[column.staged]) for column in work.columns]
    if any(column.type not in ("VARCHAR", new[column.staged]) for column in columns):
        return night.relation
    return work.run(
        "mask/with_cohort.sql", "with_cohort", relation=night.relation, cohort=made, columns=columns,
        others=[*everybody.strata(work), *work.demand.of_nights],
    )  # fmt: skip


def _enough(strata: np.ndarray, left: np.ndarray, k: int) -> np.ndarray:
    """Tell of every record whether k of its stratum are left over."""
    import numpy as np

    _, stratum = np.unique(strata, return_inverse=True)
    found: np.ndarray = (np.bincount(stratum, left) >= k)[stratum]
    return found


def _recoded(work: Work, method: Method, settings: Mapping[str, Any], seater: Seater) -> Work:
    """Return a step in which the records are recoded as in the first night, which is decided if this is it."""
    demand(_needs(work, settings))
    if seater.recoding is None:
        says = "recoding_to" in settings
        method.function(work, **{**settings, **({"recoding_to": "remembered"} if says else {})})
        seater.recoding = json.dumps(as_json(work.outcome.account.recoding if says else decided.of_suppressed(work)))
        if not says:
            return work
    again = work.again("again")
    assert seater.recoding is not None
    found = from_text(seater.recoding)
    again.outcome.account.recoding = found if settings.get("recoding_to") else None
    applied.known(again, found, settings.get("hierarchy", ()))
    return again


def _needs(work: Work, settings: Mapping[str, Any]) -> Iterator[Need]:
    """Yield what a night needs of settings: they make classes of records that are alike."""
    for option in ("population", "subsets", "max_risk", "weight"):
        alone = settings.get(option) is None
        yield Need(alone, f"{work.where}, {option}", "does not go with --series", f"--{option.replace('_', '-')}")
    matched = settings.get("nulls_match", "own-value")
    yield Need(matched == "own-value", f"{work.where}, nulls_match", "does not go with --series", str(matched))
