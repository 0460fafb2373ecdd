"""Installed packages: their versions and entry points, without `importlib.metadata`, whose import costs more than most.

Packages are looked for where Python does: in the folders of `sys.path`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OURS = b"[sqlmicro."


@cache
def version(package: str) -> str:
    """Return the version of an installed package, which is part of the name of its folder.

    >>> version("duckdb")[0].isdigit()
    True
    """
    for path in _installed():
        name, dash, found = path.name.removesuffix(".dist-info").partition("-")
        if path.suffix == ".dist-info" and dash and name.lower() == package:
            return found
    from importlib.metadata import version

    return version(package)


def ours() -> str:
    """Return what `--version` prints."""
    return f"sqlmicro {version('sqlmicro')}"


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, which is one of ours."""
    if not any_plug_in():
        return []
    from importlib.metadata import entry_points

    return list(entry_points(group=group))


@cache
def any_plug_in() -> bool:
    """Tell whether a package that is installed may have an entry point of ours.

    Where Python looks elsewhere too, in zip files or by a finder of somebody's own, nothing is ruled out.
    """
    finders = [finder for finder in sys.meta_path if finder is not PathFinder]
    if any(hasattr(finder, "find_distributions") for finder in finders) or any(map(os.path.isfile, sys.path)):
        return True
    return any(_OURS in _read(path / "entry_points.txt") for path in _installed())


def _installed() -> Iterator[Path]:
    """Return the folders in which it is written what is installed."""
    for folder in dict.fromkeys(sys.path):
        with suppress(OSError):
            for name in os.listdir(folder or "."):  # noqa: PTH208, most of these names become no path
                if name.lower().endswith((".dist-info", ".egg-info")) or name == "EGG-INFO":
                    yield Path(folder, name)


def _read(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""
