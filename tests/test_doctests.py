"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import sqlmicro

PACKAGE = Path(sqlmicro.__file__).parent
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def test_the_examples_in_docstrings_are_true(capsys: pytest.CaptureFixture[str]) -> None:
    results = {}
    for path in MODULES:
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        results[name] = doctest.testmod(importlib.import_module(name))
    assert not [name for name, found in results.items() if found.failed], capsys.readouterr().out
    assert sum(found.attempted for found in results.values()) > 50
