"""What a verb found, as an object: the report, its text, and how a notebook shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlmicro.audits.registry import AuditReport
from sqlmicro.reports import notebook
from sqlmicro.reports.rendering import rendered
from sqlmicro.system import moves
from sqlmicro.system.reporting import Json, as_json, passed


@dataclass(frozen=True, repr=False)
class Result:
    """What a verb of a session found.

    Attributes
    ----------
    verb : str
        The name of the command.
    found : object
        The report as a dataclass.
    """

    verb: str
    found: object

    @cached_property
    def report(self) -> Json:
        """What the command prints with `--json`."""
        found: Json = as_json(self.found)
        return found

    @property
    def passed(self) -> bool | None:
        """Whether what was demanded held; None where nothing was."""
        return passed(self.found)

    def table(self) -> str:
        """Return the report as text, as the command prints it."""
        return rendered(self.found)

    def __getitem__(self, name: str) -> Any:
        return self.report[name]

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:

        return notebook.result(self.verb, self.table(), self.found)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What an audit found; `rows` has a dict for every measure."""

    found: AuditReport

    @property
    def rows(self) -> list[Json]:
        """A row for every measure: `check`, `columns`, `value`, `threshold`, `passed` and more."""
        return [as_json(row) for row in self.found.audits]


@dataclass(frozen=True, repr=False)
class Pictures:
    """Pictures of the columns of a release, before and after; a notebook shows them.

    Attributes
    ----------
    svgs : dict
        The picture of each column by its name: an SVG that stands alone.
    """

    svgs: dict[str, str]

    def save(self, folder: str | Path) -> list[Path]:
        """Write each picture into a folder as COLUMN.svg, and return the files.

        Raises
        ------
        InputError
            When a file is there already, or cannot be written.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        files = [Path(folder) / f"{quote(name, safe=' ')}.svg" for name in self.svgs]
        for file, svg in zip(files, self.svgs.values(), strict=True):
            moves.write("plot", file, svg.encode(), overwrite=False)
        return files

    def __repr__(self) -> str:
        return f"pictures of {', '.join(self.svgs) or 'no column'}"

    def _repr_html_(self) -> str:
        return notebook.page_of(self.svgs)
