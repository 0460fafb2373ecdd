"""Files of compiled code that several processes write at once: what one has kept is what all others read.

numba (0.60 to 0.68) writes them as if one process did so at a time, and what is compiled never changed but in its own
file. That goes wrong in three ways:

- It tells functions of one name and the same types apart by a number that begins at 1 in every process. Two functions
  that were compiled in different processes may have the same number, and where both are loaded, the second is taken
  for the first: after `np.argsort` of whole numbers `np.sort` did not sort, and groups had fewer than k records.
- It gives a file the first free number in an index that it has read before. Two processes that do so at once give the
  same number to code for different types, and the code of one runs with the arrays of the other.
- Code has the functions of other modules in it that it calls, and stays as it is when these have changed: what an
  upgrade had mended would go on as before.

So numbers begin at random here, a file is named by what it holds, and code is used with the kernels alone that it was
compiled beside: those of its own module and of the modules of kernels that this one names.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import secrets
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core.bytecode import FunctionIdentity
from numba.core.caching import IndexDataCacheFile

PACKAGE = Path(__file__).resolve().parent.parent
_NAMED = re.compile(rb"\w+_kernels\b")


class NamedByContent(IndexDataCacheFile):
    """The files of one function, each named by its source, its types and its processor."""

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled, and then say so: who reads the index finds what it names."""
        digest = sha256(repr((self._source_stamp, key)).encode()).digest()
        file = self._data_name(int.from_bytes(digest[:8], "big"))  # type: ignore[no-untyped-call]
        self._save_data(file, data)  # type: ignore[no-untyped-call]
        overloads = self._load_index()  # type: ignore[no-untyped-call]
        overloads[key] = file
        self._save_index(overloads)  # type: ignore[no-untyped-call]


@functools.cache
def _modules() -> dict[bytes, list[Path]]:
    """Return the modules of kernels of the package by their name, which two folders may share."""
    found: dict[bytes, list[Path]] = {}
    for file in sorted(PACKAGE.rglob("*_kernels.py")):
        found.setdefault(file.stem.encode(), []).append(file)
    return found


@functools.cache
def kernels(module: Path) -> str:
    """Return what stands for the source of all kernels that a module may have in its code.

    A module of the package names each module of kernels that it calls. Of a module elsewhere that is not known, so that
    all kernels count.
    """
    known = _modules()
    inside = any(module in files for files in known.values())
    waiting = [module] if inside else [module, *(file for files in known.values() for file in files)]
    sources: dict[Path, bytes] = {}
    while waiting:
        file = waiting.pop()
        if file in sources:
            continue
        sources[file] = file.read_bytes()
        for name in set(_NAMED.findall(sources[file])):
            waiting += known.get(name, ())
    return sha256(b"".join(sha256(sources[file]).digest() for file in sorted(sources))).hexdigest()


def share(dispatcher: Any, module: Path) -> None:
    """Let code of a module be kept in files that other processes, and other versions of us, may write as well."""
    with contextlib.suppress(AttributeError):  # nothing of it is kept
        cache = dispatcher._cache
        cache._cache_file = NamedByContent(  # type: ignore[no-untyped-call]
            cache_path=cache._cache_path,
            filename_base=cache._impl.filename_base,
            source_stamp=(cache._impl.locator.get_source_stamp(), kernels(module)),
        )


FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))
