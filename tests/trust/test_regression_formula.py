"""--regress: whoever names a column in a formula says that it is a number, and any name can be written."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases import opened

import sqlmicro
from sqlmicro.audits.regression import formula, renamed
from sqlmicro.errors import SqlmicroError

ODD = 'net "income"'


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return an original and a release of it: codes of few values, odd names, a text."""
    rng = random.Random(3)
    header = ["EF44", "EF20", ODD, "a+b", "total", "word"]
    before: list[list[Any]] = []
    for _ in range(200):
        size, code = rng.randint(1, 6), rng.randint(1, 4)
        before.append(
            [40 - 2 * size + rng.randint(-9, 9), size, 100 * size + rng.randint(0, 99), code, code * size, "x"]
        )
    after = [[*row[:1], (row[1] + 1) // 2 * 2, *row[2:]] for row in before]
    folder = tmp_path_factory.mktemp("regression")
    for name, rows in (("before", before), ("after", after)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    return str(folder / "before.csv"), str(folder / "after.csv")


def least_squares(path: str, y: str, terms: list[str]) -> list[float]:
    """Return the coefficients as numpy computes them from the file."""
    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[1.0, *(float(row[term]) for term in terms)] for row in rows])
    found: list[float] = np.linalg.lstsq(X, np.array([float(row[y]) for row in rows]), rcond=None)[0].tolist()
    return found


def test_codes_of_few_values_are_the_numbers_they_are_named_as(tables: tuple[str, str]) -> None:
    """EF20 has six distinct values, for which `profile` proposes nominal: it was said not to exist."""
    before, after = tables
    for text, y, terms in (
        ("EF44 ~ EF20", "EF44", ["EF20"]),
        ("ef44 ~ ef20 + total", "EF44", ["EF20", "total"]),
        (f'{ODD} ~ EF20 + "a+b"', ODD, ["EF20", "a+b"]),
        ('"net ""income""" ~ EF20', ODD, ["EF20"]),
    ):
        (row,) = sqlmicro.audit(after, original=before, measure="regression", regress=text)["audits"]
        assert row["status"] == "measured", text
        found = row["coefficients"]
        assert list(found) == ["intercept", *terms]
        assert [part["before"] for part in found.values()] == pytest.approx(least_squares(before, y, terms))
        assert [part["after"] for part in found.values()] == pytest.approx(least_squares(after, y, terms))


def test_what_is_no_number_is_called_so_and_not_missing(tables: tuple[str, str]) -> None:
    before, after = tables
    for text, nominal, words in (
        ("EF44 ~ word", [], "column 'word' must be a number in the release. Got VARCHAR."),
        ("EF44 ~ EF20", ["EF20"], "column 'EF20' must be a number. Got a column named in --nominal."),
        ("EF44 ~ EF21", [], "the table has no column 'EF21'. Did you mean 'EF20'"),
        ("EF44 ~ EF20 +", [], "must read like"),
    ):
        with pytest.raises(SqlmicroError) as refused:
            sqlmicro.audit(after, original=before, measure="regression", regress=text, nominal=nominal)
        assert refused.value.exit_code == 2
        assert words in str(refused.value)


def test_formulas_are_read_as_they_are_written() -> None:
    for text, y, terms in (
        ("y~x", "y", ["x"]),
        (" y ~ x1 + x 2 ", "y", ["x1", "x 2"]),
        ('"a~b" ~ "c+d" + e"f', "a~b", ["c+d", 'e"f']),
        ('"say ""no""" ~ x', 'say "no"', ["x"]),
    ):
        assert formula(text) == (y, terms)
        assert formula(renamed(text, {})) == (y, terms)
    for wrong in ("", "~", "y", "y ~", "~ x", "y ~ x +", "y ~ + x", "y ~ x ~ z", "y + z ~ x", '"y" z ~ x', '"" ~ x'):
        with pytest.raises(SqlmicroError, match="must read like"):
            formula(wrong)


def test_a_gate_of_a_job_takes_the_names_of_the_table(tmp_path: Path, tables: tuple[str, str]) -> None:
    """`total` has another name in staging, where the gate looks."""
    with opened(tmp_path / "w.duckdb") as connection:
        connection.execute("CREATE TABLE t AS FROM read_csv($1)", [tables[0]])
    job = tmp_path / "job.toml"
    job.write_text("""db = "w.duckdb"
table = "t"
drop = ["word"]
rest = "keep"
accept_unique = ["EF20", 'net "income"']
[[step]]
do = "mdav"
columns = ["EF44", "total"]
k = 3
[[gate]]
quasi = ["EF44", "total"]
regress = "Total ~ EF20"
max_coefficient_change = 1000.0
[[step]]
do = "publish"
into = "o"
""")
    report = sqlmicro.run(str(job), db=str(tmp_path / "w.duckdb"))
    (row,) = [row for row in report["audits"] if row["check"] == "regression"]
    assert row["columns"] == ["total", "EF20"]
    assert row["passed"]
