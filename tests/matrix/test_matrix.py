"""What counts the promises of a cell anew, worked by hand, and two cells of the matrix."""

from __future__ import annotations

import os

import pytest

from matrix.combinations import cells
from matrix.naive import Promise, broken, broken_together
from matrix.table import made, pinned


def rows(text: str) -> list[dict[str, object]]:
    names, *lines = (line.split() for line in text.strip().splitlines())
    return [dict(zip(names, line, strict=True)) for line in lines]


BEFORE = rows("""
    tag who home age rent ill
    1   a   x    30  5    flu
    2   a   x    31  5    flu
    3   b   x    40  5    burn
    4   c   y    41  6    burn
""")
AFTER = rows("""
    tag age rent ill
    1   35  5    flu
    2   35  5    flu
    3   35  5    burn
    4   35  6    burn
""")


@pytest.mark.parametrize(
    ("promise", "expected"),
    [
        (Promise("tag", k=4, classes=(("age",),)), []),
        (Promise("tag", k=3, unit="who", classes=(("age",),)), []),
        (Promise("tag", k=4, unit="who", classes=(("age",),)), ["k of (age) is 3 and not 4"]),
        (Promise("tag", k=2, classes=(("age", "rent"),)), ["k of (age,rent) is 1 and not 2"]),
        (Promise("tag", k=3, unit="home", classes=(("age",),)), ["k of (age) is 2 and not 3"]),
        (Promise("tag", classes=(("age",),), sensitive="ill", l=2, t=0.0), []),
        (Promise("tag", classes=(("rent",),), sensitive="ill", l=2), ["l of (rent) is 1 and not 2"]),
        (Promise("tag", classes=(("rent",),), sensitive="ill", t=0.4), ["t of (rent) is 0.500 and not 0.4"]),
        (Promise("tag", classes=(("age",),), within=("rent",)), ["a class of (age) has several rent"]),
        (Promise("tag", kept=("ill", "age")), ["age was to be kept"]),
        (Promise("tag", gone=("who", "rent")), ["rent was released"]),
        (Promise("tag", classes=(("rent",),), units_of={("rent",): "home"}, k=1), []),
        (Promise("tag", units_of={("rent",): "home"}, k=2), ["k of (rent) is 1 and not 2"]),
    ],
)
def test_the_naive_check(promise: Promise, expected: list[str]) -> None:
    """Worked by hand: three persons in two homes, one with two rows."""
    assert broken(promise, BEFORE, AFTER) == expected


def test_the_naive_check_of_rows_and_constants() -> None:
    promise = Promise("tag", constant=(("rent", "home"),))
    assert broken(promise, BEFORE, AFTER[:3]) == ["rows 3 of 4"]
    assert broken(promise, BEFORE, [*AFTER[:3], AFTER[0]]) == ["a row was released twice", "rows 3 of 4"]
    changed = [{**AFTER[0], "rent": "9"}, *AFTER[1:]]
    assert broken(promise, BEFORE, changed) == ["rent is no longer constant within home"]
    own_way = Promise("tag", k=2, unit="who", classes=(("age",),))
    other = [{**row, "age": age} for row, age in zip(AFTER, "3355", strict=True)]
    assert broken(own_way, BEFORE, other) == ["k of (age) is 1 and not 2"]
    first = [{**row, "age": age} for row, age in zip(AFTER, "3335", strict=True)]
    assert broken_together(own_way, BEFORE, [AFTER, first], ("age",)) == ["k of 2 nights together is 1 and not 2"]
    assert not broken_together(own_way, BEFORE, [AFTER, AFTER], ("age",))


@pytest.mark.parametrize("title", ["mdav | person + l", "noise | nulls keep"])
def test_a_cell_is_made_and_checked(title: str) -> None:
    (cell,) = [cell for cell in cells() if cell.title == title]
    assert made(cell).kind == "works"


EVERY = 1 if os.environ.get("CELLS") == "all" else 25


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len([*cells()][::EVERY]), 8))
def test_cells_are_as_they_are_pinned(start: int) -> None:
    """What works still works and keeps what it promises; what is refused says the same. CELLS=all makes every cell.

    Hashes are not compared: sums of floating-point numbers differ in the last digit between processors.
    """
    known = pinned()
    for cell in [*cells()][::EVERY][start : start + 8]:
        found, was = made(cell), known[cell.title]
        assert (found.kind, found.kind == "refused" and found.text) == (was.kind, was.kind == "refused" and was.text)


def test_no_pinned_cell_is_wrong_and_all_are_pinned() -> None:
    assert list(pinned()) == [cell.title for cell in cells()]
    assert {line.kind for line in pinned().values()} == {"works", "refused"}
