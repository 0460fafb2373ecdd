"""The pytest plug-in: `--contract NAME` adds the contract tests of what a catalogue has under that name to a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlmicro.attacks.registry import ATTACKS
from sqlmicro.audits.registry import AUDITS
from sqlmicro.errors import SqlmicroError
from sqlmicro.options.catalogue import Catalogue
from sqlmicro.options.limits import LIMITS
from sqlmicro.registry import METHODS, Method

_CATALOGUES: dict[str, Catalogue[Any]] = {"method": METHODS, "audit": AUDITS, "attack": ATTACKS, "limit": LIMITS}


def is_kernel(method: Method) -> bool:
    """Tell whether a method groups vectors, and can be called with an array alone."""
    return method.stage == "group" and method.engine == "numpy"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --contract."""
    parser.addoption(
        "--contract",
        action="append",
        default=[],
        metavar="NAME",
        help="Hold this method, audit, attack or limit of sqlmicro to its contract; repeatable.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Add the folder of the contracts to what is collected, where a name was given."""
    if config.getoption("--contract"):
        config.args.append(str(Path(__file__).parent))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test every kernel, method, audit, attack or limit that is asked for; without --contract all there are."""
    for fixture in ("kernel", *_CATALOGUES):
        if fixture in metafunc.fixturenames and metafunc.module.__name__.startswith("sqlmicro.contracts."):
            found = _asked_for("method" if fixture == "kernel" else fixture, metafunc.config.getoption("--contract"))
            if fixture == "kernel":
                found = [item for item in found if is_kernel(item)]
            metafunc.parametrize(fixture, found, ids=[item.name for item in found])


def _asked_for(kind: str, names: list[str]) -> list[Any]:
    everything = _CATALOGUES[kind].all()
    unknown = [name for name in names if not any(name in catalogue.all() for catalogue in _CATALOGUES.values())]
    if unknown:
        try:
            METHODS.find(unknown[0], "--contract")
        except SqlmicroError as error:
            raise pytest.UsageError(str(error)) from None
    return [item for name, item in everything.items() if name in names or not names]
