"""Keys between the tables of a job file: pseudonymised or faked alike along their graph, or left out on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from sqlmicro.errors import JobError, ParameterError
from sqlmicro.jobs.steps import ForeignKey, Job, Node, Step
from sqlmicro.options.params import REQUIRED, Param, Parameter, settle
from sqlmicro.registry import find

_COLUMNS = 'as "table.column", the table as it is named in the file; a list for a key of several columns.'
_PSEUDONYMS = "pseudonymise"
"""The method that keys use where no step says another."""
KEY_OPTIONS = (
    Parameter("from", tuple[str, ...], REQUIRED, Param(f"The columns that refer, {_COLUMNS}", metavar="TABLE.COLUMN")),
    Parameter("to", tuple[str, ...], REQUIRED, Param(f"The columns they refer to, {_COLUMNS}", metavar="TABLE.COLUMN")),
    Parameter("max_lost", int, 0, Param("How many rows of the join may be lost, at most.", min=0)),
)
"""What a `[[key]]` of a job file may say."""


def read(path: str, sections: Sequence[Mapping[str, Any]], tables: Sequence[str]) -> list[ForeignKey]:
    """Read the `[[key]]` sections of a job file.

    Raises
    ------
    JobError
        When a key names no table of the file, or its sides do not match.
    """
    found = []
    for number, item in enumerate(sections, 1):
        where = f"{path}, key {number}"
        listed = {name: [value] if name != "max_lost" and isinstance(value, str) else value
                  for name, value in item.items()}  # fmt: skip
        try:
            given = settle(KEY_OPTIONS, listed, where)
        except ParameterError as error:
            raise JobError(error.where, error.must, error.got, error.do) from None
        (child, columns), (parent, to) = (_side(where, name, given[name], tables) for name in ("from", "to"))
        if len(columns) != len(to):
            raise JobError(where, "'from' and 'to' name as many columns", f"{len(columns)} and {len(to)}")
        found.append(ForeignKey(where, child, columns, parent, to, given["max_lost"]))
    return found


def _side(where: str, name: str, texts: Sequence[str], tables: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Return the table and the columns of one side of a key."""
    sides = [_column(f"{where}, key {name!r}", text, tables) for text in texts]
    if not sides or len({table for table, _ in sides}) > 1:
        raise JobError(f"{where}, key {name!r}", "names columns of one table", f"those of {len(sides) or 'none'}")
    return sides[0][0], tuple(column for _, column in sides)


def _column(where: str, text: str, tables: Sequence[str]) -> tuple[int, str]:
    for number in sorted(range(len(tables)), key=lambda number: -len(tables[number])):
        before, column = f"{tables[number]}.".lower(), text[len(tables[number]) + 1 :]
        if text.lower().startswith(before) and column:
            if [name.lower() for name in tables].count(before[:-1]) > 1:
                raise JobError(where, "must name one [[table]] of this file", f"two called {tables[number]!r}")
            quoted = len(column) > 2 and column[0] == column[-1] == '"'
            return number, column[1:-1].replace('""', '"') if quoted else column
    raise JobError(where, 'must be "table.column", of one of the tables', repr(text),
                   "There are: " + ", ".join(tables))  # fmt: skip


def kept(jobs: Sequence[Job], keys: Sequence[ForeignKey]) -> list[Job]:
    """Return the jobs with what their keys ask for: a step that makes pseudonyms, and columns that are left out.

    Raises
    ------
    JobError
        When a key would not join after the release what it joined before.
    """
    jobs = _left_out(jobs, keys)
    roles, names = [_roles(job) for job in jobs], _spelled(keys)
    wanted: dict[int, list[str]] = {}
    for group in _groups(keys):
        present = [(node, where) for node, where in group.items() if roles[node[0]].get(node[1]) != "drop"]
        if len(present) < 2:
            for (table, column), _ in present if len(group) > 1 else ():
                if roles[table].get(column) is None:
                    why = "no released column refers to it, or it to one"
                    jobs[table] = _dropping(jobs[table], names[table, column], why)
            continue
        does = {roles[table].get(column) for (table, column), _ in present}
        if "anonymize" in does:
            node, where = next((n, w) for n, w in present if roles[n[0]].get(n[1]) == "anonymize")
            _refuse(jobs, node, where, "a column of a key is pseudonymised, kept or left out, on both sides alike",
                    "a step that anonymizes it")  # fmt: skip
        if "keep" in does and len(does) > 1:
            node, where = next((n, w) for n, w in present if roles[n[0]].get(n[1]) != "keep")
            _refuse(jobs, node, where, "the columns of a key are released alike on both sides", "one that is kept only "
                    "on the other side")  # fmt: skip
        others = [one for one in does if one and one not in ("keep", _PSEUDONYMS)]
        if others and len(does) > 1:
            node, where = next((n, w) for n, w in present if roles[n[0]].get(n[1]) not in others)
            _refuse(jobs, node, where, f"the columns of a key are made anew by the same step, {others[0]}, in each "
                    "table", "another step or none")  # fmt: skip
        for (table, column), _ in present if "keep" not in does else ():
            if roles[table].get(column) is None:
                wanted.setdefault(table, []).append(column)
    return [_with_pseudonyms(job, [names[number, one] for one in wanted.get(number, ())])
            for number, job in enumerate(jobs)]  # fmt: skip


def _refuse(jobs: Sequence[Job], node: Node, where: str, must: str, got: str) -> NoReturn:
    name = f"{jobs[node[0]].options.table}.{node[1]}"
    raise JobError(where, must, f"for {name} {got}", "Leave it out of the steps, or take this [[key]] out of the file")


def _spelled(keys: Iterable[ForeignKey]) -> dict[Node, str]:
    """Return the columns of keys as they are written."""
    sides = [(key.child, key.columns) for key in keys] + [(key.parent, key.to) for key in keys]
    return {(table, column.lower()): column for table, columns in sides for column in columns}


def _with_pseudonyms(job: Job, columns: Sequence[str]) -> Job:
    if not columns:
        return job
    method, where = find(_PSEUDONYMS), f"{job.label}, its keys ({_PSEUDONYMS})"
    settings = {"key_file": job.options.key_file} if job.options.key_file else {}
    return replace(job, steps=(Step(method, where, settings, tuple(columns)), *job.steps))


def told_of(jobs: Sequence[Job], keys: Sequence[ForeignKey]) -> list[Job]:
    """Return the jobs, each with a note of pseudonyms that may join other tables although no key says so."""
    named = {node for group in _groups(keys) for node in group}
    made = [[column for step in job.steps if step.method.surrogate for column in step.columns] for job in jobs]
    if sum(map(bool, made)) < 2:
        return list(jobs)
    told = []
    for number, job in enumerate(jobs):
        alone = [column for column in made[number] if (number, column.lower()) not in named]
        said = (
            f"{', '.join(alone)}: no [[key]] names this pseudonym. k is not counted over joins with tables that have it"
        )
        told.append(replace(job, said=(*job.said, *([said] if alone else ()))))
    return told


def _roles(job: Job) -> dict[str, str]:
    """Return what a job says of its columns, by their names in small letters."""
    given, found = job.options, {}
    for name in given.drop:
        found[name.lower()] = "drop"
    for step in job.steps:
        for name in step.columns:
            found[name.lower()] = step.method.name if step.method.surrogate else "anonymize"
        for name in (*step.by, *step.weights, *step.apart):
            found[name.lower()] = "keep"
    return found | {name.lower(): "keep" for name in given.keep}


def _left_out(jobs: Sequence[Job], keys: Sequence[ForeignKey]) -> list[Job]:
    """Return the jobs without the columns that refer to one that is left out."""
    jobs, changed = list(jobs), True
    while changed:
        changed = False
        for key in keys:
            for column, to in zip(key.columns, key.to, strict=True):
                child, parent = jobs[key.child], jobs[key.parent]
                if _roles(parent).get(to.lower()) != "drop":
                    continue
                role = _roles(child).get(column.lower())
                if role == "drop":
                    continue
                names = f"{child.options.table}.{column}", f"{parent.options.table}.{to}"
                if role is not None:
                    must = f"{names[0]} is left out too, as it refers to {names[1]}, which is"
                    raise JobError(key.where, must, "a step or keep that names it",
                                   f"Drop it, or release {names[1]}, or take this [[key]] out of the file")  # fmt: skip
                jobs[key.child] = _dropping(child, column, f"it refers to {names[1]}, which is")
                changed = True
    return jobs


def _dropping(job: Job, column: str, why: str) -> Job:
    """Return a job without a column, which says so."""
    said = f"{job.options.table}.{column} is left out: {why}"
    return replace(job, options=replace(job.options, drop=(*job.options.drop, column)), said=(*job.said, said))


def _groups(keys: Sequence[ForeignKey]) -> list[dict[Node, str]]:
    """Return the columns that keys connect, each with a key that names it."""
    groups: list[dict[Node, str]] = []
    for key in keys:
        for pair in key.pairs:
            touched = [group for group in groups if not group.keys().isdisjoint(pair)]
            merged = {node: where for group in touched for node, where in group.items()}
            groups = [group for group in groups if group not in touched]
            groups.append({**dict.fromkeys(pair, key.where), **merged})
    return groups
