"""The command `certify`: certificates of releases that a stranger can check without this program.

The command `verify`: what such a stranger does, for whoever has this program.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated

from sqlmicro.database.catalog import find_table
from sqlmicro.database.files import file_format
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.jobs.steps import Job
from sqlmicro.options.common import DbOption, LedgerOption, OpenDatabase
from sqlmicro.options.params import Param
from sqlmicro.publish import certificate, ledger_file
from sqlmicro.publish.certificate import Certificate, Certified, signature
from sqlmicro.registry import late
from sqlmicro.reports.done import OfRelease, OverPolicy, over_policy
from sqlmicro.system import moves, scratch
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import as_json
from sqlmicro.verbs.over_policy import POLICY, asked_of, each, file_of, folder, is_policy

_WHERE = "certify"
_ENDING = ".certificate.json"
_VERIFIED = "are verified"


@dataclass(frozen=True, kw_only=True)
class CertifyOptions(DbOption, LedgerOption):
    """What `sqlmicro certify` takes."""

    release: Annotated[
        str,
        Param(
            f"Release: its number, or the table or file it was published as. {POLICY}: all of its releases.",
            positional=True,
            metavar="ID|TABLE|POLICY",
        ),
    ]
    to: Annotated[
        str,
        Param(
            "File to write, which ends in .json, or of a policy the folder for them. A signature goes beside each.",
            metavar="FILE",
        ),
    ]
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


def certify_values(options: CertifyOptions, progress: Progress) -> Certified | OverPolicy:
    """Write certificates of a release, or of all of a policy, signed with your SSH key, for others to check.

    They need nothing of this program: `python -m sqlmicro.verify RELEASE CERTIFICATE --signers FILE` counts k, l and t
    anew. What they cannot count is attested by the signature only; the certificate and the check keep the two apart.
    """
    if bool(options.key) == options.unsigned:
        got = "both" if options.key else "neither"
        raise ParameterError(_WHERE, "is signed with --key FILE, or says that it is --unsigned", got)
    if not is_policy(options.release):
        return _certified(options, progress)
    to = folder(f"{_WHERE}, --to", options.to)
    if options.rows_to is not None:
        raise ParameterError(f"{_WHERE}, --rows-to", "goes with one release", "a policy", "Certify that release alone")

    def certified(job: Job, name: str) -> OfRelease:
        path = str(to / file_of(name, _ENDING))
        told = _certified(asked_of(job, replace(options, release=name), to=path), progress).told
        held = ", ".join(f"{one.check} {one.value:.6g}" for one in told.recounted if one.value is not None)
        return OfRelease(job.options.table, name, told.release.rows, held, path, 0)

    signers = ["--signers", f"{options.key.removesuffix('.pub')}.pub"] if options.key else ["--any-signer"]
    then = ["sqlmicro", "verify", options.release, "--certificate", options.to, *signers]
    return each(
        options.release,
        progress,
        "are certified" if options.key else "have a certificate that NOBODY SIGNED",
        certified,
        then,
    )


def _certified(options: CertifyOptions, progress: Progress) -> Certified:
    """Write the certificate of one release."""
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


def _written(path: Path, told: Certificate, file: Path | None, options: CertifyOptions) -> Certified:
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


def _refuse_rows(rows: Path, others: tuple[Path, Path], options: CertifyOptions) -> None:
    """Refuse a file for rows that cannot be written, before any work is done."""
    if rows.suffix.lower() != ".parquet" or rows in others:
        raise ParameterError(f"{_WHERE}, --rows-to", "must be a path that ends in .parquet", repr(options.rows_to))
    if not rows.parent.is_dir():
        raise InputError("--rows-to", f"the folder of {options.rows_to!r} must exist", "none", "Make it first")
    _refuse_there("--rows-to", rows, options)


def _refuse(path: Path, beside: Path, options: CertifyOptions) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    if path.suffix.lower() != ".json":
        raise ParameterError(f"{_WHERE}, --to", "must be a path that ends in .json", repr(options.to))
    if not path.parent.is_dir():
        raise InputError("--to", f"the folder of {options.to!r} must exist", "none", "Make it first")
    for one in (path, beside):
        _refuse_there("--to", one, options)


def _refuse_there(option: str, path: Path, options: CertifyOptions) -> None:
    """Refuse to replace what may not be."""
    there = path.is_symlink() or path.exists()
    if there and not (options.overwrite and path.is_file() and not path.is_symlink()):
        do = "Choose another name, or add --overwrite"
        raise InputError(option, f"{path.name!r} must not exist yet", "something of that name", do)


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(DbOption):
    """What `sqlmicro verify` takes."""

    release: Annotated[
        str,
        Param(f"File or table of a release. {POLICY}: all of its releases.", positional=True, metavar="TABLE|POLICY"),
    ]
    certificate: Annotated[
        str, Param("Its certificate, or of a policy the folder that `certify` wrote them to.", metavar="FILE")
    ]
    signers: Annotated[
        str | None,
        Param(
            "Whose keys are known: a file of allowed signers as ssh-keygen has it, or a public key, .pub.",
            metavar="FILE",
        ),
    ] = None
    any_signer: Annotated[bool, Param("Accept whoever signed, or nobody.")] = False


def verify_values(options: VerifyOptions, progress: Progress) -> OverPolicy:
    """Count again what certificates say of their releases, and look who signed; the worst decides the exit code.

    Whoever has no sqlmicro does the same with one file: python -m sqlmicro.verify RELEASE CERTIFICATE --signers FILE.
    """
    with scratch.spill() as private:
        signers = _signers(options.signers, private)

        def verified(table: str, name: str, db: str | OpenDatabase | None, path: Path) -> OfRelease:
            file = _as_file(db, name, private, progress)
            found, code, rows = _verified(file, path, signers, options.any_signer)
            return OfRelease(table, name, rows, found, str(path), code)

        if not is_policy(options.release):
            name = options.release
            found = verified(name, name, options.database, Path(options.certificate))
            return over_policy(name, _VERIFIED, [found], [])
        made = Path(options.certificate)
        return each(
            options.release, progress, _VERIFIED,
            lambda job, name: verified(job.options.table, name, job.options.db, made / file_of(name, _ENDING)), [],
        )  # fmt: skip


def _verified(file: Path, certificate: Path, signers: Path | None, any_signer: bool) -> tuple[str, int, int | None]:
    """Return who signed or why a release is not verified, the exit code, and how many rows it has."""
    verify = late("sqlmicro.verify")
    try:
        with verify.regular(certificate) as read:
            told = verify.certificate((data := read.read()).decode())
        if not told["signed"] and (signers or not any_signer):
            raise verify.RefusedError("nobody signed the certificate. --any-signer checks it all the same")
        beside = Path(f"{certificate}.sig")
        who = verify.signer(data, beside, signers, any_signer) if told["signed"] else "NOBODY"
        verify.check(file, told)
    except verify.RefusedError as error:
        return f"NOT VERIFIED: {error.args[0]}", [1, *error.args[1:]][-1], None
    except OSError as error:
        return f"NOT VERIFIED: {error.strerror}: {Path(error.filename or certificate).name}", 2, None
    except Exception as error:  # without the words of others, which may quote a value
        return f"NOT VERIFIED: {type(error).__name__}; is {certificate.name} its certificate?", 2, None
    return f"signed by {who}", 0, told["release"]["rows"]


def _as_file(db: str | OpenDatabase | None, name: str, private: Path, progress: Progress) -> Path:
    """Return the file of a release; a table is exported into a private folder."""
    from pyarrow import parquet

    if file_format(name):
        return Path(name)
    with open_warehouse(db, read_only=True, progress=progress) as warehouse:
        found = find_table(warehouse, name)
        if found is None:
            do = "Name the file, or the database with --db"
            raise InputError("verify", "names a file or a table that is there", repr(name), do)
        batches = certificate.exported(warehouse.batches(found[0]))
        first = next(batches)
        file = private / file_of(name, ".parquet")
        with parquet.ParquetWriter(file, first.schema) as writer:
            for batch in chain([first], batches):
                writer.write_batch(batch)
    return file


def _signers(signers: str | None, private: Path) -> Path | None:
    """Return the file of allowed signers; a public key is that of who is called as its file."""
    if signers is None or not signers.endswith(".pub"):
        return None if signers is None else Path(signers)
    key = Path(signers)
    if not key.is_file():
        raise InputError(
            "verify, --signers", "must be a file of allowed signers, or a public key", f"none: {signers!r}"
        )
    made = private / "signers"
    made.write_text(f"{key.stem} {key.read_text(encoding='utf-8')}", encoding="utf-8")
    return made
