"""Advice that a message gives is followed, and works: what fails first, the words that say what to do, what is done."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from command import run
from databases import opened

TABLE = "--db w.duckdb --table people"
OUT = "--into out --overwrite --alone-because tests"
GAPS = f"mdav {TABLE} --columns age,gaps --rest drop {OUT}"
VISITS = f"mdav --db w.duckdb --table visits --columns age --rest drop {OUT}"
REPEATED = f"safe --db w.duckdb --table visits --person patient_id --effort fast {OUT}"

AGE, SAFE, DROP = f"mdav {TABLE} --columns age", f"safe {TABLE} --effort fast --columns sex,age", f"--rest drop {OUT}"

FOLLOWED: list[tuple[str, str, str]] = [
    # What fails, the words of the advice, what follows it.
    (f"mdva {TABLE}", "mdav", f"{AGE} {DROP}"),
    ("mdav --db w.duckdb --table peple --columns age --rest drop", "people", f"{AGE} {DROP}"),
    (f"mdav {TABLE} --columns aeg {DROP}", "Did you mean 'age'", f"{AGE} {DROP}"),
    (f"{AGE} {OUT}", "--rest drop", f"{AGE} {DROP}"),
    (f"{AGE} {OUT}", "--keep", f"{AGE},income --keep sex,region --drop id,name,gaps,day,pay {OUT}"),
    (
        f"individual-ranking {TABLE} --columns sex {DROP}",
        "sqlmicro safe",
        f"safe {TABLE} --columns sex --effort fast {DROP}",
    ),
    (
        f"individual-ranking {TABLE} --columns sex,age {DROP}",
        "Leave these out",
        f"individual-ranking {TABLE} --columns age {DROP}",
    ),
    (GAPS, "--nulls pattern", f"{GAPS} --nulls pattern"),
    (GAPS, "keep (NULL", f"{GAPS} --nulls keep"),
    (GAPS, "suppress (leave", f"{GAPS} --nulls suppress"),
    (f"{AGE} --k 1 {DROP}", "at least 2", f"{AGE} --k 2 {DROP}"),
    (f"{AGE} --k 500 {DROP}", "smaller --k", f"{AGE} --k 5 {DROP}"),
    (f"{AGE} --by day {DROP}", "fewer or coarser --by", f"{AGE} {DROP}"),
    (f"{AGE} --by day --k 20 {DROP}", "smaller --k", f"{AGE} --by sex --k 3 {DROP}"),
    (f"{AGE} --keep name {DROP}", "--accept-unique name", f"{AGE} --keep name --accept-unique name {DROP}"),
    (f"{AGE} --keep pay {DROP}", "--accept-unique pay", f"{AGE} --keep pay --accept-unique pay {DROP}"),
    (f"{AGE} --by age {DROP}", "stratum", f"{AGE} --by sex {DROP}"),
    (f"{AGE} --rest drop --into people", "--in-place", f"{AGE} {DROP}"),
    (f"{AGE} --rest drop --into there", "--overwrite", f"{AGE} --rest drop --into there --overwrite --alone-because x"),
    (
        f"{AGE} --rest drop --to there.csv",
        "--overwrite",
        f"{AGE} --rest drop --to there.csv --overwrite --alone-because x",
    ),
    (
        f"{AGE} --rest drop --to out.xlsx",
        ".parquet",
        f"{AGE} --rest drop --to out.parquet --overwrite --alone-because x",
    ),
    (VISITS, "--person patient_id", f"{VISITS} --person patient_id"),
    (VISITS, "--rows-are-persons", f"{VISITS} --rows-are-persons"),
    (f"{REPEATED} --nulls pattern", "--nulls keep", f"{REPEATED} --nulls keep"),
    (f"{AGE} --sensitive sex {DROP}", "--min-l", f"{AGE} --sensitive sex --min-l 2 {DROP}"),
    (f"{AGE} --min-l 2 {DROP}", "--sensitive", f"{AGE} --sensitive sex --min-l 2 {DROP}"),
    (f"{AGE} --sensitive sex --min-l 9 {DROP}", "less", f"{AGE} --sensitive sex --min-l 2 {DROP}"),
    (f"generalize {TABLE} --columns age {DROP}", "--width", f"generalize {TABLE} --columns age --width age=10 {DROP}"),
    (f"top-code {TABLE} --columns age {DROP}", "--quantile", f"top-code {TABLE} --columns age --quantile 0.9 {DROP}"),
    (f"swap {TABLE} --columns age {DROP}", "--percent", f"swap {TABLE} --columns age --percent 20 {DROP}"),
    (
        f"pram {TABLE} --columns sex {DROP}",
        "--keep-probability",
        f"pram {TABLE} --columns sex --keep-probability 0.8 {DROP}",
    ),
    (
        f"shift-dates {TABLE} --columns day {DROP}",
        "--within 30d",
        f"shift-dates {TABLE} --columns day --person id --within 30d {DROP}",
    ),
    (
        f"suppress {TABLE} --columns sex,region --max-risk 0.3 {DROP}",
        "--weight",
        f"suppress {TABLE} --columns sex,region --max-risk 0.9 --weight pay {DROP}",
    ),
    (f"{SAFE} --numeric sex {DROP}", "numbers", f"{SAFE} --numeric age {DROP}"),
    (f"{SAFE} --algorithm kmean {DROP}", "Did you mean 'kmeans++'", f"{SAFE} --algorithm kmeans++ {DROP}"),
    (f"{SAFE} --round age=0 {DROP}", "column=step", f"{SAFE} --round age=5 {DROP}"),
    (f"{SAFE} --means 'age sex' {DROP}", "by", f"{SAFE} --means 'age by sex' {DROP}"),
    (f"audit {TABLE} --min-k 2", "--quasi", f"audit {TABLE} --quasi sex --min-k 2"),
    (
        "report --db w.duckdb --release people",
        "--quasi",
        "report --db w.duckdb --release people --quasi sex --sample 0",
    ),
    ("report --release 7", "by --db or --ledger FILE", "report --db w.duckdb --release 1 --sample 0"),
    ("report --db w.duckdb --release 700", "There are: ", "report --db w.duckdb --release 1 --sample 0"),
    ("ledger", "--db FILE", "ledger --db w.duckdb"),
    ("run nothing.toml", "sqlmicro init", f"init {TABLE}"),
    ("run job.toml", "Did you mean 'columns'", "run right.toml"),
    ("run persons.toml", "rows_are_persons = true", "run rows.toml"),
    ("run persons.toml", 'person = ["patient_id"]', "run person.toml"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tables, files and job files that the commands are about."""
    folder = tmp_path_factory.mktemp("advice")
    with opened(folder / "w.duckdb") as connection:
        connection.execute(
            """CREATE TABLE people AS SELECT i AS id, 'person ' || i || ' of the town' AS name, 20 + i % 30 AS age,
            1000.0 + (i * 7919 % 997) AS income, i * 1.25 + 0.5 AS pay, ['m', 'f'][1 + i % 2] AS sex,
            ['N', 'S', 'E'][1 + i % 3] AS region, CASE WHEN i % 6 > 0 THEN i % 20 END AS gaps,
            DATE '2020-01-01' + CAST(i // 2 AS INTEGER) AS day FROM range(90) AS r(i)"""
        )
        connection.execute(
            """CREATE TABLE visits AS SELECT 1000 + i // 3 AS patient_id, 20 + i // 3 % 9 AS age,
            CASE WHEN i % 5 > 0 THEN i % 7 END AS score, CASE WHEN i % 4 > 0 THEN i % 11 END AS cost
            FROM range(120) AS r(i)"""
        )
        connection.execute(f"COPY people TO '{folder / 'people.csv'}'")
    (folder / "there.csv").write_text("x\n1\n")
    job = 'db = "w.duckdb"\ntable = "{}"\nrest = "drop"\n{}[[step]]\ndo = "mdav"\n{} = ["age"]\nk = 3\n'
    job += '[[step]]\ndo = "publish"\ninto = "of_job"\noverwrite = true\n'
    for name, (table, more, key) in {
        "job": ("people", "", "column"), "right": ("people", "", "columns"), "persons": ("visits", "", "columns"),
        "rows": ("visits", "rows_are_persons = true\n", "columns"),
        "person": ("visits", 'person = ["patient_id"]\n', "columns"),
    }.items():  # fmt: skip
        (folder / f"{name}.toml").write_text(job.format(table, more, key))
    assert called(folder, f"mdav {TABLE} --columns age --rest drop --into there").returncode == 0
    return folder


def called(folder: Path, command: str) -> Any:
    return run(*shlex.split(command), cwd=folder, COLUMNS="500")


@pytest.mark.slow
@pytest.mark.parametrize(("fails", "words", "followed"), FOLLOWED)
def test_advice_works_when_it_is_followed(made: Path, fails: str, words: str, followed: str) -> None:
    refused = called(made, fails)
    assert refused.returncode in (1, 2), refused.stdout
    assert words in refused.stderr + refused.stdout
    done = called(made, followed)
    assert done.returncode == 0, done.stderr
