"""k over joins in plain Python: what a row tells with all that it can be joined with, and whose it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean
from typing import Any

Row = dict[str, Any]


@dataclass
class Table:
    """Rows, what they tell, and what says whose they are."""

    name: str
    rows: list[Row]
    tells: list[str]
    person: list[str] = field(default_factory=list)
    rows_are_persons: bool = False
    known: list[tuple[str, str]] = field(default_factory=lambda: [("count", "")])


Key = tuple[int, tuple[str, ...], int, tuple[str, ...]]
"""A table, its columns, the table they refer to, and the columns there."""


def value_of(row: Row, names: tuple[str, ...] | list[str]) -> tuple[Any, ...] | None:
    found = tuple(row[name] for name in names)
    return None if None in found else found


class Star:
    """Tables and the keys between them."""

    def __init__(self, tables: list[Table], keys: list[Key], depth: int) -> None:
        self.tables, self.keys, self.depth = tables, keys, depth
        about = {n for n, table in enumerate(tables) if table.person or table.rows_are_persons}
        for _ in tables:
            about |= {key[0] for key in keys if key[2] in about}
        self.about = about
        self.persons = {n for n in about if not tables[n].person and self.ways(n, [n]) == [[]]}

    def ways(self, at: int, seen: list[int]) -> list[list[int]]:
        """Return the lists of keys (by number) from a table to the persons."""
        if self.tables[at].person or self.tables[at].rows_are_persons:
            return [[]]
        found = [
            [number, *way]
            for number, key in enumerate(self.keys)
            if key[0] == at and key[2] in self.about and key[2] not in seen
            for way in self.ways(key[2], [*seen, key[2]])
        ]
        return found or [[]]

    def matching(self, key: Key, row: Row) -> list[Row]:
        wanted = value_of(row, key[1])
        return [other for other in self.tables[key[2]].rows if wanted and value_of(other, key[3]) == wanted]

    def ends_in_person(self, key: Key) -> bool:
        person = self.tables[key[2]].person
        return key[2] in self.persons or (bool(person) and set(person) == set(key[3]))

    def ends(self, row: Row, chain: list[int]) -> set[tuple[Any, ...]]:
        """Return what the last columns of a chain hold, for a row of its first table."""
        rows = [row]
        for before in chain[:-1]:
            rows = [other for one in rows for other in self.matching(self.keys[before], one)]
        return {found for one in rows if (found := value_of(one, self.keys[chain[-1]][1]))}

    def chains(self, at: int, used: list[int]) -> list[list[int]]:
        found = []
        for number, key in enumerate(self.keys):
            ends = used or self.ends_in_person(key)
            if key[2] == at and number not in used and len(used) < self.depth and ends:
                found.append([number])
                if key[0] not in self.persons:
                    found += [[*chain, number] for chain in self.chains(key[0], [*used, number])]
        return found

    def aggregated(self, at: int, rows: list[Row]) -> tuple[Any, ...]:
        if not rows:
            return ("none",)
        made = []
        for does, name in self.tables[at].known:
            values = [row[name] for row in rows if name and row[name] is not None]
            of = {"sum": sum, "avg": fmean, "min": min, "max": max}
            made.append(len(rows) if does == "count" else of[does](values) if values else None)
        return tuple(made)

    def known(self, at: int, row: Row) -> tuple[Any, ...]:
        """Return what is known of the rows that refer to the person of a row, and of its own other rows."""
        told: list[Any] = []
        for chain in self.chains(at, []):
            child, last = self.keys[chain[0]][0], self.keys[chain[-1]]
            wanted = value_of(row, last[3])
            rows = [r for r in self.tables[child].rows for end in self.ends(r, chain) if wanted and end == wanted]
            told.append(self.aggregated(child, rows) if self.tables[child].known else ())
        person = self.tables[at].person
        away = any(k[0] == at and set(k[1]) == set(person) and self.ends_in_person(k) for k in self.keys)
        if person and not away:
            wanted = value_of(row, person)
            rows = [r for r in self.tables[at].rows if wanted and value_of(r, person) == wanted]
            told.append(self.aggregated(at, rows) if self.tables[at].known else ())
        return tuple(told)

    def told(self, at: int, row: Row, used: list[int], way: list[int] | None) -> list[tuple[Any, Any]]:
        """Return what a row tells, once for every way to join it, each with the person (None: from elsewhere)."""
        near = len(used) <= self.depth
        own = (tuple(repr(row[name]) for name in self.tables[at].tells), self.known(at, row)) if near else ()
        person: Any = None
        if way == []:
            names = self.tables[at].person
            person = tuple(row[name] for name in names) if names else ("row", id(row))
        parts: list[list[tuple[Any, Any]]] = []
        for number, key in enumerate(self.keys):
            leads = bool(way) and way[0] == number
            if key[0] != at or number in used or not (len(used) < self.depth or leads):
                continue
            onward = way[1:] if leads else None
            if onward == [] and not self.tables[key[2]].person:
                person, onward = tuple(row[name] for name in key[1]), None
            others = self.matching(key, row)
            nobody = None if onward is None else self.nobody(number, onward)
            found = [one for other in others for one in self.told(key[2], other, [*used, number], onward)]
            parts.append([((True, told), whose) for told, whose in found] or [((False,), nobody)])
            if len(used) >= self.depth:
                parts[-1] = [((), whose) for _, whose in parts[-1]]
        rows = []
        for joined in product(*parts):
            whose = next((one for _, one in joined if one is not None), person)
            rows.append(((own, tuple(told for told, _ in joined)), whose))
        return rows

    def nobody(self, number: int, way: list[int]) -> tuple[None, ...]:
        """Return the person of rows that a key joins with nothing."""
        last = self.keys[way[-1] if way else number]
        return (None,) * len(self.tables[last[2]].person or last[1])

    def views(self) -> list[tuple[int, dict[int, int]]]:
        """Return for every table that is joined, by every way to the person: how many persons by how many are alike."""
        found = []
        for at in sorted(self.about):
            for way in self.ways(at, [at]):
                if not self.joined(at):
                    continue
                alike: dict[Any, set[Any]] = defaultdict(set)
                for row in self.tables[at].rows:
                    for told, person in self.told(at, row, [], way):
                        (_, known), parents = told
                        joined = any(parent[0] for parent in parents) or any(
                            one not in ((), ("none",)) for one in known
                        )
                        if set(person) == {None} and not joined:
                            continue
                        alike[told].add(person)
                rarest: dict[Any, int] = {}
                for persons in alike.values():
                    for person in persons:
                        rarest[person] = min(rarest.get(person, len(persons)), len(persons))
                found.append((at, dict(Counter(rarest.values()))))
        return found

    def joined(self, at: int) -> bool:
        """Tell whether there is anything that a table can be joined with."""
        if any(key[0] == at for key in self.keys):
            return True
        person = self.tables[at].person
        return bool((person and self.tables[at].known) or any(
            self.tables[self.keys[chain[0]][0]].known for chain in self.chains(at, [])
        ))  # fmt: skip
