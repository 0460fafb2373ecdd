"""The matrix: every method with every pair of what can be asked beside it, on one table of visits."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from command import run
from databases import insert, opened

import sqlmicro
from matrix.naive import Promise, Row, broken, broken_together

K = 3
ROW = "tag"
"""Tells the rows of a release apart, so that they can be compared with the original: it is released as it is."""
SEED = ("--seed", "7")
DRAWN = ("noise", "pram", "swap", "shuffle", "sample")
"""Methods whose nights draw by the secret that lasts."""


@dataclass(frozen=True)
class Way:
    """A method as it is called, and what it promises alone: k of all columns (record), of each (column), or none."""

    name: str
    arguments: tuple[str, ...]
    columns: tuple[str, ...]
    promise: str = "record"
    all_rows: bool = True

    @property
    def nulls(self) -> bool:
        """Whether there is an option for missing values; else they are values as others are."""
        return self.name in (
            "safe",
            *GROUPS,
            "individual-ranking",
            "optimal-univariate",
            "secure-k-ward",
            "split-group",
        )


NUMBERS = ("age", "cost")
GROUPS = (
    "k-ward", "kanonymeans", "kanonymeans-star", "max-distance", "mdav", "mdav-plus", "mdav-star", "mhm",
    "microaggregate", "mona", "ona-star", "recursive-k-ward", "single-axis", "v-mdav",
)  # fmt: skip
WAYS = (
    *(Way(name, ("--columns", "age,cost", "--k", str(K)), NUMBERS) for name in GROUPS),
    *(
        Way(name, ("--columns", "age,cost", "--k", str(K)), NUMBERS, "column")
        for name in ("individual-ranking", "optimal-univariate")
    ),
    Way("secure-k-ward", ("--columns", "age,cost", "--k", str(K)), NUMBERS, "record"),
    Way("split-group", ("--columns", "age,cost", "--k", str(2 * K)), NUMBERS, "none"),
    Way("safe", ("--columns", "age,ward", "--effort", "fast", "--k", str(K)), ("age", "ward")),
    Way("mondrian", ("--columns", "age,ward", "--k", str(K)), ("age", "ward")),
    Way("generalize", ("--columns", "age", "--width", "age=20", "--until-k", str(K)), ("age",)),
    Way("generalize --local", ("--columns", "age", "--width", "age=20", "--until-k", str(K), "--local"), ("age",)),
    Way("suppress", ("--columns", "age,ward", "--k", str(K)), ("age", "ward")),
    Way("noise", ("--columns", "cost", "--amount", "0.1"), ("cost",), "none"),
    Way("pram", ("--columns", "ward", "--keep-probability", "0.8"), ("ward",), "none"),
    Way("swap", ("--columns", "cost", "--percent", "5"), ("cost",), "none"),
    Way("shuffle", ("--columns", "cost"), ("cost",), "none"),
    Way("top-code", ("--columns", "cost", "--quantile", "0.9"), ("cost",), "none"),
    Way("constant", ("--columns", "ward"), ("ward",), "none"),
    Way("sample", ("--fraction", "0.5"), (), "none", all_rows=False),
)


PAIRED = (
    "mdav", "microaggregate", "individual-ranking", "safe", "mondrian", "generalize --local", "suppress", "noise",
    "swap",
)  # fmt: skip
"""Methods of which all pairs are made; the others go the way of one of these, and are made with each thing alone."""


@dataclass(frozen=True)
class Asked:
    """Something that can be asked of a release, and the arguments that ask for it."""

    name: str
    arguments: tuple[str, ...] = ()
    group: str = ""
    """Of one group only one can be asked at a time."""


CORE = (
    Asked("strata", ("--by", "region")),
    Asked("person", ("--person", "patient_id"), "unit"),
    Asked("household", ("--household", "household_id", "--columns", "rent"), "unit"),
    Asked("nulls keep", ("--nulls", "keep"), "nulls"),
    Asked("nulls pattern", ("--nulls", "pattern"), "nulls"),
    Asked("nulls suppress", ("--nulls", "suppress"), "nulls"),
    Asked("l", ("--sensitive", "diagnosis", "--min-l", "2")),
    Asked("t", ("--sensitive", "diagnosis", "--max-t", "0.7")),
    Asked("series", ("--row-key", "visit_id", "--series", "nightly")),
    Asked("in place", ("--in-place",), "target"),
)
ROUND = (
    Asked("weights", ("--weights", "weight")),
    Asked("series keeping a column", ("--row-key", "visit_id", "--series", "nightly")),
    Asked("two threads", ("--threads", "2")),
    Asked("to a file", group="target"),
    Asked("another database", group="target"),
    Asked("an earlier release"),
    Asked("job file"),
    Asked("python"),
)
TRIPLES = (
    ("person", "nulls keep", "l"),
    ("person", "nulls pattern", "l"),
    ("person", "series", "nulls keep"),
    ("person", "series keeping a column"),
    ("household", "series keeping a column"),
)
BY_NAME = {asked.name: asked for asked in (*CORE, *ROUND)}


@dataclass(frozen=True)
class Cell:
    """One combination: a method, and what is asked beside it."""

    way: Way
    asked: tuple[Asked, ...]

    @property
    def title(self) -> str:
        """Return how the cell is called in the table."""
        return f"{self.way.name} | {' + '.join(asked.name for asked in self.asked) or 'alone'}"

    def asks(self, name: str) -> bool:
        """Tell whether this is asked."""
        return any(asked.name == name for asked in self.asked)

    def has(self, name: str) -> bool:
        """Tell whether something is asked whose name begins so."""
        return any(asked.name.startswith(name) for asked in self.asked)


def cells(ways: Sequence[Way] = WAYS) -> Iterator[Cell]:
    """Return every method alone and with each thing; some with all pairs of the core, and with the named triples."""
    for way in ways:
        yield Cell(way, ())
        for asked in (*CORE, *ROUND):
            yield Cell(way, (asked,))
        for pair in combinations(CORE, 2) if way.name in PAIRED else ():
            if not pair[0].group or pair[0].group != pair[1].group:
                yield Cell(way, pair)
        for names in TRIPLES if way.name in PAIRED else ():
            yield Cell(way, tuple(BY_NAME[name] for name in names))


def records(night: int = 1, *, several: bool = False, missing: bool = False) -> list[Row]:
    """Return persons in households of two, with one visit each or several; on the second night some left, others came.

    There are 240 records on the first night.
    """
    draw = random.Random(11)
    rows: list[Row] = []
    first, last, many = (80, 110, 3) if several else (240, 330, 1)
    for person in range(last):
        age, weight = draw.randrange(20, 80), draw.choice([1.0, 1.5, 2.0])
        for number in range(many):
            row = {
                ROW: 10_000 + 10 * person + number,
                "visit_id": 50_000 + 10 * person + number,
                "patient_id": 500 + person,
                "household_id": 900 + person // 2,
                "region": ("north", "south")[person // 2 % 2],
                "rent": 300 + 50 * (person // 2 % 17),
                "age": None if missing and person % 11 == 4 else age,
                "cost": draw.randrange(100, 40_000) / 10,
                "ward": draw.choice(["A", "B", "C"]),
                "diagnosis": draw.choice(["flu", "cold", "burn", "fall"]),
                "weight": weight,
            }
            if draw.random() < 0.06 and missing:
                row["ward"] = None
            if person < first if night == 1 else person >= first // 20:
                rows.append(row)
    return rows


TYPES = (
    "tag INTEGER, visit_id INTEGER, patient_id INTEGER, household_id INTEGER, region VARCHAR, rent INTEGER, "
    "age INTEGER, cost DOUBLE, ward VARCHAR, diagnosis VARCHAR, weight DOUBLE"
)


def promised(cell: Cell) -> Promise:
    """Return what must hold of the release of a cell."""
    way, strata = cell.way, ("region",) if cell.asks("strata") else ()
    columns = (*way.columns, *(["rent"] if cell.asks("household") else []))
    classes = {"record": ((*columns, *strata),), "column": tuple((column,) for column in columns), "none": ()}[
        way.promise
    ]
    limited = cell.asks("l") or cell.asks("t")
    # In a night every record has a class of its own: k counts households, and nothing is kept constant within one.
    homes = cell.asks("household") and bool(classes) and not cell.has("series")
    whose = {"person": "patient_id", **({"household": "household_id"} if cell.has("series") else {})}
    kept = (ROW, *strata, *(["weight"] if cell.asks("weights") and way.name != "safe" else []))
    return Promise(
        row=None if cell.asks("series") else ROW,
        k=K if classes else None,
        unit=None if cell.asks("series") else next((whose[name] for name in whose if cell.asks(name)), None),
        classes=classes,
        units_of={("rent",): "household_id"} if homes else {},
        within=strata if way.promise == "record" else (),
        kept=() if cell.asks("series") else (*kept, *(["diagnosis"] if limited else [])),
        sensitive="diagnosis" if limited and classes else None,
        l=2 if cell.asks("l") else None,
        t=0.7 if cell.asks("t") else None,
        constant=(("rent", "household_id"),) if homes else (),
        gone=() if cell.asks("in place") else ("visit_id", "patient_id", "household_id"),
        all_rows=way.all_rows and not cell.has("nulls suppress") and not cell.has("series"),
    )


@dataclass(frozen=True)
class Result:
    """What came of a cell: `works` with a hash of the rows, `refused` with what was said, or `wrong` with why."""

    title: str
    kind: str
    text: str

    @property
    def line(self) -> str:
        """Return the line of the table."""
        return f"{self.title} | {self.kind} | {self.text}"


def result(cell: Cell, folder: Path) -> Result:
    """Make the release of a cell in an empty folder, and check all of it."""
    missing, nights = cell.has("nulls"), (1, 2) if cell.has("series") else (1,)
    before = [records(night, several=cell.asks("person"), missing=missing) for night in nights]
    released: list[list[Row]] = []
    for night, rows in zip(nights, before, strict=True):
        _write(folder / "w.duckdb", rows)
        if cell.asks("another database"):
            with opened(folder / "other.duckdb"):
                pass
        if cell.asks("an earlier release"):
            earlier = run(*_command(cell, folder, "before"))
            if earlier.returncode:
                return Result(cell.title, "refused", f"the earlier release: {_said(earlier.stderr, folder)}")
        said = _release(cell, folder, night)
        if said:
            return Result(cell.title, "refused", said)
        released.append(_rows(cell, folder))
    everybody = list({row[ROW]: row for rows in before for row in rows}.values())
    # A seat keeps what was kept of who has left: a series is held against all who were ever there.
    against = [everybody] * len(before) if cell.has("series") else before
    promise = promised(cell)
    wrong = [line for rows, after in zip(against, released, strict=True) for line in broken(promise, rows, after)]
    for columns in promise.classes if cell.asks("series keeping a column") else ():
        wrong += broken_together(promise, everybody, released, columns)
    if wrong:
        return Result(cell.title, "wrong", "; ".join(dict.fromkeys(wrong)))
    return Result(cell.title, "works", _hash(released))


def _write(database: Path, rows: Sequence[Row]) -> None:
    with opened(database) as con:
        con.execute("DROP TABLE IF EXISTS visits")
        con.execute(f"CREATE TABLE visits ({TYPES})")
        insert(con, "visits", [tuple(row.values()) for row in rows])


def _release(cell: Cell, folder: Path, night: int) -> str:
    """Make a release, and return why it was refused, if it was."""
    words = _command(cell, folder, "released", night)
    if cell.asks("job file"):
        (folder / "job.toml").write_text(_job(words))
        words = ["run", str(folder / "job.toml")]
    if cell.asks("python"):
        try:
            getattr(sqlmicro, words[0].replace("-", "_"))(**_settings(words[1:]))
        except sqlmicro.SqlmicroError as error:
            return _said(f"error: {error}", folder)
        return ""
    done = run(*words)
    return f"{done.returncode}: {_said(done.stderr, folder)}" if done.returncode else ""


def _command(cell: Cell, folder: Path, into: str, night: int = 1) -> list[str]:
    """Return the words of the command line; of columns that several words name, all are named once."""
    words = [*cell.way.name.split(), "--db", str(folder / "w.duckdb"), "--table", "visits", *cell.way.arguments]
    weights = cell.asks("weights")
    if not cell.asks("series"):
        words += ["--keep", f"{ROW},weight" if weights and cell.way.name != "safe" else ROW, "--accept-unique", ROW]
    words += ["--rest", "drop", *([] if cell.has("series") and cell.way.name in DRAWN else SEED)]
    for asked in cell.asked:
        if not (
            (asked.name == "weights" and cell.way.name != "safe") or (asked.group == "nulls" and not cell.way.nulls)
        ):
            words += asked.arguments
    if cell.asks("l") and cell.asks("t"):
        at = words.index("--sensitive")
        del words[at : at + 2]
    if cell.asks("to a file"):
        return [*words, "--to", str(folder / "released.parquet")]
    if cell.asks("another database"):
        return [*words, "--attach", f"other={folder / 'other.duckdb'}", "--into", f"other.main.{into}"]
    if cell.asks("in place"):
        return words
    return [*words, "--into", into, *(["--overwrite"] if night > 1 else [])]


FRACTIONS = ("amount", "quantile", "fraction", "keep_probability", "percent")


def _settings(words: Sequence[str]) -> dict[str, object]:
    """Return the settings of a call in Python, from the words of the command line without its name."""
    found: dict[str, object] = {}
    for number, word in enumerate(words):
        if not word.startswith("--"):
            continue
        value = words[number + 1] if number + 1 < len(words) and not words[number + 1].startswith("--") else None
        name = word[2:].replace("-", "_")
        if value is None:
            found[name] = True
        elif name in ("columns", "keep", "accept_unique", "width"):
            found[name] = value.split(",")
        else:
            found[name] = float(value) if name in FRACTIONS else int(value) if name in ("k", "until_k") else value
    return found


def _job(words: Sequence[str]) -> str:
    """Return the job file that says what the words of a command say."""
    settings = _settings(words[1:])
    top = {name: settings.pop(name) for name in ("db", "table", "keep", "accept_unique", "rest", "seed")}
    publish = {"do": "publish", "into": settings.pop("into")}
    lines = [f"{name} = {json.dumps(value)}" for name, value in top.items()]
    for step in ({"do": words[0], **settings}, publish):
        lines += ["[[step]]", *(f"{name} = {json.dumps(value)}" for name, value in step.items())]
    return "\n".join(lines) + "\n"


def _rows(cell: Cell, folder: Path) -> list[Row]:
    """Return the rows that were released."""
    places = {"to a file": f"'{folder / 'released.parquet'}'", "in place": "visits"}
    source = next((place for name, place in places.items() if cell.asks(name)), "released")
    with opened(folder / ("other.duckdb" if cell.asks("another database") else "w.duckdb")) as con:
        found = con.sql(f"SELECT * FROM {source} ORDER BY ALL")
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def _hash(nights: Sequence[Sequence[Row]]) -> str:
    text = repr([[sorted(row.items()) for row in rows] for rows in nights])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _said(stderr: str, folder: Path) -> str:
    """Return the error, without what differs from one machine to another."""
    lines = stderr.replace(str(folder), "FOLDER").splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("error")), 0)
    text = " ".join(" ".join(lines[start:]).split()).removeprefix("error: ")
    text = re.sub(r"^.*(No such option: \S+).*$", r"\1", text)
    return re.sub(r"\d+", "N", re.sub(r"[│─╭╮╰╯]+ *", "", text))[:150].strip()
