"""Which night of a series was published last, noted beside the secret: a ledger cannot tell that it is an older one."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from sqlmicro.system import secrets


@dataclass(frozen=True)
class LastNight:
    """The last night of a series that this user has published under a ledger in a file of its own."""

    epoch: int
    entry: str
    """The hash of its entry in the ledger."""


def noted(ledger: Path, series: str) -> LastNight | None:
    """Return the last night of a series in a ledger; None where nothing is noted that can be read."""
    path = _place(ledger, series)
    try:
        told = json.loads(path.read_text(encoding="utf-8")) if path else {}
        return LastNight(int(told["epoch"]), str(told["entry"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def note(ledger: Path, series: str, night: LastNight) -> None:
    """Note a night that was published; where that cannot be written, an older ledger is not seen to be one."""
    path = _place(ledger, series)
    if path is None:
        return
    with contextlib.suppress(OSError):
        beside = path.with_name(f"{path.name}.{token_hex(8)}")
        try:
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump(asdict(night), file)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def _place(ledger: Path, series: str) -> Path | None:
    """Return the path of a note, whose name tells of neither the ledger nor the series."""
    told = json.dumps([str(ledger.resolve()), series])
    return secrets.beside_secret(f"night-{sha256(told.encode()).hexdigest()[:32]}.json")
