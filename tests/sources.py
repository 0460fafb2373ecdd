"""Modules as Python reads them, once for all tests of a process that look into them."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree(path: Path) -> ast.Module:
    """Return what a module is made of. Python would look through all of it for garbage, which takes longer."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        if collects:
            gc.enable()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all of it, whatever lies in what: `ast.walk` takes longer than reading the module."""
    return tuple(ast.walk(tree(path)))
