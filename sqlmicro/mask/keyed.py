"""What stands for values by a secret key: the key, the columns that can be treated so, and one answer for each text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.params import Param
from sqlmicro.registry import Tick
from sqlmicro.system import secrets
from sqlmicro.system.secrets import key_for as key_for

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.work import Work

VARIABLE = "SQLMICRO_PSEUDONYM_KEY"
TEMPLATES = ("mask/texts.sql", "mask/by_text.sql")
KeyFile = Annotated[
    str | None,
    Param(
        f"File with the secret key; - asks for it. Default: the environment variable {VARIABLE}.",
        metavar="FILE",
        part="key",
    ),
]


def key_of(work: Work, key_file: str | None) -> bytes:
    """Return the key of a step, of the epoch in a series; no message quotes it.

    Raises
    ------
    ParameterError
        When there is no key, or it is too short.
    """
    known = work.warehouse.secrets
    if key_file not in known:  # what is asked for, or comes through a pipe, is there once
        known[key_file] = secret_of(work.where, key_file)
    work.outcome.account.key_fingerprint = known[key_file].fingerprint
    return work.epoch_key(known[key_file])


def secret_of(where: str, key_file: str | None) -> secrets.Secret:
    """Return the secret key; no message quotes it.

    Raises
    ------
    ParameterError
        When there is none, it is too short, or it is the lasting secret too: pseudonyms are HMACs by it of texts that
        others may have chosen, and so are the keys that are made of the lasting secret.
    """
    secret = secrets.read(f"{where}, key_file", "key", VARIABLE, key_file)
    if secret is None:
        must, do = "a secret key is needed", f"Set {VARIABLE}, or give --key-file FILE"
        raise ParameterError(f"{where}, key", must, "none", do)
    lasting = secrets.read(where, "key", secrets.LASTING_VARIABLE, None)
    if lasting is not None and lasting.value == secret.value:
        must = f"must be another secret than {secrets.LASTING_VARIABLE}"
        raise ParameterError(f"{where}, key", must, "the same", "Make one with: openssl rand -hex 32")
    return secret


def refuse_inexact(work: Work) -> None:
    """Refuse columns whose text is not the same in every table.

    Raises
    ------
    InputError
        With the columns.
    """
    wrong = [f"{c.name} ({c.type})" for c in work.columns if c.family in ("float", "timestamp", "timestamptz")]
    if wrong:
        must = "works on text, whole numbers, decimals, dates, UUIDs and truth values"
        raise InputError(work.where, must, ", ".join(wrong), "Convert the column to text in a view first")


def texts_of(work: Work, column: Column) -> dict[str, int]:
    """Return the texts of a column's values, each with how many records have it."""
    found = work.warehouse.rows("mask/texts.sql", relation=work.relation, column=column, rows=work.step.rows)
    return dict(sorted(found))


def replace_texts(
    work: Work, column: Column, texts: Sequence[str], becomes: Callable[[Sequence[str], Tick], Sequence[str]]
) -> Sequence[str]:
    """Replace the values of a column by what each of their texts becomes, and return it."""
    import pyarrow as pa

    with work.warehouse.progress.kernel(f"{work.where}: {column.name}", len(texts)) as progress:
        made = becomes(texts, progress.tick)
    table = pa.table({"text": pa.array(texts, pa.string()), "becomes": pa.array(made, pa.string())})
    loaded = work.load(table, f"texts_{column.staged}", "filled with what each text becomes by the secret key")
    work.replace(
        column, work.run("mask/by_text.sql", f"values_{column.staged}", relation=work.relation, column=column,
                         texts=loaded), "text",
    )  # fmt: skip
    return made
