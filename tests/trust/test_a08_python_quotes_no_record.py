"""Records that came as Python objects: they are anonymized, or refused in words that quote none of them."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sqlmicro as sm

PERSONS = [f"Zyxwvut-{i:03}" for i in range(24)]
INCOMES = [918273600 + i * i % 37 for i in range(24)]
COLUMNS: dict[str, list[Any]] = {"name": PERSONS, "age": [20 + i % 6 for i in range(24)], "income": INCOMES}
BOTH = ["age", "income"]
AGES = pa.table({name: COLUMNS[name] for name in ("age", "income")})


def quotes(error: BaseException) -> bool:
    """Tell whether an error, or what Python prints of it and of those it follows, has a value of a record."""
    told = f"{error}{error.args}" + "".join(traceback.format_exception(error))
    return any(canary in told for canary in ("Zyxwvut-", "9182736"))


def given() -> dict[str, Any]:
    """Return what records come as, and are no frame: each of it may be given for any option."""
    text = "name,income\n" + "".join(f"{name},{income}\n" for name, income in zip(PERSONS, INCOMES, strict=True))
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    things = {"dict": COLUMNS, "rows": rows, "tuples": [tuple(row.values()) for row in rows], "numbers": INCOMES}
    return things | {"text": text, "array": pa.array(PERSONS), "bytes": text.encode()}


CALLS: dict[str, Callable[[Any], Any]] = {
    "records": lambda value: sm.mdav(value, columns=BOTH, k=2),
    "records of safe": lambda value: sm.safe(value),
    "records of an audit": lambda value: sm.audit(value, quasi=["age"]),
    "names": lambda value: sm.mdav(AGES, columns=value, k=2),
    "number": lambda value: sm.mdav(AGES, columns=BOTH, k=value),
    "choice": lambda value: sm.mdav(AGES, columns=BOTH, k=2, nulls=value),
    "text": lambda value: sm.mdav(AGES, columns=BOTH, k=2, seed_file=value),
    "switch": lambda value: sm.mdav(AGES, columns=BOTH, k=2, rest=value),
    "database": lambda value: sm.ledger(db=value),
    "release": lambda value: sm.attack(original=AGES, release=value),
    "job": lambda value: sm.run(value),
    "plan": lambda value: sm.apply(value),
    "files": lambda value: sm.register(value, table="t"),
    "open": lambda value: sm.open(value),
    "attach": lambda value: sm.open(attach=value),
    "memory": lambda value: sm.open(memory_limit=value),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_error_says_what_kind_of_thing_came_and_none_of_its_values(call: str) -> None:
    frames = pytest.importorskip("pandas", reason="install it with: pip install sqlmicro[test]")
    things = given() | {"series": frames.Series(PERSONS), "numpy": frames.Series(INCOMES).to_numpy()}
    frame = {"frame": frames.DataFrame(COLUMNS)}
    if call.startswith(("records", "release")):  # a frame is what is asked for
        frame, things = {}, {kind: things[kind] for kind in ("dict", "rows", "text", "numpy")}
    for kind, thing in (things | frame).items():
        with pytest.raises(Exception) as refused:
            CALLS[call](thing)
        assert not quotes(refused.value), (call, kind)
        assert isinstance(refused.value, sm.SqlmicroError), (call, kind)


def test_a_release_is_audited_and_published_without_a_word_of_what_came() -> None:
    frames = pytest.importorskip("pandas", reason="install it with: pip install sqlmicro[test]")
    with sm.mdav(AGES, columns=BOTH, k=2) as release:
        for thing in (frames.DataFrame(COLUMNS), frames.Series(PERSONS), COLUMNS):
            for call in (
                lambda thing: release.audit(k=thing),
                lambda thing: release.audit(min_k=thing, k=3),
                lambda thing: release.audit(quasi=thing),
                lambda thing: release.audit(sensitive=thing),
                lambda thing: release.publish(into=thing),
                lambda thing: release.publish(to=thing),
            ):
                with pytest.raises(sm.ParameterError) as refused:
                    call(thing)
                assert not quotes(refused.value)
        assert release.audit(k=2, min_k=2).passed
        with pytest.raises(sm.ParameterError, match=r"is the same gate as min_k\. Got 2 and 3"):
            release.audit(k=2, min_k=3)


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow"])
def test_frames_are_anonymized(kind: str) -> None:
    library = pytest.importorskip(
        {"lazy": "polars", "arrow": "pyarrow"}.get(kind, kind), reason="install it with: pip install sqlmicro[test]"
    )
    frame = library.table(COLUMNS) if kind == "arrow" else library.DataFrame(COLUMNS)
    given = frame.lazy() if kind == "lazy" else frame
    made = sm.mdav(given, columns=["age", "income"], rest="drop", k=4, decimals=True)
    assert isinstance(made, sm.Release)
    rows = made.arrow().to_pylist()
    assert len(rows) == 24
    assert min(rows.count(row) for row in rows) == 4
    assert sum(row["age"] for row in rows) == pytest.approx(sum(COLUMNS["age"]))
    assert sm.audit(frame, quasi=["income"], min_k=2)["passed"] is False
    assert sm.profile(frame)["rows"] == 24


def test_safe_takes_a_frame_and_drops_the_names() -> None:
    with sm.safe(pa.table(COLUMNS), k=3, numeric=["income"]) as release:
        rows = release.arrow().to_pylist()
        assert release.report["k"] >= 3
    assert {*rows[0]} == {"age", "income"}
    assert min(rows.count(row) for row in rows) >= 3


def test_a_frame_is_published_where_it_is_said_and_nowhere_else(tmp_path: Path) -> None:
    to, db = str(tmp_path / "out.parquet"), str(tmp_path / "w.duckdb")
    assert sm.mdav(AGES, columns=BOTH, k=3, to=to)["k"] >= 3
    assert (tmp_path / "out.parquet").is_file()
    with sm.open(db, create=True):
        pass
    assert sm.mdav(AGES, columns=BOTH, k=3, db=db, into="ages")["target"] == "ages"
    assert sm.audit("ages", db=db, quasi=["age", "income"], min_k=3)["passed"]
    with pytest.raises(sm.ParameterError, match=r"is a table of a database\. Got no database"):
        sm.mdav(AGES, columns=BOTH, k=3, into="ages")
    with pytest.raises(sm.ParameterError, match=r"dry_run: goes with a table or a file that is named"):
        sm.mdav(AGES, columns=BOTH, k=3, dry_run=True)
