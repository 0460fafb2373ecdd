"""Kernels compiled by numba, and where what it has compiled is kept.

numba keeps it in the folder NUMBA_CACHE_DIR, beside the module or in the user's cache, the first of them that it may
write to. It reads from there whatever it finds, so that a folder counts here only where nobody else can write to it or
to one above it (`closed`). Where none is left, as in a container with a read-only package and no home, it is kept in a
folder of ours where temporary files are, to which what was compiled when the image was made is copied first, since
numba reads only where it may write.

That folder must belong to this user and be closed to all others. It is opened once and reached by its descriptor, so
that nobody can put another one in its place; on systems without such paths the folder above must keep others from it.
Where that is not possible, nothing is kept, and kernels are compiled in every run.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numba
from numba.core import event, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.datamodel.registry import default_manager

from sqlmicro.system.closed import is_closed, user
from sqlmicro.system.code_files import CodeFiles, kernels
from sqlmicro.system.progress import compiles

_unliteral: Any = types.unliteral
_DESCRIPTORS = Path("/proc/self/fd")


class _Compiling(event.Listener):
    """Tells who waits that numba compiles."""

    def on_start(self, event: object) -> None:
        compiles()

    def on_end(self, event: object) -> None:
        pass


event.register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]


class _Closed:
    """A place of numba's that is left out where others can write to it."""

    get_cache_path: Callable[[], str]
    _py_file: str

    def ensure_cache_path(self) -> None:
        """Make the folder; numba takes the next place where that fails."""
        folder = Path(self.get_cache_path())
        if folder.parts[:1] == ("~",):
            raise NotADirectoryError("of a user without a home numba would make it where the program is run")
        owner = Path(self._py_file).stat().st_uid
        if not is_closed(folder, owner):  # else nothing is made there either
            raise PermissionError(folder)
        super().ensure_cache_path()  # type: ignore[misc]
        if not is_closed(folder, owner):
            raise PermissionError(folder)


_PLACES: list[Any] = CompileResultCacheImpl._locator_classes
_BESIDE: Any = next(place for place in _PLACES if "InTree" in place.__name__)


class _Private(_BESIDE):  # type: ignore[misc]
    """The folder of ours."""

    def __init__(self, function: Any, file: str) -> None:
        super().__init__(function, file)
        self._cache_path = str(Path(private_cache() or "") / self.get_suitable_cache_subpath(file))

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """Return the place, with a copy of what was compiled beside the module; None where there is none."""
        place = super().from_function(function, file) if private_cache() else None
        if place is not None:
            _copy_compiled(Path(file), Path(place.get_cache_path()))
        return place


class _Places(CompileResultCacheImpl):
    _locator_classes: list[Any] = [  # noqa: RUF012  (as numba declares it)
        *(type(place.__name__, (_Closed, place), {}) for place in _PLACES),
        _Private,
    ]


class _Kept(FunctionCache):
    """What is kept of a function, in files that other processes, and other versions of us, may write as well."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        module, locator = Path(function.__code__.co_filename), self._impl.locator
        owner, private = module.stat().st_uid, isinstance(locator, _Private)
        if not private and not is_closed(Path(self._cache_path), owner):
            raise PermissionError(self._cache_path)  # a place that NUMBA_CACHE_LOCATOR_CLASSES names
        stamp = locator.get_source_stamp(), kernels(module.resolve())
        self._cache_file = CodeFiles(self._cache_path, self._impl.filename_base, stamp, owner=owner, private=private)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as `numba.njit` does, and keep it where nobody else can change it; see `compiled.njit`."""

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**{**options, "cache": False})(function)
        if options.get("_nrt") is False and hasattr(dispatcher, "stats"):
            _returns_no_array(dispatcher)
        if options.get("cache") and hasattr(dispatcher, "stats"):  # it is the function itself under NUMBA_DISABLE_JIT
            _of_any_value(dispatcher)
            with contextlib.suppress(RuntimeError, OSError):  # "cannot cache function: no locator available"
                dispatcher._cache = _Kept(function)
        return dispatcher

    return compiled


def _of_any_value(dispatcher: Any) -> None:
    """Let kernels that call this one with a constant share the code for a variable, which numba compiles once more."""
    template = dispatcher.get_call_template

    def of_types(args: Sequence[Any], kws: Mapping[str, Any]) -> Any:
        return template([_unliteral(kind) for kind in args], {name: _unliteral(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = of_types


def _returns_no_array(dispatcher: Any) -> None:
    """Refuse code that returns an array it did not count: the caller gives up one reference more than there are."""
    add = dispatcher.add_overload

    def checked(result: Any) -> None:
        if default_manager[result.signature.return_type].contains_nrt_meminfo():
            raise TypeError(
                f"{dispatcher.py_func.__qualname__} returns an array: it must be compiled without _nrt=False"
            )
        add(result)

    dispatcher.add_overload = checked


@functools.cache
def private_cache() -> str | None:
    """Return a path to this user's own folder for compiled code, which nobody else can write to or replace, or None."""
    this = user()
    if this is None:
        return None
    path = Path(tempfile.gettempdir()) / f"sqlmicro-compiled-{this}"
    try:
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if not _DESCRIPTORS.is_dir():
            return str(path) if not path.is_symlink() and is_closed(path) else None
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if status.st_uid != this or status.st_mode & 0o077:
        os.close(descriptor)
        return None
    return str(_DESCRIPTORS / str(descriptor))


@functools.cache
def _copy_compiled(module: Path, into: Path) -> None:
    """Copy what was compiled of a module beside it; the index after the code, and each file whole or not at all."""
    owner = module.stat().st_uid
    beside = (module.parent / "__pycache__").glob(f"{module.stem}.*.nb[ci]")
    for file in sorted(beside, key=lambda file: file.suffix):  # .nbc, then .nbi
        if not (into / file.name).exists() and not file.is_symlink() and is_closed(file, owner):
            copy = into / f"{file.name}.{secrets.token_hex(4)}"
            shutil.copyfile(file, copy)
            copy.replace(into / file.name)
