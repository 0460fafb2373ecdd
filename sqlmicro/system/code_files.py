"""Files of compiled code that several processes write at once: what one has kept is what all others read.

numba (0.60 to 0.68) writes them as if one process did so at a time, which goes wrong in two ways:

- It tells functions of one name and the same types apart by a number that begins at 1 in every process. Two functions
  that were compiled in different processes may have the same number, and where both are loaded, the second is taken
  for the first: after `np.argsort` of whole numbers `np.sort` did not sort, and groups had fewer than k records.
- It gives a file the first free number in an index that it has read before. Two processes that do so at once give the
  same number to code for different types, and the code of one runs with the arrays of the other.

So numbers begin at random here, and a file is named by what it holds.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
from hashlib import sha256
from typing import Any

from numba.core.bytecode import FunctionIdentity
from numba.core.caching import IndexDataCacheFile


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


def share(dispatcher: Any) -> None:
    """Let the code of a function be kept in files that other processes may write at the same time."""
    with contextlib.suppress(AttributeError):  # nothing of it is kept
        cache = dispatcher._cache
        cache._cache_file = NamedByContent(  # type: ignore[no-untyped-call]
            cache_path=cache._cache_path,
            filename_base=cache._impl.filename_base,
            source_stamp=cache._impl.locator.get_source_stamp(),
        )


FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))
