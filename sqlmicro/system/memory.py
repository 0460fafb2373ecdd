"""How much memory the process has taken."""

from __future__ import annotations

import re
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_memory() -> int | None:
    """Return the largest resident memory of the process so far in bytes; None where there is no /proc."""
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB", _STATUS.read_text(encoding="ascii"), flags=re.MULTILINE)
    except OSError:
        return None
    return int(found.group(1)) * 1024 if found else None
