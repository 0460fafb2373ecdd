"""A verified release is one whose columns were all counted, and what is said of it are the words of who counted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from databases import opened

import sqlmicro
from sqlmicro import verify
from sqlmicro.audits.registry import Check
from sqlmicro.publish import recounted

ROWS = 50
UNIQUE = pa.table({"id": range(ROWS), "tag": [f"t{i}" for i in range(ROWS)], "constant": [1] * ROWS})


def claim(*columns: str, **more: Any) -> dict[str, Any]:
    """Return a count of a column that is the same in all rows, which is true whatever else is said of it."""
    counted = {"check": "k-anonymity", "columns": list(columns), "sensitive": None, "distance": None, "value": ROWS}
    return {**counted, "threshold": None, "classes": {str(ROWS): 1}, **more}


ONE_EACH = {"value": 1, "classes": {"1": ROWS}}
EVERY = claim("id", "tag", "constant", **ONE_EACH)


def certified(folder: Path, table: pa.Table, recounted: Any, **more: Any) -> list[str]:
    """Write a release and what somebody says of it, and return how it is checked."""
    pq.write_table(table, folder / "r.parquet")
    told = {
        "format": verify.FORMAT, "version": verify.VERSION, "signed": False, "not_counted": {}, "attested": [],
        "ledger": {"consulted": []}, "recounted": recounted,
        "release": {
            "kind": "file", "sha256": sha256((folder / "r.parquet").read_bytes()).hexdigest(), "rows": len(table),
            "columns": [[field.name, str(field.type)] for field in table.schema],
        },
    }  # fmt: skip
    (folder / "r.json").write_text(json.dumps({**told, **more}))
    return [str(folder / "r.parquet"), str(folder / "r.json"), "--any-signer"]


@pytest.fixture
def check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str]]:
    def checked(recounted: Any, table: pa.Table = UNIQUE, **more: Any) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["verify", *certified(tmp_path, table, recounted, **more)])
        code = verify.main()
        said = capsys.readouterr()
        return code, said.out + said.err

    return checked


WORDS = "id, tag, constant (all released columns)"
FORGED: dict[str, tuple[Any, dict[str, Any]]] = {
    "words of its own": ([claim("constant", why=WORDS)], {}),
    "nothing": ([], {}),
    "one column of three": ([claim("constant")], {}),
    "two columns of three": ([claim("constant"), claim("constant", "tag", **ONE_EACH)], {}),
    "a sensitive column in place of all": (
        [{**claim("tag", "constant"), "sensitive": "id", "check": "l-diversity", "value": 1, "classes": None}], {}
    ),
    "a promise of less than nobody": ([claim("constant", threshold=-1), {**EVERY, "threshold": -1}], {}),
    "a promise of nobody": ([{**EVERY, "threshold": 0}], {}),
    "a promise that is no number": ([{**EVERY, "threshold": "1"}], {}),
    "exceptions that are not there": ([EVERY], {"not_counted": {"name": "dropped"}}),
    "all are exceptions": ([claim()], {"not_counted": dict.fromkeys(("id", "tag", "constant"), "")}),
    "what is found is called otherwise": ([{**EVERY, "check": "persons"}], {}),
    "no list": ({"id": 1}, {}),
}  # fmt: skip


@pytest.mark.parametrize("how", FORGED)
def test_what_was_not_counted_is_not_verified(check: Callable[..., tuple[int, str]], how: str) -> None:
    recounted, more = FORGED[how]
    code, said = check(recounted, **more)
    assert code in (1, 2)
    assert said.startswith("NOT VERIFIED: ") and WORDS not in said


def test_a_column_without_a_name_counts(check: Callable[..., tuple[int, str]]) -> None:
    """A certificate could list it, and the count leave it out."""
    table = pa.table([range(ROWS), [1] * ROWS], names=["", "constant"])
    assert check([claim("", "constant")], table)[0] == 1
    code, said = check([claim("", "constant", **ONE_EACH)], table)
    assert code == 0 and 'k-anonymity is 1, nothing was promised: over ["", "constant"]' in said
    hidden = claim("constant", check="l-diversity", sensitive="", value=ROWS, classes={str(ROWS): 1})
    assert check([claim("", "constant", **ONE_EACH), hidden], table)[0] == 1


def test_it_is_said_in_its_own_words_which_columns_were_counted(check: Callable[..., tuple[int, str]]) -> None:
    name = "id, tag (all released columns)"
    table = pa.table({"id": range(ROWS), name: [1] * ROWS})
    code, said = check([claim(name, why=WORDS, threshold=ROWS)], table, not_counted={"id": "nobody knows it"})
    assert code == 0
    assert WORDS not in said
    lines = said.splitlines()
    assert f'  k-anonymity is {ROWS}, {ROWS} was promised: over ["{name}"], all that are counted' in lines
    assert '  not counted: ["id"]' in lines, "the exception is named"


def test_every_certificate_counts_all_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nothing is promised of all: one column each, persons that no column names, lists."""
    with opened(tmp_path / "w.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT range // 2 AS person, range % 25 AS a, range % 10 AS b, [1] AS l "
                    "FROM range(100)")  # fmt: skip
    db = {"db": str(tmp_path / "w.duckdb")}
    made: list[tuple[str, dict[str, Any], set[str]]] = [
        ("individual_ranking", {"columns": ["a", "b"], "rows_are_persons": True}, {"a", "b"}),
        ("mdav", {"columns": ["a"], "person": ["person"], "keep": ["l"]}, {"a"}),
        ("mdav", {"columns": ["a"], "sensitive": ["b"], "min_l": 2, "rows_are_persons": True}, {"a"}),
        ("noise", {"columns": ["a"], "amount": 0.5, "rows_are_persons": True}, {"a"}),
    ]
    for number, (method, options, counted) in enumerate(made):
        to = str(tmp_path / f"{number}.parquet")
        getattr(sqlmicro, method)("t", to=to, rest="drop", alone_because="a test", **options, **db)
        told = sqlmicro.certify(to, **db, to=str(tmp_path / "c.json"), unsigned=True, overwrite=True)
        every = [one for one in told["certificate"]["recounted"] if {*one["columns"]} == counted]
        assert "k-anonymity" in {one["check"] for one in every}, method
        assert {name for name, _ in told["certificate"]["release"]["columns"]} - {
            *told["certificate"]["not_counted"]
        } == counted
        monkeypatch.setattr(sys, "argv", ["verify", to, str(tmp_path / "c.json"), "--any-signer"])
        assert verify.main() == 0, capsys.readouterr().err
        assert "all that are counted" in capsys.readouterr().out


def test_what_two_gates_ask_is_recounted_once_by_the_stricter() -> None:
    audits = [
        Check("k-anonymity", names, 7, limit, True, True)
        for limit in (3, None, 5)
        for names in (["a", "b"], ["b", "a"])
    ]
    told: Any = SimpleNamespace(checks=audits, sizes=True), SimpleNamespace(counted=None)
    assert [one.threshold for one in recounted._claims(told[1], told[0])] == [5]
