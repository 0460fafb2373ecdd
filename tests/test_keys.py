"""Keys between the tables of a job file: pseudonymised alike, left out alike, audited after the release."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from databases import insert, opened
from world import execute, records, refused

import sqlmicro
from sqlmicro import AuditFailed
from sqlmicro.publish import together

TABLES = '''
CREATE TABLE persons AS SELECT i AS id, 'name ' || i AS name, 18 + (i * 7) % 60 AS age,
  CASE WHEN i % 3 > 0 THEN (i * 13) % 50 END AS referred_by FROM range(60) r(i);
CREATE TABLE orders AS SELECT 1000 + i AS number, CASE WHEN i % 9 > 0 THEN (i * 11) % 70 END AS customer_id,
  (i * 31) % 97 AS amount FROM range(200) r(i);
CREATE TABLE tags AS SELECT (i * 17) % 60 AS "person ""id""", 1000 + (i * 7) % 200 AS order_number, i % 4 AS tag
  FROM range(300) r(i);
'''
JOB = '''
db = "w.duckdb"
seed = "keys"
key_file = "secret"
min_join_k = 1

[[table]]
name = "persons"
drop = ["name"]
[[table.step]]
do = "mdav"
columns = ["age"]
k = 3
[[table.step]]
do = "publish"
into = "persons_r"

[[table]]
name = "orders"
person = ["customer_id"]
[[table.step]]
do = "shuffle"
columns = ["amount"]
[[table.step]]
do = "publish"
into = "orders_r"

[[table]]
name = "tags"
person = ['person "id"']
[[table.step]]
do = "shuffle"
columns = ["tag"]
[[table.step]]
do = "publish"
into = "tags_r"

[[key]]
from = "persons.referred_by"
to = "persons.id"
[[key]]
from = "orders.customer_id"
to = "persons.id"
[[key]]
from = 'tags."person ""id"""'
to = "persons.id"
[[key]]
from = "tags.order_number"
to = "orders.number"
'''
JOINS = (
    ("persons", "referred_by", "persons", "id"),
    ("orders", "customer_id", "persons", "id"),
    ("tags", 'person "id"', "persons", "id"),
    ("tags", "order_number", "orders", "number"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    execute(tmp_path / "w.duckdb", TABLES)
    (tmp_path / "secret").write_text("a secret of at least sixteen bytes\n")
    return tmp_path


def write(folder: Path, *changes: tuple[str, str], text: str = JOB) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "job.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def shape(folder: Path, child: str, column: str, parent: str, key: str, end: str = "") -> Counter[int]:
    """Count how many rows have how many partners, in plain Python."""
    there = Counter(row[key] for row in records(folder, f"FROM {parent}{end}") if row[key] is not None)
    return Counter(
        there[row[column]] if row[column] is not None else -1 for row in records(folder, f"FROM {child}{end}")
    )


@pytest.mark.slow
def test_keys_join_after_the_release_as_before(folder: Path) -> None:
    report = sqlmicro.run(write(folder))
    for join in JOINS:
        before = shape(folder, *join)
        assert before[1] > 0
        assert shape(folder, *join, end="_r") == before
    lost = [check for table in report["tables"] for check in table["audits"] if check["check"] == "rows lost by a join"]
    assert [(check["columns"], check["value"], check["threshold"], check["passed"]) for check in lost] == [
        ([column], 0, 0, True) for _, column, _, _ in JOINS
    ]
    with duckdb.connect(str(folder / "w.duckdb"), read_only=True) as connection:
        audited = connection.execute(
            'SELECT count(*) FROM sqlmicro.audits WHERE starts_with("check", $1)', ["rows lost"]
        ).fetchall()
    assert audited == [(4,)]
    assert {len(row["number"]) for row in records(folder, "FROM orders_r")} == {64}


@pytest.mark.slow_but("parquet")
@pytest.mark.parametrize("to", ["parquet", "csv"])
def test_keys_join_between_files(folder: Path, to: str) -> None:
    ends = [(f'into = "{name}_r"', f'to = "{name}.{to}"') for name in ("persons", "orders", "tags")]
    report = sqlmicro.run(write(folder, *ends))
    checks = [
        check["value"] for table in report["tables"] for check in table["audits"] if "rows lost" in check["check"]
    ]
    assert checks == [0, 0, 0, 0]


@pytest.mark.slow_but("DATE")
@pytest.mark.parametrize("kind", ["BIGINT", "VARCHAR", "UUID", "DATE", "DECIMAL(9,2)"])
def test_composite_keys_of_any_type(folder: Path, kind: str) -> None:
    value = {"UUID": "md5(({}) || 'x')::UUID", "DATE": "DATE '2000-01-01' + ({})::INTEGER"}.get(kind, "({})::" + kind)
    parent, child = value.format("i // 4"), value.format("i % 21")
    execute(folder / "w.duckdb",
            f"CREATE TABLE p AS SELECT i % 4 AS tenant, {parent} AS id, i AS x FROM range(80) r(i)",
            f"CREATE TABLE c AS SELECT i % 5 AS tenant, {child} AS p, i AS y FROM range(90) r(i)")  # fmt: skip
    table = '[[table]]\nname = "T"\n[[table.step]]\ndo = "shuffle"\ncolumns = ["C"]\n[[table.step]]\ndo = "publish"\n'
    head = 'db = "w.duckdb"\nkey_file = "secret"\n' + table.replace("T", "p").replace("C", "x")
    text = head + table.replace("T", "c").replace("C", "y")
    text += '[[key]]\nfrom = ["c.tenant", "c.p"]\nto = ["p.tenant", "p.id"]\n'
    report = sqlmicro.run(write(folder, text=text))
    with opened(folder / "w.duckdb", read_only=True) as connection:
        joined = "SELECT count(*) FROM c{0} c JOIN p{0} p ON c.tenant = p.tenant AND c.p = p.id"
        before, after = (connection.execute(joined.format(end)).fetchall() for end in ("", "_anonymized"))
    assert before == after
    assert 0 < before[0][0] < 90
    assert [c["value"] for c in report["tables"][1]["audits"] if "rows lost" in c["check"]] == [0]


@pytest.mark.slow_but("BIGINT")
@pytest.mark.parametrize("kind", ["BIGINT", "VARCHAR", "UUID"])
def test_composite_references_to_the_same_table_and_to_repeated_values(folder: Path, kind: str) -> None:
    """Staff refer to staff by tenant and number, some to nobody; shifts and sick days refer to each other by both."""
    value = {"UUID": "md5(({}) || 'x')::UUID"}.get(kind, "({})::" + kind)
    boss, who, other = (value.format(text) for text in ("CASE WHEN i % 4 > 0 THEN i // 5 END", "i // 3", "i % 50"))
    with opened(folder / "w.duckdb") as connection:
        own = value.format("i")
        connection.execute(f"CREATE TABLE staff AS SELECT i % 3 AS tenant, {own} AS id, CASE WHEN i % 7 > 0 THEN "
                           f"i // 5 % 3 END AS up_tenant, {boss} AS up, i % 2 AS x FROM range(60) r(i)")  # fmt: skip
        connection.execute(
            f"CREATE TABLE shifts AS SELECT i // 3 % 3 AS tenant, {who} AS id, i % 2 AS x FROM range(90) r(i)"
        )
        connection.execute(
            f"CREATE TABLE sick AS SELECT i % 50 % 3 AS tenant, {other} AS id, i % 2 AS x FROM range(120) r(i)"
        )
    text, joins = 'db = "w.duckdb"\nkey_file = "secret"\n', []
    for name in ("staff", "shifts", "sick"):
        text += f'[[table]]\nname = "{name}"\nrows_are_persons = true\n'
        text += '[[table.step]]\ndo = "shuffle"\ncolumns = ["x"]\n'
        text += f'[[table.step]]\ndo = "publish"\ninto = "{name}_r"\n'
    for child, tenant, column, parent in (
        ("staff", "up_tenant", "up", "staff"), ("sick", "tenant", "id", "shifts"), ("shifts", "tenant", "id", "staff"),
    ):  # fmt: skip
        text += f'[[key]]\nfrom = ["{child}.{tenant}", "{child}.{column}"]\nto = ["{parent}.tenant", "{parent}.id"]\n'
        joins.append(
            f"SELECT count(*) FROM {child}{{0}} c JOIN {parent}{{0}} p ON c.{tenant} = p.tenant AND c.{column} = p.id"
        )
    report = sqlmicro.run(write(folder, text=text))
    with opened(folder / "w.duckdb", read_only=True) as connection:
        before, after = ([connection.execute(join.format(end)).fetchall() for join in joins] for end in ("", "_r"))
    assert before == after
    assert all(rows > 0 for ((rows,),) in before)
    lost = [c["value"] for table in report["tables"] for c in table["audits"] if "rows lost" in c["check"]]
    assert lost == [0, 0, 0]


@pytest.mark.slow
def test_a_step_that_leaves_out_parents_is_caught(folder: Path) -> None:
    kept = '["name"]\nkeep = ["age"]\naccept_unique = ["age"]'
    sample = ('"mdav"\ncolumns = ["age"]\nk = 3', '"sample"\nfraction = 0.5'), ('["name"]', kept)
    with pytest.raises(sqlmicro.AuditFailed, match=r"key 1: .*rows lost by a join \(referred_by\) is \d+, needed at"):
        sqlmicro.run(write(folder, *sample))
    with duckdb.connect(str(folder / "w.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(3,)]
    report = sqlmicro.run(write(folder, *sample, ('to = "persons.id"', 'to = "persons.id"\nmax_lost = 300')))
    (lost,) = [c["value"] for c in report["tables"][1]["audits"] if "rows lost" in c["check"]]
    there = {row["id"] for row in records(folder, "FROM persons_r")}
    known = sum(row["customer_id"] in there for row in records(folder, "FROM orders_r"))
    assert lost == shape(folder, "orders", "customer_id", "persons", "id")[1] - known > 0


@pytest.mark.slow
def test_what_refers_to_a_column_that_is_left_out_is_left_out(folder: Path) -> None:
    report = sqlmicro.run(write(folder, ('drop = ["name"]', 'drop = ["name", "ID"]')))
    assert list(records(folder, "FROM orders_r")[0]) == ["number", "amount"]
    assert list(records(folder, "FROM persons_r")[0]) == ["age"]
    assert list(records(folder, "FROM tags_r")[0]) == ["order_number", "tag"]
    told = "orders.customer_id is left out: it refers to persons.ID, which is"
    assert told.replace("ID", "id") in report["tables"][1]["notes"]
    assert [len([c for c in t["audits"] if "rows lost" in c["check"]]) for t in report["tables"]] == [0, 0, 1]


@pytest.mark.slow
def test_a_child_alone_may_be_left_out(folder: Path) -> None:
    report = sqlmicro.run(write(folder, ('name = "orders"', 'name = "orders"\ndrop = ["customer_id"]')))
    assert [len([c for c in t["audits"] if "rows lost" in c["check"]]) for t in report["tables"]] == [1, 0, 2]


ORDERS = 'name = "orders"'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('drop = ["name"]\n', 'drop = ["name", "id"]\nkeep = ["referred_by"]\n', ["key 1", "which is"]),
        (ORDERS, ORDERS + '\nkeep = ["customer_id"]', ["released alike"]),
        ('columns = ["age"]', 'columns = ["age", "ID"]', ["key 1", "persons.id", "on both sides alike"]),
        (
            '"shuffle"\ncolumns = ["amount"]',
            '"generalize"\ncolumns = ["number"]\nwidth = ["number=100"]',
            ["key 4", "orders.number", "on both sides alike"],
        ),
        ('columns = ["amount"]', 'columns = ["amount", "customer_id"]', ["key 2", "orders.customer_id", "on both"]),
        ('from = "orders.customer_id"', 'from = "order.customer_id"', ["key 2", "persons, orders, tags"]),
        ('from = "orders.customer_id"', 'from = "orders.customer"', ["customer", "'customer_id'"]),
        ('from = "orders.customer_id"', 'from = ["orders.customer_id", "orders.amount"]', ["as many", "2 and 1"]),
        ('from = "orders.customer_id"', 'from = ["orders.customer_id", "tags.tag"]', ["columns of one table"]),
        ('from = "orders.customer_id"', "from = []", ["columns of one table"]),
        ('from = "orders.customer_id"', "from = 3", ["key 2"]),
        ('to = "orders.number"', 'into = "orders.number"', ["key 4", "into"]),
        ('name = "tags"', 'name = "orders"', ["key 2", "two called 'orders'"]),
        ('seed = "keys"', 'leave_out = ["Tags"]', ["leave_out", "the [[table]] 'tags'"]),
    ],
)
def test_errors_name_the_key(folder: Path, old: str, new: str, words: list[str]) -> None:
    with refused() as caught:
        sqlmicro.run(write(folder, (old, new)))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(("kind", "ok"), [("VARCHAR", False), ("HUGEINT", True), ("DOUBLE", False)])
def test_both_sides_have_the_same_text(folder: Path, kind: str, ok: bool) -> None:
    execute(folder / "w.duckdb", f"ALTER TABLE orders ALTER customer_id TYPE {kind}")
    if ok:
        sqlmicro.run(write(folder))
        return
    with pytest.raises(sqlmicro.InputError, match=r"key 2: .*of one type"):
        sqlmicro.run(write(folder))


def test_a_collation_is_refused(folder: Path) -> None:
    execute(folder / "w.duckdb", "ALTER TABLE orders ALTER customer_id TYPE VARCHAR COLLATE NOCASE",
            "ALTER TABLE persons ALTER id TYPE VARCHAR COLLATE NOCASE")  # fmt: skip
    with pytest.raises(sqlmicro.InputError, match="without a collation"):
        sqlmicro.run(write(folder))


@pytest.mark.slow
def test_a_key_that_is_kept_on_both_sides_is_audited(folder: Path) -> None:
    keep = '\nkeep = ["{}"]\nidentifier_ok = ["{}"]\naccept_unique = ["{}"]'
    text = write(
        folder,
        ('name = "tags"', 'name = "tags"' + keep.format(*["order_number"] * 3)),
        (ORDERS, ORDERS + keep.format(*["number"] * 3)),
    )
    sqlmicro.run(text)
    assert shape(folder, *JOINS[3]) == shape(folder, *JOINS[3], end="_r")
    assert {row["number"] for row in records(folder, "FROM orders_r")} == set(range(1000, 1200))


@pytest.mark.slow
def test_random_graphs_lose_no_row(tmp_path: Path) -> None:
    """Tables in a random graph of keys, NULLs and rows that refer to nobody included."""
    random.seed(16)
    (tmp_path / "secret").write_text("a secret of at least sixteen bytes\n")
    names, keys = [f"t{number}" for number in range(4)], []
    text = 'db = "w.duckdb"\nkey_file = "secret"\n'
    with opened(tmp_path / "w.duckdb") as connection:
        for number, name in enumerate(names):
            parents = [random.choice(names[: number + 1]) for _ in range(2)]
            listed = "".join(f", f{j} INTEGER" for j in range(2))
            connection.execute(f"CREATE TABLE {name} (id INTEGER{listed}, v INTEGER)")
            values = [
                [i, *(random.choice([None, *range(35)]) for _ in parents), random.randrange(9)] for i in range(30)
            ]
            insert(connection, name, values)
            keys += [(name, f"f{j}", parent, "id") for j, parent in enumerate(parents)]
            text += f'[[table]]\nname = "{name}"\n[[table.step]]\ndo = "shuffle"\ncolumns = ["v"]\n'
            text += f'[[table.step]]\ndo = "publish"\ninto = "{name}_r"\n'
    text += "".join(f'[[key]]\nfrom = "{a}.{b}"\nto = "{c}.{d}"\n' for a, b, c, d in keys)
    sqlmicro.run(write(tmp_path, text=text))
    for key in keys:
        assert shape(tmp_path, *key) == shape(tmp_path, *key, end="_r")


@pytest.mark.parametrize(
    ("held", "joined", "most", "passed"), [(5, 5, 0, True), (5, 3, 2, True), (5, 3, 1, False), (3, 5, 1, False)]
)
def test_a_join_neither_loses_nor_gains_more_rows_than_it_may(held: int, joined: int, most: int, passed: bool) -> None:
    warehouse = SimpleNamespace(rows=lambda *_, **__: [(9, 0, held, joined)])
    side = SimpleNamespace(
        run=SimpleNamespace(warehouse=warehouse, table=SimpleNamespace(original=None, current=None)),
        audits={None: SimpleNamespace(relation=None, checks=[])}, report=SimpleNamespace(source="t"),
    )  # fmt: skip
    reference = together.Reference("key 1", side, (), side, (), most)  # type: ignore[arg-type]
    with nullcontext() if passed else refused("rows lost by a join", kind=AuditFailed, exit_code=1):
        together.audit([reference])
