"""Recoding up to the level that is needed: the combinations of a table, the search, and the values it chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, NoReturn

from sqlmicro.database.columns import Column
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.guarantees import read
from sqlmicro.guarantees.bounds import bound
from sqlmicro.guarantees.histogram import Histogram
from sqlmicro.guarantees.members import Members
from sqlmicro.guarantees.rules import Rules
from sqlmicro.guarantees.tally import Tally
from sqlmicro.mask import lattice, local_recoding, population
from sqlmicro.mask.combinations import Combinations
from sqlmicro.mask.ladders import Ladder
from sqlmicro.mask.losses import LossOfCells, Metric, discernibility, loss_of, loss_of_cells
from sqlmicro.options.guarantees import NO_POPULATION, InPopulation
from sqlmicro.safe_method.persons_of_cells import PersonsOfCells
from sqlmicro.work import Kind, Rows

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work


@dataclass(frozen=True)
class Request:
    """What is asked of a recoding: k, the share that may be suppressed, the loss, mixed levels, the population."""

    k: int
    suppress_up_to: float = 0.0
    metric: Metric = "loss"
    local: bool = False
    target: str | None = None
    population: InPopulation = NO_POPULATION

    @property
    def beside_k(self) -> str:
        """The first option that was given beside k."""
        given = (field for field in fields(self) if field.name != "k" and getattr(self, field.name) != field.default)
        return "--" + next(given).name.replace("_", "-")


@dataclass(frozen=True, eq=False)
class _Table:
    """The combinations of a table, and of a population behind them: numbered in the warehouse, and as arrays."""

    cells: Name
    members: Name
    """The combination of every record."""
    everybody: Name | None
    """The population, if there is one."""
    key: list[Column]
    rules: Rules
    combinations: Combinations
    shares: list[list[np.ndarray]]


@dataclass(frozen=True, eq=False)
class Decided:
    """What was decided: the level of every column, or the classes that have levels of their own."""

    levels: dict[Column, int]
    classes: Classes | None = None


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of local recoding in the order in which a record is tried, each by one of its combinations.

    `first` has their numbers, None where no order tells who is in which; `levels` the level of every column.
    """

    cells: Name
    representatives: Name
    first: np.ndarray | None
    levels: np.ndarray
    changed: list[Column]


@dataclass(frozen=True, eq=False)
class _Solution:
    """The level of every combination in every column, and the classes that are released."""

    levels: np.ndarray
    kept: np.ndarray
    group: np.ndarray
    how: str
    first: np.ndarray | None = None
    """Of local recoding: a combination of every class, in the order in which a record is tried."""


def recode(work: Work, ladders: Mapping[Column, Ladder], request: Request, everybody: Name | None) -> Decided:
    """Recode the columns so that every class keeps what is asked, with the least loss; suppress what is left over.

    `everybody` is the population, with the columns of the records.

    Raises
    ------
    InputError
        When no node keeps what is asked with so few records suppressed.
    """
    nodes = 1
    for ladder in ladders.values():
        nodes *= ladder.height + 1
    if nodes > lattice.MOST_NODES:
        raise ParameterError(
            f"{work.where}, until_k",
            f"the lattice must have at most {lattice.MOST_NODES:,} nodes",
            f"{nodes:,}",
            "Give fewer levels, or fix a column by an earlier step",
        )
    table = _table(work, ladders, request, everybody)
    allowed = int(request.suppress_up_to * table.combinations.records + 1e-9)
    population.refuse_impossible(work, request.population, table.combinations.of_strata, allowed)
    with work.warehouse.progress.stage("search the lattice", nodes, "nodes") as progress:
        if request.local:
            cells = _loss_of_levels(work, request.metric, table)
            found = _local(local_recoding.recode(table.combinations, cells, allowed, progress.tick), table, cells)
        else:
            loss = loss_of(request.metric, table.combinations, table.shares)
            found = _global(lattice.search(table.combinations, loss, allowed, progress.tick), list(ladders.values()))
    if found is None or not found.kept.any():
        _refuse(work, table, strata=len(table.key) > len(ladders))
    _report(work, table, found, request.target)
    take = _take_cells if request.local else _take_levels
    recoded, decided = take(work, table, ladders, found)
    work.outcome.account.everybody = recoded
    return decided


def _refuse(work: Work, table: _Table, *, strata: bool) -> NoReturn:
    """Say why no levels keep what is asked."""
    k = table.rules.k
    must = "keep what was asked for" if not table.rules.only_k else f"make every record occur {k} times"
    got = "none do: a stratum cannot" if not table.rules.only_k else "none do: a stratum has fewer"
    infeasible = None if table.rules.only_k else bound(table.rules, table.combinations.records).infeasible
    raise InputError(
        work.where,
        f"some levels must {must}",
        infeasible or (got if strata else "none do"),
        work.advised("Use a smaller --until-k, or a larger --suppress-up-to"),
    )


def _loss_of_levels(work: Work, metric: Metric, table: _Table) -> LossOfCells:
    """Return a loss that is known for every level, whatever the classes become."""
    if metric == "discernibility":
        raise ParameterError(
            f"{work.where}, metric", "--local goes by a loss that is known for every level", "discernibility",
            "Use --metric loss or entropy",
        )  # fmt: skip
    return loss_of_cells(metric, table.combinations, table.shares)


def _table(work: Work, ladders: Mapping[Column, Ladder], request: Request, everybody: Name | None) -> _Table:
    """Aggregate the records once to the combinations that occur, and number what they become on each level."""
    import numpy as np

    key, k, counted = [*ladders, *population.strata(work)], request.k, ["n", *(["members"] if everybody else [])]
    if everybody:
        cells = work.run(
            "mask/population_cells.sql", "cells", relation=work.relation, population=everybody, columns=key
        )
    else:
        cells = work.run("safe/cells.sql", "cells", relation=work.relation, columns=key)
    members = work.run("mask/cell_members.sql", "members", view=True, relation=work.relation, cells=cells, columns=key)
    coded = work.warehouse.arrays("mask/cell_codes.sql", cells=cells, counted=counted, columns=key)
    n = coded["n"].astype(np.int64)
    codes: list[list[np.ndarray]] = []
    shares: list[list[np.ndarray]] = []
    for column, ladder in ladders.items():
        steps = range(1, ladder.height + 1)
        rungs = work.warehouse.arrays(
            "mask/ladder_codes.sql", ladder=ladder.relation, levels=[(f"code_{i}", f"share_{i}") for i in steps]
        )
        # A missing value has the number -1, and its row is the last.
        own = coded[column.staged].astype(np.int64)
        codes.append([rungs[f"code_{i}"].astype(np.int64)[own] for i in (0, *steps)])
        shares.append([np.zeros(len(n)), *(rungs[f"share_{i}"][own] for i in steps)])
    stratum = np.zeros(len(n), dtype=np.int64)
    if len(key) > len(ladders):
        fixed = np.stack([coded[column.staged].astype(np.int64) for column in key[len(ladders) :]], axis=1)
        stratum = np.unique(fixed, axis=0, return_inverse=True)[1].ravel()
    rules, tally = _counted(work, cells, members, key, k, n)
    if everybody:
        asked = request.population
        share = np.inf if asked.max_delta is None else asked.max_delta
        held = Members(coded["members"].astype(np.int64), asked.min_k_map or 1, share)
        tally = replace(tally, members=held)
    return _Table(cells, members, everybody, key, rules, Combinations(tally, codes, stratum), shares)


def _counted(
    work: Work, cells: Name, members: Name, key: Sequence[Column], k: int, n: np.ndarray
) -> tuple[Rules, Tally]:
    """Return what is asked of classes, and the combinations by it; `n` are their records."""
    import numpy as np

    if pairs := PersonsOfCells.of(work, cells, key):
        read.say_who_counts_as_one(work)
        rules = Rules(k, np.unique(pairs.person, return_inverse=True)[1].astype(np.int64))
        return rules, replace(Tally.of(rules, pairs.cell, len(n)), sizes=n)
    rules = read.with_households(work, read.rules(work, k).asked)
    return rules, Tally(k, n) if rules.only_k else Tally.of(rules, _cell_of_records(work, members), len(n))


def _cell_of_records(work: Work, members: Name) -> np.ndarray:
    """Return the number of the combination of every record, in the order of row_id."""
    import numpy as np

    found = work.warehouse.arrays("mask/member_values.sql", relation=work.relation, members=members, column="row_id")
    return found["label"].astype(np.int64)[np.argsort(found["code"])]


def _global(found: lattice.Found | None, ladders: list[Ladder]) -> _Solution | None:
    import numpy as np

    if found is None:
        return None
    shown = ", ".join(
        f"{ladder.column.name} {i} of {ladder.height}" for ladder, i in zip(ladders, found.node, strict=True)
    )
    levels = np.tile(np.array(found.node), (len(found.kept), 1))
    counted = f"{found.visited:,} of {found.nodes:,} nodes counted"
    how = f"levels: {shown} (0 is the original, the last is one class); {counted}"
    return _Solution(levels, found.kept, found.group, how)


def _local(found: local_recoding.Recoded | None, table: _Table, loss: LossOfCells) -> _Solution | None:
    if found is None:
        return None
    combinations = table.combinations
    group = combinations.labels(found.levels)
    how = f"local recoding: classes of {found.nodes:,} nodes of the lattice"
    return _Solution(found.levels, found.kept, group, how, local_recoding.as_rules(combinations, loss, found.levels))


def _report(work: Work, table: _Table, found: _Solution, target: str | None) -> None:
    """Say what was chosen and what it loses, by every metric."""
    import numpy as np

    combinations = table.combinations
    n, kept = combinations.n, found.kept
    loss = loss_of_cells("loss", combinations, table.shares).mixed(found.levels, kept)
    entropy = loss_of_cells("entropy", combinations, table.shares).mixed(found.levels, kept)
    classes = len(np.unique(found.group[kept]))
    work.note(found.how)
    work.note(f"granularity {1 - loss:.3f}, {classes:,} classes, {int(n[~kept].sum()):,} records suppressed")
    told = [
        f"loss {loss:.4f}",
        f"non-uniform entropy {entropy:.4f}",
        f"discernibility {discernibility(n, found.group, kept):,.0f}",
    ]
    if target is not None:
        right, at_least = _accuracy(work, table, found, target)
        told.append(f"classification accuracy on {target} {right:.4f} ({at_least:.4f} without the columns)")
    work.note(", ".join(told))


def _accuracy(work: Work, table: _Table, found: _Solution, target: str) -> tuple[float, float]:
    """Return the share of the records with the commonest value of their class, and that with the commonest of all.

    A suppressed record is not classified (Iyengar 2002).
    """
    import numpy as np

    column = work.kept(target, "target")
    if column in table.key or column.staged not in dict(work.warehouse.describe(work.relation)):
        raise ParameterError(
            f"{work.where}, target", "must be a column that is released as it is", repr(target), f"Give --keep {target}"
        )
    labels = work.warehouse.arrays(
        "mask/member_values.sql", relation=work.relation, members=table.members, column=column
    )
    label, value = labels["label"].astype(np.int64), labels["code"].astype(np.int64)
    values = int(value.max()) + 1
    overall = np.bincount(value, minlength=values).max() / len(value)
    released = found.kept[label]
    group = np.unique(found.group[label[released]], return_inverse=True)[1]
    if not len(group):
        return 0.0, float(overall)
    of = Histogram.of(group, value[released], int(group.max()) + 1, values)
    return float(np.maximum.reduceat(of.count, of.first).sum() / len(value)), float(overall)


def _take_levels(
    work: Work, table: _Table, ladders: Mapping[Column, Ladder], found: _Solution
) -> tuple[Name | None, Decided]:
    """Take the values of the chosen levels, the same for all records, and leave the suppressed ones out.

    Returns the population with the same levels, if there is one, and the levels.
    """
    chosen = dict(zip(ladders, map(int, found.levels[0]), strict=True))
    recode_to(work, ladders, chosen)
    if not found.kept[table.combinations.n > 0].all():
        representatives = _load_chosen(work, found, {})
        work.outcome.rows = Rows(work.run(
            "replace/by_label.sql", "kept", groups=table.members, representatives=representatives, columns=[]
        ))  # fmt: skip
    if table.everybody is None:
        return None, Decided(chosen)
    changed = [column for column, level in chosen.items() if level]
    values = _recoded(work, "everybody", table.everybody, ladders, chosen)
    return population.recoded(work, table.everybody, values, changed), Decided(chosen)


def _take_cells(
    work: Work, table: _Table, ladders: Mapping[Column, Ladder], found: _Solution
) -> tuple[Name | None, Decided]:
    """Take the value of the level that was chosen for every combination; those without one are left out.

    Returns the population with the same values, if there is one, and the classes.
    """
    changed = [column for i, column in enumerate(ladders) if found.levels[found.kept, i].any()]
    numbers = {f"chosen_{i}": found.levels[:, i - 1] for i, column in enumerate(ladders, 1) if column in changed}
    chosen = _load_chosen(work, found, numbers)
    joined: list[tuple[Name, str, Column]] = []
    columns: list[tuple[Column, str, list[tuple[int, str, str]]]] = []
    for i, (column, ladder) in enumerate(ladders.items(), 1):
        if column not in changed:
            continue
        levels = [(number, f"a{i}", f"level_{number}") for number in range(1, ladder.height + 1)]
        joined.append((ladder.relation, f"a{i}", column))
        if ladder.texts is not None:
            joined.append((ladder.texts, f"t{i}", column))
            levels.insert(0, (0, f"t{i}", "recoded"))
        else:
            levels.insert(0, (0, f"a{i}", "value"))
        columns.append((column, f"chosen_{i}", levels))
    representatives = work.run(
        "mask/chosen_levels.sql", "representatives", cells=table.cells, chosen=chosen, joined=joined, columns=columns
    )
    values = work.run(
        "replace/by_label.sql", "values", groups=table.members, representatives=representatives, columns=changed
    )
    declare(work, ladders, changed, values)
    if not found.kept[table.combinations.n > 0].all():
        work.outcome.rows = Rows(values)
    decided = Decided({}, Classes(table.cells, representatives, found.first, found.levels, changed))
    if table.everybody is None:
        return None, decided
    members = work.run(
        "mask/cell_members.sql", "everybody_s_cells", view=True, relation=table.everybody, cells=table.cells,
        columns=table.key,
    )  # fmt: skip
    values = work.run("replace/by_label.sql", "everybody", groups=members, representatives=representatives,
                      columns=changed)  # fmt: skip
    return population.recoded(work, table.everybody, values, changed), decided


def _load_chosen(work: Work, found: _Solution, numbers: Mapping[str, np.ndarray]) -> Name:
    import numpy as np
    import pyarrow as pa

    rows = {name: levels[found.kept] for name, levels in numbers.items()}
    table = pa.table({"label": np.flatnonzero(found.kept), **rows})
    return work.load(table, "chosen", "filled with the combinations that the search releases")


def recode_to(work: Work, ladders: Mapping[Column, Ladder], chosen: Mapping[Column, int]) -> Name:
    """Take the values of the chosen levels; a column on level 0 stays as it is. Return row_id and the new values."""
    changed = [column for column in work.columns if chosen[column]]
    values = _recoded(work, "values", work.relation, ladders, chosen)
    declare(work, ladders, changed, values)
    return values


def _recoded(
    work: Work, into: str, relation: Name, ladders: Mapping[Column, Ladder], chosen: Mapping[Column, int]
) -> Name:
    """Return row_id and the values of the chosen levels, of the columns that are not on level 0."""
    changed = [column for column in work.columns if chosen[column]]
    columns = [
        (column, f"a{i}", ladders[column].relation, f"level_{chosen[column]}") for i, column in enumerate(changed, 1)
    ]
    return work.run("mask/recoded.sql", into, relation=relation, recoded=columns)


def declare(work: Work, ladders: Mapping[Column, Ladder], changed: list[Column], values: Name) -> None:
    """Say which columns got new values, and of what kind they are by now."""
    kinds: dict[Column, Kind] = {
        column: "text" if ladders[column].text else "number" if ladders[column].numeric else "nominal"
        for column in changed
    }
    work.replace_all(changed, values, kinds)
