"""Secrets: where the seed of a run and the key of pseudonyms come from, what is derived of them, and what may be told.

A secret comes from an environment variable, a file, or `-`: asked for at the terminal, or read from standard input. It
has at least 16 bytes, is bound to statements as a parameter, and is in no message, log or table.

What is equal when
------------------
No statement gets the key of a run itself. It gets keys derived from it by HMAC-SHA-256:

- `Key.order`, the order of a release, from its recipe, the content of the input and that of the release. The same job
  on the same input gives the same bytes, in whatever order the table is stored. Another recipe, a changed value of the
  input, or one of the release, as after a time limit, with another pseudonym key or in another candidate, gives an
  order that has nothing to do with the first.
- `Key.draws`, the random numbers of a method, from the source, the method, the columns, the settings, and what else
  decides how much the numbers change (`also`). The statement hashes that key with the record: its row key and the value
  that is changed; without a row key the released content of the record, records of the same content by number. The same
  value of the same person draws the same number, whatever other records and other steps there are: releasing again
  gives nothing to average. Two methods, two settings or two sources share nothing.

No key decides in which order a method sees the records, and by which it breaks ties: that is the order of a hash of the
row key or of the content, `load/shuffled.sql`, after the values of the one column that a method sorts by. It says
nothing of places in the table, and the same records give the same groups under every seed. The order of the release is
drawn whatever that order is; who has its key can put the records back into it.

One secret outlasts all seeds: `lasting`, which the user has from the first run on. It is the key of every run without a
seed: the same job on the same records makes the same release, so that running it again tells nothing new, and what did
not change is perturbed as before. By it `safe` also chooses, whatever the seed, what may be shown and what is invented,
so that many runs do not show more than one may; and `shift-dates` moves the dates of a person, of whom it takes the
key and nothing else, so that all tables and runs agree.

A source is its schema and name, a file the names of its columns (`source.identity`): exports of two days are one
source. A renamed table is another source: its draws share nothing with those from before. Everything here depends on
the secret: where none can be kept, as in a container without a home, the operating system gives a new key to every run,
and no two runs share anything. Records and values enter by DuckDB's hash(), which 1.5 and 2.0 compute alike; where a
later version changes it, draws change.

Keyed hashes of 64-bit words: a pseudorandom function of short inputs that costs a twentieth of SHA-256.

Source: Aumasson & Bernstein (2012), SipHash: a fast short-input PRF. SipHash-2-4, whose key has 128 bits.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from hashlib import sha256, shake_128
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.system.closed import user

if TYPE_CHECKING:
    import numpy as np

SEED_VARIABLE = "SQLMICRO_SEED"
LASTING_VARIABLE = "SQLMICRO_SECRET"
SHORTEST, LONGEST = 16, 65536
ASK = "-"
WORDS_OF_A_BLOCK = 1 << 17
"""So many words of an order are made at once."""
_SYSTEM = "operating system"
_PLAIN = sum(getattr(os, f"O_{name}", 0) for name in ("NOFOLLOW", "NONBLOCK", "BINARY"))
"""How a file is opened so that no link is followed and no pipe waited for, where a system knows them."""
_COST = {"n": 2**14, "r": 8, "p": 1}


@dataclass(frozen=True)
class Secret:
    """The bytes of a secret, and where they come from."""

    value: bytes = field(repr=False)
    source: str

    @property
    def lasts(self) -> bool:
        """Whether another run can have it."""
        return self.source != _SYSTEM

    @property
    def fingerprint(self) -> str:
        """128 bits that tell whether two runs used the same secret.

        They are made by scrypt (RFC 7914; 16 MB and some 50 ms a guess), because a secret that a person thought of may
        be guessed, and the fingerprint would confirm the guess.
        """
        return _fingerprint(self.value)

    def of_epoch(self, epoch: int) -> bytes:
        """Return the key that an epoch of a series has in its place."""
        return key_for(f"epoch {epoch}", self.value)


def key_for(purpose: str, key: bytes) -> bytes:
    r"""Return the key that a purpose has in the place of another key.

    It is no HMAC by this key: a pseudonym is one, of a text that anybody may have chosen, and is published.

    >>> key_for("a", b"k") == sha256(b"sqlmicro a\0k").digest() != key_for("b", b"k")
    True
    """
    return sha256(f"sqlmicro {purpose}\0".encode() + key).digest()


@cache
def _fingerprint(secret: bytes) -> str:
    from hashlib import scrypt

    return scrypt(secret, salt=b"sqlmicro fingerprint", dklen=16, **_COST).hex()


@dataclass(frozen=True)
class Key:
    """The key of a run: 128 bits as hexadecimal digits, where they come from, and their fingerprint if there is one."""

    value: str = field(repr=False)
    source: str
    fingerprint: str | None

    def order(self, recipe: Recipe, content: bytes, released: bytes) -> str:
        """Return the key of the order of a release, from its recipe, the content of its input and its own content.

        >>> recipe = Recipe("main.persons", ("name",), (), (Task("mdav", ("age",), (), "error", {"k": 5}),))
        >>> key = from_text("s")
        >>> key.order(recipe, b"1", b"a") == key.order(recipe, b"1", b"a")
        True
        >>> key.order(recipe, b"1", b"a") == key.order(recipe, b"2", b"a")
        False
        """
        return self._derived("order", asdict(recipe), content.hex(), released.hex())

    @staticmethod
    def words(order: str, n: int) -> Iterator[bytes]:
        """Yield n random words of 8 bytes, which only the key of an order can make: some blocks of words.

        They are those of SHAKE-128 (FIPS 202) of the key and the number of the block: without the key they cannot be
        told from random ones, so that the order by them is any order with the same probability. That two of n words
        are equal has a probability of n²/2^65, 3e-6 for ten million; these two stand in no certain order.

        >>> [len(block) // 8 for block in Key.words("a key", 3)]
        [3]
        """
        for number, first in enumerate(range(0, n, WORDS_OF_A_BLOCK)):
            stream = shake_128(order.encode() + number.to_bytes(8, "big"))
            yield stream.digest(8 * min(WORDS_OF_A_BLOCK, n - first))

    def draws(self, source: str, task: Task, columns: Sequence[str], also: object = (), but: Sequence[str] = ()) -> str:
        """Return the key of the random numbers that a task draws for some of its columns.

        Parameters
        ----------
        source : str
            Identity of the source.
        task : Task
            The method and its settings.
        columns : sequence of str
            The columns drawn for: one, where each is treated on its own.
        also : object
            What else the numbers are used with, such as the size of noise: two sizes must not share numbers.
        but : sequence of str
            Settings that `also` stands for: the name of a file says less than what is in it.

        >>> task = Task("noise", ("age", "income"), (), "keep", {"amount": 0.5})
        >>> len({from_text("s").draws("main.persons", task, columns) for columns in (["age"], ["income"])})
        2
        """
        own = {name: value for name, value in asdict(task).items() if name != "columns"}
        own["settings"] = {name: value for name, value in own["settings"].items() if name not in but}
        return self._derived("draws", source, own, list(columns), also)

    def of_input(self, content: bytes) -> str:
        """Return the hash of an input that only this key can make."""
        return hmac.new(self.value.encode(), content, sha256).hexdigest()

    def _derived(self, *parts: object) -> str:
        """Return 128 bits as hexadecimal digits: few enough for SHA-256 to take them and a record in one block."""
        text = json.dumps(parts, sort_keys=True, default=str)
        return hmac.new(self.value.encode(), text.encode(), sha256).hexdigest()[:32]


@dataclass(frozen=True)
class Task:
    """A method, the columns and strata it works on, and its settings; `repeated` counts equal tasks before it."""

    method: str
    columns: tuple[str, ...]
    by: tuple[str, ...]
    nulls: str
    settings: Mapping[str, Any]
    repeated: int = 0


@dataclass(frozen=True)
class Recipe:
    """What decides a release besides its input and the key: neither where it goes, nor what is measured of it."""

    source: str
    dropped: tuple[str, ...]
    row_key: tuple[str, ...]
    tasks: tuple[Task, ...]
    person: tuple[str, ...] = ()
    of_person: tuple[str, ...] = ()
    household: tuple[str, ...] = ()


def repeated(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Return tasks with the number of equal ones before each, so that what is done again draws anew.

    >>> [task.repeated for task in repeated(2 * [Task("noise", ("age",), (), "keep", {})])]
    [0, 1]
    """
    found = list(tasks)
    return tuple(replace(task, repeated=found[:place].count(task)) for place, task in enumerate(found))


def run_key(seed: str | None, seed_file: str | None) -> Key:
    """Return the key of a run: from the seed that is given, else from the secret of the user that lasts.

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
    found = secret or lasting()
    return Key(_derived(found.value), found.source, found.fingerprint)


def from_text(seed: str) -> Key:
    """Return the key of a seed that is no secret.

    >>> from_text("s").source, from_text("s").fingerprint, from_text("s").value == from_text("t").value
    ('plain text', None, False)
    """
    return Key(_derived(seed.encode("utf-8", "surrogatepass")), "plain text", None)


def _derived(seed: bytes) -> str:
    return sha256(b"sqlmicro seed " + seed).hexdigest()[:32]


def lasting() -> Secret:
    """Return the secret that all runs of a user share: from the environment, else from a file made when it is needed.

    The file is `sqlmicro/secret` in the folder of the user's settings. Nobody else may read it.

    Raises
    ------
    InputError
        When others can read or replace the file.
    ParameterError
        When the secret is too short.

    Notes
    -----
    Where no file can be made or kept, as in a container without a home, it is a new one: its `source` says so.
    """
    given = read(LASTING_VARIABLE, "key", LASTING_VARIABLE, None)
    if given is not None:
        return given
    try:
        path = _settings_folder() / "secret"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_once(path)
    except (OSError, RuntimeError):  # no home, or nothing may be written there
        return Secret(os.urandom(32), _SYSTEM)
    found = _private(path)
    if found is None:
        raise InputError(
            "lasting secret",
            f"{str(path)!r} must be a file of this user that nobody else can read, in a folder that nobody else can "
            "write to",
            "another",
            f"chmod 600 the file and 700 its folder, or set {LASTING_VARIABLE}. Who could read it may know the secret",
        )
    return _long_enough(str(path), "key", Secret(found, "file of the user"))


def beside_secret(name: str) -> Path | None:
    """Return the path of a file in the folder of the lasting secret; None where there can be no such folder."""
    try:
        folder = _settings_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder / name


def ledger_key(source: str) -> str | None:
    """Return the key by which the ledger knows the persons of a source, whatever the seed; None where none lasts."""
    found = lasting()
    return Key(_derived(found.value), found.source, None)._derived("ledger", source) if found.lasts else None


def seal(hashed: str) -> str | None:
    """Return what shows that a user has written a plan of this hash: only who has the secret can make it.

    None where no secret lasts.
    """
    found = lasting()
    return Key(_derived(found.value), found.source, None)._derived("plan", hashed) if found.lasts else None


def _private(path: Path) -> bytes | None:
    """Return what a file has that only its owner can read or replace, and that is this user's; None for another."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _PLAIN)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status, folder, this = os.fstat(descriptor), path.parent.stat(), user()
        modes = status.st_mode & 0o077, folder.st_mode & 0o022
        theirs = this is not None and (any(modes) or {status.st_uid, folder.st_uid} != {this})
        if not stat.S_ISREG(status.st_mode) or theirs or (not _PLAIN and path.is_symlink()):
            return None
        return file.read(LONGEST + 2).rstrip(b"\r\n")


def _settings_folder() -> Path:
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (given if given.is_absolute() else Path("~/.config").expanduser()) / "sqlmicro"


def _make_once(path: Path) -> None:
    """Make the file of the secret, whole or not at all; one that another process has made at the same time stays."""
    if os.path.lexists(path):
        return
    beside = path.with_name(f".secret-{os.urandom(8).hex()}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(32).hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink(missing_ok=True)


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
    return _long_enough(where, name, secret)


def _long_enough(where: str, name: str, secret: Secret) -> Secret:
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


_AT_ONCE = 16384
"""Words that stay in the cache while they are hashed."""
_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def words(key: str, purpose: str, hashes: np.ndarray) -> np.ndarray:
    """Return numbers of 63 bits (n,) that only the key makes of words (n,); the `purpose` is part of it."""
    import numpy as np

    digest = sha256(f"{key} {purpose}".encode()).digest()
    found = siphash(int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little"), hashes)
    return (found >> np.uint64(1)).astype(np.int64)


def siphash(first: int, second: int, hashes: np.ndarray) -> np.ndarray:
    """Return SipHash-2-4 of words of 8 bytes each (n,), by the two halves of a key.

    >>> import numpy as np
    >>> word = np.frombuffer(bytes(range(8)), np.uint64)
    >>> hex(siphash(0x0706050403020100, 0x0F0E0D0C0B0A0908, word)[0])
    '0x93f5f5799a932462'
    """
    import numpy as np

    given = hashes.astype(np.uint64, copy=False)
    found = np.empty_like(given)
    start = [np.uint64(one ^ half) for one, half in zip(_START, (first, second) * 2, strict=True)]
    room = np.empty((5, min(_AT_ONCE, max(len(given), 1))), np.uint64)
    for at in range(0, len(given), _AT_ONCE):
        word = given[at : at + _AT_ONCE]
        state, spare = list(room[:4, : len(word)]), room[4, : len(word)]
        for part, one in zip(state, start, strict=True):
            part[:] = one
        for block in (word, np.uint64(8 << 56)):  # the last block has the length of the input
            state[3] ^= block
            _rounds(2, state, spare)
            state[0] ^= block
        state[2] ^= np.uint64(0xFF)
        _rounds(4, state, spare)
        found[at : at + _AT_ONCE] = state[0] ^ state[1] ^ state[2] ^ state[3]
    return found


def _rounds(many: int, state: list[np.ndarray], spare: np.ndarray) -> None:
    """Mix the state, in place."""
    import numpy as np

    a, b, c, d = state
    by = {left: (np.uint64(left), np.uint64(64 - left)) for left in (13, 16, 17, 21, 32)}

    def rotate(word: np.ndarray, bits: int) -> None:
        left, right = by[bits]
        np.left_shift(word, left, out=spare)
        np.right_shift(word, right, out=word)
        np.bitwise_or(word, spare, out=word)

    for _ in range(many):
        for one, other, bits, half in ((a, b, 13, a), (c, d, 16, None), (a, d, 21, None), (c, b, 17, c)):
            one += other
            rotate(other, bits)
            other ^= one
            if half is not None:
                rotate(half, 32)
