"""Attacks against a control group: tables where the answer is known, and plain Python beside every attack."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from databases import opened
from world import Workbench

import sqlmicro
from sqlmicro.attacks import criteria, learned, membership
from sqlmicro.attacks.attacked import Features
from sqlmicro.attacks.control import Controlled, controlled, residual
from sqlmicro.attacks.criteria import Conditions, _linked, _met
from sqlmicro.attacks.inference import read_off
from sqlmicro.attacks.membership import area, told_at
from sqlmicro.attacks.neighbours import groups, nearest
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.system.progress import Progress

from .conftest import Attack, Tables

Table = dict[str, list[Any]]
EVERYTHING = ["membership", "singling-out", "linkability", "inference", "leave-one-out"]
KNOWN = ["age", 'net "income"', "town"]


def people(seed: int, n: int) -> Table:
    """Return people drawn from one population; what ails them has nothing to do with what is known of them."""
    rng = random.Random(seed)
    return {
        "age": [rng.gauss(45, 15) for _ in range(n)],
        'net "income"': [None if rng.random() < 0.05 else rng.lognormvariate(7, 0.5) for _ in range(n)],
        "town": [rng.choice("abcdef") for _ in range(n)],
        "ill": [rng.choice(["no", "no", "flu", "gout"]) for _ in range(n)],
    }


def made(tables: Tables, attack: Attack, names: Sequence[str], **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = attack(tables, control="control", attack=list(names), **options)["attacks"]
    return found


ORIGINAL, CONTROL = people(1, 600), people(2, 300)
SAME: Tables = {"original": ORIGINAL, "release": ORIGINAL, "control": CONTROL}
OTHERS: Tables = {"original": ORIGINAL, "release": people(3, 600), "control": CONTROL}


@pytest.mark.slow
def test_of_a_release_that_is_the_original_everything_is_told(attack: Attack) -> None:
    found = made(SAME, attack, EVERYTHING, sensitive="ill")
    assert found["membership"]["rate"] == 1
    assert found["membership"]["true_positives"] == 1
    assert found["membership"]["n"] == 600
    assert found["membership"]["n_control"] == 300
    assert found["inference"]["rate"] == 1
    assert found["singling-out"]["rate"] > 0.98
    assert found["linkability"]["rate"] > 0.95  # without an income two people may share age and town: none does here
    for name in ("singling-out", "linkability", "inference"):
        assert found[name]["risk"] > 0.95
        assert found[name]["risk_ci"][0] > 0.9
    assert found["leave-one-out"]["rate"] == 1
    assert all(row["how"] == "given" for row in found.values())


@pytest.mark.slow
def test_of_a_release_of_other_people_nothing_is_told(attack: Attack) -> None:
    found = made(OTHERS, attack, [*EVERYTHING[:-1]], sensitive="ill")
    low, high = found["membership"]["ci"]
    assert low < 0.5 < high
    assert high - low < 0.12
    assert found["membership"]["true_positives"] < 0.05
    for name in ("singling-out", "linkability", "inference"):
        assert found[name]["risk_ci"][0] == 0, name
    assert found["inference"]["rate"] == pytest.approx(0.5, abs=0.06)
    assert found["inference"]["commonest"] == pytest.approx(0.5, abs=0.06)


def in_classes(value: Any, n: int = 60, k: int = 5) -> Table:
    """Return classes of k people who are alike but for what ails them, which `value` says by the class."""
    return {
        "town": [f"t{i // k}" for i in range(n * k)], "street": [f"s{i // k % 7}" for i in range(n * k)],
        "ill": [value(i // k) for i in range(n * k)],
    }  # fmt: skip


@pytest.mark.slow
def test_a_class_with_one_sensitive_value_is_read_off(attack: Attack) -> None:
    """What ails a town is known of its people alone: nobody else who lives there is as ill."""
    rng, other = random.Random(4), random.Random(5)
    ill = [rng.choice(["flu", "gout", "cold", "none"]) for _ in range(60)]
    released = in_classes(lambda town: ill[town])
    tables: Tables = {
        "original": released, "release": released, "control": in_classes(lambda town: other.choice(ill)),
    }  # fmt: skip
    found = made(tables, attack, ["inference", "linkability", "homogeneity"], sensitive="ill")
    assert found["inference"]["rate"] == 1
    assert found["inference"]["chance"] == pytest.approx(0.25, abs=0.1)
    assert found["inference"]["risk"] == 1
    assert found["inference"]["commonest"] == pytest.approx(max(Counter(ill).values()) / 60)
    assert found["linkability"]["rate"] <= 1 / 5
    assert found["homogeneity"]["rate"] == 1
    assert found["homogeneity"]["right"] == 1


def test_what_everybody_knows_is_no_risk(attack: Attack) -> None:
    """What ails a town ails it everywhere: the guess is always right, and the table has no part in it."""
    released = in_classes(lambda town: f"ill {town % 4}")
    control = {**released, "street": ["elsewhere"] * 300}
    found = made({"original": released, "release": released, "control": control}, attack, ["inference"],
                 sensitive="ill", columns="town")  # fmt: skip
    assert (found["inference"]["rate"], found["inference"]["chance"]) == (1, 1)
    assert found["inference"]["risk"] == 0


def test_homogeneity_says_how_often_it_is_right(attack: Attack) -> None:
    """Every class is of one record and alike, and says nothing of the people: it is right as often as chance."""
    report = attack(OTHERS, attack="homogeneity", sensitive="ill")
    row = report["attacks"]["homogeneity"]
    assert row["rate"] == 1
    assert row["right"] == pytest.approx(0.375, abs=0.07)  # 1/4 + 1/16 + 1/16, two people drawn at random
    assert row["commonest"] == pytest.approx(0.5, abs=0.05)
    assert report["verdict"]["attack"] is None  # no k speaks of it


def test_the_control_group_must_not_be_of_the_table(attack: Attack) -> None:
    tables: Tables = {**SAME, "control": {name: values[:300] for name, values in ORIGINAL.items()}}
    with pytest.raises(InputError, match="100% of its records are like exactly one of the table, where 0%"):
        made(tables, attack, ["linkability"])


@pytest.mark.parametrize("n", [1, 19])
def test_too_few_people_say_nothing(attack: Attack, n: int) -> None:
    tables: Tables = {**SAME, "control": {name: values[:n] for name, values in CONTROL.items()}}
    with pytest.raises(InputError, match="needs 20 records in and out of the table"):
        made(tables, attack, ["membership"])


def test_numbers_are_guessed_to_within_a_twentieth(attack: Attack) -> None:
    rng = random.Random(6)

    def paid(seed: int, n: int) -> Table:
        own = random.Random(seed)
        return {
            "age": [float(own.randrange(20, 60)) for _ in range(n)],
            "pay": [own.uniform(1e3, 9e3) for _ in range(n)],
        }

    original = paid(7, 400)
    release = {**original, "pay": [pay * (1 + rng.choice([-0.03, 0.03])) for pay in original["pay"]]}
    tables: Tables = {
        "original": original | {"x": list(range(400))}, "release": release | {"x": list(range(400))},
        "control": paid(8, 200) | {"x": [i + 0.5 for i in range(200)]},
    }  # fmt: skip
    found = made(tables, attack, ["inference"], sensitive="pay")["inference"]
    assert found["rate"] == 1
    assert found["chance"] < 0.15


def test_the_residual_of_giomi() -> None:
    """Their formula, from Wilson's intervals: r = (a - c) / (1 - c), both errors propagated."""
    z, a, n, c, m = 1.959964, 0.7, 500, 0.4, 200
    e, f = (
        z / (size + z * z) * (size * rate * (1 - rate) + z * z / 4) ** 0.5 for rate, size in ((a, n), (c, m))
    )  # fmt: skip
    error = ((e / (1 - c)) ** 2 + (f * (a - 1) / (1 - c) ** 2) ** 2) ** 0.5
    found = residual(a, n, c, m)
    assert found.risk == pytest.approx(0.5)
    assert (found.low, found.high) == (pytest.approx(0.5 - error), pytest.approx(0.5 + error))
    assert residual(0.3, n, 0.5, m).risk == 0


def test_areas_and_true_positives_by_counting_pairs() -> None:
    rng = random.Random(9)
    for _ in range(50):
        n = rng.randrange(4, 40)
        scores = np.array([float(rng.randrange(6)) for _ in range(n)])
        member = np.array([True, False, *(rng.random() < 0.5 for _ in range(n - 2))])
        own, other = scores[member].tolist(), scores[~member].tolist()
        wins = sum((a > b) + (a == b) / 2 for a in own for b in other)
        assert area(scores, member)[0] == pytest.approx(wins / len(own) / len(other))
        most = rng.choice([0.0, 0.1, 0.5])
        told, false = told_at(scores, member, most)
        assert false <= most + 1e-12
        whole = int(most * len(other))
        parts = []
        for accused in (whole, whole + 1):
            bar = min(bar for bar in (*other, -1.0) if sum(b > bar for b in other) <= accused)
            parts.append(sum(a > bar for a in own) / len(own))
        assert told == pytest.approx(parts[0] + (most * len(other) - whole) * (parts[1] - parts[0]))


def mixed(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.column_stack([rng.integers(0, 4, n).astype(float), rng.normal(size=n).round(1), rng.integers(0, 3, n)])


def apart(x: np.ndarray, y: np.ndarray, features: Features, columns: Sequence[int] = (0, 1, 2)) -> list[float]:
    """Return what two records differ by in each column, from the definition."""
    kind, weight = features.kind, features.weight
    return [weight[j] * (float(x[j] != y[j]) if kind[j] == 1 else (x[j] - y[j]) ** 2) for j in columns]


def test_the_nearest_records_one_by_one() -> None:
    rng = np.random.default_rng(10)
    for widest in (False, True):
        X, Y = mixed(rng, 30), mixed(rng, 60)
        features = Features(X, Y, np.array([0.5, 2.0, 1.0]), np.array([0, 0, 1]), ("x", "y", "z"), np.ones(60))
        released = groups(Y, features.times).points
        found = nearest(X, released, features, Progress(enabled=False), 5, widest=widest)
        combine = max if widest else sum
        for i in range(len(X)):
            gaps = sorted(combine(apart(X[i], y, features)) for y in released)
            assert found.gaps[i] == pytest.approx(gaps[:5])
            own = [combine(apart(X[i], released[j], features)) for j in found.which[i]]
            assert found.gaps[i] == pytest.approx(own)


def test_linkability_one_by_one() -> None:
    """The probability that two draws, each among the nearest by one half, take the same released record."""
    rng = np.random.default_rng(11)
    X, Y = mixed(rng, 40), mixed(rng, 50)
    kind, weight = np.array([0, 0, 1]), np.array([0.5, 2.0, 1.0])

    def of(columns: list[int]) -> Features:
        names = tuple("xyz"[j] for j in columns)
        return Features(X[:, columns], Y[:, columns], weight[columns], kind[columns], names, np.ones(50))

    quiet = SimpleNamespace(warehouse=SimpleNamespace(progress=Progress(enabled=False)))
    beside: Any = SimpleNamespace(
        columns=[0, 1, 2], features=of, targets=(np.arange(30), np.arange(30, 40)), attacked=quiet
    )  # fmt: skip
    whole = of([0, 1, 2])
    for parts in ([0, 0, 1], [0, 1, 0]):
        halves = [[j for j in range(3) if parts[j] == half] for half in (0, 1)]
        for i, found in enumerate(_linked(beside, parts)):
            ties = []
            for columns in halves:
                gaps = [sum(apart(X[i], y, whole, columns)) for y in Y]
                ties.append({r for r, gap in enumerate(gaps) if gap == min(gaps)})
            assert found == pytest.approx(len(ties[0] & ties[1]) / len(ties[0]) / len(ties[1]))


def test_conditions_one_by_one() -> None:
    rng = np.random.default_rng(12)
    V = mixed(rng, 50)
    low, high = mixed(rng, 80), mixed(rng, 80)
    low, high = np.minimum(low, high), np.maximum(low, high)
    quiet: Any = SimpleNamespace(
        attacked=SimpleNamespace(warehouse=SimpleNamespace(progress=Progress(enabled=False)))
    )  # fmt: skip
    counts, last = _met(quiet, Conditions(low, high), V, 2)
    for g in range(80):
        held = [r for r in range(50) if all(low[g, j] <= V[r, j] <= high[g, j] for j in range(3))]
        assert counts[g] == min(len(held), 2)
        assert last[g] == (held[: counts[g]] or [-1])[-1]


def test_leaving_one_column_out_in_plain_python(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    rng = random.Random(13)
    sizes = {"a": 9, 'b "c"': 8, "position": 7}
    tables = {
        name: {column: [rng.choice([None, *map(str, range(size))]) for _ in range(n)] for column, size in sizes.items()}
        for name, n in (("original", 60), ("release", 60), ("control", 40))
    }  # fmt: skip
    for column in ("a", 'b "c"'):
        tables["release"][column][:30] = tables["original"][column][:30]
    for name, columns in tables.items():
        pa.parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    rows = {name: list(zip(*columns.values(), strict=True)) for name, columns in tables.items()}
    expected = {}
    for at, column in enumerate(sizes):
        shown: dict[tuple[Any, ...], set[Any]] = {}
        for row in rows["release"]:
            shown.setdefault(row[:at] + row[at + 1 :], set()).add(row[at])
        right: dict[str, list[bool]] = {"original": [], "control": []}
        times = Counter(row[:at] + row[at + 1 :] for row in (*rows["original"], *rows["control"]))
        for name, hits in right.items():
            for row in rows[name]:
                others = row[:at] + row[at + 1 :]
                if times[others] == 1 and len(shown.get(others, ())) == 1:
                    hits.append(shown[others] == {row[at]})
        assert right["original"]
        assert right["control"]
        own, other = (sum(hits) / len(hits) for hits in right.values())
        expected[column] = (len(right["original"]), len(right["control"]), pytest.approx(own), pytest.approx(other))
    given = {name: str(tmp_path / f"{name}.parquet") for name in tables}
    report = sqlmicro.attack(**given, attack="leave-one-out")
    found = {row["column"]: (row["n"], row["n_control"], row["rate"], row["chance"]) for row in report["attacks"]}
    assert found == expected


def test_reading_off_the_nearest_group_in_plain_python(attack: Attack) -> None:
    """The commonest value of the nearest released combination, the least of equally frequent ones."""
    from sqlmicro.attacks.attacked import attacked_release
    from sqlmicro.database.columns import pick

    rng = random.Random(14)
    tables = {
        name: {"x": [float(rng.randrange(12)) for _ in range(90)], "ill": [rng.choice("pqr") for _ in range(90)]}
        for name in ("original", "release")
    }  # fmt: skip
    del tables["original"]["x"][0:2], tables["original"]["ill"][0:2]
    tables["release"]["x"] = [x if x not in (3.0, 4.0) else 3.2 for x in tables["release"]["x"]]
    with open_warehouse(None) as warehouse:
        import pyarrow as pa

        sources = []
        for name, columns in tables.items():
            from sqlmicro.database.columns import make_columns

            relation = warehouse.load(pa.table(columns), f"given_{name}", name)
            sources.append(Source(relation, name, tuple(make_columns(warehouse.describe(relation))), is_table=False))
        (ill,) = pick(sources[1].columns, ["ill"], "test")
        made = attacked_release(warehouse, *sources, but=["ill"])
        right, commonest = read_off(made, ill)
    released = tables["release"]
    groups_of: dict[float, Counter[str]] = {}
    for x, value in zip(released["x"], released["ill"], strict=True):
        groups_of.setdefault(x, Counter())[value] += 1
    usual = {x: min(c, key=lambda value: (-c[value], value)) for x, c in groups_of.items()}
    hits = [
        usual[min(sorted(usual), key=lambda y: abs(y - x))] == value
        for x, value in zip(tables["original"]["x"], tables["original"]["ill"], strict=True)
    ]  # fmt: skip
    assert right == pytest.approx(sum(hits) / len(hits))
    top = Counter(released["ill"])
    best = min(top, key=lambda value: (-top[value], value))
    assert commonest == pytest.approx(tables["original"]["ill"].count(best) / 88)


@pytest.fixture
def without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(learned, "import_module", missing)


@pytest.mark.usefixtures("without_scikit_learn")
def test_without_scikit_learn_it_says_what_to_install(attack: Attack, workbench: Workbench) -> None:
    for name in ("membership", "inference"):
        with pytest.raises(InputError, match=r"pip install 'sqlmicro\[attacks\]'"):
            made(OTHERS, attack, [name], sensitive="ill")
    found = attack(OTHERS, control="control", sensitive="ill")
    left = {row["name"]: row["why"] for row in found["not_tried"]}
    said = "needs scikit-learn, which is not installed; install it by: pip install 'sqlmicro[attacks]'"
    assert left["membership"].endswith(said)
    assert {"singling-out", "linkability"} <= set(found["attacks"])


@pytest.fixture
def db(workbench: Workbench) -> str:
    rng = random.Random(15)
    path = workbench.make({
        **{name: ("DOUBLE", [rng.gauss(50, 10) for _ in range(400)]) for name in ("age", 'net "income"', "row_id")},
        "ill": ("VARCHAR", [rng.choice("pqr") for _ in range(400)]),
    })  # fmt: skip
    sqlmicro.individual_ranking(
        "records", db=path, columns=["age", 'net "income"', "row_id"], keep="ill", k=3, into="out"
    )
    return path


@pytest.mark.slow
def test_a_rehearsal_holds_people_out(db: str) -> None:

    def contents() -> list[Any]:
        with opened(db, read_only=True) as connection:
            tables = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
            ).fetchall()
            return [tables, connection.execute("SELECT sum(hash(o)) FROM out AS o").fetchall()]

    before = contents()
    report = sqlmicro.attack(original="records", release="out", db=db, sensitive="ill", attack=EVERYTHING[:4])
    found = {row["name"]: row for row in report["attacks"]}
    assert found["membership"]["how"] == "rehearsed"
    assert (found["membership"]["n"], found["membership"]["n_control"]) == (320, 80)  # a fifth of so small a table
    assert found["membership"]["rate"] > 0.9
    assert found["linkability"]["risk_ci"][0] > 0.1
    assert contents() == before
    # The same people are held out each time.
    again = sqlmicro.attack(original="records", release="out", db=db, sensitive="ill", attack=["linkability"])
    assert again["attacks"][0]["chance"] == found["linkability"]["chance"]


@pytest.mark.slow
def test_a_gate_rehearses_and_a_report_has_the_figures(db: str) -> None:
    given = {"original": "records", "quasi": ["age", "row_id"], "sensitive": "ill", "measure": ["membership"]}
    (row,) = [r for r in sqlmicro.audit("out", db=db, max_membership=0.6, **given)["audits"] if r["asked"]]
    assert (row["status"], row["how"]) == ("failed", "rehearsed")
    (row,) = [r for r in sqlmicro.audit("out", db=db, max_membership=1, **given)["audits"] if r["asked"]]
    assert row["status"] == "passed"
    report = sqlmicro.report(release="out", db=db, sensitive=["ill"], markdown=True)
    criteria = report["criteria"]
    assert criteria["how"] == "rehearsed"
    assert criteria["linkability"]["risk"] > 0.1
    assert criteria["inference"]["column"] == "ill"
    assert criteria["membership"]["auc"] > 0.9
    assert "| linkability |" in report["markdown"]
    assert "| inference of ill |" in report["markdown"]
    assert sqlmicro.report(release="out", db=db, sample=0)["criteria"] is None


@pytest.mark.slow
def test_a_release_that_is_not_recorded_needs_a_control_group(db: str) -> None:

    with opened(db) as connection:
        connection.execute("CREATE TABLE other AS FROM out")
    with pytest.raises(InputError, match=r"the options of the release must be recorded.*Give --control TABLE"):
        sqlmicro.attack(original="records", release="other", db=db, attack="membership")
    report = sqlmicro.audit("other", db=db, original="records", quasi=["age"], max_membership=1, measure=["membership"])
    (row,) = [row for row in report["audits"] if row["asked"]]
    assert (row["value"], row["passed"]) == (None, False)
    assert "no rehearsal: rehearsal: the options of the release must be recorded" in " ".join(report["notes"])
    found = sqlmicro.report(release="other", db=db, original="records", quasi=["age"])["criteria"]
    assert found["how"] is None
    assert found["linkability"]["risk"] is None
    assert "the options of the release must be recorded" in found["linkability"]["sentence"]


@pytest.mark.slow
def test_a_manifest_stands_for_the_record(db: str, tmp_path: Path) -> None:
    path = str(tmp_path / "manifest.json")
    sqlmicro.individual_ranking(
        "records", db=db, columns=["age", "row_id"], rest="drop", k=3, to=str(tmp_path / "out.parquet"), manifest=path,
        alone_because="a test",
    )  # fmt: skip
    report = sqlmicro.attack(
        original="records", release=str(tmp_path / "out.parquet"), db=db, attack="linkability", manifest=path
    )
    assert report["attacks"][0]["how"] == "rehearsed"


@pytest.mark.slow
def test_whole_persons_are_held_out(workbench: Workbench) -> None:
    rng = random.Random(16)
    who = [i // 3 for i in range(900)]
    path = workbench.make({
        "who": ("INTEGER", who), "age": ("DOUBLE", [float(20 + i % 60) for i in who]),
        "cost": ("DOUBLE", [rng.gauss(50, 10) for _ in who]),
    })  # fmt: skip
    sqlmicro.mdav("records", db=path, columns=["age", "cost"], person="who", k=3, into="out")
    report = sqlmicro.attack(original="records", release="out", db=path, attack=["membership", "linkability"])
    found = {row["name"]: row for row in report["attacks"]}
    assert [row["unit"] for row in report["attacks"]] == ["persons", "persons"]
    assert (found["membership"]["n"], found["membership"]["n_control"]) == (240, 60)
    assert found["linkability"]["rate"] <= 1 / 3


def test_what_is_refused(attack: Attack) -> None:
    with pytest.raises(ParameterError, match="the table has no column"):
        made({**SAME, "control": {"age": CONTROL["age"]}}, attack, ["membership"])
    with pytest.raises(InputError, match="linkability needs two columns"):
        made(SAME, attack, ["linkability"], columns="age")
    empty: Tables = {**SAME, "control": {name: values[:0] for name, values in CONTROL.items()}}
    with pytest.raises(InputError):
        made(empty, attack, ["linkability"])


def test_a_control_of_known_people_over_a_constructed_release() -> None:
    """The control is read by the columns' names, NULL and odd names included."""
    with open_warehouse(None) as warehouse:
        import pyarrow as pa

        from sqlmicro.attacks.attacked import attacked_release
        from sqlmicro.database.columns import make_columns

        def source(name: str, columns: dict[str, list[Any]]) -> Source:
            relation = warehouse.load(pa.table(columns), name, name)
            return Source(relation, name, tuple(make_columns(warehouse.describe(relation))), is_table=False)

        original = source("o", {'net "income"': [1.0, None, 3.0], "position": ["a", "b", None]})
        control = source("c", {"position": ["c"], 'net "income"': [7.0]})
        made = attacked_release(warehouse, original, original)
        beside = controlled(made, control, (), "rehearsed")
        seen = beside.seen
        assert beside.members == 3
        assert seen['net "income"'].people.tolist()[::2] == [1.0, 3.0]
        assert np.isnan(seen['net "income"'].people[1])
        assert seen['net "income"'].people[3] == 7.0
        assert seen["position"].people[3] == -1  # nobody in the release has it


def test_columns_without_a_value_and_constant_ones_are_left_out(attack: Attack) -> None:
    """A model cannot learn from them; ranges without an end are infinite."""

    def bare(table: Table) -> Table:
        n = len(table["age"])
        return {**table, 'net "income"': [1.0, *[None] * (n - 1)], "town": ["x"] * n}

    ages = [f"{age // 20 * 20:g} - {age // 20 * 20 + 20:g}" for age in ORIGINAL["age"]]
    released = {**bare(ORIGINAL), 'net "income"': [None] * 600, "age": ages}
    tables: Tables = {"original": bare(ORIGINAL), "release": released, "control": bare(CONTROL)}
    found = made(tables, attack, ["membership", "inference", "singling-out", "linkability"], sensitive="ill")
    assert found["membership"]["ci"][0] < 0.55
    assert found["linkability"]["risk"] < 0.01


def test_in_a_session_a_frame_is_a_control_group() -> None:
    import pyarrow as pa

    with sqlmicro.open() as w:
        given = {name: pa.table(table) for name, table in (("original", ORIGINAL), ("release", ORIGINAL))}
        found = w.attack(**given, control=pa.table(CONTROL), attack="linkability")
        assert found["attacks"][0]["n_control"] == 300


@pytest.mark.slow
def test_the_order_of_a_release_changes_no_figure(attack: Attack) -> None:
    """A relation has no order: what is drawn from a release is drawn by its values."""
    turned = {name: values[::-1] for name, values in OTHERS["release"].items()}
    first, second = (
        made({**OTHERS, "release": release}, attack, EVERYTHING[:-1], sensitive="ill")
        for release in (OTHERS["release"], turned)
    )
    assert {name: row["rate"] for name, row in first.items()} == {name: row["rate"] for name, row in second.items()}


# The half that chooses is not the half that is measured


def test_what_is_tried_is_chosen_by_the_other_half() -> None:
    """One attack is right about the people with an even number, the other about the others: each is chosen wrongly."""
    even = (np.arange(40) % 2 == 0).astype(float)
    beside = SimpleNamespace(targets=(np.arange(40), np.arange(20)))
    hits = {"even": np.append(even, np.ones(20)), "odd": np.append(1 - even, np.zeros(20))}
    found, control, chosen = Controlled.strongest(beside, hits)  # type: ignore[arg-type]
    assert (found.mean(), chosen) == (0.0, "odd; even")
    assert control.tolist() == [0.0, 1.0] * 10


def test_members_are_told_by_what_the_other_half_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    member, half = np.arange(80) // 2 % 2 == 1, np.arange(80) % 2 == 0
    X = np.zeros((80, 9))
    X[:, 0], X[:, 1] = np.where(half, member, ~member), np.where(half, ~member, member)  # small is near, as of members
    beside = SimpleNamespace(how="given", unit="records")
    monkeypatch.setattr(membership, "_seen", lambda _: (member, X))
    monkeypatch.setattr(membership, "_learned", lambda X, member, others: (np.zeros(len(X)), np.zeros(len(others))))
    found = membership.membership(SimpleNamespace(controlled=beside))  # type: ignore[arg-type]
    assert (found.rate, found.detail.true_positives) == (0.0, 0.0)


def test_conditions_are_chosen_by_others_than_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one family the first half singles out a member each, and the others nobody; of the rest none does."""
    beside = SimpleNamespace(members=10, how="given")
    for name in ("_released", "_drawn", "_fewest"):
        monkeypatch.setattr(criteria, name, lambda *_: None)
    monkeypatch.setattr(criteria, "_people_beside", lambda _: np.zeros((20, 1)))
    counts = iter([np.zeros(40, int), np.repeat([1, 0], 20), np.zeros(40, int)])
    monkeypatch.setattr(criteria, "_met", lambda *_: (next(counts), np.zeros(40, int)))
    monkeypatch.setattr(np.random, "default_rng", lambda _: SimpleNamespace(permutation=np.arange))
    found = criteria.singling_out(SimpleNamespace(controlled=beside))  # type: ignore[arg-type]
    assert (found.rate, found.n, found.detail.chosen) == (0.0, 20, "about the released value")
