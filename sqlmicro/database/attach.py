"""Other databases beside the own one: `--attach NAME=URL`, after which their tables are `NAME.schema.table`.

| URL | what is attached | DuckDB extension |
| --- | --- | --- |
| `file.duckdb`, `file.db` | another DuckDB file | none |
| `sqlite:file.db` | an SQLite file | sqlite_scanner |
| `postgres:dbname=crm host=db` | a PostgreSQL database, in the words of libpq | none, but psycopg |
| `mysql:database=crm host=db` | a MySQL database | mysql_scanner |
| `ducklake:meta.ducklake` | a DuckLake | ducklake |

A password is never part of a URL: it would be seen in the list of processes and in the history of the shell. What is
behind the first colon is kept out of messages, of the log and of what is recorded.

Extensions are loaded where they are installed, from DuckDB's own folder or from a wheel `duckdb-extension-…`; nothing
is ever downloaded.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlmicro.database import postgres
from sqlmicro.database.connection import Deferred
from sqlmicro.database.mirror import Mirror
from sqlmicro.database.mysql import PUSHED
from sqlmicro.database.templates import Sql
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, ParameterError, QueryError, SqlmicroError
from sqlmicro.options.params import check_path
from sqlmicro.system import scratch

EXTENSIONS = {
    "duckdb": "", "sqlite": "sqlite_scanner", "postgres": "", "mysql": "mysql_scanner",
    "ducklake": "ducklake",
}  # fmt: skip
"""The kinds of databases that can be attached, and the extension each needs."""
REMOTE = ("postgres", "mysql")
_NEEDED = {"iceberg": ("avro",)}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile(r"pass(word|wd)\s*=|\bpwd\s*=|://[^/@\s]*:[^/@\s]*@", re.IGNORECASE)
_PASSWORDS = {
    "mysql": "Set MYSQL_PWD, or store a secret of DuckDB (CREATE PERSISTENT SECRET)",
    "other": "Set PGPASSWORD, or name a file in PGPASSFILE or a service in a service file (service=…)",
}
_REASONS = (
    ("password|authentication|access denied", "a password or user it does not accept"),
    ("does not exist|unknown database", "a database or user it does not have"),
    (
        "refused|translate host|resolve host|unknown server host|timed? ?out|no such file|can't connect",
        "no server that answers",
    ),
    ("lock", "one that another process has locked"),
)


@dataclass(frozen=True)
class Attachment:
    """A database to attach: its name here, its kind, and what it is opened with, which no message shows."""

    name: str
    kind: str
    what: str

    @property
    def where(self) -> str:
        """The option in messages, without what may tell of the server."""
        return f"--attach {self.name}"


def parse(text: str) -> Attachment:
    """Return the database that `NAME=URL` means.

    >>> parse("crm=postgres:service=crm"), parse("old=old.duckdb").kind
    (Attachment(name='crm', kind='postgres', what='service=crm'), 'duckdb')

    Raises
    ------
    ParameterError
        For another form, or a password in it; the URL is not quoted.
    """
    name, equals, url = text.partition("=")
    kinds = ", ".join(f"{kind}:" for kind in EXTENSIONS if kind != "duckdb")
    if not equals or not url or not _NAME.fullmatch(name):
        raise ParameterError(
            "--attach",
            f"reads NAME=URL: a name of letters, digits and _, then a DuckDB file or one of {kinds}",
            "another form",
        )
    scheme, colon, rest = url.partition(":")
    kind = {"postgresql": "postgres"}.get(scheme, scheme)
    found = Attachment(name, "duckdb", url)
    if colon and kind in EXTENSIONS:
        # URIs of libpq begin with the scheme itself.
        found = Attachment(name, kind, url if rest.startswith("//") and kind == "postgres" else rest)
    elif colon and len(scheme) > 1:
        raise ParameterError(found.where, f"a URL begins with one of {kinds}, or is a DuckDB file", "another scheme")
    if _SECRET.search(url):
        raise ParameterError(
            found.where,
            "a password is not given on the command line or in a job file, where others can read it",
            "one",
            _PASSWORDS["mysql" if kind == "mysql" else "other"],
        )
    return found


def called(text: str) -> str:
    """Return what a database is called here.

    >>> called("crm=postgres:service=crm")
    'crm'
    """
    return parse(text).name


def beside(folder: Path, text: str) -> str:
    """Return `NAME=URL` with a path in it taken from `folder`.

    >>> beside(Path("/jobs"), "old=sqlite:old.db"), beside(Path("/jobs"), "crm=postgres:service=crm")
    ('old=sqlite:/jobs/old.db', 'crm=postgres:service=crm')
    """
    found = parse(text)
    if found.kind in REMOTE or _remote_catalog(found):
        return text
    scheme = "" if found.kind == "duckdb" else f"{found.kind}:"
    return f"{found.name}={scheme}{folder / found.what}"


def _remote_catalog(found: Attachment) -> bool:
    """Tell whether the catalog of a DuckLake is in a server."""
    return found.kind == "ducklake" and found.what.startswith(("postgres:", "mysql:"))


def attach(warehouse: Database, texts: Sequence[str], *, writable: Collection[str] = (), later: bool = False) -> None:
    """Attach databases; those whose name is not in `writable` can only be read, and DuckDB files that are so `later`.

    Raises
    ------
    InputError, ParameterError
        When one cannot be opened, or its extension is not installed; the message has the command that installs it.
    """
    for text in texts:
        found = parse(text)
        taken = warehouse.query("catalog", "SELECT lower(database_name) FROM duckdb_databases()")
        if (found.name.lower(),) in taken:
            raise ParameterError(found.where, "its name must be free", "a database of that name", "Take another")
        if EXTENSIONS[found.kind]:
            load(warehouse, EXTENSIONS[found.kind], found.where)
        if found.kind == "mysql":
            for name, _ in warehouse.query("extension", PUSHED):
                warehouse.query("extension", "SET {{ name | ident }} = false", name=name)
        writes = found.name.lower() in {name.lower() for name in writable}
        if found.kind == postgres.KIND:
            _mirror(warehouse, found, writes)
        else:
            _open(warehouse, found, writes, later=later)
        warehouse.attached.append(found.name)
        if found.kind == "ducklake":
            _reach_files(warehouse, found.name, writes)


def _open(warehouse: Database, found: Attachment, writes: bool, *, later: bool) -> None:
    options = ["READ_WRITE" if writes else "READ_ONLY"]
    what = found.what
    later = later and writes and found.kind == "duckdb"
    if found.kind in ("duckdb", "sqlite") or (found.kind == "ducklake" and not _remote_catalog(found)):
        check_path(what, found.where)
        new = found.kind == "ducklake" and writes
        if not new and not Path(what).is_file():
            raise InputError(found.where, f"there must be a file {what!r}", "none", "Check the path")
        what = str(Path(what).absolute())
    if found.kind == "ducklake":
        what = f"ducklake:{what}"
    else:
        options.append(f"TYPE {found.kind}")
    secret = found.kind in REMOTE or _remote_catalog(found)
    text = "ATTACH {{ what | lit }} AS {{ name | ident }} ({{ options }})"
    names = {"name": found.name, "options": Sql(", ".join(options))}
    reason = ""
    try:
        now = {**names, "options": Sql("READ_ONLY, TYPE duckdb")} if later else names
        warehouse.attach(text, what=what, **now)
    except SqlmicroError:
        raise
    except Exception as error:
        told = str(error).lower()
        reason = next((reason for words, reason in _REASONS if re.search(words, told)), type(error).__name__)
        reason += f", {process}" if (process := scratch.holder(str(error))) else ""
    if reason:  # out of the block: the database's own error, which quotes the URL, is not its context
        raise _cannot_open(found, reason)
    if later:
        warehouse.deferred[found.name.lower()] = Deferred(found.name, found.what, found.where)
    warehouse.log_only("attach", text, what=f"{found.kind}: as given with {found.where}" if secret else what, **names)


def _mirror(warehouse: Database, found: Attachment, writes: bool) -> None:
    """Connect to a PostgreSQL server, and attach a database in memory that stands for it."""
    if importlib.util.find_spec("psycopg") is None:
        raise InputError(found.where, "needs psycopg", "none", "Install it with: pip install 'sqlmicro[postgres]'")
    reason, server = "", None
    try:
        server = postgres.connect(found.what, writes=writes)
    except SqlmicroError:
        raise
    except Exception as error:
        told = str(error).lower()
        reason = next((reason for words, reason in _REASONS if re.search(words, told)), type(error).__name__)
    if server is None:  # out of the block: the server's own error, which quotes the URL, is not its context
        raise _cannot_open(found, reason)
    mirror = Mirror(found.name, server, writes)
    warehouse.mirrors[found.name.lower()] = mirror
    server.refuse_shadowing(found.where)
    warehouse.query("attach", "ATTACH ':memory:' AS {{ name | ident }} (READ_WRITE)", name=found.name)
    mirror.look(warehouse)
    text = "ATTACH {{ what | lit }} AS {{ name | ident }} (TYPE postgres)"
    warehouse.log_only("attach", text, what=f"postgres: as given with {found.where}", name=found.name)


def _cannot_open(found: Attachment, reason: str) -> InputError:
    do = _PASSWORDS.get(found.kind, _PASSWORDS["other"]) if "password" in reason else "Check the URL"
    return InputError(found.where, f"must be a {found.kind} database that can be opened", reason, do)


def _reach_files(warehouse: Database, name: str, writes: bool) -> None:
    """Let the sealed database reach the data files of a DuckLake."""
    found = warehouse.query("attach", "SELECT data_path FROM ducklake_settings({{ name | lit }})", name=name)
    folder = str(found[0][0])
    if writes and "://" not in folder:  # once sealed, the database can make folders only inside of this one
        Path(folder).mkdir(parents=True, exist_ok=True)
    warehouse.folders.add(folder)


def load(warehouse: Database, extension: str, where: str) -> None:
    """Load an extension of DuckDB from its folder or from a wheel; it is never downloaded.

    Raises
    ------
    InputError
        When it is not installed for this version of DuckDB, with the commands that install it.
    """
    for needed in _NEEDED.get(extension, ()):
        load(warehouse, needed, where)
    path = _in_wheel(extension, warehouse.version)
    # The wheel was chosen for this environment; what is in the home folder comes second.
    for what in filter(None, (path and str(path), extension)):
        try:
            warehouse.query("extension", "LOAD {{ what | lit }}", what=what)
        except QueryError:
            continue
        return
    version = warehouse.version.removeprefix("v")
    raise InputError(
        where,
        f"needs DuckDB's extension {extension!r} for DuckDB {version}, and sqlmicro installs nothing by itself",
        "none that can be loaded",
        f"Install it with: pip install duckdb-extension-{extension.replace('_', '-')}=={version} (if there is no such "
        f"wheel, then in the DuckDB shell: INSTALL {extension.removesuffix('_scanner')})",
    )


def _in_wheel(extension: str, version: str) -> Path | None:
    """Return the file of an extension that a wheel has installed for this version of DuckDB."""
    found = importlib.util.find_spec(f"duckdb_extension_{extension}")
    for folder in (found.submodule_search_locations or ()) if found else ():
        file = Path(folder) / "extensions" / version / f"{extension}.duckdb_extension"
        if file.is_file():
            return file
    return None
