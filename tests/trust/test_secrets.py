"""Seeds and keys: where they come from, that they are nowhere to be seen, and what is recorded in their place."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import opened
from world import warehouse

import sqlmicro
from sqlmicro.database import opening
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask.pseudonymise import pads
from sqlmicro.publish import ledger_file
from sqlmicro.system import secrets
from sqlmicro.system.progress import Progress

SEED = "correct horse battery staple 7381"
COLUMNS = {"x": ("DOUBLE", [float(i * 7 % 40) for i in range(40)]), "id": ("BIGINT", range(40))}
LAST = "SELECT * FROM sqlmicro.releases ORDER BY id DESC LIMIT 1"


@pytest.fixture(scope="module")
def db(workbench: Any) -> str:
    return str(workbench.make(COLUMNS))


def forms(secret: str) -> list[bytes]:
    """Return every form a secret could be seen in: itself, and the key made of it."""
    return [secret.encode(), secrets.from_text(secret).value.encode(), bytes.fromhex(secrets.from_text(secret).value)]


def shuffled(db: str, **options: Any) -> dict[str, Any]:
    return sqlmicro.shuffle("records", db=db, columns=["x"], keep=["id"], accept_unique=["id"], **options)


def recorded(db: str) -> dict[str, Any]:
    with opened(db, read_only=True) as connection:
        cursor = connection.execute(LAST)
        return dict(zip([column[0] for column in cursor.description], cursor.fetchone() or (), strict=True))


@pytest.mark.slow
def test_one_seed_whichever_way_it_comes(
    db: str, workbench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "seed"
    file.write_text(SEED + "\n")
    found = {}
    for name, options in {"plain text": {"seed": SEED}, "file": {"seed_file": str(file)}}.items():
        report = shuffled(db, into=f"by {name}", **options)
        assert report["key"]["source"] == recorded(db)["key_source"] == name
        found[name] = report
    monkeypatch.setenv(secrets.SEED_VARIABLE, SEED)
    found["environment variable"] = shuffled(db, into="by environment")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SEED.encode() + b"\n")))
    found["standard input"] = shuffled(db, into="by input", seed_file="-")
    monkeypatch.delenv(secrets.SEED_VARIABLE)
    assert [report["key"]["source"] for report in found.values()] == list(found)
    tables = [workbench.read(db, f"by {name}") for name in ("plain text", "file", "environment", "input")]
    assert tables.count(tables[0]) == 4
    assert tables[0]["x"] != list(COLUMNS["x"][1])
    # A seed in plain text may be short: its fingerprint would confirm guesses, so there is none.
    prints = [report["key"]["fingerprint"] for report in found.values()]
    assert prints[0] is None
    assert prints[1:] == [secrets.Secret(SEED.encode(), "").fingerprint] * 3
    assert any("for tests" in note for note in found["plain text"]["notes"])
    assert not any("for tests" in note for note in found["file"]["notes"])


def test_without_a_seed_the_key_is_that_of_the_user_in_every_run(
    db: str, workbench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(secrets.LASTING_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    reports = [shuffled(db, into=f"lasting {i}") for i in range(2)]
    assert {report["key"]["source"] for report in reports} == {"file of the user"}
    assert len({report["key"]["fingerprint"] for report in reports}) == 1
    # Running again tells nothing new.
    assert workbench.read(db, "lasting 0") == workbench.read(db, "lasting 1")
    assert len(secrets.run_key(None, None).value) == 32


def test_where_no_secret_can_be_kept_every_run_has_a_new_key(
    db: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(secrets.LASTING_VARIABLE, raising=False)
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "a file"))
    reports = [shuffled(db, into=f"system {i}") for i in range(2)]
    assert {report["key"]["source"] for report in reports} == {"operating system"}
    assert len({report["key"]["fingerprint"] for report in reports}) == 2
    assert "value" not in repr(secrets.run_key(None, None))
    assert SEED not in repr(secrets.Secret(SEED.encode(), "file"))


def test_a_secret_that_is_too_short_or_missing_is_refused_without_a_word_of_it(
    db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "seed"
    for content, words in ((b"tiny", "at least 16 bytes. Got 4"), (b"z" * 70000, "at most 65536 bytes. Got more")):
        file.write_bytes(content)
        with pytest.raises(ParameterError, match=words) as refused:
            shuffled(db, dry_run=True, seed_file=str(file))
        assert "tiny" not in str(refused.value)
    for wrong in (str(tmp_path), str(tmp_path / "none"), "a\0b"):
        with pytest.raises(ParameterError, match=r"there must be a file|without NUL"):
            shuffled(db, dry_run=True, seed_file=wrong)
    with pytest.raises(ParameterError, match="is given once"):
        shuffled(db, dry_run=True, seed="1", seed_file=str(file))
    monkeypatch.setenv(secrets.SEED_VARIABLE, "tiny")
    with pytest.raises(ParameterError, match="SQLMICRO_SEED: the secret seed must have at least 16") as refused:
        shuffled(db, dry_run=True)
    assert "tiny" not in str(refused.value)


def test_the_prompt_does_not_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    asked: list[str] = []
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda words: asked.append(words) or SEED)
    secret = secrets.read("--seed-file", "seed", secrets.SEED_VARIABLE, "-")
    assert secret == secrets.Secret(SEED.encode(), "prompt")
    assert asked == ["Secret seed: "]


def test_a_job_file_names_a_seed_file_beside_it(db: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SEED)
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{db}"\ntable = "records"\nkeep = ["id"]\naccept_unique = ["id"]\nseed_file = "secret"\n'
        '[[step]]\ndo = "shuffle"\ncolumns = ["x"]\n[[step]]\ndo = "publish"\ninto = "by_job"\nmanifest = "m.json"\n'
    )
    report = sqlmicro.run(str(job))
    assert report["key"]["source"] == "file"
    written = json.loads((tmp_path / "m.json").read_text())
    assert written["key"] == report["key"]
    assert SEED not in (tmp_path / "m.json").read_text()


# Nowhere to be seen


@pytest.mark.slow
def test_processes_scripts_and_databases_show_no_secret(
    db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text(SEED[::-1])
    arguments = [
        "pseudonymise", "--db", db, "--table", "records", "--columns", "id", "--keep", "x", "--accept-unique", "x",
        "--key-file",
        str(tmp_path / "key"), "--to", str(tmp_path / "o.csv"), "--manifest", str(tmp_path / "m.json"), "--json",
    ]  # fmt: skip
    environment = {**os.environ, secrets.SEED_VARIABLE: SEED}
    command = [sys.executable, "-m", "sqlmicro", *arguments]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        seen = b""
        while process.poll() is None:
            seen += Path(f"/proc/{process.pid}/cmdline").read_bytes()
            time.sleep(0.02)
        out, err = process.communicate()
    assert process.returncode == 0, err
    monkeypatch.setenv(secrets.SEED_VARIABLE, SEED)
    key_file = str(tmp_path / "key")
    script = sqlmicro.pseudonymise(
        "records", db=db, columns=["id"], keep=["x"], accept_unique=["x"], key_file=key_file, show_sql=True
    )
    assert "SET VARIABLE" in script["sql"]
    content = b"".join(file.read_bytes() for file in (Path(db), tmp_path / "o.csv", tmp_path / "m.json"))
    for secret in (SEED, SEED[::-1]):
        for form in forms(secret):
            for place in (seen, out, err, str(script).encode(), content):
                assert form not in place
    assert b"--key-file" in seen
    assert (
        json.loads(out)["parameters"]["steps"][0]["key_fingerprint"]
        == secrets.Secret(SEED[::-1].encode(), "").fingerprint
    )


def test_the_query_log_of_the_database_shows_no_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, db: str
) -> None:
    """With every statement and every event logged, at the most talkative level."""
    logs: list[str] = []
    opened = duckdb.connect

    def connect(*args: Any, **kwargs: Any) -> Any:
        connection = opened(*args, **kwargs)
        connection.execute("CALL enable_logging(level = 'trace')")
        return connection

    closed = opening.close

    def close(connection: Any) -> None:
        shown = connection.execute("SELECT * FROM duckdb_logs()")
        logs.extend(str(row) for row in shown.fetchall())
        closed(connection)

    monkeypatch.setattr(duckdb, "connect", connect)
    monkeypatch.setattr("sqlmicro.database.opening.close", close)
    (tmp_path / "key").write_text(SEED)
    # Without --to: the setting that seals the database off would keep duckdb_logs from nothing.
    sqlmicro.pseudonymise(
        "records", db=db, columns=["id"], keep=["x"], accept_unique=["x"], into="logged",
        key_file=str(tmp_path / "key"), seed_file=str(tmp_path / "key"),
    )  # fmt: skip
    talk = "\n".join(logs)
    assert "SET VARIABLE" in talk
    assert "sqlmicro_inner_pad" in talk
    assert all(form.decode("latin-1") not in talk for form in forms(SEED))
    for pad in pads(SEED.encode()):
        assert all(form not in talk for form in (pad.decode("latin-1"), pad.hex(), repr(pad)[2:20]))


# What is recorded


@pytest.mark.slow
def test_hashes_tell_whether_input_output_and_sql_are_the_same(workbench: Any, tmp_path: Path) -> None:
    x = [float(i % 20) for i in range(40)]
    there = workbench.make({"x": ("DOUBLE", x), "id": ("BIGINT", range(40))})
    back = workbench.make({"x": ("DOUBLE", x[::-1]), "id": ("BIGINT", range(39, -1, -1))})
    other = workbench.make({"x": ("DOUBLE", [x[0] + 0.5, *x[1:]]), "id": ("BIGINT", range(40))})

    def run(db: str, **options: Any) -> dict[str, Any]:
        return sqlmicro.mdav(
            "records",
            db=db,
            columns=["x"],
            keep=["id"],
            accept_unique=["id"],
            k=2,
            into="out",
            overwrite=True,
            **{"seed": SEED, **options},
        )

    first, turned, changed, keyed = run(there), run(back), run(other), run(there, seed="another")
    names = ("input_hash", "output_hash", "sql_hash")
    assert [first[name] for name in names] == [turned[name] for name in names], "the order of the records counts"
    assert changed["input_hash"] != first["input_hash"]
    assert changed["output_hash"] != first["output_hash"]
    assert keyed["input_hash"] != first["input_hash"], "the hash of the input must be keyed"
    assert keyed["output_hash"] == first["output_hash"]
    shuffle = sqlmicro.shuffle(
        "records", db=there, columns=["x"], keep=["id"], accept_unique=["id"], into="other", seed=SEED
    )
    assert shuffle["sql_hash"] != first["sql_hash"]
    again = run(there)
    assert [first[name] for name in names] == [again[name] for name in names]
    row = recorded(there)
    assert {name: row[name] for name in names} == {name: again[name] for name in names}
    assert json.loads(row["versions"]).keys() == {"sqlmicro", "duckdb", "numpy", "python"}


def test_a_record_twice_is_not_none(workbench: Any) -> None:
    """Were the hashes of the records combined by XOR, a record that occurs twice would vanish."""
    from sqlmicro.database.content import content_of
    from sqlmicro.database.templates import Name

    contents = set()
    for values in ([1, 1, 2], [2, 3, 3], [2], [2, 2, 2], [1, 2, 2], []):
        with open_warehouse(workbench.make({"x": ("BIGINT", values)}), read_only=True) as warehouse:
            contents.add(content_of(warehouse, Name("", "main", "records"), [("x", "BIGINT")]))
    assert len(contents) == 6


def test_the_manifest_of_a_file(db: str, tmp_path: Path) -> None:
    target, manifest = tmp_path / "o.parquet", tmp_path / "m.json"
    for _ in range(2):
        sqlmicro.mdav(
            "records", db=db, columns=["x"], rest="drop", k=4, to=str(target), manifest=str(manifest), overwrite=True
        )
    written = json.loads(manifest.read_text())
    assert written["file_hash"] == hashlib.sha256(target.read_bytes()).hexdigest()
    assert written["rows"] == 40
    assert written["parameters"]["steps"][0]["settings"]["k"] == 4
    assert written["key"]["source"] == "environment variable"
    assert len(written["key"]["fingerprint"]) == 32
    assert set(written["audits"][0]) >= {"check", "value", "threshold", "passed"}
    assert written["release"] == recorded(db)["id"]
    assert recorded(db)["file_hash"] == written["file_hash"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.json", "o.parquet"]


@pytest.mark.parametrize("manifest", ["m.txt", "no/such/folder/m.json", "there.json", "folder.json"])
def test_a_manifest_that_cannot_be_written_is_refused_before_the_work(
    db: str, tmp_path: Path, manifest: str, workbench: Any
) -> None:
    (tmp_path / "there.json").write_text("mine")
    (tmp_path / "folder.json").mkdir()
    before = workbench.relations(db)
    with pytest.raises((InputError, ParameterError), match="--manifest"):
        sqlmicro.mdav(
            "records", db=db, columns=["x"], rest="drop", k=4, into="no", manifest=str(tmp_path / manifest),
            overwrite=manifest == "folder.json",
        )  # fmt: skip
    assert workbench.relations(db) == before
    assert (tmp_path / "there.json").read_text() == "mine"


def test_no_two_uses_of_a_secret_share_a_key() -> None:
    keys = [use(what) for use in (secrets.ledger_key, secrets.seal) for what in ("one", "another")]
    assert None not in keys
    assert len({*keys}) == 4


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_ledger_that_others_could_read_is_closed_to_them(tmp_path: Path, mode: int) -> None:
    path = Path(warehouse(tmp_path))
    path.chmod(mode)
    ledger_file.found(str(path), "nightly", Progress(enabled=False), anew=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name == "nt", reason="modes")
@pytest.mark.parametrize(
    ("file", "folder"), [(0o640, 0o700), (0o604, 0o700), (0o620, 0o700), (0o600, 0o770), (0o600, 0o702)]
)
def test_a_secret_is_read_only_where_it_is_private(tmp_path: Path, file: int, folder: int) -> None:
    path = tmp_path / "secret"
    path.write_text(f"{SEED}\n")
    path.chmod(0o600)
    tmp_path.chmod(0o700)
    assert secrets._private(path) == SEED.encode()
    path.chmod(file)
    tmp_path.chmod(folder)
    assert secrets._private(path) is None
