"""The job of examples/anywhere on Spark: the same file, the same audits as on one machine, persons counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import anywhere
import duckdb
import pytest

import sqlmicro

KEY = b"0123456789abcdef0123456789abcdef"
pytestmark = pytest.mark.slow


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY.decode())
    (tmp_path / "tables").mkdir()
    duckdb.execute(f"COPY ({anywhere.joined()}) TO '{tmp_path}/tables/visits.parquet' (FORMAT parquet)")
    return Path(shutil.copy(anywhere.JOB, tmp_path))


def test_the_same_job_file_counts_persons(spark, job, tmp_path, monkeypatch, most_at_driver):
    tables = f"{tmp_path}/tables"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "alone"))
    ours = sqlmicro.run(str(job), location=f"{tables}/", release_location=f"{tmp_path}/")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "there"))
    theirs = sqlmicro.run(str(job), location=f"{tables}/", engine="spark")
    assert job.read_bytes() == anywhere.JOB.read_bytes()
    assert anywhere.told(theirs) == anywhere.told(ours)
    assert anywhere.promised(theirs) == anywhere.promised(ours)
    own = ", ".join(anywhere.QUASI)
    before = duckdb.sql(f"SELECT visit_id, patient_id, {own} FROM '{tables}/visits.parquet'").fetchall()
    released = f"SELECT {', '.join(anywhere.COLUMNS)} FROM '{tables}/visits_release.parquet/*.parquet'"
    anywhere.hold(duckdb.sql(released).fetchall(), before, KEY)
    # What comes to the driver has numbers, or combinations; 1 200 are the seats of those who change them.
    assert max(most_at_driver) <= 1200
    notes = " ".join(theirs["notes"])
    assert "changed seats" in notes and "sex, decade, region; one value for each person" in notes
