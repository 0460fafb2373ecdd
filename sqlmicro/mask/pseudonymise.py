"""Pseudonyms: identifiers replaced by a keyed hash of their value, the same in every table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.mask import keyed
from sqlmicro.mask.keyed import KeyFile
from sqlmicro.registry import method, of_no_column

if TYPE_CHECKING:
    from sqlmicro.work import Outcome, Work

_BLOCK = 64


@method(
    "pseudonymise",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    assures=of_no_column,
    by_value=True,
    source="RFC 2104: HMAC, with SHA-256",
    templates=("mask/pseudonyms.sql",),
    takes_strata=False,
    surrogate="pseudonym",
)
def pseudonymise(
    work: Work,
    *,
    key_file: KeyFile = None,
) -> Outcome:
    """Replace identifiers by their HMAC-SHA-256: with one key the same value has the same pseudonym in every table.

    Returns
    -------
    Outcome
        64 hexadecimal digits for every value, as text.

    Raises
    ------
    ParameterError
        When there is no key, or it is too short.
    InputError
        For a column of another type: its text is not the same in every table.

    Notes
    -----
    The key has at least 16 bytes; line ends at the end of its file are not part of it.

    The text that is hashed is that of the value in UTF-8; a date's is YYYY-MM-DD. NULL stays NULL. The key is neither
    part of a statement nor recorded. Whoever has it can find the person behind a pseudonym by trying all identifiers:
    the release is pseudonymous, not anonymous. A pseudonym tells nobody without the key who it is, so that the column
    is no quasi-identifier; but all records of one person stay recognisable as such. Two SHA-256 per value.

    What repeats is meant to: one key gives the same value the same pseudonym in every column, table and release. The
    seed of the run decides the order of the records only.
    """
    keyed.refuse_inexact(work)
    work.warehouse.set_pads(*pads(keyed.key_of(work, key_file)))
    values = work.run(
        "mask/pseudonyms.sql",
        "values",
        relation=work.relation,
        columns=[column for column in work.columns if column.family != "date"],
        dates=[column for column in work.columns if column.family == "date"],
    )
    work.replace_all(work.columns, values, "text")
    return work.outcome


def pads(key: bytes) -> tuple[bytes, bytes]:
    """Return the inner and the outer pad of HMAC-SHA-256 for a key.

    >>> from hashlib import sha256
    >>> inner, outer = pads(b"key")
    >>> sha256(outer + sha256(inner + b"The quick brown fox jumps over the lazy dog").digest()).hexdigest()[:16]
    'f7bc83f430538424'
    """
    from hashlib import sha256

    block = (sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)
