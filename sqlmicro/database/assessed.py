"""A release that is assessed, beside the original it was made from: what audits and attacks share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sqlmicro.database.columns import Column
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
_KINDS = {"date": "dates", "timestamp": "timestamps", "timestamptz": "timestamps"}


@dataclass(frozen=True, eq=False, kw_only=True)
class AssessedRelease:
    """A release, the original, and what was staged or measured of both, each once.

    Parameters
    ----------
    warehouse : Warehouse
        Where the relations are.
    release : Source
        Any table, view or file.
    original : Source, optional
        What the release was made from.
    match : tuple of Column
        Columns that both tables have unchanged and that identify a record.
    nominal : tuple of str
        Names of columns whose values only are equal or not, whatever their type.
    """

    verb: ClassVar[str]
    """The command that assesses it: the first word of its errors, and of the names of what is staged."""

    warehouse: Warehouse
    release: Source
    original: Source | None = None
    match: tuple[Column, ...] = ()
    nominal: tuple[str, ...] = ()
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def theirs(self) -> dict[str, Column]:
        """The columns of the original by name; none without an original."""
        return {} if self.original is None else {column.name: column for column in self.original.columns}

    @property
    def shared(self) -> tuple[Column, ...]:
        """The columns of the release that the original has too, apart from those that match records."""
        return tuple(c for c in self.release.columns if c.name in self.theirs and c not in self.match)

    def stage(self, template: str, into: str, *, view: bool = True, **params: Any) -> Name:
        """Stage what a template returns, for the next one to read, and return its name."""
        return self.warehouse.run(template, self._name(into), view=view, **params)

    def load(self, table: pa.Table, into: str, comment: str) -> Name:
        """Stage an Arrow table, and return its name."""
        return self.warehouse.load(table, self._name(into), comment)

    def once(self, key: str, make: Callable[[], T]) -> T:
        """Return what `make` made under this key the first time: several measures share a result or a relation."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def values(
        self, source: Source, into: str, numeric: Sequence[Column], nominal: Sequence[Column], *, view: bool
    ) -> Name:
        """Stage columns in the form in which tables are compared: numbers as DOUBLE, others as bytes.

        The columns are those of the release; dates and timestamps those of `source`. The match is row_id.
        """
        own = {column.name: column for column in source.columns}
        kinds: dict[str, list[Column]] = {"numeric": [], "dates": [], "timestamps": []}
        for column in numeric:
            kinds[_KINDS.get(own[column.name].family, "numeric")].append(column)
        keys = [self.match] if self.match else []
        return self.stage(
            "audit/values.sql", into, view=view, relation=source.relation, nominal=nominal, keys=keys, **kinds
        )

    def check_match(self, relation: Name, source: Source) -> None:
        """Refuse a match that does not identify the records of a source, whose values are in `relation`.

        Raises
        ------
        InputError
            When records have it in common.
        """
        repeated = self.warehouse.record("audit/repeated_keys.sql", relation=relation)["repeated"]
        if repeated:
            raise InputError(
                f"{self.verb}, --match",
                "must identify a record in the release and in the original",
                f"{repeated:,} records of {source.label} that share it with another",
                "Name further columns",
            )

    @cached_property
    def _prefix(self) -> str:
        # Every name is used in a statement at once, so that the log is longer when the next one asks.
        return f"{self.verb}_{len(self.warehouse.log) + 1}"

    def _name(self, into: str) -> str:
        return f"{self._prefix}_{into}"
