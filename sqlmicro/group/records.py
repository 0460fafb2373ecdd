"""Groups of records by a kernel, stratum by stratum and block by block, and the representatives of their groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlmicro.database.columns import Column, numbers_by_column, pick, split_names
from sqlmicro.database.templates import Name
from sqlmicro.database.whole import seeming_codes
from sqlmicro.errors import ParameterError
from sqlmicro.missing.vectors import Scales, all_at_once, in_parts
from sqlmicro.options.common import RecordOptions
from sqlmicro.options.params import filled, split_blocks
from sqlmicro.registry import Grouping, Loss, Method, Tick
from sqlmicro.work import Kind, Rows, Work

if TYPE_CHECKING:
    import numpy as np

Keeper = Callable[[Any, Any, Any, Any, Tick], Any]
"""Gets the records (n, p) of a stratum, their groups, their places among all records, a generator and a tick; returns
groups that keep guarantees."""


class Seated(NamedTuple):
    """The classes of a night of a series."""

    groups: Name
    """The class of every row (row_id, label), empty seats included."""
    representatives: Name
    """The values of every class (label, the columns)."""
    rows: Name
    """What is released: the records that have a seat, and a row for every empty one."""


class Seater(Protocol):
    """What continues a series of releases: it says who is in which class."""

    recoding: str | None
    """What a method of recoding decided in the first night, as JSON."""

    @property
    def before(self) -> object:
        """What it remembers; None in the first night."""

    @property
    def binds_kept(self) -> bool:
        """Whether what is released as it is belongs to a seat, whoever has it."""

    def seated(
        self,
        work: Work,
        scales: Scales,
        importance: Mapping[Column, float],
        grouped: Callable[[], np.ndarray],
        representatives: Callable[[Name], Name],
    ) -> Seated:
        """Return the classes of tonight; `grouped` groups all records, `representatives` makes the values of groups."""

    def settled(
        self, work: Work, X: np.ndarray, grouped: Callable[[], np.ndarray], representatives: Callable[[Name], Name],
        *, alike: Sequence[Column],
    ) -> Seated:  # fmt: skip
        """Return the classes of tonight, of records that are alike in some columns."""

    def left_over(self, work: Work, alike: Sequence[Column]) -> np.ndarray:
        """Return which records (n,), in the order of row_id, need no longer wait for others that are alike."""


def group(
    work: Work,
    method: Method,
    settings: Mapping[str, Any],
    keeper: Keeper | None = None,
    size: int = 0,
    seater: Seater | None = None,
) -> None:
    """Group every stratum by a kernel, block of columns by block, and replace the columns by their representatives.

    Groups have `size` records or more, where that is above k and a stratum allows it. In a series a `seater` decides.
    """
    own = {parameter.name: settings[parameter.name] for parameter in method.parameters}
    how = filled(RecordOptions, settings)
    everything = _scales(work, how.ordinal, how.nominal)
    scales = everything.of(work.columns)
    _say(work, scales)
    say_codes(work, scales.numeric, "Name them in --nominal, and no means are taken")
    importance = _importance(work, how.importance)
    if seater is not None:
        seat(work, scales, importance, seater, lambda: _grouped(work, method, own, everything, importance, keeper))
        return
    blocks = _blocks(work, how.block_attributes)
    row_id, labels = _labels(work, method, own, everything, importance, blocks, keeper, size)
    for number, block in enumerate(blocks, 1):
        suffix = f"_{number}" if len(blocks) > 1 else ""
        groups = work.load_labels(row_id, labels.pop(0), f"{method.name} ({method.module})", f"groups{suffix}")
        work.count_groups(groups)
        _replace(work, block, scales.of(block), groups, suffix)
    if len(blocks) > 1:
        work.note(
            f"warning: the columns were grouped in {len(blocks)} separate blocks: the whole record is not k-anonymous"
        )


def _grouped(
    work: Work,
    method: Method,
    settings: Mapping[str, Any],
    scales: Scales,
    importance: Mapping[Column, float],
    keeper: Keeper | None,
) -> np.ndarray:
    """Return the group of every record (n,), over all columns."""
    vectors = all_at_once(work, scales, importance)
    return run_kernel(work, method, settings, vectors.of(work.columns), vectors.strata, keeper)


def _labels(
    work: Work,
    method: Method,
    settings: Mapping[str, Any],
    scales: Scales,
    importance: Mapping[Column, float],
    blocks: Sequence[Sequence[Column]],
    keeper: Keeper | None,
    size: int,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return row_id (n,) and, for every block of columns, the group of every record (n,)."""
    import numpy as np

    guides = work.records.guides
    # A keeper knows every record by its place among all of them.
    whole = keeper is not None or bool(guides)
    k = int(method.told("k", settings))
    parts = [all_at_once(work, scales, importance)] if whole else in_parts(work, scales, importance, k)
    rows: list[np.ndarray] = []
    found: list[list[np.ndarray]] = [[] for _ in blocks]
    groups = [0] * len(blocks)
    for vectors in parts:
        rows.append(vectors.row_id)
        for number, block in enumerate(blocks):
            X = vectors.of(block, guides)
            labels = run_kernel(work, method, settings, X, vectors.strata, keeper, size, vectors.first)
            labels += groups[number]
            groups[number] = int(labels.max(initial=-1)) + 1
            found[number].append(labels)
            del X  # what follows needs the memory
    return np.concatenate(rows), [np.concatenate(found.pop(0)) for _ in blocks]


def seat(
    work: Work,
    scales: Scales,
    importance: Mapping[Column, float],
    seater: Seater,
    grouped: Callable[[], np.ndarray],
) -> None:
    """Give every record the values of its class in a series."""

    def representatives(founders: Name) -> Name:
        return _representatives(work, work.columns, scales, founders, "")

    seated = seater.seated(work, scales, importance, grouped, representatives)
    work.count_groups(seated.groups)
    work.outcome.rows = Rows(seated.rows, complete=True)
    params: dict[str, Any] = {"representatives": seated.representatives, "columns": work.columns}
    values = work.run("replace/by_label.sql", "values", groups=seated.groups, **params)
    work.replace_all(work.columns, values, _kinds(scales))


def _kinds(scales: Scales) -> dict[Column, Kind]:
    return dict.fromkeys((*scales.nominal, *(column for column, _ in scales.ordinal)), "nominal")


def _scales(work: Work, ordinal: tuple[str, ...], nominal: tuple[str, ...]) -> Scales:
    """Give every column its scale: as named, else numbers are numeric, an ENUM ordinal, all else nominal."""
    as_ordinal = pick(work.step.columns, ordinal, f"{work.where}, ordinal")
    as_nominal = pick(work.step.columns, nominal, f"{work.where}, nominal")
    both = [column.name for column in as_ordinal if column in as_nominal]
    if both:
        raise ParameterError(work.where, "a column is either ordinal or nominal", f"both for {', '.join(both)}")
    found = Scales([], [], [])
    for column in (*work.columns, *work.records.guides):
        if column in as_ordinal or (column.family == "enum" and column not in as_nominal):
            found.ordinal.append((column, _type_with_order(column, work.where)))
        elif column in as_nominal or not column.numeric:
            found.nominal.append(column)
        else:
            found.numeric.append(column)
    return found


def _say(work: Work, scales: Scales) -> None:
    """Add a note of the columns that get no mean."""
    for scale, text in (("ordinal", "median"), ("nominal", "mode")):
        names = [c.name for c in (scales.nominal if scale == "nominal" else [c for c, _ in scales.ordinal])]
        if names:
            work.note(f"{scale} (the {text} of the group): {', '.join(names)}")


def say_codes(work: Work, averaged: Sequence[Column], do: str) -> None:
    """Add a note of the columns of whole numbers that look like codes or years, where means are taken of them."""
    whole = [column for column in averaged if column in work.whole]
    if told := seeming_codes(work.warehouse, work.relation, whole):
        work.note(f"warning: means are taken of whole numbers that seem to be codes or years: {', '.join(told)}. {do}")


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


def _importance(work: Work, given: tuple[str, ...]) -> dict[Column, float]:
    """Return how much each column counts in the distance, 1 where nothing is given."""
    must = "is written COLUMN=WEIGHT, with a weight of at least 0"
    found = numbers_by_column(work.step.columns, given, f"{work.where}, importance", must, zero=True)
    return {column: found.get(column, 1.0) for column in work.step.columns}


def run_kernel(
    work: Work,
    method: Method,
    settings: Mapping[str, Any],
    X: np.ndarray,
    strata: np.ndarray,
    keeper: Keeper | None = None,
    size: int = 0,
    first: int | None = None,
) -> np.ndarray:
    """Return the group of every record (n,), counted through all strata; a note is reported once.

    `first` is the number of the first stratum where there are others besides these. Classes of a level above, where
    some are to hold k persons or more, are divided by the keeper alone, unless groups are to be larger.
    """
    import numpy as np

    told: dict[int, tuple[tuple[str, ...], float | None]] = {}
    k = int(method.told("k", settings))
    asked = {**settings, "k": max(k, size)}

    def kernel(rows: np.ndarray, tick: Tick, number: int) -> np.ndarray:
        rng = stream(number + (first or 0)) if several else stream()
        if k < size and len(rows) < 2 * size:
            found = Grouping(np.zeros(len(rows), dtype=np.int64))
        else:
            found = method.group(X[rows], rng, tick, **asked)
        told[number] = found.notes, found.least
        return found.labels if keeper is None else keeper(X[rows], found.labels, rows, rng, tick)

    if keeper is not None and work.records.classes and size <= k:
        with work.warehouse.progress.kernel(f"divide the classes by {method.name}", len(X)) as progress:
            divided: np.ndarray = keeper(X, strata, np.arange(len(X)), work.rng(), progress.tick)
        return divided
    # A stratum has its own stream: it does not matter which is grouped first.
    several, stream = first is not None or strata.any(), work.streams()
    ours = method.module.startswith("sqlmicro.") and method.told("effort", settings) != "best"  # one solver at a time
    labels = work.group_strata(strata, k, f"group by {method.name}", kernel, threads=ours)
    for note in dict.fromkeys(note for number in sorted(told) for note in told[number][0]):
        if note not in work.outcome.account.notes:  # as that of another part, or block
            work.note(note)
    work.outcome.account.losses.append(Loss.of(X, labels, [least for _, least in told.values()]))
    return labels


def _replace(work: Work, columns: Sequence[Column], scales: Scales, groups: Name, suffix: str) -> None:
    """Replace columns by the representatives of their groups."""
    representatives = _representatives(work, columns, scales, groups, suffix)
    values = work.run(
        "replace/by_label.sql", f"values{suffix}", groups=groups, representatives=representatives, columns=columns
    )
    work.replace_all(columns, values, _kinds(scales))


def _representatives(work: Work, columns: Sequence[Column], scales: Scales, groups: Name, suffix: str) -> Name:
    """Return the mean of every group in numeric columns, the median in ordinal ones, the mode in nominal ones."""
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
    return representatives
