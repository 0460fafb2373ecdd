"""A release as a new table of an attached DuckLake, which has neither keys nor ENUM types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlmicro.publish.new_table import NewTable, without_constraints


@dataclass(frozen=True)
class DuckLakeTable(NewTable):
    """A table of a DuckLake."""

    has_enums: ClassVar[bool] = False

    def record_definition(self, text: str) -> str:
        """Return the definition without what a DuckLake lacks."""
        return without_constraints(text)
