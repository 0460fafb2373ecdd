"""What belongs to a method beside its module; the first failure lists all that is missing, and what makes it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from sql.conformance import CASES

import sqlmicro
from sqlmicro.contracts.test_described import missing
from sqlmicro.registry import METHODS, Method, methods

PACKAGE = Path(sqlmicro.__file__).parent
TESTS = Path(__file__).parent.parent
FOLDERS = ("group", "mask", "safe_method")
CASED = {case.template for case in CASES}
GENERATE = (
    "SQLMICRO_GOLDEN=write pytest -n 0 tests/test_manifest.py && "
    "SQLMICRO_GOLDEN=write pytest -n 0 tests/session/test_stub.py tests/test_help.py"
)


def unlisted() -> Iterator[str]:
    """Say which modules have a method that the folder does not name: the one line that adds it."""
    for folder in FOLDERS:
        for path in sorted((PACKAGE / folder).glob("[a-z]*.py")):
            module = f"sqlmicro.{folder}.{path.stem}"
            if re.search(r"^@method\(", path.read_text(encoding="utf-8"), re.MULTILINE):
                if path.stem not in importlib.import_module(f"sqlmicro.{folder}").MODULES:
                    yield f"MODULES in sqlmicro/{folder}/__init__.py lacks {path.stem!r}, then {GENERATE}"
                elif module not in {method.module for method in methods().values()}:
                    yield f"sqlmicro/manifest.json is of an older catalogue: {GENERATE}"


def missing_beside(method: Method) -> Iterator[str]:
    """Say what a method of ours lacks of all that others have outside of their module."""
    folder = method.module.split(".")[1]
    for template in method.templates:
        if template not in CASED:
            yield f"{template} has no row test: write a case in tests/sql"
    stub = (PACKAGE / "session" / "methods.pyi").read_text(encoding="utf-8")
    if f"    def {method.name.replace('-', '_')}(" not in stub:
        yield f"sqlmicro/session/methods.pyi is of an older catalogue: {GENERATE}"
    topic = (PACKAGE / "help" / "methods.md").read_text(encoding="utf-8")
    if f"| `{method.name}` | {method.summary} |" not in topic:
        yield f"sqlmicro/help/methods.md is of an older catalogue: {GENERATE}"
    if method.stage == "mask" and f'Variant("{method.name}"' not in (TESTS / "contracts" / "test_masking.py").read_text(
        encoding="utf-8"
    ):
        yield "tests/contracts/test_masking.py has no Variant of it: the settings it is held to the contract with"
    words = (method.name, method.name.replace("-", "_"))
    tests = [path.read_text(encoding="utf-8") for path in (TESTS / folder).glob("test_*.py")]
    if not any(re.search(rf"\b{word}\b", text) for word in words for text in tests):
        yield f"tests/{folder}/ has no test of it: numbers from its source, or from a naive implementation"


def test_nothing_is_missing() -> None:
    """Command, job key, Python function, session method, schema and warm-up need nothing more than the module."""
    found = list(unlisted())
    for name, method in methods().items():
        if method.module.startswith("sqlmicro."):
            found += [f"{name} lacks {what}" for what in missing(method, ("Returns",))]
            found += [f"{name}: {what}" for what in missing_beside(method)]
    assert not found, "\n".join(["", *found])


def test_a_method_is_a_public_name_of_the_package() -> None:
    assert {name.replace("-", "_") for name in METHODS.all()} <= set(sqlmicro.__all__)
    assert "open" not in sqlmicro.__all__
    assert all(callable(getattr(sqlmicro, name)) for name in ("mdav", "safe_distance", "AuditFailed"))
