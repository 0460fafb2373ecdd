"""How CSV files are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class ReaderOptions:
    """How CSV files are read."""

    delimiter: Annotated[str | None, Param("CSV: character between the fields.", metavar="CHAR")] = None
    quote: Annotated[str | None, Param("CSV: character around fields.", metavar="CHAR")] = None
    null_string: Annotated[str | None, Param("CSV: text that means a missing value.", metavar="TEXT")] = None
    decimal: Annotated[str | None, Param("CSV: decimal separator of numbers.", metavar="CHAR")] = None
    encoding: Annotated[str | None, Param("CSV: encoding of the file.", metavar="NAME")] = None
    no_header: Annotated[bool, Param("CSV: the first line is data, not names.")] = False

    def given(self) -> dict[str, object]:
        """Return the options that were given, under the names of DuckDB's CSV reader.

        >>> ReaderOptions(delimiter=";", no_header=True).given()
        {'delim': ';', 'header': False}
        """
        theirs = {
            "delim": self.delimiter, "quote": self.quote, "nullstr": self.null_string,
            "decimal_separator": self.decimal, "encoding": self.encoding, "header": False if self.no_header else None,
        }  # fmt: skip
        return {name: value for name, value in theirs.items() if value is not None}


AS_FOUND = ReaderOptions()
"""Files are read as they are found."""
