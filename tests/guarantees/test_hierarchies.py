"""t-closeness in a hierarchy: its distance by transport, releases counted by hand, files that are refused."""

import itertools
import json
import random
from collections import Counter

import duckdb
import numpy as np
import pytest
from command import run
from naive_rules import distance, groups_of, keeps, random_levels
from test_releases import QUASI, classes
from world import people

from sqlmicro.errors import InputError, ParameterError, SqlmicroError
from sqlmicro.guarantees.bounds import bound
from sqlmicro.guarantees.hierarchies import tree
from sqlmicro.guarantees.limits import TCloseness
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.guarantees.state import missing
from sqlmicro.guarantees.tally import Tally

DISEASES = [
    *(["flu", "infection", "respiratory"], ["pneumonia", "infection", "respiratory"]),
    *(["bronchitis", "infection", "respiratory"], ["oedema", "vascular", "respiratory"]),
    *(["embolism", "vascular", "respiratory"], ["ulcer", "stomach", "digestive"]),
    *(["gastritis", "stomach", "digestive"], ["cancer", "stomach", "digestive"], ["colitis", "colon", "digestive"]),
]
"""Figure 1 of Li, Li & Venkatasubramanian (2007): three levels up to the root."""


def apart(levels, i, j):
    """Return how far two values are apart: the level of their lowest common class."""
    height = len(levels) + 1
    return 0.0 if i == j else next((at for at, level in enumerate(levels, 1) if level[i] == level[j]), height) / height


def transported(costs, gaps):
    """Return the least cost of moving what is too much to where it lacks, by linear programming."""
    from scipy.optimize import linprog  # most of a second, which no collection of tests needs

    m = len(gaps)
    from_, to = np.repeat(np.eye(m), m, axis=1), np.tile(np.eye(m), m)
    found = linprog(costs.ravel(), A_eq=np.vstack([from_, to]), b_eq=[*np.maximum(gaps, 0), *np.maximum(-gaps, 0)])
    return found.fun


def test_values_are_as_far_apart_as_in_the_paper():
    found = tree(DISEASES)
    levels = tuple(np.array([classes[level] for classes in found.values()]) for level in (1, 2))
    at = {value: place for place, value in enumerate(found)}
    assert apart(levels, at["flu"], at["bronchitis"]) == 1 / 3
    assert apart(levels, at["flu"], at["embolism"]) == 2 / 3
    assert apart(levels, at["flu"], at["cancer"]) == 1
    assert all(apart(levels, at[None], at[value]) == 1 for value in found if value is not None)


@pytest.mark.parametrize("seed", range(30))
def test_the_distance_is_that_of_the_best_transport(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 9))
    levels = random_levels(rng, m, int(rng.integers(1, 4)))
    codes = np.r_[np.arange(m), rng.integers(0, m, 30)]
    labels = rng.integers(0, 6, len(codes))
    one = Sensitive("s", codes, np.bincount(codes) / len(codes), False, levels)
    costs = np.array([[apart(levels, i, j) for j in range(m)] for i in range(m)])
    found = TCloseness(1.0).measure(one, Tally.of(Rules(1, None, (one,)), labels, 6).sensitive[0][1])
    for group, rows in groups_of(labels).items():
        best = transported(costs, np.bincount(codes[rows], minlength=m) / len(rows) - one.shares)
        assert found[group] == pytest.approx(best, abs=1e-9)
        assert distance(one, codes[rows].tolist()) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(50))
def test_kernel_and_counts_keep_what_the_definition_keeps(seed):
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, rng.integers(1, 9), 40), return_inverse=True)[1]
    shares = np.bincount(codes) / len(codes)
    levels = random_levels(rng, len(shares), int(rng.integers(1, 4)))
    labels = np.unique(rng.integers(0, 8, 40), return_inverse=True)[1]
    for t in (0.0, *rng.uniform(0.05, 0.7, 4)):
        rules = Rules(1, None, (Sensitive("s", codes, shares, False, levels, (TCloseness(float(t)),)),))
        kept = [keeps(rules, rows) for _, rows in sorted(groups_of(labels).items())]
        assert (missing(labels, rules) == 0).tolist() == kept
        assert Tally.of(rules, labels, labels.max() + 1).kept().tolist() == kept
        assert missing(np.zeros(40, dtype=np.int64), rules)[0] == 0


@pytest.mark.parametrize("seed", range(12))
def test_the_least_size_is_below_that_of_every_group(seed):
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(4), rng.integers(0, 4, 8)]
    one = Sensitive(
        "s", codes, np.bincount(codes) / 12, False, random_levels(rng, 4, 2), (TCloseness(float(rng.uniform(0, 0.4))),)
    )
    rules, size = Rules(1, None, (one,)), bound(Rules(1, None, (one,)), 12).size
    for smaller in range(1, size):
        assert not any(keeps(rules, rows) for rows in itertools.combinations(range(12), smaller))


def hierarchy(folder, rows, name="tree.csv"):
    """Write a hierarchy file."""
    (folder / name).write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(folder / name)


ROWS = [["flu", "lung", "inner"], ["cold", "lung", "inner"], ["asthma", "chest", "inner"], ["fracture", "bone", "bone"]]


def by_hand(values, table):
    """Return how far values are from the table in the hierarchy: three levels below a root, NULL apart on each."""
    above = [{value: path[level] for value, *path in [[row[0], *row] for row in ROWS]} for level in range(3)]
    total = 0.0
    for level in above:
        own, whole = (Counter(level.get(value) for value in some) for some in (values, table))
        total += sum(max(0, own[name] / len(values) - whole[name] / len(table)) for name in own)
    return total / 3


@pytest.mark.slow_but("k-ward")
@pytest.mark.parametrize("method", ["mdav", "mondrian", "microaggregate", "k-ward"])
def test_classes_of_a_release_are_close_in_the_hierarchy(workbench, tmp_path, method):
    table = people(300, 5, gaps=0.05)
    table["age"] = ("INTEGER", [value or 40 for value in table["age"][1]])
    table[QUASI[1]] = ("DOUBLE", [value or 900.0 for value in table[QUASI[1]][1]])
    name = 'the "illness"'
    table[name] = table.pop("illness")
    release = workbench.release(
        method, workbench.make(table), k=4, columns=QUASI, sensitive=[name], max_t=0.15,
        hierarchical=[f"{name}={hierarchy(tmp_path, ROWS)}"], rest="drop", seed="1",
    )  # fmt: skip
    found = classes(release, QUASI, name)
    worst = max(by_hand(values, table[name][1]) for values in found)
    (row,) = (row for row in release.report["audits"] if row["check"] == "t-closeness")
    assert len(found) > 4 and worst <= 0.15 + 1e-9
    assert row["distance"] == "hierarchical" and row["passed"] and row["value"] == pytest.approx(worst)


@pytest.mark.slow_but("generalize-settings1")
@pytest.mark.parametrize(
    ("method", "settings"),
    [("suppress", {"k": 4}), ("generalize", {"until_k": 4, "width": ["age=10"], "suppress_up_to": 0.3})],
)
def test_recoded_and_suppressed_classes_are_close_in_the_hierarchy(workbench, tmp_path, method, settings):
    table = {name: column for name, column in people(240, 8, gaps=0.05).items() if name in ("age", "ward", "illness")}
    table["age"] = ("INTEGER", [(value or 40) // 12 * 12 for value in table["age"][1]])
    release = workbench.release(
        method, workbench.make(table), columns=["age", "ward"], sensitive=["illness"], max_t=0.2, rest="drop", seed="1",
        hierarchical=[f"illness={hierarchy(tmp_path, ROWS)}"], **settings,
    )  # fmt: skip
    found = classes(release, ["age", "ward"], "illness")
    assert len(found) > 2 and max(by_hand(values, table["illness"][1]) for values in found) <= 0.2 + 1e-9
    (row,) = (row for row in release.report["audits"] if row["check"] == "t-closeness")
    assert row["distance"] == "hierarchical" and row["passed"]


def test_numbers_and_truths_are_found_by_their_text(workbench, tmp_path):
    draw = random.Random(3)
    table = {
        "age": ("INTEGER", [draw.randrange(18, 90) for _ in range(120)]),
        "code": ("INTEGER", [draw.randrange(25) for _ in range(120)]),
        "ill": ("BOOLEAN", [draw.random() < 0.4 for _ in range(120)]),
    }
    codes = hierarchy(tmp_path, [[str(code), str(code // 5), "*"] for code in range(25)])
    truths = hierarchy(tmp_path, [["true", "*"], ["false", "*"]], "truths.csv")
    release = workbench.release(
        "mdav", workbench.make(table), k=4, columns=["age"], sensitive=["code", "ill"], max_t=0.45, rest="drop",
        seed="1", hierarchical=[f"code={codes}", f"ill={truths}"],
    )  # fmt: skip
    found = {row["columns"][-1]: row for row in release.report["audits"] if row["check"] == "t-closeness"}
    assert {(row["distance"], row["passed"]) for row in found.values()} == {("hierarchical", True)}
    for values in classes(release, ["age"], "code"):
        own, whole = Counter(values), Counter(table["code"][1])
        over = sum(max(0, own[v] / len(values) - whole[v] / 120) for v in own)
        own, whole = Counter(v // 5 for v in values), Counter(v // 5 for v in table["code"][1])
        over += sum(max(0, own[v] / len(values) - whole[v] / 120) for v in own)
        assert over / 2 <= 0.45 + 1e-9


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"hierarchical": ["illness={file}"], "sensitive": ["illness"], "min_l": 2}, ParameterError, "max-t"),
        ({"hierarchical": ["illness={file}"]}, ParameterError, "max-t"),
        ({"hierarchical": ["cost={file}"], "sensitive": ["illness"], "max_t": 0.3}, SqlmicroError, "cost"),
        ({"hierarchical": ["illness"], "sensitive": ["illness"], "max_t": 0.3}, ParameterError, "COLUMN=FILE"),
        ({"hierarchical": ["illness={file}"] * 2, "sensitive": ["illness"], "max_t": 0.3}, ParameterError, "twice"),
        ({"hierarchical": ["illness=/nope"], "sensitive": ["illness"], "max_t": 0.3}, InputError, "hierarchy file"),
        ({"hierarchical": ["illness={short}"], "sensitive": ["illness"], "max_t": 0.3}, InputError, "2 of the 4 "),
        ({"hierarchical": ["born={file}"], "sensitive": ["born"], "max_t": 0.3}, ParameterError, "DATE"),
    ],
)
def test_what_cannot_be_is_refused_without_a_value(workbench, tmp_path, given, error, said):
    table = people(60, 6)
    table["born"] = ("DATE", ["2000-01-01"] * 60)
    files = {"file": hierarchy(tmp_path, ROWS), "short": hierarchy(tmp_path, ROWS[:2], "short.csv")}
    given = given | {"hierarchical": [item.format(**files) for item in given["hierarchical"]]}
    with pytest.raises(error) as raised:
        workbench.release("mdav", workbench.make(table), k=4, columns=QUASI, rest="drop", seed="1", **given)
    assert said in str(raised.value) and not any(row[0] in str(raised.value) for row in ROWS)


def test_classes_of_one_name_in_two_classes_are_two():
    found = tree([["a", "other", "u"], ["b", "other", "v"], ["c", "other", "v"]])
    assert found == {"a": (0, 0, 0), "b": (1, 1, 1), "c": (2, 1, 1), None: (3, 2, 2)}


@pytest.mark.slow
def test_a_job_and_its_gate_read_the_file_beside_the_job(workbench, tmp_path):
    db, folder = workbench.make(people(200, 7)), tmp_path / "jobs"
    folder.mkdir()
    hierarchy(folder, ROWS)
    hierarchy(folder, ROWS[:2], "short.csv")

    def job(gate, into):
        (folder / f"{into}.toml").write_text(
            f"""db = "{db}"
table = "records"
seed = "1"
keep = ["illness"]
drop = ["patient", "cost", "ward"]
gate = [{{quasi = ["age"], sensitive = ["illness"], max_t = 0.9, hierarchical = ["illness={gate}"]}}]
[[step]]
do = "mdav"
columns = ["age", 'net "income"']
k = 4
sensitive = ["illness"]
max_t = 0.3
hierarchical = ["illness=tree.csv"]
[[step]]
do = "publish"
into = "{into}"
"""
        )
        return folder / f"{into}.toml"

    said = "".join(run("explain", job("tree.csv", "good")).stdout.split())  # a long path is broken anywhere
    assert "Howfarapartvaluesare,ahierarchysays:illness=" in said
    assert "tree.csv." in said
    done = run("run", job("tree.csv", "good"), "--json")
    found = [row for row in json.loads(done.stdout)["audits"] if row["check"] == "t-closeness"]
    assert [row["distance"] for row in found] == ["hierarchical"] * 2 and all(row["passed"] for row in found)
    refused = run("run", job("short.csv", "bad"), "--json")
    assert refused.returncode == 1 and "2 of the 4 values" in refused.stdout + refused.stderr
    with duckdb.connect(db, read_only=True) as connection:
        tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert "good" in tables and "bad" not in tables
