"""The files that what a release is worth is measured on: as the field has them, or made of them by a rule."""

import csv
import os
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SQLMICRO_DATA") or ROOT.parent / "shared" / "data")
SCHOOL = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc",
    "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]  # fmt: skip
TESTDATA = "urbrur roof walls water electcon relat sex hhcivil age expend income savings"
# File, delimiter, columns, how many of them are numbers (the last ones), the one that a regression explains.
FILES = {
    "persons": (
        ROOT / "examples" / "persons.csv", ",",
        ["sex", "region", "marital", "household_size", "age", 'net "income"', "moved_in"], 3, 'net "income"',
    ),
    "testdata": (DATA / "testdata.csv", ",", TESTDATA.split(), 4, "age"),
    "mikrozensus": (
        DATA / "mikrozensus2010.csv", ",", ["EF1", "EF29", "EF31", "EF46", "EF49", "EF75", "EF20", "EF44"], 2, "EF44"
    ),
    "adult": (
        DATA / "adult" / "adult.csv", ";",
        ["sex", "race", "marital-status", "native-country", "workclass", "occupation", "salary-class", "age",
         "education"], 2, "age",
    ),
}  # fmt: skip


# Columns that are made categories of equally many records, and those that stay numbers; the last explains the others.
IN_PARTS = {
    "tarragona": (
        {"SALES": 5, "LABOR.COSTS": 4, "PAID.UP.CAPITAL": 4, "TREASURY": 3},
        ["CURRENT.ASSETS", "SHORT.TERM.DEBT", "DEPRECIATION", "FIXED.ASSETS"],
    ),
    "eia": (
        {"RESSALES": 5, "COMSALES": 5, "INDSALES": 4, "OTHRSALES": 3},
        ["RESREVENUE", "COMREVENUE", "INDREVENUE", "TOTREVENUE"],
    ),
}  # fmt: skip
FURTHER = (*IN_PARTS, "households", "panel")
"""Files that no price was chosen by: companies, utilities, the households of testdata, and persons drawn at random."""


def read(name):
    """Return the names, the nominal values and the numbers of a file, and how many of its columns are nominal."""
    if name in IN_PARTS:
        return _in_parts(name)
    if name in FURTHER:
        return {"households": _households, "panel": _panel}[name]()
    path, delimiter, columns, numbers, target = FILES[name]
    table = [[row[column] for column in columns] for row in _lines(path, delimiter)]
    if name == "adult":
        table = [[*row[:-1], str(1 + SCHOOL.index(row[-1]))] for row in table]
    return columns, table, len(columns) - numbers, columns.index(target)


def _lines(path, delimiter=","):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter=delimiter))


def _in_parts(name):
    rows = _lines(DATA / f"{name}.csv")
    parts, numbers = IN_PARTS[name]
    columns = []
    for column, many in parts.items():
        values = np.array([float(row[column]) for row in rows])
        cuts = np.unique(np.quantile(values, np.linspace(0, 1, many + 1)[1:-1]))
        columns.append([f"part {at}" for at in np.searchsorted(cuts, values, "right")])
    columns += [[row[column] for row in rows] for column in numbers]
    return [*parts, *numbers], list(zip(*columns, strict=True)), len(parts), len(parts) + len(numbers) - 1


def _households():
    """Return the households of testdata by the first person listed: the dwelling, persons, and the numbers of money."""
    first, persons = {}, {}
    for row in _lines(DATA / "testdata.csv"):
        first.setdefault(row["ori_hid"], row)
        persons[row["ori_hid"]] = persons.get(row["ori_hid"], 0) + 1
    columns = ["urbrur", "roof", "walls", "water", "electcon", "sex", "persons", "age", "expend", "income", "savings"]
    table = [[{**row, "persons": str(persons[one])}[column] for column in columns] for one, row in first.items()]
    return columns, table, 7, 9


def _panel(rows=8_000):
    """Return persons drawn at random: skewed incomes and rents that depend on region, work and school."""
    rng = np.random.default_rng(20)
    region = np.minimum(rng.geometric(0.15, rows), 16)
    school = np.clip(rng.normal(2.5 - region / 16, 1, rows).round(), 0, 4).astype(int)
    age = rng.integers(18, 91, rows)
    work = np.where(rng.random(rows) < np.where(age < 65, 0.25, 0.9), 0, 1 + rng.poisson(1 + school / 2, rows) % 7)
    alone = rng.random(rows) < 0.2 + age / 200
    income = np.where(work == 0, 600, np.exp(rng.normal(7 + 0.15 * school + 0.05 * work, 0.5, rows))).round()
    rent = (250 + 0.2 * income * rng.uniform(0.5, 1.5, rows) + 20 * (16 - region)).round()
    columns = ["region", "school", "work", "alone", "sex", "age", "rent", "income"]
    values = [
        region,
        school,
        work,
        alone.astype(int),
        rng.integers(0, 2, rows),
        age,
        rent.astype(int),
        income.astype(int),
    ]
    return columns, [[str(one) for one in row] for row in zip(*(v.tolist() for v in values), strict=True)], 5, 7


def in_numbers(values):
    """Return a column as numbers; days of dates."""
    values = list(values)
    if "-" in values[0][1:]:
        return np.array(values, dtype="datetime64[D]").astype(float)
    return np.array(values, dtype=float)


def quoted(names):
    return ",".join('"' + name.replace('"', '""') + '"' for name in names)
