"""The command `certify-release`: a certificate of a release that a stranger can check without this program."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import DbOption, LedgerOption
from sqlmicro.options.params import Param
from sqlmicro.publish import certificate, ledger_file
from sqlmicro.publish.certificate import Certificate, Certified, signature
from sqlmicro.registry import late
from sqlmicro.system import moves, scratch
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import as_json

_WHERE = "certify-release"


@dataclass(frozen=True, kw_only=True)
class CertifyReleaseOptions(DbOption, LedgerOption):
    """What `sqlmicro certify-release` takes."""

    release: Annotated[
        str,
        Param("Release: its number, or the table or file it was published as.", positional=True, metavar="ID|TABLE"),
    ]
    to: Annotated[str, Param("File to write, which ends in .json. The signature goes beside it.", metavar="FILE")]
    key: Annotated[
        str | None,
        Param("SSH key to sign with; of a key in an agent, its public file.", metavar="FILE", env="SQLMICRO_KEY"),
    ] = None
    unsigned: Annotated[bool, Param("Write a certificate that nobody vouches for; it says so.")] = False
    rows_to: Annotated[
        str | None,
        Param(
            "Of a table whose rows come of age (--only-where): write the anonymized rows, which are what is certified, "
            "to this Parquet file, to be handed on with the certificate.",
            metavar="FILE",
        ),
    ] = None
    overwrite: Annotated[bool, Param("Replace the certificate if it exists.")] = False


def certify_release_values(options: CertifyReleaseOptions, progress: Progress) -> Certified:
    """Write a certificate of a release, signed with your SSH key, that others check without this program.

    They run `python -m sqlmicro.verify RELEASE CERTIFICATE --signers FILE`, which counts k, l and t anew. What they
    cannot count is attested by the signature only; the certificate and the check keep the two apart.
    """
    if bool(options.key) == options.unsigned:
        got = "both" if options.key else "neither"
        raise ParameterError(_WHERE, "is signed with --key FILE, or says that it is --unsigned", got)
    path = Path(options.to).absolute()
    beside = path.with_name(path.name + ".sig")
    _refuse(path, beside, options)
    rows = Path(options.rows_to).absolute() if options.rows_to else None
    if rows is not None:
        _refuse_rows(rows, (path, beside), options)
    where = ledger_file.recorded(options.database, options.ledger, _WHERE)
    with scratch.spill() as folder:
        with open_warehouse(where, read_only=True, progress=progress) as warehouse:
            told, file = certificate.of(
                warehouse, options.release, folder, signed=not options.unsigned, apart=rows is not None
            )
        made = _written(path, told, file, options)
        if rows is not None and file is not None:
            moves.write("--rows-to", rows, file.read_bytes(), overwrite=options.overwrite)
        return made


def _written(path: Path, told: Certificate, file: Path | None, options: CertifyReleaseOptions) -> Certified:
    """Write a certificate, and its signature beside it."""
    beside = path.with_name(path.name + ".sig")
    text = json.dumps(as_json(told), indent=2).encode() + b"\n"
    if not options.key:
        if options.overwrite:
            beside.unlink(missing_ok=True)
        moves.write("--to", path, text, overwrite=options.overwrite)
        return Certified(options.to, None, None, told)
    moves.write("--to", beside, signature(text, options.key), overwrite=options.overwrite)
    signer = late("sqlmicro.verify", "signer")(text, beside, None, True)
    if file is not None:
        late("sqlmicro.verify", "check")(file, late("sqlmicro.verify", "certificate")(text.decode()))
    moves.write("--to", path, text, overwrite=options.overwrite)
    return Certified(options.to, options.to + ".sig", signer, told)


def _refuse_rows(rows: Path, others: tuple[Path, Path], options: CertifyReleaseOptions) -> None:
    """Refuse a file for rows that cannot be written, before any work is done."""
    if rows.suffix.lower() != ".parquet" or rows in others:
        raise ParameterError(f"{_WHERE}, --rows-to", "must be a path that ends in .parquet", repr(options.rows_to))
    if not rows.parent.is_dir():
        raise InputError("--rows-to", f"the folder of {options.rows_to!r} must exist", "none", "Make it first")
    _refuse_there("--rows-to", rows, options)


def _refuse(path: Path, beside: Path, options: CertifyReleaseOptions) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    if path.suffix.lower() != ".json":
        raise ParameterError(f"{_WHERE}, --to", "must be a path that ends in .json", repr(options.to))
    if not path.parent.is_dir():
        raise InputError("--to", f"the folder of {options.to!r} must exist", "none", "Make it first")
    for one in (path, beside):
        _refuse_there("--to", one, options)


def _refuse_there(option: str, path: Path, options: CertifyReleaseOptions) -> None:
    """Refuse to replace what may not be."""
    there = path.is_symlink() or path.exists()
    if there and not (options.overwrite and path.is_file() and not path.is_symlink()):
        do = "Choose another name, or add --overwrite"
        raise InputError(option, f"{path.name!r} must not exist yet", "something of that name", do)
