"""The job of examples/anywhere, wherever its table is: how it is run, and what its releases are held to."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

EXAMPLE = Path(__file__).parent.parent / "examples" / "anywhere"
JOB = EXAMPLE / "visits.toml"
QUASI = ["sex", "decade", "region", "diagnosis"]
COLUMNS = ["visit_id", *QUASI]
KEY = b"0123456789abcdef0123456789abcdef"


def joined() -> str:
    """Return the SELECT that makes the table."""
    found = importlib.util.spec_from_file_location("make_visits", EXAMPLE / "make_visits.py")
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return str(module.JOINED)


def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the job file, with the table as a Parquet file in a folder beside it."""
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY.decode())
    (tmp_path / "tables").mkdir()
    duckdb.execute(f"COPY ({joined()}) TO '{tmp_path}/tables/visits.parquet' (FORMAT parquet)")
    return Path(shutil.copy(JOB, tmp_path))


def told(report: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the audits that a release has passed: what was measured, of which columns, and what had to hold."""
    assert report["passed"] is True
    assert not any(one["passed"] is False for one in report["audits"])
    return [(one["check"], tuple(one["columns"]), one["threshold"], one["passed"]) for one in report["audits"]]


def promised(report: dict[str, Any]) -> str:
    """Return what decided the release, as text: the settings of every step, the roles of the columns."""
    return json.dumps(
        {name: report["parameters"][name] for name in ("steps", "kept", "dropped", "person")}, default=str
    )


def hold(rows: Sequence[Sequence[Any]], before: Sequence[Sequence[Any]], key: bytes) -> None:
    """Count by hand: patients in every class, one sex, decade and region for each patient, all visits, pseudonyms.

    `rows` have the columns of the release, `before` those of the table: visit_id, patient_id and the others.
    """
    import hmac
    from hashlib import sha256

    pseudonyms = {hmac.new(key, str(row[0]).encode(), sha256).hexdigest(): row[1] for row in before}
    assert {row[0] for row in rows} == set(pseudonyms) and len(rows) == len(before) == 1200
    patients, own = defaultdict(set), defaultdict(set)
    for row in rows:
        patient = pseudonyms[row[0]]
        patients[tuple(row[1:])].add(patient)
        own[patient].add(tuple(row[1:4]))
    assert min(map(len, patients.values())) >= 3
    assert max(map(len, own.values())) == 1
