"""Every method that promises k keeps k persons: counted in plain Python from what was published.

Each case is a random table; a release has many of them, as strata. SQLMICRO_PERSON_TABLES=2000 says how many for every
method; without it there are a few in the quick suite, and more where HYPOTHESIS_PROFILE is `ci`.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from pathlib import Path

import pytest
from looping import each

from sqlmicro.errors import InputError
from sqlmicro.registry import methods

INCOME = 'net "income"'
MANY = int(os.environ.get("SQLMICRO_PERSON_TABLES", 15 if os.environ.get("HYPOTHESIS_PROFILE") == "ci" else 3))
IN_ONE_RELEASE = 250
ALONE = ("safe",)
"""What refuses a table whose classes cannot keep k persons, whoever sits where: each table is a release of its own."""
SETTINGS = {
    "generalize": {"width": [f"{name}={w}" for name in ("age", INCOME) for w in (5, 20)], "suppress_up_to": 0.4},
    "microaggregate": {"quality": "fast"},
    "kanonymeans-star": {"generations": 20},
}
QUICKLY = ("mdav", "individual-ranking", "generalize", "mondrian", "suppress", "safe", "apply-recoding")
NAMED = [name for name, one in methods().items() if one.keeps_guarantees and one.setting("k")]
KEYS = ("VARCHAR", "BIGINT", "HUGEINT", "UUID", "composite", "ENUM")


def settings_of(name, workbench, db, person, k):
    """Return the settings of a method; a recoding is that of a release of other persons' k."""
    if name != "apply-recoding":
        return SETTINGS.get(name, {})
    path = f"{db}.json"
    given = {"columns": ["age", INCOME], "by": ["t"], "person": person, "seed": "of a recoding", "k": k}
    workbench.release("mondrian", db, keep=["row"], recoding_to=path, **given)
    return {"recoding": path, "withhold": True}


def key_of(person, kind):
    """Return the parts of a key of the persons, of which each is a column."""
    if person is None:
        return (None, None)
    number = 10**11 + 7 * person
    if kind == "composite":
        return (f"site {person % 3}", number + person // 3)
    texts = {"UUID": f"00000000-0000-4000-8000-{number}", "BIGINT": number, "HUGEINT": f"{number}{number}"}
    return (texts.get(kind, f"p{number}"), 0)


def tables(many, k, seed, kind):
    """Return random tables as strata of one: rows of persons who have several, some of nobody."""
    draw = random.Random(f"{seed} {k} {kind}")
    rows = []
    for table in range(many):
        persons = k + draw.randrange(9)
        rest = draw.randrange(2 * persons) + (draw.random() < 0.2) * 10 * persons
        of = [*range(persons), *(int(persons * draw.random() ** 2) for _ in range(rest))]
        like = draw.random() < 0.5  # rows of a person lie beside each other
        few = draw.choice((3, 9, 60))
        for person in of:
            at = random.Random(f"{seed} {table} {person}").randrange(90) if like else draw.randrange(90)
            nobody = person >= k and draw.random() < 0.1
            rows.append((table, None if nobody else person, at % few + draw.randrange(2), draw.randrange(few)))
    draw.shuffle(rows)
    return rows


def made(workbench, rows, kind):
    """Write the tables; return the database and the columns that say whose record it is."""
    numbers = {}
    keys = [key_of(None if person is None else numbers.setdefault((table, person), len(numbers)), kind)
            for table, person, *_ in rows]  # fmt: skip
    listed = sorted({first for first, _ in keys if first is not None})
    kinds = {"composite": "VARCHAR", "ENUM": "ENUM (" + ", ".join(f"'{one}'" for one in listed) + ")"}
    table = {
        "row": ("INTEGER", list(range(len(rows)))), "t": ("INTEGER", [row[0] for row in rows]),
        "who": (kinds.get(kind, kind), [first for first, _ in keys]),
        "age": ("INTEGER", [row[2] for row in rows]), INCOME: ("INTEGER", [row[3] for row in rows]),
    }  # fmt: skip
    if kind == "composite":
        table["who_else"] = ("BIGINT", [second for _, second in keys])
    return workbench.make(table), ["who", *(["who_else"] if kind == "composite" else [])]


def fewest(release, rows, by_column):
    """Return the fewest persons of a class, over all columns or over each; rows of nobody are those of one person."""
    found = defaultdict(set)
    for number, table, *values in release.records(["row", "t", "age", INCOME]):
        classes = enumerate(values) if by_column else [("both", tuple(values))]
        for name, value in classes:
            found[table, name, value].add(rows[number][1])
    return min(map(len, found.values()))


@pytest.mark.slow_but(*QUICKLY[:3])
@pytest.mark.parametrize("name", NAMED)
def test_every_class_of_every_method_has_k_persons(name, workbench):
    method, refused = methods()[name], 0
    together = 1 if name in ALONE else IN_ONE_RELEASE
    for start in range(0, MANY, together):
        draw = random.Random(f"{name} {start}")
        k, kind = draw.randint(2, 6), draw.choice(KEYS)
        rows = tables(min(together, MANY - start), k, f"{name} {start}", kind)
        db, person = made(workbench, rows, kind)
        given = {method.setting("k").name: k, **settings_of(name, workbench, db, person, k)}
        try:
            release = workbench.release(
                name, db, columns=["age", INCOME], by=["t"], keep=["row"], person=person, seed=str(start), **given
            )
        except InputError as error:
            assert name in ALONE and "whoever sits where" in str(error), error
            refused += 1
            continue
        finally:
            Path(db).unlink()
        assert fewest(release, rows, method.promise == "column") >= k, (k, kind, start)
        held = [row for row in release.report["audits"] if row["check"] == "persons" and row["threshold"]]
        assert held and all(row["passed"] and row["threshold"] == k for row in held)
    assert refused <= 0.5 * MANY, f"{refused} of {MANY} tables were refused"
    if MANY > 100:
        print(f"{name}: {MANY - refused} tables, 0 classes below k; {refused} refused", flush=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KEYS)
@each("name", QUICKLY[:-1])
def test_keys_of_any_type(name, kind, workbench):
    k = 2 if name in ALONE else 3
    rows = tables(1 if name in ALONE else 2, k, f"{name} of {kind}", kind)
    db, person = made(workbench, rows, kind)
    given = {methods()[name].setting("k").name: k, **SETTINGS.get(name, {})}
    release = workbench.release(
        name, db, columns=["age", INCOME], by=["t"], keep=["row"], person=person, seed="types", **given
    )
    assert fewest(release, rows, name == "individual-ranking") >= k
    nobody = sum(row[1] is None for row in rows)
    said = f"{nobody} record{'s' if nobody != 1 else ''} without a person: all of them count as one person"
    assert (said in release.report["notes"]) == bool(nobody)
    assert not {"who", "who_else"} & set(release.columns)
