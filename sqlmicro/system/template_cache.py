"""Compiled templates, kept where Python keeps compiled modules: compiling costs more than a query.

What is kept is code, so it is read only where nobody else can have written it. Nothing is kept where Python may not
write, or shall not.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from sqlmicro.system import packages
from sqlmicro.system.closed import is_closed


class TemplateCache(BytecodeCache):
    """Code by the name of its template in the folder `root`; only code of the same text, filters and Jinja is taken.

    Filters are run on constants while a template is compiled; they are in the file `filters`.
    """

    def __init__(self, root: Path, filters: Path) -> None:
        self._root, self._owner = root, filters.stat().st_uid
        self._made_by = packages.version("jinja2").encode() + filters.read_bytes()

    def get_source_checksum(self, source: str) -> str:
        """Return what must be the same for code to be taken."""
        return sha256(self._made_by + source.encode()).hexdigest()

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return what a template is kept under."""
        return name

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read what is kept, if anything is."""
        with contextlib.suppress(OSError, NotImplementedError):
            place = self._place(bucket)
            if is_closed(place, self._owner):
                with place.open("rb") as file:
                    bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled: whole, or not at all."""
        if sys.dont_write_bytecode or ":" in bucket.key:  # what a plug-in brings lies elsewhere
            return
        with contextlib.suppress(OSError, NotImplementedError):
            place = self._place(bucket)
            place.parent.mkdir(parents=True, exist_ok=True)
            made = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
            with open(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), "wb") as file:  # noqa: PTH123
                bucket.write_bytecode(file)
            made.replace(place)

    def _place(self, bucket: Bucket) -> Path:
        return Path(cache_from_source(str(self._root / bucket.key)))
