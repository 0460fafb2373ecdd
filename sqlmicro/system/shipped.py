"""Machine code that came with the package: kernels are called without numba, which a small command would wait for.

A wheel for one platform brings it, in the folder `compiled`: one library, made for any processor of the architecture,
and a file that says what is in it (`linked` makes both). It depends on no version of Python, NumPy or numba: a kernel
is called by the addresses and shapes of its arrays. It is there where the source of a kernel, and of all kernels that
this one calls, is the one that it was made of, and where nobody else can change it.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import inspect
import json
import pickle
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from sqlmicro.system.closed import is_closed

PACKAGE = Path(__file__).resolve().parent.parent
FOLDER = PACKAGE / "compiled"
LIBRARY, CONTENTS = "kernels.so", "kernels.json"

Kind = Any
"""What a kernel takes or gives, as `kernels.json` says it: "int", "float", "bool", "generator", ["array", "<i8", axes,
"C"], or ["tuple", name of its class, kinds]."""
Put = Callable[[Any, list[Any]], bool]
"""Adds what the library is given for an argument to a list, and tells whether the argument is of the kind."""

_DONE = (0, -2)  # what numba's code returns where nothing went wrong, and where that was None
_SLOTS = {"int": "q", "bool": "q", "float": "d", "generator": "9q"}
_ARRAY = 5  # memory, owner, number of items, their size, address; then a shape and the steps along each axis


def slots(kind: Kind) -> str:
    """Return the format of what stands for a value: eight bytes each."""
    if isinstance(kind, str):
        return _SLOTS[kind]
    return f"{_ARRAY + 2 * kind[2]}q" if kind[0] == "array" else "".join(map(slots, kind[2]))


class Entry:
    """One function of the library: a kernel for arguments of some kinds."""

    def __init__(self, library: ctypes.CDLL, number: int, takes: Sequence[Kind], gives: Kind | None) -> None:
        self._call = library[f"entry_{number}"]
        self._call.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
        self._release = library.release
        self._release.argtypes, self._release.restype = (ctypes.c_void_p,), None
        self._puts = [_put(kind) for kind in takes]
        self._pack = struct.Struct("=" + "".join(map(slots, takes))).pack
        self._gives = gives
        self._size = max(struct.calcsize("=" + slots(gives)) if gives else 0, 8)

    def takes(self, arguments: Sequence[Any]) -> list[Any] | None:
        """Return what the library is given for the arguments; None where it has no code for their kinds."""
        numbers: list[Any] = []
        if len(arguments) != len(self._puts):
            return None
        for put, argument in zip(self._puts, arguments, strict=True):
            if not put(argument, numbers):
                return None
        return numbers

    def call(self, numbers: Sequence[Any], arguments: Sequence[Any]) -> Any:
        """Call the function, without holding the interpreter; return what it gives."""
        given, raised = ctypes.create_string_buffer(self._size), ctypes.c_void_p()
        if self._call(given, ctypes.byref(raised), self._pack(*numbers)) not in _DONE:
            raise _error(raised.value)
        return self._read(self._gives, given.raw, arguments)[0] if self._gives else None

    def _read(self, kind: Kind, given: bytes, arguments: Sequence[Any]) -> tuple[Any, bytes]:
        """Return the value that bytes begin with, and what follows it."""
        if kind == "bool":
            return bool(given[0]), given[8:]
        size = struct.calcsize("=" + slots(kind))
        if isinstance(kind, str):
            return struct.unpack_from("=" + slots(kind), given)[0], given[size:]
        if kind[0] == "array":
            return self._array(kind, struct.unpack_from("=" + slots(kind), given), arguments), given[size:]
        values = []
        for one in kind[2]:
            value, given = self._read(one, given, arguments)
            values.append(value)
        return tuple(values), given

    def _array(self, kind: Kind, numbers: Sequence[int], arguments: Sequence[Any]) -> Any:
        """Return an array: a copy of one that the kernel has made, or the argument that it is."""
        memory, _, items, size, address = numbers[:_ARRAY]
        if not memory:
            return next(one for one in arguments if isinstance(one, np.ndarray) and one.ctypes.data == address)
        array = np.empty(numbers[_ARRAY : _ARRAY + kind[2]], kind[1], order=kind[3])
        ctypes.memmove(array.ctypes.data, address, items * size)
        self._release(memory)
        return array


class Kernel:
    """A kernel whose code came with the package, called as the function that numba makes of it is."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any], entries: Sequence[Entry]) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.targetoptions, self._entries = function, options, entries
        self.by_numba: Any = None

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Return what the function does for these arguments; numba compiles it where the library has no code for it."""
        if named:
            args, named = inspect.signature(self.py_func).bind(*args, **named).args, {}
        if self.by_numba is None:
            for entry in self._entries:
                numbers = entry.takes(args)
                if numbers is not None:
                    return entry.call(numbers, args)
            _give_way()
        return self.by_numba(*args)

    def give_way(self) -> None:
        """Have numba compile the function where it is called for the first time."""
        self.by_numba = by_numba(self.py_func, self.targetoptions)


_kernels: list[Kernel] = []
_given_way = False


def by_numba(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """Return what numba makes of a kernel; it is loaded here, where it is needed."""
    return importlib.import_module("sqlmicro.system.numba_code").njit(**options)(function)


def code(function: Callable[..., Any], options: Mapping[str, Any]) -> Kernel | None:
    """Return what calls the library's code of a kernel; None where it has none that fits."""
    found = None if _given_way else _opened()
    if found is None:
        return None
    library, contents = found
    try:
        module = Path(function.__code__.co_filename).resolve().relative_to(PACKAGE).as_posix()
    except ValueError:
        return None  # of another package
    if not _is_of(module):
        _give_way(function.__globals__)
        return None
    known = contents["kernels"].get(f"{module}:{function.__name__}", ())
    kernel = Kernel(function, options, [Entry(library, *entry) for entry in known])
    _kernels.append(kernel)
    return kernel


def _give_way(names: dict[str, Any] | None = None) -> None:
    """Let numba have all kernels from now on: those that it compiles call others, which it must know as its own.

    So it finds its own under the names of every module of kernels, and under `names`, those of one that has none yet.
    """
    global _given_way
    _given_way = True
    for kernel in _kernels:
        kernel.give_way()
    for module in (names or {}, *(kernel.py_func.__globals__ for kernel in _kernels)):
        module.update({name: value.by_numba for name, value in module.items() if isinstance(value, Kernel)})


@functools.cache
def _opened() -> tuple[ctypes.CDLL, Any] | None:
    """Return the library and what is in it; None where none came with the package, or one for another platform."""
    try:
        owner = Path(__file__).stat().st_uid
        if not FOLDER.is_dir() or not all(is_closed(FOLDER / name, owner) for name in (LIBRARY, CONTENTS)):
            return None
        contents = json.loads((FOLDER / CONTENTS).read_text(encoding="utf-8"))
        whole = sha256((FOLDER / LIBRARY).read_bytes()).hexdigest() == contents["library"]
        return (ctypes.CDLL(str(FOLDER / LIBRARY)), contents) if whole else None
    except (OSError, ValueError, KeyError):
        return None


@functools.cache
def _is_of(module: str) -> bool:
    """Tell whether the library was made of the source of a module, and of those that it calls, as they are now."""
    found = _opened()
    sources = found[1]["sources"].get(module) if found else None
    return sources is not None and all(_digest(name) == digest for name, digest in sources.items())


@functools.cache
def _digest(module: str) -> str:
    return sha256((PACKAGE / module).read_bytes()).hexdigest()


def _put(kind: Kind) -> Put:
    if isinstance(kind, str):
        return _PUTS[kind]
    return _array_put(np.dtype(kind[1]).str, kind[2]) if kind[0] == "array" else _tuple_put(kind[1], kind[2])


def _array_put(items: str, axes: int) -> Put:
    size = np.dtype(items).itemsize

    def put(value: Any, numbers: list[Any]) -> bool:
        if type(value) is not np.ndarray:
            return False
        interface = value.__array_interface__
        address, protected = interface["data"]
        if interface["typestr"] != items or interface["strides"] is not None or protected or address % size:
            return False
        shape = interface["shape"]
        if len(shape) != axes:
            return False
        numbers += (0, 0, value.size, size, address, *shape, *value.strides)
        return True

    return put


def _tuple_put(name: str, kinds: Sequence[Kind]) -> Put:
    puts = [_put(kind) for kind in kinds]

    def put(value: Any, numbers: list[Any]) -> bool:
        if type(value).__name__ != name or len(value) != len(puts):
            return False
        return all(one(item, numbers) for one, item in zip(puts, value, strict=True))

    return put


def _put_int(value: Any, numbers: list[Any]) -> bool:
    numbers.append(value)
    return type(value) in (int, np.int64) and bool(-(2**63) <= value < 2**63)


def _put_float(value: Any, numbers: list[Any]) -> bool:
    numbers.append(value)
    return type(value) in (float, np.float64)


def _put_bool(value: Any, numbers: list[Any]) -> bool:
    numbers.append(int(value))
    return type(value) in (bool, np.bool_)


def _put_generator(value: Any, numbers: list[Any]) -> bool:
    if type(value) is not np.random.Generator:
        return False
    numbers += _addresses(value.bit_generator)
    return True


def _addresses(bits: Any) -> Iterator[int]:
    """Yield what numba's code knows of a generator: its owner, its state, its functions, itself, and who counts it."""
    made = bits.ctypes
    yield 0
    names = ("state_address", "state", "next_uint64", "next_uint32", "next_double", "bit_generator")
    for part in (getattr(made, name) for name in names):
        yield (part if isinstance(part, int) else ctypes.cast(part, ctypes.c_void_p).value) or 0
    yield from (0, 0)


_PUTS: dict[str, Put] = {"int": _put_int, "float": _put_float, "bool": _put_bool, "generator": _put_generator}


class _Raised(ctypes.Structure):
    """What numba's code says of an exception: its class and arguments, pickled, unless these are made by a function."""

    _fields_ = (
        ("pickled", ctypes.c_void_p), ("size", ctypes.c_int32), ("digest", ctypes.c_void_p), ("made", ctypes.c_void_p)
    )  # fmt: skip


def _error(address: int | None) -> Exception:
    raised = _Raised.from_address(address) if address else None
    if raised is None or raised.made or not raised.pickled:
        return RuntimeError("compiled code has failed")
    kind, arguments, *_ = pickle.loads(ctypes.string_at(raised.pickled, raised.size))
    error = kind(*(arguments or ()))
    return error if isinstance(error, Exception) else RuntimeError("compiled code has failed")
