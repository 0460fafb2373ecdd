"""k over what the releases of one file tell together: counted on what was written, before any becomes visible."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import run as command
from databases import opened
from world import refused, relations

import sqlmicro
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.pipeline import Promises
from sqlmicro.publish import together

STAR = Path(__file__).parent.parent / "examples" / "star_schema"
TABLES = '''
CREATE TABLE persons AS SELECT i AS id, 20 + i // 10 AS age, 1 + i // 10 AS ward FROM range(60) r(i);
CREATE TABLE orders AS SELECT 1000 + i AS number, i % 60 AS customer_id, i // 60 AS "a ""b""", i % 60 // 10 * 1.5 AS
  amount FROM range(120) r(i);
CREATE TABLE items AS SELECT 1000 + i % 120 AS order_number, i // 120 AS article FROM range(240) r(i);
'''
"""60 persons in six classes of ten. Each has 2 orders, and each order 2 items; what they tell, the class tells."""
JOB = """
db = "w.duckdb"
key_file = "secret"
FILE

[[table]]
name = "persons"
rows_are_persons = true
[[table.step]]
do = "mdav"
columns = ["age", "ward"]
k = 5
[[table.step]]
do = "publish"
overwrite = true

[[table]]
name = "orders"
person = ["customer_id"]
ORDERS
[[table.step]]
do = "generalize"
columns = ['a "b"', "amount"]
until_k = 5
[[table.step]]
do = "publish"
overwrite = true

[[table]]
name = "items"
ITEMS
[[table.step]]
do = "generalize"
columns = ["article"]
until_k = 5
[[table.step]]
do = "publish"
overwrite = true

[[key]]
from = "orders.customer_id"
to = "persons.id"
[[key]]
from = "items.order_number"
to = "orders.number"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    execute(tmp_path, TABLES)
    (tmp_path / "secret").write_text("a secret of at least sixteen bytes\n")
    return tmp_path


def execute(folder: Path, statements: str, db: str = "w.duckdb") -> list[Any]:
    with opened(folder / db) as connection:
        return connection.execute(statements).fetchall()


def write(folder: Path, file: str = "", orders: str = "", items: str = "", *changes: tuple[str, str]) -> str:
    text = JOB.replace("FILE", file).replace("ORDERS", orders).replace("ITEMS", items)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "job.toml").write_text(text)
    return str(folder / "job.toml")


def counted(report: Any) -> list[tuple[str, float, float | None, bool | None]]:
    """Return what was found over joins: table, k, threshold, passed."""
    return [
        (table["source"], check["value"], check["threshold"], check["passed"])
        for table in report["tables"]
        for check in table["audits"]
        if check["check"] == "join-k"
    ]


def told(report: Any, table: str) -> list[str]:
    return next(check["columns"] for one in report["tables"] if one["source"] == table for check in one["audits"]
                if check["check"] == "join-k")  # fmt: skip


def released(folder: Path) -> list[Any]:
    return execute(folder, "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '%_anonymized' ORDER BY ALL")


@pytest.mark.slow
def test_persons_who_are_alike_in_all_tables(folder: Path) -> None:
    report = sqlmicro.run(write(folder))
    assert counted(report) == [("persons", 10, 5, True), ("orders", 10, 5, True), ("items", 10, 5, True)]
    assert told(report, "persons") == ["persons.age", "persons.ward", "orders: count", "items: count"]
    assert told(report, "items") == [
        "items.article", 'orders.a "b"', "orders.amount", "persons.age", "persons.ward",
        "orders: count", "items: count",
    ]  # fmt: skip
    recorded = """SELECT value, threshold, passed FROM sqlmicro.audits WHERE starts_with("check", 'join-k')"""
    assert execute(folder, recorded) == [(10.0, 5.0, True)] * 3


@pytest.mark.slow_but("INSERT INTO items SELECT 1003, 1-words2")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("INSERT INTO orders SELECT 5000, 7, 0, 0", ["persons joined", "join-k is 1", "orders: count", "(key 1)"]),
        ("UPDATE orders SET amount = 7.5 WHERE customer_id IN (0, 1, 2) AND number < 1060", ["orders joined", "is 3"]),
        ("INSERT INTO items SELECT 1003, 1", ["persons joined", "items: count", "without items.order_number (key 2)"]),
    ],
)
def test_what_a_join_singles_out_is_not_published(folder: Path, change: str, words: list[str]) -> None:
    execute(folder, change)
    with pytest.raises(sqlmicro.AuditFailed) as caught:
        sqlmicro.run(write(folder))
    assert caught.value.exit_code == 1
    for word in (*words, "needed at least 5", "join_depth = 0"):
        assert word in str(caught.value)
    assert released(folder) == []
    with pytest.raises(sqlmicro.AuditFailed):
        sqlmicro.run(write(folder), dry_run=True)


ONE_MORE = "INSERT INTO orders SELECT 5000, 7, 0, 0"


@pytest.mark.slow_but('known = ["orders: none", "items: none"]---expected3')
@pytest.mark.parametrize(
    ("file", "orders", "items", "expected"),
    [
        ("join_depth = 0", "", "", []),
        ("min_join_k = 1", "", "", [("persons", 1, 1, True), ("orders", 1, 1, True), ("items", 1, 1, True)]),
        (
            'known = ["orders: none"]',
            "",
            "",
            [("persons", 10, 5, True), ("orders", 10, 5, True), ("items", 10, 5, True)],
        ),
        ('known = ["orders: none", "items: none"]', "", "", [("orders", 10, 5, True), ("items", 10, 5, True)]),
    ],
)
def test_what_is_decided_in_the_file(folder: Path, file: str, orders: str, items: str, expected: list[Any]) -> None:
    """One person has three orders; one of them is without items."""
    execute(folder, ONE_MORE)
    report = sqlmicro.run(write(folder, file, orders, items))
    assert len(released(folder)) == 3
    noted = [table["notes"] for table in report["tables"]]
    assert all(any("join_depth = 0" in note for note in notes) == (file == "join_depth = 0") for notes in noted)
    assert counted(report) == expected


@pytest.mark.slow
def test_a_key_that_is_left_out_joins_nothing(folder: Path) -> None:
    """Orders and items are still joined, and whose they are is known from the original."""
    execute(folder, ONE_MORE)
    execute(folder, "UPDATE items SET article = 7 WHERE order_number IN (1000, 1001, 1002, 1003)")
    path = write(folder, "", 'drop = ["customer_id"]', "rows_are_persons = false")
    with pytest.raises(sqlmicro.AuditFailed, match=r"items joined: join-k is 4.*in items.article, orders"):
        sqlmicro.run(path)
    execute(folder, "UPDATE items SET article = 7 WHERE order_number = 1004")
    assert counted(sqlmicro.run(path)) == [("items", 5, 5, True)]
    (columns,) = execute(folder, "SELECT list(column_name) FROM (DESCRIBE orders_anonymized)")
    assert "customer_id" not in columns[0]


@pytest.mark.slow
def test_persons_are_counted_who_are_in_no_release(folder: Path) -> None:
    """Eight items of four orders look alike, but the orders are those of two persons."""
    execute(folder, "UPDATE items SET article = 7 WHERE order_number IN (1000, 1001, 1060, 1061)")
    with pytest.raises(sqlmicro.AuditFailed, match=r"items joined: join-k is 2, .* of 2 of 60 persons"):
        sqlmicro.run(write(folder, "", 'drop = ["customer_id"]'))


@pytest.mark.slow_but("orders: MAX-None")
@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ("orders: count, sum(amount)", 10),
        ("orders: MAX", None),
        ("orders: sum(amount), avg(amount), min(amount), max(amount)", 10),
        ('orders: sum("a ""b""")', 10),
    ],
)
def test_what_is_known_of_the_rows_of_a_person(folder: Path, known: str, expected: int | None) -> None:
    path = write(folder, f"known = ['{known}']")
    if expected is None:
        with pytest.raises(sqlmicro.JobError, match="sum\\(column\\)"):
            sqlmicro.run(path)
        return
    assert counted(sqlmicro.run(path))[0] == ("persons", expected, 5, True)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("FILE", 'known = ["visits: count"]', ["key 'known'", "persons, orders, items"]),
        ("FILE", 'known = ["orders: count", "orders: none"]', ["key 'known'", "once"]),
        ("FILE", 'known = ["orders: none, count"]', ["key 'known'", "none alone"]),
        ("FILE", 'known = ["orders:"]', ["key 'known'", "none alone"]),
        ("FILE", 'known = ["orders: median(amount)"]', ["key 'known'", "median(amount)", "avg(column)"]),
        ("FILE", 'known = ["orders: sum(amounts)"]', ["table 2 (orders), key 'known'", "Did you mean 'amount'"]),
        ("FILE", "join_depth = -1", ["join_depth", "-1"]),
        ("FILE", "min_join_k = 0", ["min_join_k", "0"]),
        ("FILE", 'known = "orders: none"', ["known"]),
        ('[[table]]\nname = "persons"', 'join_depth = 1\n[[table]]\nname = "persons"\njoin_depth = 1', ["join_depth"]),
        ('name = "persons"\n', 'name = "persons"\nmin_join_k = 3\n', ["min_join_k", "holds for all tables"]),
    ],
)  # fmt: skip
def test_errors_name_the_key_of_the_file(folder: Path, old: str, new: str, words: list[str]) -> None:
    path = write(folder, new) if old == "FILE" else write(folder, "", "", "", (old, new))
    with refused() as caught:
        sqlmicro.run(path)
    for word in words:
        assert word in str(caught.value)


def test_one_table_is_joined_with_nothing(folder: Path) -> None:
    job = 'db = "w.duckdb"\ntable = "persons"\njoin_depth = 0\n[[step]]\ndo = "mdav"\ncolumns = ["age"]\nk = 3\n'
    (folder / "job.toml").write_text(job + 'drop = ["id", "ward"]\n[[step]]\ndo = "publish"\n')
    with pytest.raises(sqlmicro.JobError, match=r"'join_depth'.*one table"):
        sqlmicro.run(str(folder / "job.toml"))


def test_a_sum_of_ranges_is_refused(folder: Path) -> None:
    ranges = ('columns = [\'a "b"\', "amount"]\nuntil_k = 5', 'columns = ["amount"]\nwidth = ["amount=2"]')
    path = write(folder, 'known = ["orders: sum(amount)"]', "drop = ['a \"b\"']", "", ranges)
    with pytest.raises(sqlmicro.InputError, match=r"sum is of numbers, as they are released.*amount \(VARCHAR\)"):
        sqlmicro.run(path)
    assert released(folder) == []


@pytest.mark.slow
def test_the_command_line_overrules_the_file(folder: Path) -> None:
    execute(folder, ONE_MORE)
    path = write(folder)
    assert command("run", path).returncode == 1
    assert command("run", path, "--join-depth", "0").returncode == 0
    done = command("run", path, "--known", "orders: none", "--known", "items: none", "--json")
    assert done.returncode == 0
    assert '"join-k"' in done.stdout
    shown = command("run", path, "--known", "orders: none", "--show-sql")
    assert "audit/alike_persons.sql" in shown.stdout or "alike" in shown.stdout


@pytest.mark.slow
def test_the_tables_of_the_star_schema_hold_k_and_their_join_does_not(tmp_path: Path) -> None:
    """mdav with k = 5 persons in every table: a visit and whose it is single out most persons."""
    for source in STAR.glob("*.csv"):
        execute(tmp_path, f"CREATE TABLE {source.stem} AS FROM '{source}'", "warehouse.duckdb")
    (tmp_path / "secret").write_bytes(os.urandom(32))
    shutil.copy(STAR / "policy.toml", tmp_path)
    policy = tmp_path / "policy.toml"
    alone = """
db = "warehouse.duckdb"
key_file = "secret"
join_depth = 0
"""
    for name, columns, drop, person in (
        ("persons", ["born", "sex", "zip"], ["name", "email"], "rows_are_persons = true"),
        ("visits", ["admitted", "cost"], ["visit_id", "diagnosis"], 'person = ["patient_id"]'),
        ("orders", ["article", "amount"], ["order_id"], 'person = ["customer_id"]'),
    ):
        alone += f'[[table]]\nname = "{name}"\n{person}\ndrop = {drop}\n[[table.step]]\ndo = "mdav"\n'
        alone += f'columns = {columns}\nk = 5\n[[table.step]]\ndo = "publish"\ninto = "{name}_release"\n'
    alone += '[[key]]\nfrom = "visits.patient_id"\nto = "persons.person_id"\n'
    alone += '[[key]]\nfrom = "orders.customer_id"\nto = "persons.person_id"\n'
    policy.write_text(alone)
    report = sqlmicro.run(str(policy))
    held = [c["value"] for t in report["tables"] for c in t["audits"] if c["check"] in ("k-anonymity", "persons")]
    assert min(held) >= 5
    seen = "SELECT patient_id, admitted, cost, born, sex, zip FROM visits_release JOIN persons_release "
    rows = execute(tmp_path, f"{seen} ON patient_id = person_id", "warehouse.duckdb")
    classes = defaultdict(set)
    for person, *seen in rows:
        classes[tuple(seen)].add(person)
    single = {person for persons in classes.values() if len(persons) == 1 for person in persons}
    assert len(single) > 0.5 * len({row[0] for row in rows})
    for known in ("", 'known = ["visits: none", "orders: none"]'):
        another = alone.replace("join_depth = 0", known)
        policy.write_text(another.replace('_release"', '_joined"\nalone_because = "test"'))
        with pytest.raises(sqlmicro.AuditFailed, match="visits joined: join-k is 1"):
            sqlmicro.run(str(policy))
    assert not [name for _, name in relations(tmp_path / "warehouse.duckdb") if name.endswith("joined")]


@pytest.mark.slow
def test_a_smaller_k_over_joins_is_told_by_the_verdict(folder: Path) -> None:
    execute(folder, ONE_MORE)
    report = sqlmicro.run(write(folder, "min_join_k = 1"), dry_run=True)
    verdicts = {table["source"]: table["verdict"] for table in report["tables"]}
    assert verdicts["persons"]["status"] == "lowered"
    assert verdicts["persons"]["headline"] == "k = 5 held, but not over joins"
    assert "some persons share their values with nobody" in verdicts["persons"]["sentence"]
    held = sqlmicro.run(write(folder, "join_depth = 0"), dry_run=True)
    assert {table["verdict"]["status"] for table in held["tables"]} == {"held"}


def test_explain_tells_what_is_counted(folder: Path) -> None:
    told = [
        sqlmicro.explain(write(folder, file))["paragraphs"][-1]
        for file in ("", "min_join_k = 7\nmax_cross_table = 0.25", "join_depth = 0")
    ]
    assert "at least the smallest k that a table promises persons must be alike" in told[0]
    assert "at least 7 persons must be alike" in told[1]
    assert "at most 25 % of the persons" in told[1]
    assert "handed to different people" in told[2]


def test_pseudonyms_that_no_key_names_are_told(folder: Path) -> None:
    """Both tables have the pseudonyms of one key: somebody may join them, although the file does not say so."""
    text = JOB.split("[[key]]")[0].replace("FILE", "").replace("ITEMS", 'drop = ["order_number"]')
    text = text.replace("ORDERS", 'drop = ["number"]').replace(
        '[[table.step]]\ndo = "mdav"', '[[table.step]]\ndo = "pseudonymise"\ncolumns = ["id"]\nkey_file = "secret"\n'
        '[[table.step]]\ndo = "mdav"',
    ).replace(
        '[[table.step]]\ndo = "generalize"\ncolumns = [\'a', '[[table.step]]\ndo = "pseudonymise"\n'
        'columns = ["customer_id"]\nkey_file = "secret"\n[[table.step]]\ndo = "generalize"\ncolumns = [\'a',
    )  # fmt: skip
    (folder / "job.toml").write_text(text)
    report = sqlmicro.run(str(folder / "job.toml"), dry_run=True)
    told = ["no [[key]] names this pseudonym" in " ".join(table["notes"]) for table in report["tables"]]
    assert told == [True, True, False]


@pytest.mark.slow_but("parquet")
@pytest.mark.parametrize("to", ["csv", "parquet", "in_place"])
def test_what_is_counted_is_what_was_written(folder: Path, to: str) -> None:
    """Files are read back, and tables that are changed in place are looked at as they are by now."""
    for table in ("persons.id", "orders.number", "orders.customer_id", "items.order_number"):
        name, _, column = table.partition(".")
        execute(folder, f"ALTER TABLE {name} ALTER {column} TYPE VARCHAR")
    text = JOB.replace("FILE", "").replace("ORDERS", "").replace("ITEMS", "")
    for name in ("persons", "orders", "items"):
        goes = "in_place = true\nno_purge = true" if to == "in_place" else f'to = "{name}.{to}"'
        text = text.replace('do = "publish"\noverwrite = true', f'do = "publish"\n{goes}', 1)
    (folder / "job.toml").write_text(text)
    assert {row[1:] for row in counted(sqlmicro.run(str(folder / "job.toml"), dry_run=True))} == {(10, 5, True)}
    execute(folder, ONE_MORE)
    with pytest.raises(sqlmicro.AuditFailed, match="persons joined: join-k is 1"):
        sqlmicro.run(str(folder / "job.toml"))
    assert not list(folder.glob("*.parquet")) + list(folder.glob("*.csv"))
    assert execute(folder, "SELECT count(*) FROM orders WHERE length(customer_id) = 64") == [(0,)]
    execute(folder, "DELETE FROM orders WHERE number = '5000'")
    report = sqlmicro.run(str(folder / "job.toml"))
    assert counted(report) == [("persons", 10, 5, True), ("orders", 10, 5, True), ("items", 10, 5, True)]


@pytest.mark.slow
def test_columns_called_as_ours_and_no_rows_at_all(folder: Path) -> None:
    execute(folder, "ALTER TABLE persons RENAME age TO there_1")
    execute(folder, "ALTER TABLE persons RENAME ward TO n")
    execute(folder, "ALTER TABLE items RENAME article TO person")
    path = write(folder, "", "", "", ('["age", "ward"]', '["there_1", "n"]'), ('["article"]', '["person"]'))
    assert {row[1:] for row in counted(sqlmicro.run(path))} == {(10, 5, True)}
    execute(folder, "DELETE FROM persons WHERE id >= 5")
    report = sqlmicro.run(path, min_join_k=1)
    assert counted(report)[0] == ("persons", 5, 1, True)


@pytest.mark.parametrize("tells", [True, False])
def test_persons_that_a_release_does_not_tell_are_those_of_its_original(tells: bool) -> None:
    person, age = Column("pid", "INTEGER", "p1"), Column("age", "INTEGER", "c1")
    here = Name("", "", "t")
    roles = SimpleNamespace(person=(person,), released=(age,))
    records = SimpleNamespace(describe=lambda _relation: [("row_id", "BIGINT"), ("c1", "DOUBLE")])
    run = SimpleNamespace(
        roles=roles, tells_whose=tells, table=SimpleNamespace(current=here, original=here), warehouse=records,
        known=(age,), promises=Promises(),
    )  # fmt: skip
    written = SimpleNamespace(relation=here, columns=(Column("pid", "INTEGER", "pid"), Column("age", "DOUBLE", "age")))
    released = SimpleNamespace(
        run=run, audits={None: written}, outputs=[SimpleNamespace(records=None)], report=SimpleNamespace(source="t")
    )
    part: Any = SimpleNamespace(release=released, accepted=set(), rows_are_persons=False, known=None)
    member = together._member(part)
    assert [column.name for column in member.person] == ["pid" if tells else "person"]
    assert [*member.pseudonyms] == (["pid"] if tells else [])
    assert (member.relation == here) is tells
