"""The pinned matrix: a line for each cell, the reasons why some cannot be, and how a table of cells is counted."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from matrix.combinations import Cell, Result, cells, result

PINNED = Path(__file__).with_name("matrix.txt")
IMPOSSIBLE = (
    (
        "a method without classes has none to limit or to keep in strata",
        (
            "no such option: --sensitive",
            "no such option: --min-l",
            "no such option: --max-t",
            "no such option: --by",
        ),
    ),
    ("the nights of a series stay out, so that they are no table that is replaced", ("got --in-place. use --into",)),
    (
        "values that are those of other records, or depend on who else is there, tell who came between two nights",
        ("nights that tell no more together than one", "masked values that depend on nobody else's"),
    ),
    (
        "t compares a class with the whole table of a night, which changes while the class stays as it opened",
        ("compares a class with the whole table, which changes",),
    ),
    (
        "a row of a file of combinations is of no record, so that it has no other value of one",
        ("of files has rows that are of no record",),
    ),
    (
        "files of combinations know nobody again: k rows by which two nights differ may be of one person",
        ("of files knows nobody again",),
    ),
    (
        "in a series by column a value is in one mean: a second row of a person would put hers into another one",
        ("by column has every person in one mean", "by column has every household in one mean"),
    ),
    (
        "a sample is of whole records: none of its columns is a household's; without a kept one nothing is released",
        ("no such option: --columns", "visits: needs columns to work on. got none"),
    ),
    ("a number in place cannot become text", ("a column recoded to text must be text",)),
)
"""Why a refusal is right, and words of the messages that say so. All other refusals are of what was not built."""


def reason(line: Result) -> str:
    """Return why a refused cell cannot be, or nothing."""
    text = line.text.lower()
    return next((why for why, words in IMPOSSIBLE if any(word.lower() in text for word in words)), "")


def kind(line: Result) -> str:
    """Return in which column of the counts a cell stands."""
    return ("cannot be" if reason(line) else "not built") if line.kind == "refused" else line.kind


def pinned() -> dict[str, Result]:
    """Return the cells as they were last looked at."""
    found = [Result(*_parts(line)) for line in PINNED.read_text().splitlines()]
    return {each.title: each for each in found}


def _parts(line: str) -> tuple[str, str, str]:
    method, asked, how, text = line.split(" | ", 3)
    return f"{method} | {asked}", how, text


def made(cell: Cell) -> Result:
    """Make a cell in a folder of its own, with settings and a ledger of its own."""
    with tempfile.TemporaryDirectory(prefix="matrix-") as folder:
        place = Path(folder) / "w"
        place.mkdir()
        before = {name: os.environ.get(name) for name in ("XDG_CONFIG_HOME", "SQLMICRO_SECRET")}
        os.environ |= {"XDG_CONFIG_HOME": f"{folder}/settings", "SQLMICRO_SECRET": "a lasting secret of the tests"}
        try:
            return result(cell, place)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def all_made(wanted: Sequence[Cell]) -> list[Result]:
    """Make many cells, on all processors."""
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(made, wanted, chunksize=8))


def counts(lines: Sequence[Result]) -> str:
    """Return how many cells of each method work, are refused, or are wrong."""
    names = ("works", "cannot be", "not built", "wrong")
    by_method: dict[str, Counter[str]] = {}
    for line in lines:
        by_method.setdefault(line.title.split(" | ")[0], Counter())[kind(line)] += 1
    rows = [(method, *(str(found[name]) for name in names)) for method, found in by_method.items()]
    total = sum(by_method.values(), Counter())
    rows += [("all", *(str(total[name]) for name in names))]
    table = [("method", *names), *rows]
    return "\n".join("  ".join([row[0].ljust(20), *(text.rjust(9) for text in row[1:])]) for row in table)


__all__ = ["PINNED", "all_made", "cells", "counts", "kind", "made", "pinned", "reason"]
