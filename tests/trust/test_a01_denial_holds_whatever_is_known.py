"""A1: a SAFE record can be denied whatever columns somebody knows: recounted in plain Python from the rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases import opened

import sqlmicro
from sqlmicro.attacks.known_columns import KnownSets, NumberedSides
from sqlmicro.audits.deniable import Guesses, Inventions, KnownGuesses, KnownInventions
from sqlmicro.database.columns import Column

Row = tuple[Any, ...]
NAMES = ['net "income"', "b", "c", "d", "e"]


def made(seed: int, n: int, columns: int = 5) -> list[Row]:
    """Return records in which many combinations are rare; one of a column is missing."""
    rng = np.random.default_rng(seed)
    rows = np.minimum(rng.geometric(0.45, (n, columns)) - 1, 3).tolist()
    return [tuple(None if (j, v) == (1, 3) else f"{j}{v}" for j, v in enumerate(row)) for row in rows]


def changed(records: list[Row], seed: int) -> list[Row]:
    """Return records of which every fifth has one value of another."""
    rng = np.random.default_rng(seed)
    found = []
    for number, row in enumerate(records):
        j = number % len(row)
        other = records[int(rng.integers(len(records)))]
        found.append((*row[:j], other[j], *row[j + 1 :]) if number % 5 == 0 else row)
    return found


def recounted(
    original: list[Row], released: list[Row], k: int, known: int, whose: list[int]
) -> tuple[dict[tuple[int, ...], float], dict[str, int]]:
    """Count, for every set of so many columns, what is rare and shown and what of it never occurred."""
    rare = new = below = 0
    shares = {}
    for some in combinations(range(len(NAMES)), known):
        who = defaultdict(set)
        for row, person in zip(original, whose, strict=True):
            who[tuple(row[j] for j in some)].add(person)
        few = [one for one in {tuple(row[j] for j in some) for row in released} if len(who.get(one, ())) < k]
        made_up = sum(one not in who for one in few)
        rare, new, below = rare + len(few), new + made_up, below + (2 * made_up < len(few))
        if few:
            shares[some] = made_up / len(few)
    return shares, {"rare": rare, "invented": new, "below_half": below}


def guessed(original: list[Row], released: list[Row], j: int, known: int) -> tuple[int, int]:
    """Guess column j of every person who is alone in some others, where the release shows one value with them."""
    guesses = right = 0
    for some in combinations([c for c in range(len(NAMES)) if c != j], known):
        persons, shown = Counter(tuple(row[c] for c in some) for row in original), defaultdict(set)
        for row in released:
            shown[tuple(row[c] for c in some)].add(row[j])
        for row in original:
            key = tuple(row[c] for c in some)
            if persons[key] == 1 and len(shown[key]) == 1:
                guesses += 1
                right += row[j] in shown[key]
    return guesses, right


@pytest.fixture
def sides(tmp_path: Path) -> Callable[..., str]:
    """Return what makes a database with an original and a release of it; each may say whose its records are."""

    def make(original: list[Row], released: list[Row], whose: list[int]) -> str:
        path = str(tmp_path / "sides.duckdb")
        with opened(path) as connection:
            for table, rows in (("original", original), ("released", released)):
                named = ", ".join('"' + name.replace('"', '""') + '" VARCHAR' for name in NAMES)
                connection.execute(f"CREATE TABLE {table} ({named}, who INTEGER)")
                given = [[*row, person] for row, person in zip(rows, whose, strict=True)]
                marks = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(given))
                connection.execute(f"INSERT INTO {table} VALUES {marks}", [value for row in given for value in row])
        return path

    return make


def invented(db: str, **options: Any) -> dict[str, Any]:
    report = sqlmicro.audit("released", db=db, original="original", quasi=NAMES, **options)
    (found,) = [row for row in report["audits"] if row["check"] == "invented"]
    return found


@pytest.mark.parametrize("persons", [False, True])
def test_the_audit_counts_what_is_invented_of_every_set_of_columns(sides: Callable[..., str], persons: bool) -> None:
    original = made(1, 150)
    released = changed(original, 1)
    rng = np.random.default_rng(0)
    whose = rng.integers(0, 60, 150).tolist() if persons else list(range(150))
    given = {"person": ["who"]} if persons else {}
    found = invented(sides(original, released, whose), measure=["invented"], rare=3, **given)
    by_known = {one["known"]: one for one in found["by_known"]}
    assert sorted(by_known) == [1, 2, 3, 4, 5]
    for known, one in by_known.items():
        shares, counts = recounted(original, released, 3, known, whose)
        assert {name: one[name] for name in counts} == counts
        assert one["least"] == (min(shares.values()) if shares else None)
        if shares:  # the set that is named is one of those with the least share
            assert shares[tuple(NAMES.index(name) for name in one["worst"])] == one["least"]
    assert found["value"] == min(one["least"] for one in by_known.values() if one["least"] is not None)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_audit_counts_the_guesses_from_every_set_of_columns(sides: Callable[..., str], seed: int) -> None:
    original = made(seed, 90)
    released = changed(original, seed)
    db = sides(original, released, list(range(90)))
    report = sqlmicro.audit("released", db=db, original="original", quasi=NAMES, measure=["inference"])
    rows = {tuple(row["columns"]): row for row in report["audits"]}
    for j, name in enumerate(NAMES):
        row, shares = rows[(name,)], []
        assert [one["known"] for one in row["by_known"]] == [1, 2, 3, 4]
        for one in row["by_known"]:
            guesses, right = guessed(original, released, j, one["known"])
            assert (one["guesses"], one["right"]) == (guesses, right)
            shares.append(right / max(1, guesses))
        assert row["value"] == pytest.approx(max(shares))


@pytest.mark.parametrize("seed", [1, 2])
def test_the_attack_guesses_what_somebody_can_who_knows_some_columns(sides: Callable[..., str], seed: int) -> None:
    """Of the number of known columns from which most is right; the set that is named is one of these."""
    original = made(seed, 90)
    released = changed(original, seed)
    db = sides(original, released, list(range(90)))
    given = {"db": db, "original": "original", "release": "released", "columns": NAMES}
    report = sqlmicro.attack(**given, attack="known-columns", known_columns=4)
    (found,) = report["attacks"]
    counts = {}
    for known in (2, 3, 4):
        both = [guessed(original, released, j, known) for j in range(len(NAMES))]
        commonest = [max(Counter(row[j] for row in original).values()) / 90 for j in range(len(NAMES))]
        every = sum(made for made, _ in both)
        luck = sum(made * share for (made, _), share in zip(both, commonest, strict=True))
        counts[known] = (sum(right for _, right in both) / every, luck / every, every)
    most = max(counts, key=lambda known: counts[known][0])
    assert (found["rate"], found["chance"], found["n"]) == pytest.approx(counts[most])
    assert (found["known"], found["unit"], found["sets"]) == (most, "values", len(list(combinations(NAMES, most))))
    assert len(found["worst"]) == most
    # Nobody who asks for other attacks is told of it.
    assert "known-columns" in {row["name"] for row in sqlmicro.attack(**given)["not_tried"]}


def test_a_gate_holds_in_the_worst_set_and_only_the_holder_is_told_which_it_is(sides: Callable[..., str]) -> None:
    """All four columns look well: half never occurred. The pair (b, c) is shown with true ones only."""
    original = [("a0", f"b{i % 4}", f"c{i // 4}", "d0", "e0") for i in range(16)] + [("a1", "b9", "c9", "d1", "e1")] * 3
    released = original[:8] + [("a1", *row[1:]) for row in original[:8]] + [("a1", "b9", "c9", "d1", "e1")] * 3
    found = invented(sides(original, released, list(range(19))), min_invented=0.5, rare=3)
    assert found["passed"] is False
    assert found["value"] == 0
    assert (found["invented"], found["rare"]) == (8, 16)
    pairs = next(one for one in found["by_known"] if one["known"] == 2)
    assert pairs["worst"] == ["b", "c"]


_KNOWN = [(1, "a", 3), (2, "a", 1), (2, "b", 2), (None, "c", 1)]
_SHOWN = [(1, "a", 3), (2, "a", 4), (2, "b", 5), (9, "c", 3), (1, "b", 3), (8, "b", 4)]


def numbered(released: list[Row], original: list[Row], persons: list[int | None] | None = None) -> NumberedSides:
    """Return the sides of two columns with the records of every combination, by hand: NULL has a number of its own."""

    def numbers(values: Any, first: int = 0) -> list[int]:
        place = {value: number for number, value in enumerate(dict.fromkeys(values), first)}
        return [place[value] for value in values]

    own, none = [0] * len(original), [0] * len(released)
    values = [numbers([row[j] for row in (*original, *released)]) for j in range(2)]
    whose = numbers(persons, 1) if persons else own
    before, after = [*(row[2] for row in original), *none], [*own, *(row[2] for row in released)]
    return NumberedSides(np.array(before), np.array(after), np.array([*whose, *none]), np.array(values))


def test_inventions_by_hand() -> None:
    # k = 3. Of a: 1 has three records, 2 has three; 8 and 9 none. Of b: a has four, b two, c one: none is invented.
    side = numbered(_SHOWN, _KNOWN)
    assert [side.inventions(known, 3) for known in ([0], [1], [0, 1])] == [(2, 2), (2, 0), (5, 3)]
    # Two records of one person are one person: 2 is shown, and one has it. Nobody's are one person too.
    original = [(1, "x", 1), (1, "y", 1), (1, "z", 1), (2, "x", 1), (2, "z", 1)]
    side = numbered([(1, "x", 3), (2, "x", 3), (None, "y", 3)], original, [7, 8, None, 7, 7])
    assert [side.inventions(known, 2) for known in ([0], [0, 1])] == [(2, 1), (3, 1)]


@pytest.mark.parametrize(
    ("known", "released", "original", "persons", "expected"),
    [
        # Alone in b is (NULL, c): 9 is shown with c, a wrong guess of a. Nobody is alone in a and shown.
        ([1], _SHOWN, _KNOWN, None, ([1, 0], [0, 0])),
        ([0], _SHOWN, _KNOWN, None, ([0, 0], [0, 0])),
        # All are alone in b; y is shown with two values of a, so that two are guessed, both right: NULL is a value.
        ([1], [(1, "x", 3), (1, "y", 3), (2, "y", 4), (None, None, 3)], [(1, "x", 1), (2, "y", 1), (None, None, 1)],
         None, ([2, 0], [2, 0])),
        # A person with two values of a is alone in b, and nothing is guessed of a; a value beside NULL is no guess.
        ([1], [(1, "x", 3), (1, "y", 3), (None, "y", 3)], [(1, "x", 1), (2, "x", 1), (1, "y", 1), (1, "z", 1)],
         [7, 7, 8, 8], ([0, 0], [0, 0])),
    ],
)  # fmt: skip
def test_guesses_by_hand(
    known: list[int], released: list[Row], original: list[Row], persons: Any, expected: tuple[list[int], list[int]]
) -> None:
    made, right = numbered(released, original, persons).guesses(known)
    assert (made.tolist(), right.tolist()) == expected


def test_more_than_500_sets_of_a_size_are_drawn_evenly_and_said() -> None:
    columns = [Column(f"c{i}", "VARCHAR", f"c{i}") for i in range(16)]
    found = KnownSets.of(columns, 4)
    assert (found.there, len(found.drawn)) == (1820, 500)
    every = list(combinations(columns, 4))
    assert [every.index(one) for one in found.drawn] == [i * 1820 // 500 for i in range(500)]
    assert {column for one in found.drawn for column in one} == set(columns)
    told = KnownInventions(4, 1820, 500, 30, 20, 1, 0.25, ["c1", "c2", "c3", "c4"]).told
    assert "500 of 1,820 sets, evenly spaced" in told


def test_what_leaves_with_a_release_names_no_set_and_tells_nothing_of_fewer_than_ten() -> None:
    pairs = KnownInventions(2, 10, 10, 9, 3, 1, 0.0, ["b", "c"])
    triples = KnownInventions(3, 10, 10, 10, 5, 0, 0.5, ["b", "c", "d"])
    told = Inventions(3, 40, 20, 30, 15, 60, 9, [pairs, triples]).released()
    assert told.by_known == [replace(triples, worst=[])]
    guesses = Guesses(2, 20, 19, 0.4, [KnownGuesses(2, 20, 19), KnownGuesses(3, 9, 9)]).released()
    assert guesses.by_known == [KnownGuesses(2, 20, 19)]
