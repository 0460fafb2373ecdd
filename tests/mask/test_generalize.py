"""Generalization: rules by hand, and the lattice against all nodes counted naively."""

from __future__ import annotations

import datetime
import itertools
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import run
from world import refused, release, warehouse

from sqlmicro import SqlmicroError

PEOPLE = {
    "age": ("INTEGER", [19, 20, 34, None, 65, 66]),
    "zip": ("VARCHAR", ["10115", "10117", "20095", "80331", None, "8"]),
    "born": ("DATE", [datetime.date(2000, 1, 31), datetime.date(2000, 2, 1), datetime.date(1999, 12, 31), None,
                      datetime.date(1950, 7, 4), datetime.date(1950, 7, 9)]),
    "id": ("INTEGER", [0, 1, 2, 3, 4, 5]),
}  # fmt: skip


def _by_id(release: Any, name: str) -> list[Any]:
    return [value for _, value in sorted(zip(release.columns["id"], release.columns[name], strict=True))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "options", "expected"),
    [
        ("age", {"width": ["age=20"]}, ["[0, 20)", "[20, 40)", "[20, 40)", None, "[60, 80)", "[60, 80)"]),
        ("age", {"breaks": ["age=20;66"]}, ["< 20", "[20, 66)", "[20, 66)", None, "[20, 66)", ">= 66"]),
        ("age", {"width": ["age=20"], "bins_as": "midpoint"}, [10.0, 30.0, 30.0, None, 70.0, 70.0]),
        ("age", {"width": ["age=5", "age=40"], "level": ["age=2"]}, ["[0, 40)"] * 3 + [None] + ["[40, 80)"] * 2),
        ("age", {"width": ["age=5"], "level": ["age=0"]}, [19, 20, 34, None, 65, 66]),
        ("zip", {"prefix": ["zip=2"]}, ["10***", "10***", "20***", "80***", None, "8"]),
        ("born", {"truncate": ["born=year"]}, [datetime.date(y, 1, 1) if y else None
                                               for y in (2000, 2000, 1999, None, 1950, 1950)]),
        ("born", {"breaks": ["born=2000-01-01"]},
         [">= 2000-01-01"] * 2 + ["< 2000-01-01", None] + ["< 2000-01-01"] * 2),
    ],
)  # fmt: skip
def test_rules(workbench: Any, column: str, options: dict[str, Any], expected: list[Any]) -> None:
    table = {name: PEOPLE[name] for name in (column, "id")}
    release = workbench.release("generalize", workbench.make(table), columns=[column], keep=["id"], **options)
    assert _by_id(release, column) == expected
    assert release.report["promise"] == ["masked"]


@pytest.mark.slow
def test_a_hierarchy_comes_from_csv_or_toml(workbench: Any, tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text(
        "10115;Berlin;north\n10117;Berlin;north\n20095;Hamburg;north\n80331;Munich;south\n8;Munich;south\n"
    )
    (tmp_path / "zip.toml").write_text(
        '[[level]]\nBerlin = ["10115", "10117"]\nHamburg = ["20095"]\nMunich = ["80331", "8"]\n'
        '[[level]]\nnorth = ["Berlin", "Hamburg"]\nsouth = ["Munich"]\n'
    )
    db = workbench.make({name: PEOPLE[name] for name in ("zip", "id")})
    for file in ("zip.csv", "zip.toml"):
        given = {"columns": ["zip"], "keep": ["id"], "hierarchy": [f"zip={tmp_path / file}"]}
        first = workbench.release("generalize", db, **given)
        assert _by_id(first, "zip") == ["Berlin", "Berlin", "Hamburg", "Munich", None, "Munich"]
        second = workbench.release("generalize", db, level=["zip=2"], **given)
        assert _by_id(second, "zip") == ["north"] * 3 + ["south", None, "south"]


def _naive_best(
    rows: list[tuple[Any, ...]], ladders: list[list[Callable[[Any], Any]]], k: int, allowed: int
) -> tuple[float, int]:
    """Count every node; return the least loss and the records suppressed there."""
    shares = []
    for c, levels in enumerate(ladders):
        domain = {row[c] for row in rows}
        shares.append([
            {value: (sum(f(other) == f(value) for other in domain) - 1) / max(len(domain) - 1, 1) for value in domain}
            for f in levels
        ])  # fmt: skip
    best = (2.0, 0)
    for node in itertools.product(*(range(len(levels)) for levels in ladders)):
        recoded = [tuple(ladders[c][level](row[c]) for c, level in enumerate(node)) for row in rows]
        sizes = Counter(recoded)
        below = sum(size for size in sizes.values() if size < k)
        if below <= allowed:
            loss = sum(
                sum(shares[c][level][row[c]] for c, level in enumerate(node)) / len(node) if sizes[new] >= k else 1.0
                for row, new in zip(rows, recoded, strict=True)
            ) / len(rows)
            best = min(best, (round(loss, 9), below))
    return best


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_best_node_is_that_of_all_nodes_counted(workbench: Any, seed: int) -> None:
    draw = random.Random(seed)
    n, k, share = 60, 2 + seed % 3, (0.0, 0.05)[seed % 2]
    rows = [(draw.randrange(40), draw.choice(["aa", "ab", "ba", "bb", None]), draw.randrange(3)) for _ in range(n)]
    table = {
        "age": ("INTEGER", [row[0] for row in rows]), "code": ("VARCHAR", [row[1] for row in rows]),
        "sex": ("INTEGER", [row[2] for row in rows]),
    }  # fmt: skip
    release = workbench.release(
        "generalize", workbench.make(table), columns=["age", "code", "sex"], width=["age=5", "age=10", "age=20"],
        prefix=["code=1"], until_k=k, suppress_up_to=share,
    )  # fmt: skip
    ladders: list[list[Callable[[Any], Any]]] = [
        [lambda x: x, lambda x: x // 5, lambda x: x // 10, lambda x: x // 20, lambda x: "*"],
        [lambda x: x, lambda x: x and x[0] + "*", lambda x: "*"],
        [lambda x: x, lambda x: "*"],
    ]
    loss, below = _naive_best(rows, ladders, k, int(share * n))
    note = next(note for note in release.report["notes"] if note.startswith("granularity"))
    assert f"granularity {1 - loss:.3f}," in note
    assert release.report["suppressed"] == below
    assert min(Counter(release.records(["age", "code", "sex"])).values()) >= k
    assert release.report["promise"] == ["record"]


def test_strata_are_part_of_what_is_k_anonymous(workbench: Any) -> None:
    table = {"age": ("INTEGER", [1, 2, 11, 12]), "land": ("VARCHAR", ["a", "a", "b", "b"])}
    db = workbench.make(table)
    release = workbench.release("generalize", db, columns=["age"], by=["land"], width=["age=10"], until_k=2)
    assert Counter(release.records(["age", "land"])) == {("[0, 10)", "a"): 2, ("[10, 20)", "b"): 2}
    with pytest.raises(SqlmicroError, match="a stratum has fewer"):
        workbench.release("generalize", db, columns=["age"], by=["land"], width=["age=10"], until_k=3)


@pytest.mark.parametrize("local", [False, True])
def test_a_release_without_records_is_refused(workbench: Any, local: bool) -> None:
    db = workbench.make({"age": ("INTEGER", [1, 2, 3]), "ill": ("VARCHAR", ["a", "a", "b"])})
    given = {"columns": ["age"], "rest": "drop", "local": local, "suppress_up_to": 1.0}
    with refused("make every record occur 4 times"):
        workbench.release("generalize", db, until_k=4, **given)
    with pytest.raises(SqlmicroError, match="some levels must keep what was asked for"):
        workbench.release("generalize", db, until_k=2, sensitive=["ill"], min_l=3, **given)
    with pytest.raises(SqlmicroError, match="guarantees go with --until-k"):
        workbench.release("generalize", db, columns=["age"], width=["age=5"], sensitive=["ill"], min_l=2)


@pytest.mark.parametrize("local", [False, True])
def test_every_class_has_k_persons_and_keeps_what_was_asked_for(workbench: Any, local: bool) -> None:
    draw = random.Random(5)
    n = 300
    table = {
        'net "income"': ("INTEGER", [draw.choice([None, *range(30)]) for _ in range(n)]),
        "born": ("DATE", [datetime.date(2000, 1, 1) + datetime.timedelta(draw.randrange(900)) for _ in range(n)]),
        "ill": ("VARCHAR", [draw.choice(["a", "a", "b", "c", None]) for _ in range(n)]),
        "pay": ("DOUBLE", [draw.gauss(0, 1) for _ in range(n)]),
        "number": ("INTEGER", list(range(n))),
        "who": ("INTEGER", [draw.randrange(120) for _ in range(n)]),
    }
    names = ['net "income"', "born"]
    release = workbench.release(
        "generalize", workbench.make(table), columns=names, width=['net "income"=5', 'net "income"=10'],
        truncate=["born=month", "born=year"], until_k=4, suppress_up_to=0.1, local=local, person=["who"],
        sensitive=["ill", "pay"], min_l=2, max_t=0.35, keep=["number"],
    )  # fmt: skip
    classes: dict[Any, list[int]] = {}
    for *key, number in release.records([*names, "number"]):
        classes.setdefault(tuple(key), []).append(number)
    assert len(classes) > 3
    assert sum(map(len, classes.values())) >= 0.9 * n
    shares = {value: count / n for value, count in Counter(table["ill"][1]).items()}
    for numbers in classes.values():
        assert len({table["who"][1][i] for i in numbers}) >= 4
        own = Counter(table["ill"][1][i] for i in numbers)
        assert len(own) >= 2
        assert sum(abs(own[value] / len(numbers) - share) for value, share in shares.items()) / 2 <= 0.35 + 1e-9
    told = {(row["check"], *row["columns"][-1:]): row for row in release.report["audits"]}
    assert told["t-closeness", "pay"]["passed"]
    assert told["t-closeness", "ill"]["passed"]
    assert release.report["promise"] == ["record"]


def test_how_well_the_classes_predict_a_column_is_told(workbench: Any) -> None:
    # Classes of 3, 3 and 2: with the commonest value 3 + 2 + 1 of 9 are right, one is suppressed; x alone in 5.
    table = {
        "age": ("INTEGER", [1, 1, 1, 2, 2, 2, 3, 3, 9]),
        "pays": ("VARCHAR", ["x", "x", "x", "y", "y", "x", "x", None, "z"]),
    }
    given = {"columns": ["age"], "until_k": 2, "suppress_up_to": 0.2, "keep": ["pays"]}
    release = workbench.release("generalize", workbench.make(table), target="pays", **given)
    assert any(
        f"classification accuracy on pays {6 / 9:.4f} ({5 / 9:.4f} w" in note for note in release.report["notes"]
    )
    with pytest.raises(SqlmicroError, match="must be a column that is released as it is"):
        workbench.release("generalize", workbench.make(table), target="age", **given)


@pytest.mark.slow
def test_a_hierarchy_with_a_root_gets_no_other_and_counts_its_leaves(workbench: Any, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("a;ab;all\nb;ab;all\nc;cde;all\nd;cde;all\ne;cde;all\n")
    table = {"x": ("VARCHAR", ["a", "b", "c", "c", "c", None, None])}
    given = {"columns": ["x"], "hierarchy": [f"x={tmp_path / 'h.csv'}"], "rest": "drop"}
    one = workbench.release("generalize", workbench.make(table), until_k=2, **given)
    assert Counter(one.columns["x"]) == {"ab": 2, "cde": 3, None: 2}
    # 2 records at (2 - 1)/4, 3 at (3 - 1)/4; a missing value covers nothing else.
    assert any(f"loss {(2 * 0.25 + 3 * 0.5) / 7:.4f}," in note for note in one.report["notes"])
    whole = workbench.release("generalize", workbench.make(table), until_k=4, **given)
    assert Counter(whole.columns["x"]) == {"all": 7}
    assert any("x 2 of 2" in note for note in whole.report["notes"])
    mixed = workbench.release("generalize", workbench.make(table), until_k=2, local=True, **given)
    assert Counter(mixed.columns["x"]) == {"ab": 2, "c": 3, None: 2}


def test_a_share_may_be_a_percentage(workbench: Any) -> None:
    db = workbench.make({"age": ("INTEGER", [1] * 19 + [2])})
    given = ("generalize", "--db", db, "--table", "records", "--columns", "age", "--until-k", "2", "--into", "o")
    assert run(*given, "--suppress-up-to", "4.9%").returncode == 0
    assert set(workbench.read(db, "o")["age"]) == {"*"}
    assert run(*given, "--suppress-up-to", "5%", "--overwrite").returncode == 0
    assert workbench.read(db, "o")["age"] == [1] * 19
    for wrong in ("5 per cent", "105%", "-1%"):
        assert run(*given, "--suppress-up-to", wrong).returncode == 2


def test_a_date_that_became_text_is_released_as_text_and_masked_on(workbench: Any) -> None:
    table = {"born": PEOPLE["born"], "id": PEOPLE["id"]}
    release = workbench.release(
        "generalize", workbench.make(table), columns=["born"], rest="drop", breaks=["born=2000-01-01"], until_k=2,
        suppress_up_to=0.2,
    )  # fmt: skip
    assert Counter(release.columns["born"]) == {">= 2000-01-01": 2, "< 2000-01-01": 3}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "every column needs a rule. Got none for age, zip"),
        ({"width": ["age=0"]}, "must be a number above 0"),
        ({"width": ["age=x"]}, "must be a number above 0"),
        ({"width": ["zip=5"]}, "must be numbers or dates"),
        ({"width": ["nowhere=5"]}, "no column 'nowhere'"),
        ({"breaks": ["age=3;1"]}, "ascending"),
        ({"breaks": ["age="]}, "ascending"),
        ({"quantiles": ["age=1"]}, "at least 2"),
        ({"truncate": ["age=year"]}, "must be dates"),
        ({"prefix": ["zip=-1"]}, "number of characters"),
        ({"width": ["age=5"], "quantiles": ["age=4"]}, "levels of one kind"),
        ({"width": ["age=5"], "prefix": ["zip=1"], "level": ["age=2"]}, "a level from 0 to 1"),
        ({"width": ["age=5"], "prefix": ["zip=1"], "suppress_up_to": 0.1}, "goes with --until-k"),
        ({"width": ["age=5", "age=6"], "until_k": 2}, "level 2 must hold the classes of level 1 whole"),
        ({"width": ["age=5"], "level": ["age=1"], "until_k": 2}, "chosen by --until-k"),
        ({"hierarchy": ["zip=/nowhere.csv"]}, "there must be a hierarchy file"),
    ],
)
def test_what_does_not_fit_is_refused(workbench: Any, options: dict[str, Any], message: str) -> None:
    db = workbench.make({name: PEOPLE[name] for name in ("age", "zip", "id")})
    with refused(message, db):
        workbench.release("generalize", db, columns=["age", "zip"], rest="drop", **options)


def test_a_value_missing_from_a_hierarchy_is_counted_not_named(workbench: Any, tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("10115,Berlin\n")
    db = workbench.make({"zip": PEOPLE["zip"]})
    with refused("4 of the 6 values of 'zip' are not in it", db) as no:
        workbench.release("generalize", db, columns=["zip"], hierarchy=[f"zip={tmp_path / 'zip.csv'}"])
    assert "20095" not in str(no.value)
    for text in ("", "10115\n", "a,b\nc\n", "a,b\na,c\n"):
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(SqlmicroError, match="hierarchy"):
            workbench.release("generalize", db, columns=["zip"], hierarchy=[f"zip={tmp_path / 'bad.csv'}"])


def test_a_level_that_splits_one_class_is_refused(tmp_path: Path) -> None:
    """Of [65, 70), 65 is in [60, 66) and 66 in [66, 72)."""
    warehouse(tmp_path, persons={"age": ("INTEGER", [18, 19, 65, 66])})
    with refused("1 of them are split", tmp_path):
        release("generalize", tmp_path, columns=["age"], width=["age=5", "age=6"], until_k=2)
