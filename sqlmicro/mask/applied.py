"""The levels, classes, boxes and tails of a recoding, applied in SQL to the records of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import TYPE_CHECKING

from sqlmicro.database.columns import Column, settings_by_column
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.guarantees.hierarchies import read_hierarchy
from sqlmicro.mask import population as everybody
from sqlmicro.mask import recoding
from sqlmicro.mask.ladders import Ladder, Rule, of_file, of_rules
from sqlmicro.mask.recoding_file import Level, RecodedColumn, Recoding, digest, family_of

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name, Params
    from sqlmicro.work import Work

TEMPLATES = (
    "mask/distinct_values.sql",
    "mask/width_bins.sql",
    "mask/break_bins.sql",
    "mask/known_bins.sql",
    "mask/range_labels.sql",
    "mask/date_range_labels.sql",
    "mask/range_midpoints.sql",
    "mask/truncated_dates.sql",
    "mask/truncated_timestamps.sql",
    "mask/prefixes.sql",
    "mask/one_class.sql",
    "mask/ladder.sql",
    "mask/hierarchy_ladder.sql",
    "mask/found_values.sql",
    "mask/value_texts.sql",
    "mask/date_texts.sql",
    "mask/timestamp_texts.sql",
    "mask/recoded.sql",
    "safe/cells.sql",
    "mask/cell_members.sql",
    "mask/known_classes.sql",
    "mask/cells_in_classes.sql",
    "replace/by_label.sql",
    "mask/boxes.sql",
    "mask/rows_in_boxes.sql",
    "mask/known_tails.sql",
    "mask/rows_in_tails.sql",
    "mask/rows_of_all_tails.sql",
    "mask/recoded_classes.sql",
    "mask/large_classes.sql",
    "mask/class_of_records.sql",
)
_DAYS = ("date",)
_MOMENTS = ("timestamp", "timestamptz")


def known(work: Work, found: Recoding, hierarchy: Sequence[str]) -> Name:
    """Recode what is known by levels, classes or boxes; return the records that are, with row_id.

    `hierarchy` has the files of hierarchies, each as COLUMN=FILE.
    """
    where = f"{work.where}, hierarchy"
    if found.boxes is not None:
        return boxes(work, found)
    files = {
        column: read_hierarchy(path, where)
        for column, path in settings_by_column(work.columns, hierarchy, where, "is written COLUMN=FILE")
    }
    return (levels if found.classes is None else classes)(work, found, files)


def levels(work: Work, found: Recoding, files: Mapping[Column, list[list[str]]]) -> Name:
    """Recode every column to its level, and return the records whose values are all known."""
    own = {column.name: column for column in found.columns}
    ladders = {column: _ladder(work, column, own[column.name], files) for column in work.columns}
    chosen = {column: own[column.name].levels[0].step or 1 if own[column.name].levels else 0 for column in ladders}
    return recoding.recode_to(work, ladders, chosen)


def classes(work: Work, found: Recoding, files: Mapping[Column, list[list[str]]]) -> Name:
    """Recode every record to the first class that it fits, and return the records that fit one."""
    own = {column.name: (number, column) for number, column in enumerate(found.columns)}
    strata, given, types = _strata(work, found), found.classes or [], dict(work.warehouse.describe(work.relation))
    cells = work.run(
        "safe/cells.sql", "cells", relation=work.relation, columns=[*work.columns, *everybody.strata(work)]
    )
    joined: list[tuple[Name, str, Column]] = []
    columns: list[tuple[Column, str, str, str, list[tuple[int, str, str]]]] = []
    literals, changed = [], []
    ladders: dict[Column, Ladder] = {}
    for i, column in enumerate(work.columns, 1):
        place, told = own[column.name]
        value, level = f"value_{i}", f"level_{i}"
        literals.append((level, value, [one.levels[place] for one in given], [one.values[place] for one in given]))
        if not told.levels:
            columns.append((column, value, level, "VARCHAR", [(0, "c", column.staged)]))
            continue
        changed.append(column)
        ladder = ladders[column] = _ladder(work, column, told, files)
        joined.append((ladder.relation, f"a{i}", column))
        steps = [(number, f"a{i}", f"level_{number}") for number in range(1, ladder.height + 1)]
        if ladder.texts is not None:
            joined.append((ladder.texts, f"t{i}", column))
        steps.insert(0, (0, f"a{i}", "value") if ladder.texts is None else (0, f"t{i}", "recoded"))
        number = types[column.staged] if found.method == "suppress" else "DOUBLE"
        columns.append((column, value, level, number if told.numeric else "VARCHAR", steps))
    of_strata = [(name, [one.stratum[place] for one in given]) for place, (_, name) in enumerate(strata)]
    known = work.run("mask/known_classes.sql", "known_classes", classes=len(given), strata=of_strata, columns=literals)
    released = work.run(
        "mask/cells_in_classes.sql", "cells_in_classes", cells=cells, classes=known, joined=joined, strata=strata,
        columns=columns, changed=[one for one in columns if one[0] in changed],
    )  # fmt: skip
    members = work.run("mask/cell_members.sql", "members", view=True, relation=work.relation, cells=cells,
                       columns=[*work.columns, *everybody.strata(work)])  # fmt: skip
    values = work.run("replace/by_label.sql", "values", groups=members, representatives=released, columns=changed)
    recoding.declare(work, ladders, changed, values)
    return values


def _ladder(work: Work, column: Column, told: RecodedColumn, files: Mapping[Column, list[list[str]]]) -> Ladder:
    """Make the ladder of a column from the levels that a recoding tells; values that it does not know are not on it."""
    where = f"{work.where}, hierarchy"
    into = f"values_{column.staged}"
    values = work.run("mask/distinct_values.sql", into, relation=work.relation, column=column)
    if not told.levels or told.levels[0].kind != "hierarchy":
        if told.levels and column in files:
            raise ParameterError(where, "is about columns that were recoded by one", column.name)
        made = [_rule(work, column, level) for level in told.levels]
        return of_rules(work, column, values, made, numeric=told.numeric)
    level = told.levels[0]
    if column not in files:
        do = f"Give --hierarchy {column.name}=FILE"
        raise ParameterError(where, "a recoding has no hierarchy in it", f"none for {column.name!r}", do)
    rows = files[column]
    if digest(rows) != level.sha256:
        raise InputError(where, "must be the hierarchy that the recoding was made with", f"another for {column.name!r}")
    ladder = of_file(work, values, Rule(column, "hierarchy", rows, where), top=bool(level.top))
    if not level.step or level.step > ladder.height:
        raise InputError(where, "must have the level of the recoding", f"{ladder.height} levels for {column.name!r}")
    known = work.run("mask/found_values.sql", f"known_{column.staged}", ladder=ladder.relation)
    return Ladder(column, known, ladder.texts, ladder.height, text=True, numeric=False)


def _rule(work: Work, column: Column, level: Level) -> Rule:
    """Return the rule that a level tells."""
    argument = next(
        (given for given in (level.width, level.breaks, level.bins, level.unit, level.length) if given is not None),
        None,
    )
    return Rule(column, level.kind, argument, work.where)


def boxes(work: Work, found: Recoding) -> Name:
    """Recode every column to the range or set of the box that a record is in, and return the records in one.

    Raises
    ------
    InputError
        When a record is in two boxes.
    """
    types = dict(work.warehouse.describe(work.relation))
    place = {column.name: number for number, column in enumerate(found.columns)}
    strata, columns = _strata(work, found), []
    literals: Params = {"ranges": [], "dates": [], "timestamps": [], "sets": []}
    ranges, sets = [], []
    for number, column in enumerate(work.columns, 1):
        low, high, missing, label = (f"{part}_{number}" for part in ("low", "high", "missing", "label"))
        sides = [box.sides[place[column.name]] for box in found.boxes or ()]
        missings = [side.missing for side in sides]
        columns.append((column, label))
        if not column.numeric:
            sets.append((column, low, missing))
            literals["sets"].append((low, missing, label, [side.values for side in sides], missings))
            continue
        ranges.append((column, low, high, missing))
        kind = "dates" if column.family in _DAYS else "timestamps" if column.family in _MOMENTS else "ranges"
        ends = [side.low for side in sides], [side.high for side in sides]
        literals[kind].append((low, high, missing, label, *ends, missings, types[column.staged]))
    of_strata = [(name, [box.stratum[place] for box in found.boxes or ()]) for place, (_, name) in enumerate(strata)]
    made = work.run("mask/boxes.sql", "boxes", boxes=len(found.boxes or ()), strata=of_strata, **literals)
    several = 1 + isqrt(len(found.boxes or ()))
    values = work.run(
        "mask/rows_in_boxes.sql", "values", relation=work.relation, boxes=made, several=several, strata=strata,
        ranges=ranges, sets=sets, columns=columns,
    )  # fmt: skip
    text = "SELECT count(*) - count(DISTINCT row_id) FROM {{ values | ident }}"
    if work.warehouse.query("boxes", text, values=values)[0][0]:
        raise InputError(f"{work.where}, recoding", "boxes must be apart", "a record in two", "Do not use this file")
    work.replace_all(work.columns, values, "text")
    return values


def tails(work: Work, found: Recoding, k: int) -> tuple[Name, int]:
    """Replace the tails; return the records that stay, and how many have values that are not known.

    A record stays whose values are known in all columns, and where every tail that it is in has k of the stratum.
    """
    types = dict(work.warehouse.describe(work.relation))
    own = {column.name: column for column in found.columns}
    strata, parts = _strata(work, found), []
    for number, column in enumerate(work.columns, 1):
        told = own[column.name]
        texts = [(name, [tail.stratum[place] for tail in told.tails]) for place, (_, name) in enumerate(strata)]
        starts, beyonds = [tail.start for tail in told.tails], [tail.beyond for tail in told.tails]
        # A threshold between whole numbers is one of other type.
        whole = all(bound is None or bound.lstrip("-").isdecimal() for bound in (*starts, *beyonds))
        kind = "DOUBLE" if family_of(told.type) == "integer" and not whole else types[column.staged]
        made = work.run(
            "mask/known_tails.sql", f"tails_{column.staged}", strata=texts, starts=starts, beyonds=beyonds,
            becomes=[tail.becomes for tail in told.tails], type=kind, result=told.becomes,
        )  # fmt: skip
        values = work.run(
            "mask/rows_in_tails.sql", f"values_{column.staged}", relation=work.relation, tails=made, strata=strata,
            column=column, top=found.method == "top-code", result=told.becomes,
        )  # fmt: skip
        work.replace(column, values, "text" if told.becomes == "VARCHAR" else "number")
        parts.append((f"t{number}", values))
    known = work.run("mask/rows_of_all_tails.sql", "known", view=True, relation=work.relation, tails=parts, k=1)
    kept = work.run("mask/rows_of_all_tails.sql", "kept", relation=work.relation, tails=parts, k=k)
    return kept, work.warehouse.count(work.relation) - work.warehouse.count(known)


def _strata(work: Work, found: Recoding) -> list[tuple[Column, str]]:
    """Return the columns of the strata in the order in which the recoding has them, and what they are called."""
    own = {column.name: column for column in everybody.strata(work)}
    return [(own[one.name], f"stratum_{number}") for number, one in enumerate(found.by, 1)]
