"""The Python interface: `open` a database, call a method on a table or frame, look at the release, publish it."""

from sqlmicro.session.release import Release
from sqlmicro.session.result import Audit, Result
from sqlmicro.session.session import Session, open

__all__ = ["Audit", "Release", "Result", "Session", "open"]
