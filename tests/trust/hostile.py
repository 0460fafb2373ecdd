"""Hostile text for every place where a user may write something, and a watch over what it does."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

CANARY = "Zyxwvut-Canary-4711"
FILES = ("canary.csv", "canary.parquet", "canary.json", "canary.txt", "canary.duckdb")
FRAGMENTS = (
    '"', '""', "'", "''", "`", ";", "; DROP TABLE sentinel; --", "'; DROP TABLE sentinel; --",
    '"; DROP TABLE sentinel; --', '" FROM sentinel; DELETE FROM sentinel; --', "--", "-- ", "/*", "*/", "{{7*7}}",
    "{{ 7 * 7 }}", "{% for x in y %}", "{%", "%}", "{#", "#}", "${HOME}", "$(touch owned)", "`touch owned`", "%s",
    "?", "$1", ":x", "@x", "\\", "\\n", "\n", "\r\n", "\t", "../", "../../etc/passwd", "/etc/passwd", "~",
    "s3://bucket/x.csv", "http://127.0.0.1:1/x.csv", "md:x", "file:canary.csv", "*", "*.csv", "**", "[a-z]", "?.csv",
    *FILES, "canary_frame", "getenv('HOME')", "read_csv('canary.csv')", "read_text('canary.txt')", "(SELECT 1)",
    "a.b", "a.b.c", 'a."b', "sqlmicro", "staging", "main", "temp", "row_id", "value", "label", "select", "table",
    "NULL", "null", "true", "1", "-1", "1e309", "nan", "inf", "0x41", "=", "a=b", ",", "a,b", "#",
    "\u202etxt.exe\u202c", "\u05d0\u05d1\u05d2", "\u0627\u0644\u0639", "Zo\u00eb", "Zoe\u0308", "\u00c5", "A\u030a",
    "\u212b", "\u0130", "ß", "ẞ", "\u0000", "\ufeff", "\u200b", "\u00a0", " ", "", "\U0001f600", "名前", "x" * 300,
    "ä" * 300, "\x1b[31m", "\x7f", "\x01", "\ud800", "<script>alert(1)</script>", "&amp;", "' OR 1=1",
    "pragma version", "COPY x TO 'y'",
)  # fmt: skip


def texts(draw: random.Random) -> Iterator[str]:
    """Yield hostile texts without end: every fragment first, then two to four of them together."""
    first = list(FRAGMENTS)
    draw.shuffle(first)
    yield from first
    while True:
        text = "".join(draw.choice(FRAGMENTS) for _ in range(draw.randint(2, 4)))
        yield unicodedata.normalize(draw.choice(("NFC", "NFD")), text)


def names(draw: random.Random, count: int, taken: set[str]) -> list[str]:
    """Return hostile texts that a table or column can be called: DuckDB wants UTF-8 without NUL, and distinct names."""
    found: list[str] = []
    for text in texts(draw):
        name = text.replace("\0", "").replace("\ud800", "")
        if name.strip() and name.lower() not in taken and name.casefold() not in taken:
            taken |= {name.lower(), name.casefold()}
            found.append(name)
        if len(found) == count:
            return found
    return found


def quoted(name: str) -> str:
    """Quote a name, independently of the code under test."""
    return '"' + name.replace('"', '""') + '"'


connect = duckdb.connect
"""The connection of a test itself, which nobody watches."""


class Watched:
    """A connection that refuses text with more than one statement, and notes how many there were."""

    ran = 0

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, text: str, *values: Any) -> Any:
        self._one(text)
        return self._connection.execute(text, *values)

    def sql(self, text: str) -> Any:
        self._one(text)
        return self._connection.sql(text)

    def _one(self, text: str) -> None:
        Watched.ran += 1
        try:
            found = len(self._connection.extract_statements(text))
        except duckdb.ParserException:
            raise AssertionError(f"no statement: {text[:2000]!r}") from None
        assert found == 1, f"{found} statements: {text[:2000]!r}"


@contextmanager
def watched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder of canary files, with every connection watched, and look for canaries afterwards."""
    for name in FILES:
        (folder / name).write_text(f"x,y\n{CANARY},1\n")
    (folder / "canary.parquet").unlink()
    duckdb.sql(f"COPY (SELECT '{CANARY}' AS x) TO '{folder / 'canary.parquet'}'")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(duckdb, "connect", lambda *args, **kwargs: Watched(connect(*args, **kwargs)))
    yield
    assert not (folder / "owned").exists()
    for name in FILES:
        assert CANARY.encode() in (folder / name).read_bytes(), f"{name} was written to"


def outcome(action: Any, values: dict[str, Any]) -> str:
    """Run a verb and return what it said: its report or its refusal; anything else is a failure."""
    from sqlmicro.errors import SqlmicroError
    from sqlmicro.system.progress import Progress

    try:
        said = json.dumps(action(values, Progress(enabled=False)), default=str)
    except SqlmicroError as error:
        assert error.exit_code in (1, 2), f"exit {error.exit_code}: {error}"
        said = f"refused: {error}"
    assert CANARY not in said
    return said
