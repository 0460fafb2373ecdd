"""Records as vectors: columns of any scale become numbers for a grouping kernel, its groups become representatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlmicro.database.columns import Column, numbers_by_column, pick, split_names
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import RecordOptions
from sqlmicro.options.params import filled
from sqlmicro.registry import Method, Tick
from sqlmicro.standardise import standardise
from sqlmicro.work import Claim, Work

if TYPE_CHECKING:
    import numpy as np

_MOST_NUMBERS = 200_000_000
"""At most so many numbers (1.6 GB) make up the vectors of all records."""


@dataclass(frozen=True)
class Scales:
    """The columns by scale; an ordinal column comes with the type that has its order."""

    numeric: list[Column]
    ordinal: list[tuple[Column, str]]
    nominal: list[Column]

    def of(self, columns: Sequence[Column]) -> Scales:
        """Return the scales of some of the columns."""
        return Scales(
            [column for column in self.numeric if column in columns],
            [(column, kind) for column, kind in self.ordinal if column in columns],
            [column for column in self.nominal if column in columns],
        )


Keeper = Callable[[Any, Any, Any, Any, Tick], Any]
"""Gets the records (n, p) of a stratum, their groups, their places among all records, a generator and a tick; returns
groups that keep guarantees."""


def group(work: Work, method: Method, settings: Mapping[str, Any], keeper: Keeper | None = None) -> None:
    """Group every stratum by a kernel, block of columns by block, and replace the columns by their representatives."""
    own = {parameter.name: settings[parameter.name] for parameter in method.parameters}
    how = filled(RecordOptions, settings)
    scales = _scales(work, how.ordinal, how.nominal)
    blocks = _blocks(work, how.block_attributes)
    row_id, features = _features(work, scales, _importance(work, how.importance))
    stratum_numbers = work.stratum_numbers(len(row_id))
    for number, block in enumerate(blocks, 1):
        X = _stack([features[column] for column in block])
        labels = run_kernel(work, method, own, X, stratum_numbers, keeper)
        suffix = f"_{number}" if len(blocks) > 1 else ""
        groups = work.load_labels(row_id, labels, f"{method.name} ({method.module})", f"groups{suffix}")
        work.count_groups(groups)
        _replace(work, block, scales.of(block), groups, suffix)
    work.outcome.nominal = [*scales.nominal, *(column for column, _ in scales.ordinal)]
    if len(blocks) > 1:
        strata = [column for column in work.by if isinstance(column, Column)]
        work.outcome.claims = [Claim((*block, *strata), "record", int(method.told("k", own))) for block in blocks]
        work.outcome.promise = "block"
        work.note(f"the columns were grouped in {len(blocks)} separate blocks: the whole record is not k-anonymous")


def _scales(work: Work, ordinal: tuple[str, ...], nominal: tuple[str, ...]) -> Scales:
    """Give every column its scale: as named, else numbers are numeric, an ENUM ordinal, all else nominal."""
    as_ordinal = pick(work.columns, ordinal, f"{work.where}, ordinal")
    as_nominal = pick(work.columns, nominal, f"{work.where}, nominal")
    both = [column.name for column in as_ordinal if column in as_nominal]
    if both:
        raise ParameterError(work.where, "a column is either ordinal or nominal", f"both for {', '.join(both)}")
    found = Scales([], [], [])
    for column in work.columns:
        if column in as_ordinal or (column.family == "enum" and column not in as_nominal):
            found.ordinal.append((column, _type_with_order(column, work.where)))
        elif column in as_nominal or not column.numeric:
            found.nominal.append(column)
        else:
            found.numeric.append(column)
    for scale, text in (("ordinal", "median"), ("nominal", "mode")):
        names = [c.name for c in (found.nominal if scale == "nominal" else [c for c, _ in found.ordinal])]
        if names:
            work.note(f"{scale} (the {text} of the group): {', '.join(names)}")
    return found


def _type_with_order(column: Column, where: str) -> str:
    if column.numeric:
        return "DOUBLE"
    if column.family in ("enum", "text", "boolean"):
        return {"enum": column.type, "text": "VARCHAR", "boolean": "BOOLEAN"}[column.family]
    raise ParameterError(
        f"{where}, ordinal", "must be numbers, dates, text, BOOLEAN or ENUM", f"{column.name} ({column.type})"
    )


def _blocks(work: Work, text: str | None) -> list[list[Column]]:
    """Return the blocks of columns; without the option one block with all of them.

    Raises
    ------
    ParameterError
        When a column is in two blocks or in none.
    """
    if text is None:
        return [work.columns]
    where = f"{work.where}, block_attributes"
    names = [split_names([part]) for part in split_blocks(text)]
    pick(work.columns, [name for block in names for name in block], where)
    blocks = [pick(work.columns, block, where) for block in names]
    left = [column.name for column in work.columns if not any(column in block for block in blocks)]
    if left or not all(blocks):
        raise ParameterError(
            where, "every column is in one block", f"no block for {', '.join(left)}" if left else "an empty block"
        )
    return blocks


def split_blocks(text: str) -> list[str]:
    """Split blocks at semicolons that are not inside double quotes.

    >>> split_blocks('a,b;"c;d",e')
    ['a,b', '"c;d",e']
    """
    blocks, quoted = [""], False
    for char in text:
        quoted ^= char == '"'
        if char == ";" and not quoted:
            blocks.append("")
        else:
            blocks[-1] += char
    return blocks


def _importance(work: Work, given: tuple[str, ...]) -> dict[Column, float]:
    """Return how much each column counts in the distance, 1 where nothing is given."""
    must = "is written COLUMN=WEIGHT, with a weight of at least 0"
    found = numbers_by_column(work.columns, given, f"{work.where}, importance", must, zero=True)
    return {column: found.get(column, 1.0) for column in work.columns}


def _features(
    work: Work, scales: Scales, importance: Mapping[Column, float]
) -> tuple[np.ndarray, dict[Column, np.ndarray]]:
    """Return row_id (n,) and for every column its coordinates (n, q).

    Numeric and ordinal columns are standardised, with a 0/1 column where values are missing. A nominal column has a
    coordinate per value, 1/√2 or 0, so that a mismatch counts like a distance of one standard deviation.
    """
    import numpy as np

    arrays = work.warehouse.arrays(
        "load/features.sql",
        relation=work.relation,
        numeric=scales.numeric,
        ordinal=scales.ordinal,
        nominal=scales.nominal,
    )
    n = len(arrays["row_id"])
    values = {column: int(arrays[column.staged].max()) + 1 for column in scales.nominal}
    if n * sum(values.values()) > _MOST_NUMBERS:
        widest = max(values, key=lambda column: values[column])
        raise InputError(
            work.where,
            f"records times values of the nominal columns must be at most {_MOST_NUMBERS:,}",
            f"{n:,} times {sum(values.values()):,}, most of them in {widest.name}",
            "Coarsen that column, take it as --ordinal, or use: sqlmicro safe, which works on combinations",
        )
    found = {}
    for column in work.columns:
        array = arrays[column.staged]
        if column in values:
            found[column] = (array[:, None] == np.arange(values[column])) * (importance[column] / math.sqrt(2))
        else:
            found[column] = standardise(array[:, None].astype(float)) * importance[column]
    return arrays["row_id"], found


def _stack(features: list[np.ndarray]) -> np.ndarray:
    import numpy as np

    return features[0] if len(features) == 1 else np.hstack(features)


def run_kernel(
    work: Work,
    method: Method,
    settings: Mapping[str, Any],
    X: np.ndarray,
    strata: np.ndarray,
    keeper: Keeper | None = None,
) -> np.ndarray:
    """Return the group of every record (n,), counted through all strata; a note is reported once."""
    notes: dict[str, None] = {}

    def kernel(rows: np.ndarray, tick: Tick) -> np.ndarray:
        found = method.group(X[rows], rng, tick, **settings)
        notes.update(dict.fromkeys(found.notes))
        return found.labels if keeper is None else keeper(X[rows], found.labels, rows, rng, tick)

    rng = work.rng()
    labels = work.group_strata(strata, int(method.told("k", settings)), f"group by {method.name}", kernel)
    for note in notes:
        work.note(note)
    return labels


def _replace(work: Work, columns: Sequence[Column], scales: Scales, groups: Name, suffix: str) -> None:
    """Replace numeric columns by the mean of their group, ordinal ones by the median, nominal ones by the mode."""
    grouped = work.run(
        "replace/grouped.sql", f"grouped{suffix}", view=True, groups=groups, relation=work.relation, columns=columns
    )
    representatives = work.run("replace/group_means.sql", f"means{suffix}", grouped=grouped, columns=scales.numeric)
    others = [
        (column, work.run("replace/group_ordinal_medians.sql", f"median_{column.staged}", grouped=grouped,
                          column=column, type=kind))
        for column, kind in scales.ordinal
    ] + [
        (column, work.run("replace/group_modes.sql", f"mode_{column.staged}", grouped=grouped, column=column))
        for column in scales.nominal
    ]  # fmt: skip
    if others:
        representatives = work.run(
            "replace/representatives.sql",
            f"representatives{suffix}",
            means=representatives,
            numeric=scales.numeric,
            others=[(f"o{number}", relation, column) for number, (column, relation) in enumerate(others, 1)],
        )
    values = work.run(
        "replace/by_label.sql", f"values{suffix}", groups=groups, representatives=representatives, columns=columns
    )
    work.replace_all(columns, values)
