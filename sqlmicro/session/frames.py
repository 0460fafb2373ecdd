"""Records that are no table yet: relations, Arrow tables, pandas and Polars frames, all as Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.system.printable import kind

if TYPE_CHECKING:
    import pyarrow as pa


def as_arrow(records: Any, where: str) -> pa.Table:
    """Return records as an Arrow table; of a pandas frame without its index, which is no column.

    Whatever offers the Arrow C stream interface is taken: a DuckDB relation, an Arrow table or reader, a Polars frame.

    Raises
    ------
    ParameterError
        When it is nothing of the kind.
    InputError
        When Arrow cannot read it, such as a column of mixed types.
    """
    import pyarrow as pa

    is_pandas, is_lazy = kind(records) == "pandas DataFrame", kind(records) == "polars LazyFrame"
    if not (is_pandas or is_lazy or hasattr(records, "__arrow_c_stream__")):
        raise ParameterError(
            where,
            "must be the name of a table, a DuckDB relation, an Arrow table, or a pandas or Polars frame",
            kind(records),
        )
    failure: InputError
    try:
        found: pa.Table = (
            pa.Table.from_pandas(records, preserve_index=False)
            if is_pandas
            else pa.table(records.collect() if is_lazy else records)
        )
        return found
    except Exception as error:
        failure = InputError(
            where,
            f"the {kind(records)} must be readable as an Arrow table",
            type(error).__name__,
            "Give every column one type",
        )
    raise failure  # out of the block: the error it follows may quote records
