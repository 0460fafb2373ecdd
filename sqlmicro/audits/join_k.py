"""k over joins: how many persons are alike in all that somebody sees who holds several releases and joins them.

Every table about persons is looked at from each of its rows: what the row tells, what the rows tell that it refers to,
and what is known of the rows that refer to a person. Persons with equal values are alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count, pairwise

from sqlmicro.audits import audited
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name, Select, select

AGGREGATES = {"sum": "sums", "avg": "averages", "min": "least", "max": "greatest"}
"""What may be known of a column of the rows of a person, and the parameter of the template it is."""


@dataclass(frozen=True)
class Known:
    """What is known of the rows that a person has in a table."""

    count: bool = True
    of: tuple[tuple[str, str], ...] = ()
    """An aggregate and a column, each."""


@dataclass(frozen=True, eq=False)
class Member:
    """A release that can be joined with others.

    Parameters
    ----------
    label : str
        What the table is called.
    relation : Name or Select
        Its records.
    columns : mapping
        The columns of that relation by their names in the source.
    tells : sequence of str
        Those that somebody may know of a person.
    person : sequence of Column
        Those that say whose record it is; none where every row is a person, or where a key says it.
    pseudonyms : sequence of str
        The same, where the release has them: whoever holds it sees which rows are of one person.
    rows_are_persons : bool
        Whether it was said so.
    k : int
        The smallest k that was promised of it, 0 for none.
    known : Known
        What is known of the rows of a person.
    """

    label: str
    relation: Name | Select
    columns: Mapping[str, Column]
    tells: Sequence[str]
    person: Sequence[Column] = ()
    pseudonyms: Sequence[str] = ()
    rows_are_persons: bool = False
    k: int = 0
    known: Known = field(default_factory=Known)


@dataclass(frozen=True)
class Link:
    """Columns of a release that refer to columns of another one: members by their number."""

    child: int
    columns: tuple[str, ...]
    parent: int
    to: tuple[str, ...]

    @property
    def name(self) -> str:
        """The columns that refer, in a word."""
        return ", ".join(self.columns)


@dataclass(frozen=True)
class View:
    """What is seen from the rows of a table: what they and all that is joined with them tell, and who is counted."""

    base: int
    columns: tuple[str, ...]
    """What it tells, in words."""
    statement: Select = field(repr=False)


@dataclass(frozen=True)
class _Seen:
    """Records that are joined: what they tell, each in words and its column; what joins them, and whose they are."""

    relation: Select
    told: tuple[tuple[str, Column], ...]
    to: Sequence[Column] = ()
    person: Sequence[Column] = ()
    there: Sequence[Column] = ()
    """Whether each of what it is joined with was there; none where it is joined with nothing."""


_Way = tuple[Link, ...]


class Joins:
    """Releases and the keys between them, of which at most `depth` are followed one after the other."""

    def __init__(self, members: Sequence[Member], links: Sequence[Link], depth: int | None = None) -> None:
        self.members, self.links = members, tuple(links)
        self.depth = len(self.links) if depth is None else depth
        self._numbers = count(1)

    def without(self, link: Link) -> Joins:
        """Return the same releases without the columns of a key that refer."""
        members = list(self.members)
        if set(members[link.child].pseudonyms) & set(link.columns):
            members[link.child] = replace(members[link.child], pseudonyms=())
        links = [one for one in self.links if one.child != link.child or not set(one.columns) & set(link.columns)]
        return Joins(members, links, self.depth)

    def knowing(self, known: Known) -> Joins:
        """Return the same releases where the same is known of the rows of all tables."""
        return Joins([replace(member, known=known) for member in self.members], self.links, self.depth)

    @cached_property
    def about_persons(self) -> list[int]:
        """The members about persons: those that have some, promise a k, or refer to one that does."""
        found = {at for at, one in enumerate(self.members) if one.person or one.rows_are_persons or one.k}
        before = -1
        while before != len(found):
            before = len(found)
            found |= {link.child for link in self.links if link.parent in found}
        return sorted(found)

    @property
    def k(self) -> int | None:
        """The smallest k that was promised of what is about persons; None where none was."""
        return min((k for at in self.about_persons if (k := self.members[at].k)), default=None)

    def views(self, only: int | None = None) -> Iterator[View]:
        """Yield what is seen from the tables about persons, or one, that are joined; by every way to whose it is."""
        for base in self.about_persons if only is None else [only]:
            for way in self._ways(base, frozenset()):
                seen = self._seen(base, (), (), way)
                if seen.there:
                    columns = [column for _, column in seen.told]
                    params = {"relation": seen.relation, "columns": columns, "person": seen.person, "there": seen.there}
                    told = tuple(dict.fromkeys(label for label, _ in seen.told if label))
                    yield View(base, told, select("audit/alike_persons.sql", **params))

    # Who is counted

    def _ways(self, at: int, visited: frozenset[int]) -> Iterator[_Way]:
        """Yield the keys that lead from a table to what says whose record it is; none where it says it itself."""
        member, found = self.members[at], False
        if not (member.person or member.rows_are_persons):
            for link in self.links:
                if link.child == at and link.parent in self.about_persons and link.parent not in {*visited, at}:
                    for way in self._ways(link.parent, visited | {at}):
                        found = True
                        yield (link, *way)
        if not found:
            yield ()

    def _are_persons(self, at: int) -> bool:
        """Tell whether the rows of a table are persons."""
        return at in self.about_persons and not self.members[at].person and next(self._ways(at, frozenset())) == ()

    # What is seen

    def _seen(self, at: int, used: _Way, to: Iterable[str], way: _Way | None) -> _Seen:
        """Return the records of a table with all that they can be joined with.

        `used` are the keys that led here, `to` the columns they end in, `way` the keys from here to the person: none
        where it is here, None where it is elsewhere.
        """
        member, near = self.members[at], len(used) <= self.depth
        told = [(f"{member.label}.{name}", self._of(at, [name])[0]) for name in (member.tells if near else ())]
        ends, person = self._of(at, to), [self._staged(c) for c in (member.person if way == () else ())]
        keys = [*ends, *person]
        sides: list[tuple[list[Column], _Seen]] = []
        for link in self._followed(at, used, way):
            own = self._of(at, link.columns)
            onward = way[1:] if way and way[0] == link else None
            if onward == () and not self.members[link.parent].person:
                person, onward = own, None
            sides.append((own, self._seen(link.parent, (*used, link), link.to, onward)))
        sides += [(self._of(at, names), side) for names, side in (self._known(at) if near else ())]
        keys += [column for own, _ in sides for column in own]
        base = _records(member.relation, [column for _, column in told], keys)
        if way == () and not member.person:
            person = [self._new("person", "BIGINT")]
            base = select("audit/each_a_person.sql", relation=base, person=person[0])
        seen = _Seen(base, tuple(told), ends, person)
        return self._joined(seen, [*(column for _, column in told), *dict.fromkeys((*keys, *person))], sides, used)

    def _followed(self, at: int, used: _Way, way: _Way | None) -> list[Link]:
        """Return the keys that are followed from a table: each once, and further only to find the person."""
        links = [link for link in self.links if link.child == at and link not in used]
        return links if len(used) < self.depth else [link for link in links if way and way[0] == link]

    def _joined(
        self, seen: _Seen, columns: Sequence[Column], sides: Sequence[tuple[Sequence[Column], _Seen]], used: _Way
    ) -> _Seen:
        """Return records with what they are joined with; what is too far tells nothing, not even that it is there."""
        if not sides:
            return seen
        told, person, joined, all_there = list(seen.told), seen.person, [], []
        for own, side in sides:
            there = self._new("there", "BOOLEAN")
            others = [*(column for _, column in side.told), *side.person]
            pairs = list(zip(own, side.to, strict=True))
            all_there.append(there)
            joined.append((self._new("joined", "").staged, side.relation, pairs, others, there))
            if len(used) < self.depth or side.told:
                told += [*side.told, ("", there)]
            person = person or side.person
        relation = select("audit/joined.sql", base=seen.relation, columns=columns, joined=joined)
        return replace(seen, relation=relation, told=tuple(told), person=person, there=all_there)

    # What is known of the rows of a person

    def _known(self, at: int) -> Iterator[tuple[Sequence[str], _Seen]]:
        """Yield what is known of the rows that refer to the persons of a table, and by which of its columns.

        Of the rows of a table with pseudonyms it is also what is known of all that have the same, unless a key leads
        from there to the person.
        """
        member = self.members[at]
        for chain in self._chains(at, ()):
            if side := self._aggregates(chain[0].child, chain):
                yield chain[-1].to, side
        leads = [link for link in self.links if link.child == at and self._ends(link)]
        led = any(set(link.columns) == set(member.pseudonyms) for link in leads)
        if member.pseudonyms and not led and (side := self._aggregates(at, ())):
            yield member.pseudonyms, side

    def _ends(self, link: Link) -> bool:
        """Tell whether a key ends in a person: in a row that is one, or in the columns that say whose record it is."""
        names = self.members[link.parent].pseudonyms
        return self._are_persons(link.parent) or (bool(names) and set(link.to) == set(names))

    def _chains(self, at: int, used: _Way) -> Iterator[_Way]:
        """Yield the keys, one after the other, by which rows refer to the persons of a table, through no other one."""
        for link in self.links:
            if link.parent == at and link not in used and len(used) < self.depth and (used or self._ends(link)):
                yield (link,)
                if not self._are_persons(link.child):
                    yield from ((*chain, link) for chain in self._chains(link.child, (*used, link)))

    def _aggregates(self, at: int, chain: _Way) -> _Seen | None:
        """Return what is known of the rows of a table by what they end in: their pseudonym, or the end of a chain."""
        member = self.members[at]
        known = member.known
        if not known.count and not known.of:
            return None
        values = dict(
            zip((names := list(dict.fromkeys(name for _, name in known.of))), self._of(at, names), strict=True)
        )
        keys = self._of(at, chain[0].columns if chain else member.pseudonyms)
        relation = _records(member.relation, [], [*values.values(), *keys])
        for before, link in pairwise(chain):
            to, further = self._of(link.child, before.to), self._of(link.child, link.columns)
            other = _records(self.members[link.child].relation, [], [*to, *further])
            side = (
                self._new("joined", "").staged,
                other,
                list(zip(keys, to, strict=True)),
                further,
                self._new("there", ""),
            )
            relation = select("audit/joined.sql", base=relation, columns=list(values.values()), joined=[side])
            keys = further
        counts = [self._new("count", "BIGINT")] if known.count else []
        made = {key: self._new(key[0], _kind(key[0], values[key[1]])) for key in known.of}
        lists = {
            option: [(values[name], column) for (does, name), column in made.items() if does == one]
            for one, option in AGGREGATES.items()
        }
        rows = select("audit/rows_of_persons.sql", relation=relation, keys=keys, counts=counts, **lists)
        told = [(f"{member.label}: count", column) for column in counts]
        told += [(f"{member.label}: {does}({name})", column) for (does, name), column in made.items()]
        ends = [replace(key, name=key.staged) for key in keys]
        return _Seen(_records(rows, [column for _, column in told], ends), tuple(told), ends)

    # Names

    def _of(self, at: int, names: Iterable[str]) -> list[Column]:
        return [self._staged(self.members[at].columns[name]) for name in names]

    def _staged(self, column: Column) -> Column:
        """Return a column under a name that no other one of the statement has."""
        return replace(column, staged=f"{column.staged}_{next(self._numbers)}")

    def _new(self, name: str, kind: str) -> Column:
        staged = f"{name}_{next(self._numbers)}"
        return Column(staged, kind, staged)


def _records(relation: Name | Select, told: Sequence[Column], keys: Sequence[Column]) -> Select:
    """Return the SELECT of records: what they tell by its canonical bytes, and what they are joined by as it is."""
    forms = audited.canonical_forms(told)
    plain = [*forms["plain"], *dict.fromkeys(keys)]
    return select("audit/records.sql", relation=relation, complete=[], **{**forms, "plain": plain})


def _kind(aggregate: str, column: Column) -> str:
    """Return the type of an aggregate, as far as it decides how its values are compared."""
    if aggregate in ("min", "max"):
        return column.type
    return "DOUBLE" if aggregate == "avg" or column.family == "float" else "HUGEINT"
