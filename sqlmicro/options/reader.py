"""How CSV files are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param

_PARTS = (("YYYY", "%Y"), ("YY", "%y"), ("MM", "%m"), ("DD", "%d"))


@dataclass(frozen=True, kw_only=True)
class ReaderOptions:
    """How CSV files are read."""

    delimiter: Annotated[str | None, Param("CSV: character between the fields.", metavar="CHAR")] = None
    quote: Annotated[str | None, Param("CSV: character around fields.", metavar="CHAR")] = None
    null_string: Annotated[
        tuple[str, ...],
        Param("CSV: texts that mean a missing value, besides an empty field; repeatable.", metavar="A,B"),
    ] = ()
    decimal: Annotated[str | None, Param("CSV: decimal separator of numbers.", metavar="CHAR")] = None
    thousands: Annotated[str | None, Param("CSV: separator of thousands in numbers.", metavar="CHAR")] = None
    date_format: Annotated[
        str | None, Param("CSV: how dates are written, as DD.MM.YYYY or %d.%m.%Y.", metavar="FORMAT")
    ] = None
    encoding: Annotated[
        str | None,
        Param("CSV: encoding of the file, such as cp1252, iso-8859-2 or utf-16. Default: UTF-8.", metavar="NAME"),
    ] = None
    header: Annotated[bool, Param("CSV: the first line has the names, whatever it looks like.")] = False
    no_header: Annotated[bool, Param("CSV: the first line is data, not names.")] = False

    def given(self) -> dict[str, object]:
        """Return the options that were given, under the names of DuckDB's CSV reader.

        Raises
        ------
        ParameterError
            When the first line is to be names and data.

        Examples
        --------
        >>> ReaderOptions(delimiter=";", no_header=True).given()
        {'delim': ';', 'header': False}
        >>> ReaderOptions(null_string=("NA",), date_format="DD.MM.YYYY").given()
        {'nullstr': ['', 'NA'], 'dateformat': '%d.%m.%Y'}
        """
        if self.header and self.no_header:
            raise ParameterError("--header", "the first line has names or is data", "--no-header too")
        missing = ["", *self.null_string] if self.null_string else None
        theirs = {
            "delim": self.delimiter, "quote": self.quote, "nullstr": missing,
            "decimal_separator": self.decimal, "thousands": self.thousands,
            "dateformat": date_format(self.date_format), "encoding": self.encoding,
            "header": True if self.header else False if self.no_header else None,
        }  # fmt: skip
        return {name: value for name, value in theirs.items() if value is not None}


def date_format(text: str | None) -> str | None:
    """Return a format of dates as DuckDB has it.

    Raises
    ------
    ParameterError
        For one without a day, a month and a year.

    Examples
    --------
    >>> date_format("MM/DD/YYYY"), date_format("%Y%m%d")
    ('%m/%d/%Y', '%Y%m%d')
    """
    if text is None:
        return None
    found = text
    if "%" not in found:
        for part, code in _PARTS:
            found = found.replace(part, code)
    if not ("%d" in found and ("%m" in found or "%b" in found or "%B" in found) and ("%Y" in found or "%y" in found)):
        raise ParameterError("--date-format", "must have a day, a month and a year, as in DD.MM.YYYY", repr(text))
    return found


AS_FOUND = ReaderOptions()
"""Files are read as they are found."""
