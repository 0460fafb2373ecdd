"""The audits as macros, in a bare DuckDB connection without this program, against plain Python."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import insert, opened

import sqlmicro
from sqlmicro.audits import runner
from sqlmicro.database.templates import root

from . import naive, naive_persons

ODD = 'net "income"'
NAMES = ["land", 'net "income"', "n", "q", "cols", "tbl", "size"]


@pytest.fixture
def shell() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(runner.script())
        yield connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _table(shell: duckdb.DuckDBPyConnection, name: str, rows: list[tuple[Any, ...]]) -> None:
    columns = ", ".join(f"{_quoted(column)} VARCHAR" for column in NAMES)
    shell.execute(f"CREATE TABLE {name} ({columns})")
    insert(shell, name, rows)


def _rows(seed: int, n: int = 60) -> list[tuple[Any, ...]]:
    draw = random.Random(seed)
    return [tuple(draw.choice(["a", "b", "NULL", "", None, "it's"]) for _ in NAMES) for _ in range(n)]


@pytest.mark.parametrize("seed", range(4))
def test_macros_agree_with_plain_python(shell: duckdb.DuckDBPyConnection, seed: int) -> None:
    rows = _rows(seed)
    _table(shell, "release", rows)
    cols, sensitive = NAMES[: 1 + seed], "size"
    classes = Counter(row[: len(cols)] for row in rows)
    sizes = Counter(classes.values())
    assert shell.execute("FROM sm_class_sizes('release', $1)", [cols]).fetchall() == [
        (size, number, size * number) for size, number in sorted(sizes.items())
    ]
    k, count, records, uniques = shell.execute("FROM sm_k_anonymity('release', $1)", [cols]).fetchall()[0]
    assert (k, count, records, uniques) == (min(sizes), len(classes), len(rows), sizes[1])
    small = [size for size in classes.values() if size < 3]
    assert shell.execute("FROM sm_violations('release', $1, 3)", [cols]).fetchall() == [(len(small), sum(small))]
    highest, mean, share = shell.execute("FROM sm_risk('release', $1)", [cols]).fetchall()[0]
    assert (highest, mean, share) == pytest.approx((1 / min(sizes), len(classes) / len(rows), sizes[1] / len(rows)))
    inside = {key: Counter(row[-1] for row in rows if row[: len(cols)] == key) for key in classes}
    whole = Counter(row[-1] for row in rows)
    entropy = min(
        math.exp(-sum(c / sum(found.values()) * math.log(c / sum(found.values())) for c in found.values()))
        for found in inside.values()
    )
    values = {key: list(found.elements()) for key, found in inside.items()}
    for c in (2.0, 0.9):
        asked = "FROM sm_l_diversity('release', $1, $2, recursive_c := $3)"
        found = shell.execute(asked, [cols, sensitive, c]).fetchall()[0]
        recursive = min(naive.recursive(one, c) for one in values.values())
        assert found == (min(map(len, inside.values())), pytest.approx(entropy), recursive)
    everything = [row[-1] for row in rows]
    alpha = max(max(found.values()) / sum(found.values()) for found in inside.values())
    beta = max(naive.gain(one, everything) for one in values.values())
    found = shell.execute("FROM sm_likeness('release', $1, $2)", [cols, sensitive]).fetchall()[0]
    assert found == pytest.approx((alpha, beta))
    distance = max(
        sum(abs(found[s] / sum(found.values()) - whole[s] / len(rows)) for s in whole) / 2 for found in inside.values()
    )
    assert shell.execute("FROM sm_t_closeness('release', $1, $2)", [cols, sensitive]).fetchall()[0][0] == pytest.approx(
        distance
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_distance_of_numbers_is_that_of_plain_python(shell: duckdb.DuckDBPyConnection, seed: int) -> None:
    """Columns are called as those of the macro; some numbers are missing, zeros have two signs, one class has all."""
    draw = random.Random(seed)
    values = [None, 0.0, -0.0, 1.5, -2.0, 7.0, 1e300][: 2 + seed]
    kind = ["DOUBLE", "DECIMAL(9, 1)"][seed % 2 if seed < 5 else 0]
    rows = [(draw.choice("ab"), draw.choice(["x", None, "y"]), draw.choice(values)) for _ in range(50)]
    shell.execute(f"CREATE TABLE release (q VARCHAR, value VARCHAR, {_quoted(ODD)} {kind})")
    insert(shell, "release", rows)
    for cols in (["q"], ["q", "value"]):
        inside = defaultdict(list)
        for row in rows:
            inside[row[: len(cols)]].append(row[2])
        expected = max(naive.ordered_distance(one, [row[2] for row in rows]) for one in inside.values())
        found = shell.execute("FROM sm_ordered_t_closeness('release', $1, $2)", [cols, ODD]).fetchall()
        assert found == [(pytest.approx(expected),)]
    shell.execute("CREATE TABLE same AS SELECT 1 AS q, i % 3 AS s FROM range(9) r(i)")
    assert shell.execute("FROM sm_ordered_t_closeness('same', ['q'], 's')").fetchall() == [(pytest.approx(0),)]
    with pytest.raises(duckdb.Error, match=r"no such column|empty set of columns"):
        shell.execute("FROM sm_ordered_t_closeness('release', ['q'], 'nowhere')").fetchall()


@pytest.mark.parametrize("seed", range(4))
def test_macros_count_persons_as_plain_python_does(shell: duckdb.DuckDBPyConnection, seed: int) -> None:
    """The person is one column or two, missing in some records: these are of one person."""
    rows = _rows(seed, 30)
    _table(shell, "release", rows)
    cols, person = NAMES[:2], NAMES[4 : 5 + seed % 2]
    keys, whose = [row[:2] for row in rows], [row[4 : 5 + seed % 2] for row in rows]
    classes = naive_persons.classes(keys, whose)
    smallest = {
        who: min(found) for who, found in naive_persons.per_person(keys, whose, lambda key: len(classes[key])).items()
    }
    sizes, of = Counter(map(len, classes.values())), Counter(smallest.values())

    def asked(macro: str, *given: Any) -> list[tuple[Any, ...]]:
        marks = ", ".join(f"${place}" for place in range(1, len(given) + 1))
        return shell.execute(
            f"FROM {macro}('release', {marks}, person := ${len(given) + 1})", [*given, person]
        ).fetchall()

    assert asked("sm_class_sizes", cols) == [(size, number, of[size]) for size, number in sorted(sizes.items())]
    assert asked("sm_k_anonymity", cols) == [(min(sizes), len(classes), len(smallest), of[1])]
    below = sum(size < 3 for size in smallest.values())
    assert asked("sm_violations", cols, 3) == [(sum(n for size, n in sizes.items() if size < 3), below)]
    mean = sum(1 / size for size in smallest.values()) / len(smallest)
    assert asked("sm_risk", cols)[0] == pytest.approx((1 / min(sizes), mean, of[1] / len(smallest)))
    inside = {key: [row[-1] for row in rows if row[:2] == key] for key in classes}
    distinct = min(min(naive.distinct(inside[key]), len(members)) for key, members in classes.items())
    entropy = min(min(naive.entropy(inside[key]), len(members)) for key, members in classes.items())
    recursive = min(min(naive.recursive(inside[key], 2.0), len(members)) for key, members in classes.items())
    assert asked("sm_l_diversity", cols, "size")[0] == pytest.approx((distinct, entropy, recursive))
    for nobody in ["nobody"], ["nobody", "n"]:
        with pytest.raises(duckdb.Error, match=r"no such column|empty set of columns"):
            shell.execute("FROM sm_k_anonymity('release', $1, person := $2)", [cols, nobody]).fetchall()


def test_safe_distance_is_that_of_counts(shell: duckdb.DuckDBPyConnection) -> None:
    first, second = _rows(1), _rows(2, 50)
    _table(shell, "a", first)
    _table(shell, "b", second)
    cols = NAMES[:2]
    counts = [Counter(row[:2] for row in rows) for rows in (first, second)]
    differences = [abs(counts[0][key] - counts[1][key]) for key in counts[0] | counts[1]]
    found = shell.execute("FROM sm_safe_distance('a', 'b', $1)", [cols]).fetchall()[0]
    assert found == (
        len(differences),
        sum(map(bool, differences)),
        max(differences),
        pytest.approx(sum(differences) / 110),
    )
    assert shell.execute("FROM sm_safe_distance('a', 'a', $1)", [cols]).fetchall()[0][1:] == (0, 0, 0.0)


@pytest.mark.slow
def test_the_union_of_releases_is_that_of_plain_python(shell: duckdb.DuckDBPyConnection) -> None:
    """Releases of other columns and persons, with the key in other places; in two of them persons have several rows."""
    columns = {"a": ["id", "x", ODD], "b": [ODD, "other", "id"], "c": ["x", "id"]}
    for seed in range(8):
        draw, told = random.Random(seed), defaultdict[Any, set[tuple[Any, ...]]](set)
        for name, own in columns.items():
            rows = [
                [draw.choice([None, "a, b", "a"]) if column != "id" else str(draw.randrange(12)) for column in own]
                for _ in range(20)
            ]
            listed = ", ".join(f"{_quoted(column)} VARCHAR" for column in own)
            shell.execute(f"CREATE OR REPLACE TABLE {name} ({listed})")
            insert(shell, name, rows)
            for row in rows:
                values = dict(zip(own, row, strict=True))
                told[values["id"]].add((name, *(values[one] for one in ("x", ODD) if one in values)))
        alike = Counter(frozenset(found) for found in told.values())
        expected = (min(alike.values()), len(told), sum(n for n in alike.values() if n == 1))
        given = [list(columns), ["x", ODD], "id"]
        assert shell.execute("FROM sm_union_k($1, $2, $3)", given).fetchall() == [expected]
        assert (
            shell.execute("FROM sm_union_k(['a', 'a'], $1, 'id')", [["x", ODD]]).fetchall()
            == shell.execute("FROM sm_union_k(['a'], $1, 'id')", [["x", ODD]]).fetchall()
        )
    for wrong in "['a'], ['x'], 'ids'", "['b', 'c'], ['x', 'nowhere'], 'id'", "['b'], ['x'], 'id'":
        with pytest.raises(duckdb.Error, match=r"no table has such a column|empty set of columns"):
            shell.execute(f"FROM sm_union_k({wrong})")
    with pytest.raises(duckdb.Error, match="more than 8 releases"):
        shell.execute("FROM sm_union_k($1, ['x'], 'id')", [["a"] * 9])


def test_what_the_output_tells_apart_is_counted_apart(shell: duckdb.DuckDBPyConnection) -> None:
    shell.execute("""CREATE TABLE tricky AS SELECT * FROM (VALUES
        ('Bob' COLLATE NOCASE, 0.0::DOUBLE, INTERVAL 1 MONTH), ('BOB', -0.0::DOUBLE, INTERVAL 30 DAY))
        AS t(name, x, s)""")
    for column in ("name", "x", "s"):
        assert shell.execute("FROM sm_k_anonymity('tricky', $1)", [[column]]).fetchall()[0][:2] == (1, 2)


@pytest.mark.parametrize("macro", ["sm_class_sizes", "sm_k_anonymity"])
def test_names_are_looked_up_and_never_run(shell: duckdb.DuckDBPyConnection, macro: str) -> None:
    _table(shell, "release", _rows(0, 5))
    for table in ("release; DROP TABLE release", "release WHERE false", "(SELECT 1)", '"release" --'):
        with pytest.raises(duckdb.Error):
            shell.execute(f"FROM {macro}($1, ['land'])", [table]).fetchall()
    with pytest.raises(duckdb.Error, match="no such column"):
        shell.execute(f"FROM {macro}('release', ['land', 'nowhere'])").fetchall()
    assert shell.execute("SELECT count(*) FROM release").fetchall() == [(5,)]


def test_the_command_installs_them(workbench: Any) -> None:
    db = workbench.make({"x": ("INTEGER", [1, 1, 2])})
    found = sqlmicro.macros(db=db)
    assert len(found["macros"]) == len(runner.ORDER)
    with opened(db, read_only=True) as connection:
        assert connection.execute("FROM sm_k_anonymity('records', ['x'])").fetchall() == [(1, 2, 3, 1)]
    sqlmicro.macros(db=db)
    assert sqlmicro.macros(print=True)["script"] == runner.script()
    with pytest.raises(sqlmicro.SqlmicroError, match="a database file is needed"):
        sqlmicro.macros()


def test_every_file_is_a_macro_and_in_the_index() -> None:
    assert sorted(runner.ORDER) == sorted(path.stem for path in (root() / "macros").glob("*.sql"))
    index = (root() / "README.md").read_text(encoding="utf-8")
    for call, title, _ in runner.definitions():
        assert f"| `{call}` | {title} |" in index


def test_a_released_file_is_audited_by_a_view(shell: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    shell.execute(f"COPY (SELECT i % 2 AS x FROM range(6) t(i)) TO '{path}'")
    shell.execute(f"CREATE VIEW release AS FROM '{path}'")
    assert shell.execute("FROM sm_k_anonymity('release', ['x'])").fetchall() == [(3, 2, 6, 0)]
