"""The server's errors in our words: its own quote records, so only their kind is told, by its code (SQLSTATE)."""

from __future__ import annotations

from sqlmicro.errors import InputError, QueryError, SqlmicroError

_NOT_NULL = "23502"
_TOO_LONG = "22001"
_NO_PARTITION = "23514"  # what a CHECK says too


def told(title: str, error: BaseException) -> SqlmicroError:
    """Return an error of the server as one that quotes no record."""
    code, kind = getattr(error, "sqlstate", None), type(error).__name__
    if code is None or code[:2] == "08" or code[:3] == "57P" or code == "25P03":
        return QueryError(
            title, "the connection to the server must last", f"one that is lost ({kind})",
            "What was not committed is rolled back by the server. Run it again",
        )  # fmt: skip
    if title == "record" and code[:2] == "23":
        return InputError(
            title, "nobody else may record a release at the same time", kind, "Nothing was published. Run it again"
        )
    if code[:2] == "23" or code == _TOO_LONG:
        column = getattr(getattr(error, "diag", None), "column_name", None) if code == _NOT_NULL else None
        got = f"{kind} of column {column}" if column else kind
        return InputError(
            title, "the released values must meet the constraints of the table", got,
            "Publish with --into NAME instead of --in-place, or drop the constraint first",
        )  # fmt: skip
    if code[:2] == "40":
        return InputError(
            title,
            "nobody else may write to the same table while it is published",
            kind,
            "Run it again when nobody does",
        )
    if title == "publish" and code[:2] == "22":
        return InputError(title, "the released values must fit the types of the table", kind, "Use --into NAME")
    if code[:2] == "42" and code != "42501":
        # Raised before a record is read: but a function of the server may raise it too, so it is not quoted.
        return QueryError(title, "the server must accept the statement", f"{kind} ({code})")
    if code == "42501" and title == "read":
        return InputError(
            title, "every record must be readable for this user", f"{kind}: rights that are missing, or row security",
            "A view may read a table that the user may not, or one with row security: have the rights granted",
        )  # fmt: skip
    if code == "42501":
        return InputError(title, "you must have the rights for it on the server", kind, "Ask for them")
    if code[:2] == "53":
        return QueryError(title, "the server must have room for it", f"{kind} ({code})", "Free disk space there")
    return QueryError(title, "the server must run the statement", f"{kind} ({code})", "Its log may say more")
