"""Secrets: where the seed of a run and the key of pseudonyms come from, and what may be told of them.

A secret comes from an environment variable, a file, or `-`: asked for at the terminal, or read from standard input. It
has at least 16 bytes, is bound to statements as a parameter, and is in no message, log or table.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from hashlib import sha256

from sqlmicro.errors import ParameterError

SEED_VARIABLE = "SQLMICRO_SEED"
SHORTEST, LONGEST = 16, 65536
ASK = "-"
_COST = {"n": 2**14, "r": 8, "p": 1}


@dataclass(frozen=True)
class Secret:
    """The bytes of a secret, and where they come from."""

    value: bytes = field(repr=False)
    source: str

    @property
    def fingerprint(self) -> str:
        """128 bits that tell whether two runs used the same secret.

        They are made by scrypt (RFC 7914; 16 MB and some 50 ms a guess), because a secret that a person thought of may
        be guessed, and the fingerprint would confirm the guess.
        """
        from hashlib import scrypt

        return scrypt(self.value, salt=b"sqlmicro fingerprint", dklen=16, **_COST).hex()


@dataclass(frozen=True)
class Key:
    """The key of a run: 128 bits as hexadecimal digits, where they come from, and their fingerprint if there is one."""

    value: str = field(repr=False)
    source: str
    fingerprint: str | None

    def of_table(self, number: int) -> Key:
        """Return the key of one of several tables: else records in the same place would get the same random numbers."""
        return replace(self, value=sha256(f"sqlmicro table {number} {self.value}".encode()).hexdigest()[:32])


def run_key(seed: str | None, seed_file: str | None) -> Key:
    """Return the key of a run: from the seed that is given, else 128 bits of the operating system.

    A seed in plain text, `--seed`, has no fingerprint: it may be short, and a fingerprint would confirm guesses.

    Raises
    ------
    ParameterError
        When two seeds are given, or a secret one is missing or too short.
    """
    if seed is not None and seed_file is not None:
        raise ParameterError("seed", "is given once", "--seed and --seed-file", "Leave one of them out")
    if seed is not None:
        return from_text(seed)
    secret = read("--seed-file", "seed", SEED_VARIABLE, seed_file)
    if secret is not None:
        return Key(_derived(secret.value), secret.source, secret.fingerprint)
    value = os.urandom(16).hex()
    return Key(value, "operating system", sha256(b"sqlmicro fingerprint " + value.encode()).hexdigest()[:32])


def from_text(seed: str) -> Key:
    """Return the key of a seed that is no secret.

    >>> from_text("s").source, from_text("s").fingerprint, from_text("s").value == from_text("t").value
    ('plain text', None, False)
    """
    return Key(_derived(seed.encode("utf-8", "surrogatepass")), "plain text", None)


def _derived(seed: bytes) -> str:
    return sha256(b"sqlmicro seed " + seed).hexdigest()[:32]


def read(where: str, name: str, variable: str, file: str | None) -> Secret | None:
    """Return the secret of a file, of `-`, or by default of an environment variable; None if that is not set.

    Line ends at the end are not part of it. No message quotes it.

    Raises
    ------
    ParameterError
        When it cannot be read, or has fewer than 16 bytes.
    """
    if file == ASK:
        secret = _asked(name)
        where = f"{where} {ASK}"
    elif file is not None:
        secret = Secret(_content(where, file), "file")
    else:
        given = os.environ.get(variable, "")
        if not given:
            return None
        secret, where = Secret(given.encode("utf-8", "surrogateescape"), "environment variable"), variable
    for right, must, got in (
        (len(secret.value) >= SHORTEST, f"at least {SHORTEST} bytes", f"{len(secret.value)}"),
        (len(secret.value) <= LONGEST, f"at most {LONGEST} bytes", "more"),
    ):
        if not right:
            raise ParameterError(
                where, f"the secret {name} must have {must}", got, "Make one with: openssl rand -hex 32"
            )
    return secret


def _content(where: str, file: str) -> bytes:
    try:
        with open(file, "rb") as content:  # noqa: PTH123  (a pipe of the shell, <(...), is read as a file too)
            return content.read(LONGEST + 2).rstrip(b"\r\n")
    except (OSError, ValueError):
        raise ParameterError(where, f"there must be a file {file!r} that can be read", "none") from None


def _asked(name: str) -> Secret:
    if not sys.stdin.isatty():
        return Secret(sys.stdin.buffer.read(LONGEST + 2).rstrip(b"\r\n"), "standard input")
    from getpass import getpass

    try:
        return Secret(getpass(f"Secret {name}: ").encode("utf-8", "surrogateescape"), "prompt")
    except EOFError:
        return Secret(b"", "prompt")
