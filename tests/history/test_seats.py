"""Seats: every promise of a series audited in plain Python, over random histories, from what was published."""

from __future__ import annotations

import copy
import itertools
import os
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from sqlmicro.errors import InputError
from sqlmicro.history.counts import _apart
from sqlmicro.history.seats import Memory, Night, Rules, begin, erase, go_on

TABLES = int(os.environ.get("TABLES", "75"))
QUICK = 8
every_kind = pytest.mark.parametrize("kept", [False, True], ids=["no sensitive column", "sensitive values"])


@dataclass
class Person:
    """A record of tonight's table."""

    x: tuple[float, ...]
    stratum: int
    value: int
    whose: int = 0


@dataclass
class Audit:
    """What an outsider has seen, and what only the curator knows: enough to judge every promise."""

    rules: Rules
    kept: bool
    several: bool = False
    rows: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    seats: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    founders: dict[int, list[int]] = field(default_factory=dict)
    classes: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    waits: dict[int, int] = field(default_factory=dict)
    past: dict[int, int] = field(default_factory=dict)
    """Whose a record was when that person founded a class, else whose it is, of those who were there last night."""
    repeated: int = 0
    sat: dict[int, tuple[int, Person]] = field(default_factory=dict)
    seen: int = 0
    withheld: int = 0

    def look(self, day: int, persons: dict[int, Person], who: list[int], memory: Memory, night: Night) -> None:
        label = dict(zip(who, night.labels.tolist(), strict=True))
        published: Counter[tuple[int, int]] = Counter()
        for person, c in label.items():
            if c >= 0:
                published[c, persons[person].value if self.kept else 0] += 1
        for c, value, empty in night.empty.tolist():
            assert empty > 0
            published[c, value] += empty
        self._stays(persons, label, {c for c, _ in published})
        for person, c in label.items():
            again = c in self.classes[person]
            if c >= 0 and (not again or (self.rules.moves and not self.kept)):
                assert memory.stratum[c] == persons[person].stratum
        for person, c in label.items():
            self.classes[person] |= {c} - {-1}
        self.sat = {person: (c, persons[person]) for person, c in label.items() if c >= 0}
        self._rows(published)
        self._founders(persons, who, night, memory)
        self._waiting(day, persons, label)
        if self.rules.moves and not self.kept:
            assert night.empty[:, 2].sum() <= self.rules.empty * sum(published.values())
        self.withheld += sum(c < 0 for c in label.values())
        self.seen += len(label)

    def _stays(self, persons: dict[int, Person], label: dict[int, int], open_: set[int]) -> None:
        """Who has not changed keeps her seat as long as the class is there; without moves, whoever has changed too."""
        for person, (c, record) in self.sat.items():
            same = not self.kept and (not self.rules.moves or persons.get(person) == record)
            if person in persons and c in open_ and same:
                assert label[person] == c

    def _rows(self, published: Counter[tuple[int, int]]) -> None:
        nights = max((len(seen) for seen in self.rows.values()), default=0)
        of_class: Counter[int] = Counter()
        for (c, _), rows in published.items():
            of_class[c] += rows
        for seen, now in ((self.rows, of_class), (self.seats, published)):
            for key in {*seen, *now}:
                before = seen[key] or [0] * nights
                seen[key] = [*before, now[key]]

    def _founders(self, persons: dict[int, Person], who: list[int], night: Night, memory: Memory) -> None:
        places = {person: i for i, person in enumerate(who)}
        spent = {whose for founders in self.founders.values() for whose in founders}
        known = {*spent}
        tainted = {persons[p].whose for p, was in self.past.items() if was in spent and p in persons} | spent
        for c in night.opened.tolist():
            founders = [p for p, i in places.items() if night.labels[i] == c and night.founders[i]]
            assert c not in self.founders and len({persons[p].stratum for p in founders}) == 1
            mean = [sum(column) / len(founders) for column in zip(*(persons[p].x for p in founders), strict=True)]
            assert memory.centre[c].tolist() == pytest.approx(mean, abs=1e-9)
            self.founders[c] = [persons[p].whose for p in founders] if self.several else founders
            assert len({*self.founders[c]}) == len(founders), "a person founds a class with two records"
            if self.several:
                again = len(tainted & {*self.founders[c]})
                assert again <= self.rules.k // 2, "more than half were of those who had founded a class"
                self.repeated += len((tainted - known) & {*self.founders[c]})
                known |= {*self.founders[c]}
                tainted |= {*self.founders[c]}
        assert night.founders.sum() == sum(len(self.founders[c]) for c in night.opened.tolist())
        new = {p for p, i in places.items() if night.founders[i]}
        self.past = {
            p: self.past[p] if self.past.get(p) in spent and p not in new else persons[p].whose for p in places
        }

    def _waiting(self, day: int, persons: dict[int, Person], label: dict[int, int]) -> None:
        """Nobody who has never been published waits longer than patience while enough such persons wait."""
        if self.several:
            return
        founded = {p for founders in self.founders.values() for p in founders}
        self.waits = {p: self.waits.get(p, day) for p, c in label.items() if c < 0}
        free = [
            p for p in self.waits if p not in founded and ((self.rules.moves and not self.kept) or not self.classes[p])
        ]
        for stratum in {persons[p].stratum for p in free}:
            there = [p for p in free if persons[p].stratum == stratum]
            enough = len(there) >= max(self.rules.k, self.rules.distinct if self.kept else 1)
            if enough and (not self.kept or len({persons[p].value for p in there}) >= self.rules.distinct):
                assert max(day - self.waits[p] for p in there) < self.rules.patience

    def judge(self) -> None:
        k = self.rules.k
        for seen, least in ((self.rows, k), (self.seats, 1)):
            for nights in seen.values():
                assert {n for n in nights if n} == {max(nights)} and max(nights) >= least, (
                    "a class changes by less than k"
                )
                assert sum(a == 0 < b for a, b in itertools.pairwise([0, *nights])) == 1, "a class opens twice"
        again: set[int] = set()
        for c in sorted(self.founders):
            assert len(self.founders[c]) >= k
            assert len(again & {*self.founders[c]}) <= k // 2
            again |= {*self.founders[c]}
        if not self.rules.moves or self.kept:
            assert max((len(classes) for classes in self.classes.values()), default=0) <= 1
        if self.kept:
            values = Counter(c for c, _ in self.seats)
            assert min(values.values(), default=9) >= self.rules.distinct
            for person, classes in self.classes.items():
                assert len({frozenset(v for c, v in self.seats if c == own) for own in classes}) <= 1, person


def least_isolated(classes: list[list[int]], k: int) -> bool:
    """Tell whether some combination of the means of classes, not zero, involves fewer than k persons."""
    names = sorted({p for c in classes for p in c})
    table = np.array([[p in c for p in names] for c in classes], float)
    rank = np.linalg.matrix_rank(table)
    return any(
        np.linalg.matrix_rank(np.delete(table, some, 1)) < rank
        for some in itertools.combinations(range(len(names)), min(k - 1, len(names) - 1))
    )


@dataclass
class World:
    """A random table that changes every night."""

    draw: random.Random
    columns: int
    strata: int
    size: int
    born: int = 0
    several: bool = False
    here: dict[int, Person] = field(default_factory=dict)
    gone: dict[int, Person] = field(default_factory=dict)

    def person(self) -> Person:
        draw = self.draw
        whole = self.columns and draw.random() < 0.3
        x = tuple(float(draw.randrange(3)) if whole else draw.gauss(0, 1) for _ in range(self.columns))
        whose = draw.randrange(1 + self.born // 3) if self.several else 0
        return Person(x, draw.randrange(self.strata), draw.choice((0, 0, 0, 1, 1, 2, 3)), whose)

    def insert(self, number: int) -> None:
        for _ in range(number):
            self.born += 1
            self.here[self.born * 7919 % 1_000_003] = self.person()

    def change(self) -> None:
        draw = self.draw
        for who in draw.sample(sorted(self.gone), min(len(self.gone), draw.randrange(3))):
            self.here[who] = self.gone.pop(who)
        for who in draw.sample(sorted(self.here), min(len(self.here), draw.randrange(1 + self.size // 3))):
            if draw.random() < 0.6:
                self.gone[who] = self.here.pop(who)
            else:
                new, whose = self.person(), self.here[who].whose
                self.here[who] = draw.choice((new, Person(new.x, self.here[who].stratum, self.here[who].value)))
                self.here[who].whose = draw.choice((whose, whose, new.whose)) if self.several else whose
        if self.several and self.here and draw.random() < 0.5:
            self.move_house()
        if draw.random() < 0.03:
            self.gone.update(self.here)
            self.here.clear()
        self.insert(draw.randrange(1 + self.size // 3))

    def move_house(self) -> None:
        """Give some of the records of a unit, or all, to another one that is new or there already; some leave."""
        draw = self.draw
        old, new = draw.choice([row.whose for row in self.here.values()]), draw.randrange(2 + self.born)
        for who in [who for who, row in self.here.items() if row.whose == old]:
            if draw.random() < 0.2:
                self.gone[who] = self.here.pop(who)
            elif draw.random() < 0.8:
                self.here[who] = replace(self.here[who], whose=new)

    def table(self, kept: bool) -> tuple[list[int], dict[str, Any]]:
        who = sorted(self.here)
        self.draw.shuffle(who)
        rows = [self.here[p] for p in who]
        return who, {
            "who": np.array(who, np.int64),
            "X": np.array([row.x for row in rows], float).reshape(len(rows), self.columns),
            "strata": np.array([row.stratum for row in rows], np.int64),
            "sensitive": np.array([row.value for row in rows], np.int64) if kept else None,
            "person": np.array([row.whose for row in rows], np.int64) + 1 if self.several else None,
        }


def live(seed: int, moves: bool, kept: bool, nights: int = 12, *, several: bool = False) -> tuple[Audit, World]:
    """Live through a random history, auditing every night."""
    draw = random.Random(seed)
    world = World(draw, draw.choice((0, 1, 2, 2, 3)), draw.choice((1, 1, 2, 3)), draw.randrange(1, 30), several=several)
    k = draw.choice((2, 3, 3, 4, 5))
    waiting, distinct = draw.choice((0.025, 1.0, 1.0)), draw.choice((2, 3)) if kept else 1
    rules = Rules(k, patience=draw.choice((0, 1, 2, 3, 7)), moves=moves, distinct=distinct, waiting=waiting)
    audit = Audit(rules, kept, several)
    world.insert(world.size)
    who, table = world.table(kept)
    day = draw.randrange(20_000)
    labels = np.array([draw.randrange(-1, max(1, len(who) // k)) for _ in who])
    memory, night = begin(**table, labels=labels, day=day, rules=rules)
    audit.look(day, world.here, who, memory, night)
    for _ in range(nights):
        day += draw.choice((0, 1, 1, 1, 1, 2, 5))
        world.change()
        who, table = world.table(kept)
        given, before = memory, copy.deepcopy(memory)
        memory, night = go_on(memory, **table, day=day, rules=rules)
        assert_same(vars(before), vars(given))
        audit.look(day, world.here, who, memory, night)
        assert_repeats(before, memory, night, table, day, rules)
    audit.judge()
    return audit, world


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name, value in one.items():
        assert np.array_equal(value, other[name]), name


def assert_repeats(before: Memory, memory: Memory, night: Night, table: dict[str, Any], day: int, rules: Rules) -> None:
    """The night again changes nothing; the rows in another order give the same night."""
    again, same = go_on(memory, **table, day=day, rules=rules)
    assert_same(vars(memory), vars(again))
    assert same.labels.tolist() == night.labels.tolist() and not len(same.opened) and not same.founders.any()
    assert sorted(same.empty.tolist()) == sorted(night.empty.tolist())
    order = np.random.default_rng(day).permutation(len(table["who"]))
    turned = {name: None if column is None else column[order] for name, column in table.items()}
    other, turned_night = go_on(before, **turned, day=day, rules=rules)
    assert_same(vars(memory), vars(other))
    assert turned_night.labels.tolist() == night.labels[order].tolist()


@every_kind
@pytest.mark.parametrize("who", ["nobody moves", "moves", "persons with many records"])
@pytest.mark.parametrize(
    "seeds", [range(QUICK), pytest.param(range(QUICK, TABLES), marks=pytest.mark.slow)], ids=["quick", "more"]
)
def test_every_promise_holds_over_random_histories(who: str, kept: bool, seeds: range) -> None:
    """No combination of means, not zero, is about fewer than k persons, whichever records of theirs founded a class."""
    several = who == "persons with many records"
    opened = seen = withheld = isolated = repeated = moved = 0
    for seed in seeds:
        audit, _ = live(seed, who == "moves", kept, several=several)
        opened, moved = opened + len(audit.founders), moved + audit.repeated
        seen, withheld = seen + audit.seen, withheld + audit.withheld
        classes = [audit.founders[c] for c in sorted(audit.founders)]
        persons = {p for c in classes for p in c}
        repeated += sum(map(len, classes)) > len(persons)
        if classes and len(persons) ** (audit.rules.k - 1) <= 4_000:
            isolated += 1
            assert not least_isolated(classes, audit.rules.k)
    assert opened > (2 - several) * len(seeds) and isolated > len(seeds) / 10 and (several or withheld < seen)
    assert not several or repeated > len(seeds) / 8
    assert not several or moved > 0, "nobody founds a class whose records were of somebody who had founded one"


@pytest.mark.parametrize(("k", "again", "safe"), [(3, 1, True), (4, 2, True), (3, 2, False), (4, 3, False)])
def test_half_of_the_founders_may_have_founded_before_and_no_more(k: int, again: int, safe: bool) -> None:
    """The bound of the theorem is tight: brute force over random foundings."""
    draw = random.Random(k)
    isolated = False
    for _ in range(20):
        classes, born = [list(range(k))], k
        for _ in range(3):
            old = draw.sample(range(born), again)
            classes.append(old + list(range(born, born + k - again)))
            born += k - again
        isolated |= least_isolated(classes, k)
    assert isolated is not safe


def points(*x: float) -> np.ndarray:
    return np.array(x, float)[:, None]


def first(*x: float, k: int = 2, labels: Any = None, **rules: Any) -> tuple[Memory, Rules]:
    """Return the memory of a first night: persons 0, 1, … at x, in one class where no labels are given."""
    given = Rules(k, **rules)
    labels = np.zeros(len(x), int) if labels is None else np.array(labels)
    return begin(np.arange(len(x)), points(*x), labels, 0, given)[0], given


def test_a_near_newcomer_takes_an_empty_seat_unseen() -> None:
    memory, rules = first(0, 1, 2)
    memory, night = go_on(memory, np.array([0, 2]), points(0, 2), 1, rules)
    assert night.labels.tolist() == [0, 0] and night.empty.tolist() == [[0, 0, 1]]
    memory, night = go_on(memory, np.array([0, 2, 9]), points(0, 2, 1.5), 2, rules)
    assert night.labels.tolist() == [0, 0, 0] and not len(night.empty) and not len(night.opened)
    assert memory.centre.tolist() == [[1.0]] and memory.rows.tolist() == [3]


def test_who_comes_back_has_her_class_again_or_none() -> None:
    memory, rules = first(0, 1, 2)
    memory, _ = go_on(memory, np.array([0, 2]), points(0, 2), 1, rules)
    _, night = go_on(memory, np.array([0, 1, 2]), points(0, 50, 2), 2, rules)
    assert night.labels.tolist() == [0, 0, 0]
    memory, _ = go_on(memory, np.array([0, 2, 9]), points(0, 2, 1), 2, rules)
    for day in range(3, 40):
        memory, night = go_on(memory, np.array([0, 1, 2, 9]), points(0, 1, 2, 1), day, rules)
        assert night.labels.tolist() == [0, -1, 0, 0]
    memory, night = go_on(memory, np.array([1, 2, 9]), points(1, 2, 1), 40, rules)
    assert night.labels.tolist() == [0, 0, 0]


def test_who_has_lost_her_class_waits_for_ever_unless_persons_move() -> None:
    for moves in (False, True):
        memory, rules = first(0, 1, moves=moves, patience=0)
        memory, night = go_on(memory, np.array([], int), points(), 1, rules)
        assert memory.closed.tolist() == [1] and not len(night.empty)
        memory, night = go_on(memory, np.array([0, 1, 2]), points(0, 1, 0.5), 9, rules)
        assert night.labels.tolist() == ([1, 1, 1] if moves else [-1, -1, -1])
        assert night.founders.sum() == (2 if moves else 0)


def test_with_moves_nobody_takes_a_seat_so_far_that_she_would_lose_it() -> None:
    for moves in (False, True):
        memory, rules = first(0, 1, 2, moves=moves, patience=0, empty=1.0)
        memory, _ = go_on(memory, np.array([0, 2]), points(0, 2), 1, rules)
        memory, night = go_on(memory, np.array([0, 2, 8, 9]), points(0, 2, 11, -31), 2, rules)
        assert night.labels[2:].tolist() == ([1, 1] if moves else [0, -1])


def test_newcomers_who_are_not_near_wait_until_patience_ends() -> None:
    memory, rules = first(0, 0.1, 0.2, 0.3, k=3, patience=5, waiting=1.0)
    who, x = np.array([0, 1, 2, 3, 7, 8, 9]), points(0, 0.1, 0.2, 0.3, 5, -5, 9)
    for day in range(1, 6):
        memory, night = go_on(memory, who, x, day, rules)
        assert night.labels[4:].tolist() == [-1, -1, -1]
    memory, night = go_on(memory, who, x, 6, rules)
    assert night.labels[4:].tolist() == [1, 1, 1] and night.founders.tolist() == [False] * 4 + [True] * 3


@pytest.mark.parametrize(
    ("now", "newcomers", "opens"),
    [
        ([11, 12, 13], [11, 12, 20], False),
        ([11, 12, 13], [11, 20, 21], True),
        ([1, 2, 3], [11, 12, 20], True),
        ([1, 2, 3], [1, 2, 20], False),
    ],
    ids=["two have founded by another number", "one has", "nobody has", "two have founded"],
)
def test_a_household_with_a_new_number_has_founded_a_class_as_before(
    now: list[int], newcomers: list[int], opens: bool
) -> None:
    """Worked by hand: the founders of three households leave and the others get new numbers, in one night."""
    rules = Rules(3, patience=0, waiting=1.0)
    labels, home = np.array([0, 0, 0, 0, 0, 0]), np.array([1, 2, 3, 1, 2, 3])
    memory, night = begin(np.arange(6), points(0, 0, 0, 9, 9, 9), labels, 0, rules, person=home)
    left = np.flatnonzero(~night.founders)
    assert len(left) == 3 and {*home[left]} == {1, 2, 3}
    for day in (1, 2):  # once the others have their numbers, and once more
        memory, _ = go_on(memory, left, points(9, 9, 9), day, rules, person=np.array(now))
    who, whose = np.r_[left, 30, 31, 32], np.array(now + newcomers)
    _, night = go_on(memory, who, points(9, 9, 9, 70, 70, 70), 3, rules, person=whose)
    assert bool(len(night.opened)) is opens


def test_without_columns_any_k_of_a_stratum_are_near_and_more_ride_along() -> None:
    who, strata = np.arange(11), np.array([1] * 7 + [2] * 3 + [3])
    memory, night = begin(who, np.empty((11, 0)), np.full(11, -1), 0, Rules(3), strata)
    assert sorted(Counter(night.labels.tolist()).values()) == [1, 3, 3, 4]
    assert night.labels[-1] == -1 and night.founders.sum() == 9
    _, night = go_on(memory, np.arange(13), np.empty((13, 0)), 1, Rules(3), np.append(strata, [3, 3]))
    assert night.labels[-3:].tolist() == [3, 3, 3]


def test_a_changed_sensitive_value_is_not_published_in_the_old_seat() -> None:
    rules, who, x = Rules(2, distinct=2), np.arange(4), np.empty((4, 0))
    kept = np.array([1, 2, 2, 3])
    memory, night = begin(who, x, np.zeros(4, int), 0, rules, None, kept)
    assert memory.values.tolist() == [[0, 1, 1], [0, 2, 2], [0, 3, 1]]
    memory, night = go_on(memory, who, x, 1, rules, None, np.array([3, 2, 2, 3]))
    assert sorted(night.labels.tolist()) == [-1, 0, 0, 0] and night.empty.tolist() == [[0, 1, 1]]
    memory, night = go_on(memory, who[:3], x[:3], 2, rules, None, np.array([3, 2, 2]))
    assert night.labels.tolist() == [0, 0, 0] and night.empty.tolist() == [[0, 1, 1]]


def test_persons_may_begin_and_cease_to_move() -> None:
    assert Rules(5, 3, True) == Rules(k=5, patience=3, moves=True)
    memory, _ = first(0, 1, 10, 11, labels=[0, 0, 1, 1])
    who, rules, moving = np.arange(4), Rules(2, patience=0), Rules(2, patience=0, moves=True, empty=1.0)
    memory, night = go_on(memory, who, points(0, 11, 10, 11), 1, rules)
    assert night.labels.tolist() == [0, 0, 1, 1]
    memory, night = go_on(memory, who, points(0, 11, 10, 11), 2, moving)
    assert night.labels.tolist() == [0, -1, 1, 1] and night.empty.tolist() == [[0, 0, 1]]
    memory, night = go_on(memory, who[1:3], points(11, 10), 3, moving)
    assert night.labels.tolist() == [1, 1] and memory.closed.tolist() == [3, -1]
    memory, night = go_on(memory, who, points(0, 11, 10, 11), 4, rules)
    assert night.labels.tolist() == [-1, 1, 1, -1]


def test_a_share_of_the_persons_may_wait_for_near_ones_and_no_more() -> None:
    memory, rules = first(*(np.arange(1_000) / 1_000).tolist(), labels=np.arange(1_000) // 5, k=5)
    for day in range(1, 5):
        who = np.arange(1_000 + 100 * day)
        x = np.where(who < 1_000, who / 1_000, 10.0 * who)
        memory, night = go_on(memory, who, x[:, None], day, rules)
        withheld = int((night.labels < 0).sum())
        assert int(0.025 * len(who)) <= withheld < int(0.025 * len(who)) + 5


def test_groups_that_are_no_classes_wait() -> None:
    _, night = begin(
        np.arange(7), points(0, 0, 0, 5, 5, 9, 9), np.array([0, 0, 1, 2, 2, 3, 3]), 0, Rules(2),
        np.array([0, 0, 0, 1, 2, 3, 3]), np.array([1, 2, 1, 1, 2, 1, 2])
    )  # fmt: skip
    assert night.labels.tolist() == [0, 0, 0, -1, -1, 1, 1]
    assert night.founders.tolist() == [True, True, False, False, False, True, True]


def test_the_erased_are_forgotten_and_their_seats_are_empty() -> None:
    memory, rules = first(0, 1, 2)
    left = erase(memory, np.array([1, 77]))
    assert left.who.tolist() == [0, 2] and memory.who.tolist() == [0, 1, 2]
    _, night = go_on(left, np.array([0, 2]), points(0, 2), 1, rules)
    assert night.labels.tolist() == [0, 0] and night.empty.tolist() == [[0, 0, 1]]


def test_who_never_had_a_seat_is_forgotten_when_gone() -> None:
    memory, rules = first(0, 1, 2)
    memory, _ = go_on(memory, np.arange(4), points(0, 1, 2, 99), 1, rules)
    assert memory.who.tolist() == [0, 1, 2, 3]
    memory, _ = go_on(memory, np.arange(3), points(0, 1, 2), 2, rules)
    assert memory.who.tolist() == [0, 1, 2]


def test_what_a_series_cannot_go_on_with_is_refused() -> None:
    memory, rules = first(0, 1, 2)
    who, x = np.arange(3), points(0, 1, 2)
    wrong: dict[str, tuple[Any, ...]] = {
        "in their order": (who, x, -1, rules),
        "the columns stay the same": (who, np.zeros((3, 2)), 1, rules),
        "k stays at most 3": (who, x, 1, Rules(4)),
        "the same columns stay sensitive": (who, x, 1, rules, None, who),
        "names a row": (np.array([0, 1, 1]), x, 1, rules),
        "finite numbers": (who, points(0, 1, np.nan), 1, rules),
    }
    for must, given in wrong.items():
        with pytest.raises(InputError, match=must):
            go_on(memory, *given)
    kept, _ = begin(who, x, np.zeros(3, int), 0, Rules(3, distinct=2), None, np.array([1, 1, 2]))
    with pytest.raises(InputError, match="keep the 2 sensitive values"):
        go_on(kept, who, x, 1, Rules(3, distinct=3), None, np.array([1, 1, 2]))


def test_a_person_costs_60_bytes_of_memory() -> None:
    rng = np.random.default_rng(0)
    memory, _ = begin(rng.permutation(3_000), rng.normal(size=(3_000, 4)), np.arange(3_000) // 5, 0, Rules(5))
    assert sum(column.nbytes for column in vars(memory).values() if isinstance(column, np.ndarray)) <= 60 * 3_000


@pytest.mark.parametrize(("rows", "fits"), [(10, True), (13, True), (7, True), (12, False), (8, False), (11, False)])
def test_a_combination_is_as_often_as_before_or_k_rows_away(rows: int, fits: bool) -> None:
    assert _apart(rows, {10}, 3) is fits
    assert _apart(rows, set(), 3)
