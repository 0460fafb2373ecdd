"""How much memory the process has taken, and how much it may take."""

from __future__ import annotations

import re
from pathlib import Path

from sqlmicro.errors import InputError

_STATUS = Path("/proc/self/status")
LEAST = 1_600_000 * 1024
"""Bytes of address space that a run needs: with less, libraries end the process as they please (measured)."""
_SHORT = (MemoryError, ImportError, RuntimeError)
"""How it is said that there is no more: also that a library cannot be loaded, or a thread not started."""


def peak_memory() -> int | None:
    """Return the largest resident memory of the process so far in bytes; None where there is no /proc."""
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB", _STATUS.read_text(encoding="ascii"), flags=re.MULTILINE)
    except OSError:
        return None
    return int(found.group(1)) * 1024 if found else None


def address_space() -> int | None:
    """Return how many bytes of addresses the process may have, as `ulimit -v` sets it; None where it has no limit."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else int(limit)


def refuse_too_little() -> None:
    """Refuse to begin where libraries would end the process.

    Raises
    ------
    InputError
        With what it may have, and what it needs.
    """
    limit = address_space()
    if limit is not None and limit < LEAST:
        must = f"the process must be allowed an address space of {LEAST // 1024:,} kB or more (ulimit -v)"
        raise InputError("memory", must, f"{limit // 1024:,} kB", "Raise it, and limit memory with --memory-limit")


def ran_short(error: BaseException) -> str:
    """Return what to say of an error that comes of a limited address space; nothing of any other."""
    limit = address_space()
    if not isinstance(error, _SHORT) or limit is None:
        return ""
    return (
        f"memory: the process must be allowed more address space (ulimit -v). Got {limit // 1024:,} kB, which did not "
        f"suffice. Nothing was published. Raise it, and limit memory with --memory-limit."
    )
