"""Object storage: what URLs name, and the stores behind them, which are reached through fsspec.

Credentials come from the environment and the configuration of each store's own library, never from a URL. What a store
says in its own words may quote keys, so only its kind is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import file_digest
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from sqlmicro.errors import InputError, ParameterError

T = TypeVar("T")
LIBRARIES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "https": "aiohttp"}
"""The stores that URLs can begin with, and the package that fsspec reaches each of them with."""
READ_ONLY = ("https",)
INCOMPLETE = "_sqlmicro_incomplete"
"""The object in a folder whose files are being put there, or were when their run was killed."""
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)
_SECRET = re.compile(r"[^/]*@|[^/]*:(?!\d+(/|$))|.*(\?[^/]*=|[&#;][^/]*=|%3[fF][^/]*=)", re.DOTALL)
"""A user, a password, or a query after the scheme; a port is none."""
_PATTERN = re.compile(r"[*?\[]")
_BLOCK = 8 << 20
"""Bytes that are read at once, ahead of what DuckDB asks for."""
_TOLD = (
    ({"NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"}, "no credentials for it"),
    ({"PermissionError", "ClientAuthenticationError"}, "a store that does not let these credentials do it"),
    ({"FileNotFoundError"}, "no such bucket, or no such object"),
    ({"FileExistsError"}, "one that somebody has put there meanwhile"),
    ({"EndpointConnectionError", "ClientConnectorError", "ConnectionError", "TimeoutError", "ConnectTimeoutError"},
     "no answer"),
)  # fmt: skip
_DO = {
    "s3": "Credentials and endpoint are those of boto3: AWS_PROFILE, or AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "
    "AWS_DEFAULT_REGION, AWS_ENDPOINT_URL",
    "gs": "Credentials are those of Google's libraries: GOOGLE_APPLICATION_CREDENTIALS",
    "az": "Credentials are AZURE_STORAGE_ACCOUNT_NAME, and AZURE_STORAGE_ACCOUNT_KEY or a login",
    "https": "Check the URL",
}


@dataclass(frozen=True)
class Stored:
    """An object: its URL, its bytes, and what tells its content from that of any other time."""

    url: str
    size: int
    tag: str


def is_url(text: str) -> bool:
    """Tell whether a text names an object rather than a path.

    >>> is_url("s3://lake/persons.parquet"), is_url("data/persons.parquet"), is_url("delta:persons")
    (True, False, False)
    """
    return _URL.match(text) is not None


def absolute(text: str) -> str:
    """Return what a path or URL is known by, wherever it is named.

    >>> absolute("s3://lake/out/"), absolute("/data/out.parquet")
    ('s3://lake/out', '/data/out.parquet')
    """
    return text.removesuffix("/") if is_url(text) else str(Path(text).absolute())


def refuse_secret(text: str, where: str) -> None:
    """Refuse a URL with a user, a password or a signed query: command lines and job files are read by others.

    Raises
    ------
    ParameterError
        Without the URL.
    """
    found = _URL.search(text)
    if found and (_SECRET.match(found[2]) or (found[1].lower().startswith("http") and set("?#") & set(found[2]))):
        raise ParameterError(
            where, "a URL has no user, password or query in it, which others can read", "one with that",
            _DO.get(found[1], "Give credentials in the environment"),
        )  # fmt: skip


def check(url: str, where: str, *, written: bool = False) -> str:
    """Return the scheme of a URL; refuse one that names no object of a store that is known.

    Raises
    ------
    ParameterError
        When it cannot be read, or `written` to, or is another path to other programs.
    """
    refuse_secret(url, where)
    found = _URL.match(url)
    scheme = found[1] if found else ""
    known = [one for one in LIBRARIES if not (written and one in READ_ONLY)]
    if scheme not in known or found is None:
        must = f"names a file, or an object by {', '.join(f'{one}://' for one in known)}"
        raise ParameterError(where, must, f"{scheme}://")
    _refuse_path(url, found[2].removesuffix("/"), where)
    return scheme


def _refuse_path(url: str, path: str, where: str) -> None:
    if not all(part not in ("", ".", "..") for part in path.split("/")) or "/" not in path:
        must = "an object has a bucket, and a name without empty parts, '.' and '..', which programs read differently"
        raise ParameterError(where, must, repr(url))


def fixed_part(pattern: str) -> str:
    """Return the folder that all objects of a pattern are in.

    >>> fixed_part("s3://lake/out/*/*.parquet"), fixed_part("s3://lake/out/a.parquet")
    ('s3://lake/out', 's3://lake/out')
    """
    first = _PATTERN.search(pattern)
    return pattern[: first.start() if first else None].rpartition("/")[0]


class Store:
    """The stores of one scheme. Errors say that `where` named what was asked for."""

    def __init__(self, url: str, where: str, *, written: bool = False) -> None:
        self.scheme, self.where = check(url, where, written=written), where
        self._files = self._opened()

    def _opened(self) -> Any:
        library = LIBRARIES[self.scheme]
        try:
            made = import_module("fsspec").filesystem(
                self.scheme, skip_instance_cache=True, **({} if self.scheme == "https" else _UNCACHED)
            )
        except ImportError:
            made = None
        if made is None:
            extra = "pip install 'sqlmicro[store]'" if self.scheme == "s3" else f"pip install fsspec {library}"
            raise InputError(
                self.where, f"{self.scheme}:// needs {library}, which is not installed", do=f"Install it: {extra}"
            )
        return made

    def stored(self, url: str) -> Stored | None:
        """Return an object; None where there is none.

        Raises
        ------
        InputError
            When the store cannot be asked, here and in all other methods.
        """

        def look() -> Stored | None:
            try:
                info = self._files.info(url, **_FRESH.get(self.scheme, {}))
            except FileNotFoundError:
                return None
            return self._stored(url, info) if info["type"] == "file" else None

        return self._ask(url, look)

    def found(self, pattern: str) -> tuple[Stored, ...]:
        """Return the object of a name, else those of a pattern, in the order of their names.

        Raises
        ------
        InputError
            When one has a name that programs read differently, or a run has left its folder incomplete.
        """
        one = self.stored(pattern)
        if one is not None:
            return (one,)
        if self.scheme in READ_ONLY or not _PATTERN.search(pattern):
            return ()
        if self.stored(f"{fixed_part(pattern)}/{INCOMPLETE}"):
            raise InputError(
                self.where, "must name a folder that is complete", f"one that a run is writing, or was: {INCOMPLETE!r}",
                "Wait for that run. If it was killed, remove the folder and publish again",
            )  # fmt: skip
        infos = self._ask(pattern, lambda: self._files.glob(pattern, detail=True))
        names = sorted(name for name, info in infos.items() if info["type"] == "file")
        return tuple(self._listed(f"{self.scheme}://{name}", infos[name]) for name in names)

    def _listed(self, url: str, info: Mapping[str, Any]) -> Stored:
        _refuse_path(url, url.partition("://")[2], self.where)
        return self._stored(url, info)

    def under(self, folder: str) -> bool:
        """Tell whether there is an object in a folder."""

        def look() -> bool:
            try:
                return bool(self._files.ls(folder, detail=False, refresh=True))
            except FileNotFoundError:
                return False

        return self._ask(folder, look)

    def bucket(self, url: str) -> str:
        """Return the bucket that a URL is in, which must be there.

        Raises
        ------
        InputError
            When there is none.
        """
        bucket = "/".join(url.split("/")[:3])

        def look() -> bool:
            self._files.ls(bucket, detail=False, refresh=True)
            return True

        self._ask(bucket, look)
        return bucket

    def open(self, one: Stored) -> Any:
        """Return an object as a file to read from.

        Raises
        ------
        InputError
            When it is another one by now.
        """
        if self.stored(one.url) != one:
            must = "an object must stay as it is while it is read"
            raise InputError(self.where, must, f"a change of {one.url!r}", "Run it again")
        return self._ask(one.url, lambda: self._files.open(one.url, "rb", block_size=_BLOCK))

    def put(self, file: Path, url: str, *, new: bool) -> None:
        """Put a file where nothing is (`new`), or over what is there: whole or not at all."""
        mode = {"mode": "create"} if new else {}
        self._ask(url, lambda: self._files.put_file(str(file), url, **mode))

    def write(self, told: object, url: str) -> None:
        """Put a small JSON object where nothing is."""
        self._ask(url, lambda: self._files.pipe_file(url, json.dumps(told).encode(), mode="create"))

    def copy(self, url: str, to: str) -> None:
        """Copy an object within its store."""
        self._ask(url, lambda: self._files.cp_file(url, to))

    def get(self, one: Stored, file: Path) -> None:
        """Copy an object into a file."""
        with self.open(one) as source, file.open("wb") as target:
            for block in iter(lambda: self._ask(one.url, lambda: source.read(_BLOCK)), b""):
                target.write(block)

    def remove(self, url: str) -> None:
        """Remove an object."""
        self._ask(url, lambda: self._files.rm_file(url))

    def digest(self, url: str) -> str | None:
        """Return the SHA-256 of an object as it is read back; None where there is none."""

        def read() -> str | None:
            try:
                with self._files.open(url, "rb", block_size=_BLOCK) as file:
                    return file_digest(file, "sha256").hexdigest()
            except FileNotFoundError:
                return None

        return self._ask(url, read)

    def _stored(self, url: str, info: Mapping[str, Any]) -> Stored:
        tags = ("ETag", "etag", "generation", "LastModified", "last_modified", "mtime")
        tag = next((str(info[name]) for name in tags if info.get(name)), "")
        return Stored(url, int(info["size"] or 0), tag.strip('"'))

    def _ask(self, url: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except InputError:
            raise
        except Exception as error:
            told = _told(error)
        # Out of the block: the library's own words, which may quote a key, are not its context.
        raise InputError(self.where, f"{url!r} must be within reach", told, _DO[self.scheme])


_UNCACHED = {"use_listings_cache": False}
_FRESH = {"s3": {"refresh": True}}


def _told(error: BaseException) -> str:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return next((words for names, words in _TOLD if kinds & names), type(error).__name__)
