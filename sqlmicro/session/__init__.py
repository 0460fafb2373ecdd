"""The Python interface: `open` a database, call a method, look at the release, publish it. May import `api` and what is
below it."""

from sqlmicro.session.release import Release
from sqlmicro.session.result import Audit, Result
from sqlmicro.session.session import Session, open

__all__ = ["Audit", "Release", "Result", "Session", "open"]
