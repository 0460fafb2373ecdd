"""The written signatures of a session are those of the declared parameters, and mypy knows what comes back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sqlmicro.session.methods as methods

from .stub import stub

STUB = Path(methods.__file__).with_suffix(".pyi")


def formatted(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_the_stub_is_what_the_parameters_say() -> None:
    text = formatted(stub())
    if os.environ.get("SQLMICRO_GOLDEN") == "write":
        STUB.write_text(text, encoding="utf-8")
    assert STUB.read_text(encoding="utf-8") == text, "make it again with SQLMICRO_GOLDEN=write"


PROGRAM = """
import sqlmicro as sm
w = sm.open()
r = w.mdav("persons", columns=["age"], k=5, keep="sex")
reveal_type(r)
reveal_type(r.audit(k=5).passed)
reveal_type(w.audit("persons", quasi="age"))
w.mdav("persons", k="five")
w.mdva("persons", k=5)
"""


@pytest.mark.slow
def test_mypy_sees_what_comes_back(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(program)], capture_output=True, text=True, cwd=tmp_path
    )
    told = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if "program.py" in line]
    assert [line.split('"')[1] for line in told[:3]] == [
        "sqlmicro.session.release.Release", "bool | None", "sqlmicro.session.result.Audit",
    ]  # fmt: skip
    assert 'incompatible type "str"; expected "int"' in told[3]
    assert 'no attribute "mdva"' in told[4]
    assert len(told) == 5, done.stdout
