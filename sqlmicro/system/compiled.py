"""Compiled code: `njit` for all kernels, and where what it has compiled is kept.

numba keeps it beside the module or in the user's cache, and ends with an error where it may write to neither: in a
container with a read-only package and no home. Then it is kept in a folder of ours where temporary files are, to which
what was compiled when the image was made is copied first, since numba reads only where it may write.

What is kept are pickles: reading them runs what they hold. So the folder must belong to this user and be closed to all
others. It is opened once and reached by its descriptor, so that nobody can put another one in its place. Where that is
not possible, nothing is kept, and kernels are compiled in every run.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numba
from numba.core import event, types

from sqlmicro.system import code_files
from sqlmicro.system.compiling import compiles
from sqlmicro.system.shipped import read_behind

_config: Any = numba.config  # its settings are made when it is loaded, which type checkers do not see
_unliteral: Any = types.unliteral
_DESCRIPTORS = Path("/proc/self/fd")


class _Compiling(event.Listener):
    """Tells who waits that numba compiles."""

    def on_start(self, event: object) -> None:
        compiles()

    def on_end(self, event: object) -> None:
        pass


event.register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as `numba.njit` does, also where numba finds no folder to keep it in."""

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = _kept(function, options)
        if options.get("cache") and hasattr(dispatcher, "stats"):  # it is the function itself under NUMBA_DISABLE_JIT
            _of_any_value(dispatcher)
            module = Path(function.__code__.co_filename)
            code_files.share(dispatcher, module.resolve())
            read_behind(dispatcher, module)
        return dispatcher

    return compiled


def _of_any_value(dispatcher: Any) -> None:
    """Let kernels that call this one with a constant share the code for a variable, which numba compiles once more."""
    template = dispatcher.get_call_template

    def of_types(args: Sequence[Any], kws: Mapping[str, Any]) -> Any:
        return template([_unliteral(kind) for kind in args], {name: _unliteral(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = of_types


def _kept(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    if _has_home():
        with contextlib.suppress(RuntimeError):  # "cannot cache function: no locator available"
            return numba.njit(**options)(function)
    folder = private_cache()
    if folder is None:
        return numba.njit(**{**options, "cache": False})(function)
    before, _config.CACHE_DIR = _config.CACHE_DIR, folder
    try:
        dispatcher = numba.njit(**options)(function)
    finally:
        _config.CACHE_DIR = before
    if hasattr(dispatcher, "stats"):
        _copy_compiled(Path(function.__code__.co_filename), Path(dispatcher.stats.cache_path))
    return dispatcher


def internal(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that compiled functions alone call: what Python would call it by takes a third of the time."""
    return njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


@functools.cache
def private_cache() -> str | None:
    """Return a path to this user's own folder for compiled code, which nobody else can write to or replace, or None."""
    if not _DESCRIPTORS.is_dir():
        return None
    try:
        path = Path(tempfile.gettempdir()) / f"sqlmicro-compiled-{os.geteuid()}"
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        os.close(descriptor)
        return None
    return str(_DESCRIPTORS / str(descriptor))


def _has_home() -> bool:
    """Tell whether the user's cache has a place; else numba would make a folder `~` where the program is run."""
    return bool(os.environ.get("XDG_CACHE_HOME")) or Path(os.path.expanduser("~")).is_absolute()  # noqa: PTH111


@functools.cache
def _copy_compiled(module: Path, into: Path) -> None:
    """Copy what was compiled of a module beside it; the index after the code, and each file whole or not at all."""
    owner = module.stat().st_uid
    beside = (module.parent / "__pycache__").glob(f"{module.stem}.*.nb[ci]")
    for file in sorted(beside, key=lambda file: file.suffix):  # .nbc, then .nbi
        if not (into / file.name).exists() and _is_trusted(file, owner):
            copy = into / f"{file.name}.{secrets.token_hex(4)}"
            shutil.copyfile(file, copy)
            copy.replace(into / file.name)


def _is_trusted(file: Path, owner: int) -> bool:
    """Tell whether only root, this user, or who may change the program anyway can have written a file."""
    status = file.lstat()
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_uid in (0, os.geteuid(), owner)
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
