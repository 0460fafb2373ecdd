"""Job files of several tables: one key for the pseudonyms, all releases or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import run
from world import execute, refused, warehouse
from world import rows as query

import sqlmicro

JOB = """
db = "w.duckdb"
seed = "several"
min_join_k = 1

[[table]]
name = "customers"
drop = ["name"]
[[table.step]]
do = "pseudonymise"
columns = ["customer_id"]
KEY
[[table.step]]
do = "mdav"
columns = ["age", "income"]
k = 3
[[table.gate]]
quasi = ["age", "income"]
min_k = 3
[[table.step]]
do = "publish"
PUBLISH customers_release

[[table]]
name = "orders"
keep = ["article"]
person = ["customer_id"]
[[table.step]]
do = "pseudonymise"
columns = ["customer_id"]
KEY
[[table.step]]
do = "shuffle"
columns = ["amount"]
[[table.gate]]
quasi = ["article"]
min_k = 2
[[table.step]]
do = "publish"
PUBLISH orders_release
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    execute(
        tmp_path / "w.duckdb",
        """CREATE TABLE customers AS SELECT i AS customer_id, 'name ' || i AS name,
            18 + (i * 7) % 60 AS age, ((i * 7919) % 1009)::DOUBLE AS income FROM range(60) r(i)""",
        """CREATE TABLE orders AS SELECT (i * 11) % 70 AS customer_id, 'article ' || i % 5 AS
            article, (i * 31) % 97 AS amount FROM range(200) r(i)""",
    )
    (tmp_path / "secret").write_text("a secret of at least sixteen bytes\n")
    return tmp_path


def write(folder: Path, *changes: tuple[str, str], to: str = "into", ending: str = "") -> str:
    text = JOB.replace("KEY", 'key_file = "secret"')
    for target in ("customers_release", "orders_release"):
        text = text.replace(f"PUBLISH {target}", f'{to} = "{target}{ending}"')
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "job.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_pseudonyms_of_one_key_join_the_tables_as_before(folder: Path) -> None:
    report = sqlmicro.run(write(folder))
    assert [table["source"] for table in report["tables"]] == ["customers", "orders"]
    joined = "SELECT article, count(*) FROM orders{0} JOIN customers{0} USING (customer_id) GROUP BY ALL ORDER BY ALL"
    before, after = (query(folder, joined.format(end)) for end in ("", "_release"))
    assert before == after
    assert sum(n for _, n in before) < 200  # customers 60 to 69 are in no row of the other table, before and after
    assert query(folder, "SELECT list(column_name) FROM (DESCRIBE customers_release)") == [
        (["customer_id", "age", "income"],)
    ]
    fingerprints = {table["parameters"]["steps"][0]["key_fingerprint"] for table in report["tables"]}
    assert len(fingerprints) == 1
    targets = query(folder, "SELECT id, target FROM sqlmicro.releases ORDER BY id")
    assert targets == [(1, "customers_release"), (2, "orders_release")]


def test_the_tables_do_not_share_their_random_numbers(folder: Path) -> None:
    """Two tables alike, treated alike: with the same numbers they would come out in the same order."""
    same = write(
        folder,
        ('name = "orders"\nkeep = ["article"]', 'name = "customers"\nrest = "drop"'),
        ('columns = ["amount"]', 'columns = ["age"]'),
        ('["age", "income"]\nk = 3', '["age"]\nk = 3'),
        ('drop = ["name"]', 'rest = "drop"'),
        ('[[table.gate]]\nquasi = ["article"]\nmin_k = 2\n', ""),
        ('[[table.gate]]\nquasi = ["age", "income"]\nmin_k = 3\n', ""),
    )
    sqlmicro.run(same)
    first, second = (query(folder, f"SELECT customer_id FROM {name}_release") for name in ("customers", "orders"))
    assert sorted(first) == sorted(second)
    assert first != second


@pytest.mark.slow
@pytest.mark.parametrize("to", ["into", "to"])
def test_either_all_are_published_or_none(folder: Path, to: str) -> None:
    ending = ".parquet" if to == "to" else ""
    path = write(folder, ('quasi = ["article"]\nmin_k = 2', 'quasi = ["article"]\nmin_k = 41'), to=to, ending=ending)
    with pytest.raises(sqlmicro.AuditFailed, match=r"table 2 \(orders\), gate 1"):
        sqlmicro.run(path)
    assert not list(folder.glob("*.parquet"))
    assert query(folder, "SELECT count(*) FROM duckdb_tables()") == [(2,)]
    sqlmicro.run(write(folder, to=to, ending=ending))
    if to == "to":
        assert sorted(file.name for file in folder.glob("*.parquet")) == [
            "customers_release.parquet", "orders_release.parquet",
        ]  # fmt: skip
    assert query(folder, "SELECT count(*) FROM sqlmicro.releases") == [(2,)]


def test_a_failure_within_the_transaction_publishes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlmicro.publish import publish

    recorded = []
    record = publish.record

    def failing(warehouse: Any, run: Any, target: Any, *rest: Any) -> None:
        recorded.append(target.label)
        if len(recorded) == 2:
            raise sqlmicro.QueryError("record", "must work")
        record(warehouse, run, target, *rest)

    monkeypatch.setattr(publish, "record", failing)
    with pytest.raises(sqlmicro.QueryError):
        sqlmicro.run(write(folder))
    assert recorded == ["customers_release", "orders_release"]
    assert query(folder, "SELECT count(*) FROM duckdb_tables()") == [(2,)]


def test_a_dry_run_is_one_script_with_one_transaction(folder: Path) -> None:
    before = (folder / "w.duckdb").read_bytes()
    report = sqlmicro.run(write(folder), show_sql=True)
    assert (folder / "w.duckdb").read_bytes() == before
    assert [line for line in report["sql"].splitlines() if "TRANSACTION" in line] == ["BEGIN TRANSACTION;"]
    assert report["sql"].count("\nCOMMIT;") == 1
    assert all(table["dry_run"] and "sql" not in table for table in report["tables"])


@pytest.mark.slow
def test_a_key_that_comes_through_a_pipe_serves_all_tables(folder: Path) -> None:
    import os

    sqlmicro.run(write(folder))
    reading, writing = os.pipe()
    os.write(writing, (folder / "secret").read_bytes())
    os.close(writing)
    try:
        sqlmicro.run(write(folder, ('"secret"', f'"/dev/fd/{reading}"'), ("_release", "_again")))
    finally:
        os.close(reading)
    for table, rows in (("customers", 60), ("orders", 200)):
        known = f"SELECT count(*) FROM {table}_again SEMI JOIN {table}_release USING (customer_id)"
        assert query(folder, known) == [(rows,)]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "orders"', 'nmae = "orders"', ["table 2", "no 'name'"]),
        ('do = "shuffle"', 'do = "shufle"', ["table 2 (orders), step 2", "Did you mean 'shuffle'"]),
        ("min_k = 2", "min_kk = 2", ["table 2 (orders), gate 1", "Did you mean 'min_k'"]),
        ('quasi = ["article"]\nmin_k = 2', 'quasi = ["article"]', ["table 2 (orders), gate 1", "min_k = 3"]),
        ('columns = ["amount"]', 'column = ["amount"]', ["table 2 (orders), step 2", "Did you mean 'columns'"]),
        ('seed = "several"', 'drop = ["name"]', ["'drop' belongs into each [[table]]"]),
        ('seed = "several"', 'sed = "several"', ["Did you mean 'seed'"]),
        ('drop = ["name"]', 'drop = ["name"]\nthreads = 1', ["table 1", "'threads' holds for all tables"]),
        ('into = "orders_release"', 'into = "main.Customers_Release"', ["a place of its own"]),
        ('into = "orders_release"', 'to = "orders.parquet"', ["all as tables, or all as files"]),
        ('["amount"]', '["amount"]\n[[table.step]]\ndo = "pseudonymise"\nkey_file = "x"\ncolumns = ["article"]',
         ["share the key"]),
        ('do = "publish"\ninto = "orders_release"', 'do = "audit"\nmin_k = 2', ["(orders), step 3", "[[gate]]"]),
    ],
)  # fmt: skip
def test_errors_name_table_step_and_key(folder: Path, old: str, new: str, words: list[str]) -> None:
    with refused() as caught:
        sqlmicro.run(write(folder, (old, new)))
    for word in words:
        assert word in str(caught.value)
    assert query(folder, "SELECT count(*) FROM duckdb_tables()") == [(2,)]


@pytest.mark.slow
def test_tables_changed_in_place_are_purged_once(folder: Path) -> None:
    path = write(
        folder,
        ('into = "customers_release"', "in_place = true"),
        ('into = "orders_release"', "in_place = true"),
        ('"pseudonymise"\ncolumns = ["customer_id"]\nkey_file = "secret"', '"shuffle"\ncolumns = ["customer_id"]'),
        ('person = ["customer_id"]', "rows_are_persons = true"),
    )
    report = sqlmicro.run(path)
    assert [table["purged"] for table in report["tables"]] == [True, True]
    assert [("purge" in table["seconds"]) for table in report["tables"]] == [True, False]
    assert b"name 17" not in (folder / "w.duckdb").read_bytes()


def test_three_releases_or_more_are_told_in_a_table(tmp_path: Path) -> None:
    columns = "i AS person_id, i % 9 AS age, i % 7 AS size FROM range(90) t(i)"
    warehouse(tmp_path, *(f"CREATE TABLE {name} AS SELECT {columns}" for name in ("one", "two", "three")))
    job = "".join(
        f'[[table]]\nname = "{name}"\ndrop = ["person_id"]\n'
        '[[table.step]]\ndo = "mdav"\ncolumns = ["age", "size"]\nk = 3\n'
        '[[table.step]]\ndo = "publish"\noverwrite = true\n'
        for name in ("one", "two", "three")
    )
    (tmp_path / "job.toml").write_text('db = "w.duckdb"\n' + job, encoding="utf-8")
    done = run("run", "job.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["published", "rows", "protects", "loss"]
    assert [line.split()[0] for line in lines[1:4]] == ["one_anonymized", "two_anonymized", "three_anonymized"]
    assert all("90 of 90" in line and "k = 3 held" in line and "IL " in line for line in lines[1:4])
    assert lines[-1].split()[0] == "more" and len(lines) <= 25
    rehearsed = run("run", "job.toml", "--dry-run", cwd=tmp_path).stdout
    assert rehearsed.startswith("would be published  "), "nothing is called published that is not"
    compared = run("run", "job.toml", "--dry-run", "--diff", cwd=tmp_path).stdout
    assert compared.count("* changed, - suppressed.") == 3, "a preview that was asked for is shown"
