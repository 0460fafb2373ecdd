"""A certificate that a stranger can check: nothing that was tampered with is verified, and the check stands alone."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from databases import insert, opened
from world import entry, refused

import sqlmicro
from sqlmicro import verify
from sqlmicro.history.ledger import Entry
from sqlmicro.publish import certificate, publish, recounted
from sqlmicro.publish.certificate import Certificate, exported
from sqlmicro.system.reporting import as_json, from_json

PERSON, RECORDS = "Zyxwvut-Canary-4711", 60
needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen of OpenSSH")


def key(folder: Path, name: str) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder / name], check=True)
    return folder / name


def allowed(public: Path, options: str = "") -> str:
    kind, data = public.read_text().split()[:2]
    return f"owner@example.org {options} {kind} {data}\n"


def sign(certificate: Path, by: Path, namespace: str = "sqlmicro-release") -> None:
    words = ["ssh-keygen", "-Y", "sign", "-n", namespace, "-f", str(by)]
    done = subprocess.run(words, input=certificate.read_bytes(), capture_output=True, check=True)
    certificate.with_name(certificate.name + ".sig").write_bytes(done.stdout)


def made(folder: Path) -> Path:
    """Make a database of persons: a score with NaN, -0.0 and NULL, a diagnosis, and a name that nobody may see."""
    draw = random.Random(6)
    rows = [
        (i, f"{PERSON} {i}", draw.randrange(20, 60), draw.randrange(1000), draw.choice("abcd"),
         [float("nan"), -0.0, 0.0, None, 1.5][i % 5])
        for i in range(RECORDS)
    ]  # fmt: skip
    columns = 'id INTEGER, name VARCHAR, age DOUBLE, pay DOUBLE, "diag ""n""" VARCHAR, s DOUBLE'
    with opened(folder / "w.duckdb") as con:
        con.execute(f"CREATE TABLE persons ({columns})")
        insert(con, "persons", rows)
    return folder / "w.duckdb"


USED: dict[str, Any] = {
    "columns": ["age", "pay"], "k": 5, "rest": "drop", "sensitive": ['diag "n"'], "min_l": 2, "max_t": 0.9,
    "keep": ["s"], "seed": "a seed", "accept_unique": ["s"],
}  # fmt: skip


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a signed release, another one, the keys of its owner and of somebody else, the signers."""
    folder = tmp_path_factory.mktemp("certified")
    db = made(folder)
    owner, _ = key(folder, "owner"), key(folder, "mallory")
    (folder / "signers").write_text(allowed(folder / "owner.pub"))
    for name, more in (("other", {"k": 6}), ("r", {"alone_because": "a test"})):
        release = str(folder / f"{name}.parquet")
        sqlmicro.mdav("persons", db=str(db), to=release, **{**USED, **more})
        sqlmicro.certify(release, db=str(db), to=str(folder / f"{name}.json"), key=str(owner))
    return folder


@dataclass
class Given:
    """A copy of what was certified, to be tampered with, and how it is checked."""

    folder: Path
    arguments: list[str]

    @property
    def release(self) -> Path:
        return self.folder / "r.parquet"

    @property
    def certificate(self) -> Path:
        return self.folder / "r.json"

    @property
    def signature(self) -> Path:
        return self.folder / "r.json.sig"

    def table(self, change: Callable[[pa.Table], pa.Table]) -> None:
        pq.write_table(change(pq.read_table(self.release)), self.release)

    def edit(self, change: Callable[[Any], object]) -> None:
        """Change what the certificate says, and leave the signature as it was."""
        told = json.loads(self.certificate.read_text())
        change(told)
        self.certificate.write_text(json.dumps(told, indent=2))

    def forge(self, change: Callable[[Any], object]) -> None:
        """Change what the certificate says, and have its owner sign it."""
        self.edit(change)
        sign(self.certificate, self.folder / "owner")

    def text(self, change: Callable[[str], str | bytes]) -> None:
        """Change the text of the certificate, and have its owner sign it."""
        changed = change(self.certificate.read_text())
        self.certificate.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
        sign(self.certificate, self.folder / "owner")


def checked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["verify", *map(str, arguments)])
    code = verify.main()
    said = capsys.readouterr()
    assert (code == 0) == (said.err == "")
    return code, said.out + said.err


@pytest.fixture
def given(certified: Path, tmp_path: Path) -> Given:
    folder = tmp_path / "given"
    shutil.copytree(certified, folder)
    return Given(folder, [str(folder / "r.parquet"), str(folder / "r.json"), "--signers", str(folder / "signers")])


def replaced(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


def payload(table: pa.Table) -> pa.Table:
    """Give every NaN another payload."""
    other = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_0ABC))[0]
    return replaced(table, "s", pa.array([other if v is not None and v != v else v for v in table["s"].to_pylist()]))


def positive(table: pa.Table) -> pa.Table:
    return replaced(table, "s", pa.array([None if v is None else v + 0.0 for v in table["s"].to_pylist()]))


def one_other(table: pa.Table) -> pa.Table:
    return replaced(table, "age", pa.array([1.0, *table["age"].to_pylist()[1:]]))


def turned(table: pa.Table) -> pa.Table:
    return replaced(table, "age", table["age"].take(pa.array([*range(1, RECORDS), 0])))


def first(told: Any, check: str) -> Any:
    """Return the last check of a kind that something was promised of."""
    return [one for one in told["recounted"] if one["check"] == check and one["threshold"] is not None][-1]


def put(*path: str | int, value: Any) -> Callable[[Any], None]:
    """Return what changes a value of a certificate, at a place that may begin with a check."""

    def change(told: Any) -> None:
        for part in path[:-1]:
            told = first(told, str(part)) if part in (K, LDIV, TCLOSE) else told[part]
        told[path[-1]] = value

    return change


def fewer_columns(told: Any) -> None:
    first(told, K)["columns"].pop()


def one_class_less(told: Any) -> None:
    classes = first(told, K)["classes"]
    classes.pop(next(iter(classes)))


def capitals(told: Any) -> None:
    told["release"]["sha256"] = told["release"]["sha256"].upper()


def link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to(path.with_name("real"))


def fifo(given: Given) -> None:
    given.release.unlink()
    os.mkfifo(given.release)


def folder(given: Given) -> None:
    given.release.unlink()
    given.release.mkdir()


def as_csv(given: Given) -> None:
    pa.csv.write_csv(pq.read_table(given.release), given.folder / "r.csv")
    given.arguments[0] = str(given.folder / "r.csv")


def signed_elsewhere(given: Given, path: str, by: str, namespace: str = "sqlmicro-release") -> None:
    sign(given.folder / path, given.folder / by, namespace)
    if path != "r.json":
        shutil.copy(given.folder / f"{path}.sig", given.signature)


def swapped(given: Given) -> None:
    """Have the certificate of the other release and its signature take the place of these."""
    for end in ("json", "json.sig"):
        shutil.copy(given.folder / f"other.{end}", given.folder / f"r.{end}")


def only(given: Given, name: str, options: str = "") -> None:
    (given.folder / "signers").write_text(allowed(given.folder / f"{name}.pub", options))


K, LDIV, TCLOSE = "k-anonymity", "l-diversity", "t-closeness"
FIVE = '"value": 5,'
RELEASE: dict[str, Callable[[Given], Any]] = {
    "a value is another": lambda g: g.table(one_other),
    "values are exchanged": lambda g: g.table(turned),
    "a row is missing": lambda g: g.table(lambda t: t.slice(1)),
    "a row is there twice": lambda g: g.table(lambda t: pa.concat_tables([t, t.slice(0, 1)])),
    "all rows are there twice": lambda g: g.table(lambda t: pa.concat_tables([t, t])),
    "the rows are in another order": lambda g: g.table(lambda t: t.take(pa.array([*range(RECORDS)][::-1]))),
    "no rows": lambda g: g.table(lambda t: t.slice(0, 0)),
    "a column is renamed": lambda g: g.table(lambda t: t.rename_columns(["Age", *t.column_names[1:]])),
    "a column looks alike": lambda g: g.table(lambda t: t.rename_columns(["\u0430ge", *t.column_names[1:]])),
    "a column has a blank more": lambda g: g.table(lambda t: t.rename_columns(["age ", *t.column_names[1:]])),
    "columns are exchanged": lambda g: g.table(lambda t: t.rename_columns(["pay", "age", *t.column_names[2:]])),
    "a column is missing": lambda g: g.table(lambda t: t.drop_columns(["s"])),
    "a column more": lambda g: g.table(lambda t: t.append_column("id", pa.array(range(RECORDS)))),
    "a column is there twice": lambda g: g.table(lambda t: t.append_column("age", t["age"])),
    "a type is another": lambda g: g.table(lambda t: replaced(t, "age", t["age"].cast("float32"))),
    "a NaN has another payload": lambda g: g.table(payload),
    "a zero has another sign": lambda g: g.table(positive),
    "what is missing is a value": lambda g: g.table(lambda t: replaced(t, "s", t["s"].fill_null(9.0))),
    "the same records, written anew": lambda g: g.table(lambda t: t),
    "a byte more": lambda g: g.release.write_bytes(g.release.read_bytes() + b"\0"),
    "half a file": lambda g: g.release.write_bytes(g.release.read_bytes()[:300]),
    "another release": lambda g: shutil.copy(g.folder / "other.parquet", g.release),
    "a link": lambda g: link(g.release),
    "a folder": folder,
    "a pipe": fifo,
    "no file": lambda g: g.release.unlink(),
    "another format": as_csv,
    "another ending": lambda g: g.arguments.__setitem__(0, str(shutil.copy(g.release, g.folder / "r.txt"))),
}
"""What is not the release that was certified."""
CERTIFICATE: dict[str, Callable[[Given], Any]] = {
    "k is raised": lambda g: g.edit(put(K, "value", value=6)),
    "one blank more": lambda g: g.certificate.write_text(g.certificate.read_text() + " "),
    "earlier releases are removed": lambda g: g.edit(put("ledger", "consulted", value=[])),
    "the chain has another head": lambda g: g.edit(put("ledger", "entry", value="0" * 64)),
    "a check is removed": lambda g: g.edit(lambda told: told["attested"].clear()),
    "another plan": lambda g: g.edit(put("plan", "kept", value=[])),
    "it says that it is not signed": lambda g: g.edit(put("signed", value=False)),
    "not signed, and no signature": lambda g: (g.edit(put("signed", value=False)), g.signature.unlink()),
    "no signature": lambda g: g.signature.unlink(),
    "an empty signature": lambda g: g.signature.write_bytes(b""),
    "half a signature": lambda g: g.signature.write_bytes(g.signature.read_bytes()[:200]),
    "a signature that is a link": lambda g: link(g.signature),
    "a certificate that is a link": lambda g: link(g.certificate),
    "signers that are a link": lambda g: link(g.folder / "signers"),
    "the signature of another file": lambda g: signed_elsewhere(g, "w.duckdb", "owner"),
    "the signature of another certificate": lambda g: shutil.copy(g.folder / "other.json.sig", g.signature),
    "another namespace": lambda g: signed_elsewhere(g, "r.json", "owner", "git"),
    "the namespace of files": lambda g: signed_elsewhere(g, "r.json", "owner", "file"),
    "another key": lambda g: signed_elsewhere(g, "r.json", "mallory"),
    "the certificate of another release": swapped,
    "the key is allowed for something else": lambda g: only(g, "owner", 'namespaces="git"'),
    "the key was allowed once": lambda g: only(g, "owner", 'valid-before="20200101"'),
    "somebody else is allowed": lambda g: only(g, "mallory"),
    "nobody is allowed": lambda g: (g.folder / "signers").write_text(""),
    "no signers": lambda g: (g.folder / "signers").unlink(),
}
"""What its owner has not signed, or nobody knows who has."""
FORGED: dict[str, Callable[[Given], Any]] = {
    "k is raised": lambda g: g.forge(put(K, "value", value=6)),
    "more was promised": lambda g: g.forge(put(K, "threshold", value=50)),
    "k as text": lambda g: g.forge(put(K, "value", value="5")),
    "k is huge": lambda g: g.forge(put(K, "value", value=10**300)),
    "k is infinite": lambda g: g.text(lambda t: t.replace(FIVE, '"value": 1e999,')),
    "k is no number": lambda g: g.text(lambda t: t.replace(FIVE, '"value": NaN,')),
    "a number of many digits": lambda g: g.text(lambda t: t.replace(FIVE, f'"value": {"9" * 5000},')),
    "a class more": lambda g: g.forge(put(K, "classes", "77", value=1)),
    "a class less": lambda g: g.forge(one_class_less),
    "no classes": lambda g: g.forge(put(K, "classes", value=None)),
    "k over fewer columns": lambda g: g.forge(fewer_columns),
    "k over a column that looks alike": lambda g: g.forge(put(K, "columns", 0, value="\u0430ge")),
    "k over nothing": lambda g: g.forge(put(K, "columns", value=[])),
    "k over a column that is not there": lambda g: g.forge(put(K, "columns", value=["id"])),
    "l is raised": lambda g: g.forge(put(LDIV, "value", value=4)),
    "l of another column": lambda g: g.forge(put(LDIV, "sensitive", value="pay")),
    "l is called k": lambda g: g.forge(put(LDIV, "check", value=K)),
    "k is called l": lambda g: g.forge(put(K, "check", value=LDIV)),
    "t is lowered": lambda g: g.forge(put(TCLOSE, "value", value=0.01)),
    "less t was promised": lambda g: g.forge(put(TCLOSE, "threshold", value=0.001)),
    "t by another distance": lambda g: g.forge(put(TCLOSE, "distance", value="ordered")),
    "more rows": lambda g: g.forge(put("release", "rows", value=RECORDS + 1)),
    "other types": lambda g: g.forge(put("release", "columns", 0, 1, value="int64")),
    "another hash": lambda g: g.forge(put("release", "sha256", value="0" * 64)),
    "the hash in capitals": lambda g: g.forge(capitals),
    "a table": lambda g: g.forge(put("release", "kind", value="table")),
    "another version": lambda g: g.forge(put("version", value=2)),
    "another format": lambda g: g.forge(put("format", value="sqlmicro-release-certificate ")),
    "half a certificate": lambda g: g.text(lambda t: t[: len(t) // 2]),
    "a key twice": lambda g: g.text(lambda t: t.replace('"rows":', '"rows": 60, "rows":')),
    "a key before the true one": lambda g: g.text(lambda t: t.replace('"signed":', '"signed": false, "signed":')),
    "a key is missing": lambda g: g.forge(lambda told: told.pop("recounted")),
    "a list": lambda g: g.text(lambda t: f"[{t}]"),
    "nothing": lambda g: g.text(lambda t: ""),
    "two certificates": lambda g: g.text(lambda t: t + t),
    "UTF-16": lambda g: g.text(lambda t: t.encode("utf-16")),
    "no UTF-8": lambda g: g.text(lambda t: t.encode().replace(b"mdav", b"\xff\xfe")),
    "deeper than anybody reads": lambda g: g.text(lambda t: "[" * 100_000),
    "what follows a NUL": lambda g: g.text(lambda t: t + "\0"),
}
"""What is not true, although its owner has signed it."""
TAMPERED = {"release": RELEASE, "certificate": CERTIFICATE, "forged": FORGED}
ALL = [(f"{kind}: {name}", tamper) for kind, cases in TAMPERED.items() for name, tamper in cases.items()]


def test_what_could_not_be_measured_is_said_to_be_not_known() -> None:
    told = {"check": "union-k", "value": None, "threshold": 5, "passed": None, "why": "of others"}
    assert verify.line(told) == "  union-k is not known, 5 was promised, but NOT required of this release: of others"
    assert verify.line({**told, "value": 0, "threshold": None}) == "  union-k is 0: of others"


@needs_ssh
def test_what_was_certified_is_verified(
    given: Given, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = checked(capsys, monkeypatch, *given.arguments)
    assert code == 0
    assert "Signed by: owner@example.org, with the key SHA256:" in said
    recounted, attested = said.split("attested by who signed")
    for line in (
        'k-anonymity is 5, 5 was promised: over ["age", "pay"]', 'l-diversity of "diag \\"n\\"" is', "t-closeness of",
        'k-anonymity is 1, nothing was promised: over ["age", "pay", "s"], all that are counted',
        'not counted: ["diag',
    ):  # fmt: skip
        assert line in recounted
    assert "measured against the source" in attested and "1 earlier releases" in attested
    assert "union-k is 1, 5 was promised, but NOT required of this release" in attested
    told = json.loads(given.certificate.read_text())
    assert [one["release"] for one in told["ledger"]["consulted"]] == [1]
    assert told["ledger"]["alone"] is True and told["signed"] is True
    # OpenSSH says the same without a line of ours.
    words = ["ssh-keygen", "-Y", "verify", "-f", given.arguments[3], "-I", "owner@example.org", "-s", given.signature]
    with given.certificate.open() as data:
        subprocess.run([*words, "-n", "sqlmicro-release"], stdin=data, check=True, capture_output=True)


@pytest.mark.slow_but("certificate: a certificate that is a link")
@needs_ssh
@pytest.mark.parametrize(("what", "tamper"), [pytest.param(*case, id=case[0]) for case in ALL])
def test_what_was_tampered_with_is_refused(
    what: str, tamper: Callable[[Given], Any], given: Given, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    tamper(given)
    code, said = checked(capsys, monkeypatch, *given.arguments)
    assert code in (1, 2), what
    assert said.startswith("NOT VERIFIED: ") and said.count("\n") == 1
    assert PERSON not in said and "nan" not in said.lower().replace("nan,", "")


def test_enough_is_tampered_with() -> None:
    assert len(ALL) >= 40


@needs_ssh
def test_somebody_unknown_verifies_nothing_unless_asked(
    given: Given, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = checked(capsys, monkeypatch, *given.arguments[:2])
    assert code == 1 and "only known as the key with fingerprint SHA256:" in said
    code, said = checked(capsys, monkeypatch, *given.arguments[:2], "--any-signer")
    assert code == 0 and "Signed by: somebody with the key SHA256:" in said
    given.edit(put("signed", value=False))
    assert checked(capsys, monkeypatch, *given.arguments, "--any-signer")[0] == 1, "signers were asked for"
    code, said = checked(capsys, monkeypatch, *given.arguments[:2], "--any-signer")
    assert code == 0 and "Signed by: NOBODY" in said


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked}:
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
sys.argv = ["verify", *{arguments}]
import runpy
try:
    {how}
except SystemExit as end:
    print(sorted(name for name in sys.modules if name.split(".")[0] == "sqlmicro"), end.code)
"""


@needs_ssh
@pytest.mark.parametrize("alone", [False, True])
def test_it_stands_alone(given: Given, alone: bool) -> None:
    """Neither DuckDB nor NumPy can be imported; a copy of the file needs nothing of the package."""
    blocked = ["duckdb", "numpy", "typer", *(["sqlmicro"] if alone else [])]
    how = 'runpy.run_module("sqlmicro.verify", run_name="__main__", alter_sys=True)'
    if alone:
        copy = str(shutil.copy(verify.__file__, given.folder / "check.py"))
        how = f'runpy.run_path({copy!r}, run_name="__main__")'
    text = BLOCKED.format(blocked=blocked, arguments=given.arguments, how=how)
    place = Path(sqlmicro.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=given.folder,
                          env={**os.environ, "PYTHONPATH": str(place)})  # fmt: skip
    assert done.stdout.splitlines()[0].startswith("VERIFIED: r.parquet, 60 rows"), done.stderr
    assert done.stdout.splitlines()[-1] == ("[] 0" if alone else "['sqlmicro'] 0")


def test_it_can_be_read_in_an_hour() -> None:
    text = Path(verify.__file__).read_text(encoding="utf-8")
    assert text.count("\n") <= 250
    assert "sqlmicro." not in "".join(line for line in text.splitlines(True) if "import" in line and '"""' not in line)


@needs_ssh
def test_a_certificate_tells_nothing_that_the_release_does_not(certified: Path) -> None:
    told = (certified / "r.json").read_text()
    assert told.isascii()
    for secret in (
        PERSON,
        '"name"',
        '"id"',
        str(certified),
        "w.duckdb",
        "persons",
        "a test",
        "a seed",
        "other.parquet",
    ):
        assert secret not in told.replace('"name": "r.parquet"', ""), secret


@needs_ssh
def test_a_certificate_keeps_to_its_schema(certified: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="pip install 'sqlmicro[test]', which has jsonschema")
    schema = sqlmicro.schema(certificate=True)
    told = json.loads((certified / "r.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid(told)
    assert not jsonschema.Draft202012Validator(schema).is_valid({**told, "more": 1})
    assert (told["format"], told["version"]) == (verify.FORMAT, verify.VERSION)
    assert as_json(from_json(Certificate, told)) == told


# What is counted


VALUES: dict[str, list[Any]] = {
    "f": [0.0, -0.0, float("nan"), None, 1.5], "t": ["", None, "a", "A", "ä"], "i": [1, None, 2**40],
    "b": [True, False, None], "s": [None, 1.0, 2.0, -0.0, 0.0, float("nan"), 7.5],
}  # fmt: skip
KINDS = {"f": pa.float64(), "t": pa.string(), "i": pa.int64(), "b": pa.bool_(), "s": pa.float64()}


def bits(value: Any) -> Any:
    return struct.pack("<d", value) if isinstance(value, float) else value


def by_value(value: Any) -> Any:
    return "nan" if value is not None and value != value else value


def naive_t(classes: dict[Any, list[Any]], ordered: bool) -> float:
    """Earth Mover's Distance, term by term, in fractions."""
    everything = [value for values in classes.values() for value in values]
    places = sorted(set(everything), key=lambda v: (v is None, v == "nan", 0 if v in (None, "nan") else v))
    far = Fraction(0)
    for values in classes.values():
        gaps = [Fraction(values.count(p), len(values)) - Fraction(everything.count(p), len(everything)) for p in places]
        if ordered:
            moved, total = Fraction(0), Fraction(0)
            for gap in gaps:
                moved += gap
                total += abs(moved)
            far = max(far, total / max(len(places) - 1, 1))
        else:
            far = max(far, sum(map(abs, gaps), Fraction(0)) / 2)
    return float(far)


@pytest.mark.parametrize("seed", range(6))
def test_classes_are_those_of_plain_python(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    rows = [{name: draw.choice(some) for name, some in VALUES.items()} for _ in range(draw.choice([1, 7, 300, 2000]))]
    table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in KINDS.items()})
    if seed % 2:
        table = replaced(table, "t", table["t"].combine_chunks().dictionary_encode())
    over = [["f"], ["f", "t"], ["i", "b", "f", "t"]]
    claims = [{"check": "k-anonymity", "columns": c, "sensitive": None, "distance": None} for c in over]
    within = [(c, d) for c in over for d in (None, "equal", "ordered")]
    claims += [{"check": "", "columns": c, "sensitive": "s", "distance": d} for c, d in within]
    rows_read, kinds, found = verify.recount(table.to_batches(max_chunksize=64), claims)
    assert rows_read == len(rows) and [name for name, _ in kinds] == list(VALUES)
    for one, (value, classes) in zip(claims, found, strict=True):
        members: dict[Any, list[Any]] = {}
        for row in rows:
            members.setdefault(tuple(bits(row[c]) for c in one["columns"]), []).append(by_value(row["s"]))
        if one["sensitive"] is None:
            sizes = Counter(map(len, members.values()))
            assert (value, classes) == (min(sizes), {str(size): sizes[size] for size in sizes})
        elif one["distance"] is None:
            assert value == min(len(set(values)) for values in members.values())
        else:
            assert value == pytest.approx(naive_t(members, one["distance"] == "ordered"), abs=1e-15)


def test_records_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits to be grouped is bounded; what was grouped is grouped again with what follows."""
    table = pa.table({"a": [i % 700 for i in range(1_500_000)]})
    claim = {"check": "k-anonymity", "columns": ["a"], "sensitive": None, "distance": None}
    _, _, found = verify.recount(table.to_batches(max_chunksize=1 << 16), [claim])
    assert found == [(2142, {"2142": 100, "2143": 600})]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "parquet", "arrow"])
def test_every_format_tells_what_is_told_apart(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"r.{ending}"
    rows = [(1.5, 'a,\n"b'), (1.5, 'a,\n"b'), (-0.0, ""), (0.0, None), (None, "")]
    table = pa.table({"x": pa.array([x for x, _ in rows]), 'a "b",\n': [t for _, t in rows]})
    if ending == "arrow":
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table)
    else:
        with duckdb.connect() as con:
            con.register("given", table)
            con.execute(f"COPY given TO '{path}'")
    claims = [{"columns": columns, "sensitive": None} for columns in (["x"], ['a "b",\n'], ["x", 'a "b",\n'])]
    rows_read, _, found = verify.recount(verify.batches(path), claims)
    assert rows_read == 5
    assert found == [(1, {"1": 3, "2": 1}), (1, {"1": 1, "2": 2}), (1, {"1": 3, "2": 1})]


def naive_content(kinds: list[list[str]], rows: list[tuple[Any, ...]]) -> str:
    """What the head of `verify` says of the content of a table, in plain Python."""

    def cell(value: Any) -> bytes:
        if value is None:
            return b"N"
        if isinstance(value, float):
            value = struct.unpack("<q", struct.pack("<d", value))[0]
        text = (str(value).lower() if isinstance(value, bool) else str(value)).encode()
        return str(len(text)).encode() + b":" + text

    hashes = sorted(sha256(b"".join(map(cell, row))).digest() for row in rows)
    return sha256(json.dumps(kinds).encode() + b"\n" + b"".join(hashes)).hexdigest()


def test_the_content_of_a_table_is_that_of_any_export(tmp_path: Path) -> None:
    draw = random.Random(2)
    rows = [tuple(draw.choice(VALUES[name]) for name in "ftib") for _ in range(500)]
    columns = list(zip(*rows, strict=True))
    table = pa.table({n: pa.array(c, KINDS[n]) for n, c in zip("ftib", columns, strict=True)})
    kinds = [["f", "double"], ["t", "string"], ["i", "int64"], ["b", "bool"]]
    expected = naive_content(kinds, rows)
    assert verify.content(table.to_batches()) == expected
    shuffled = table.take(pa.array(draw.sample(range(500), 500)))
    assert verify.content(shuffled.to_batches(max_chunksize=7)) == expected
    assert verify.content(table.slice(1).to_batches()) != expected
    assert verify.content(pa.concat_tables([table, table.slice(0, 1)]).to_batches()) != expected
    assert verify.content(table.select(["t", "f", "i", "b"]).to_batches()) != expected
    assert verify.content(table.cast(table.schema.set(2, pa.field("i", pa.float64()))).to_batches()) != expected
    moved = pa.table({"a": ["1:a", None], "b": ["", "x"]}), pa.table({"a": ["1", "N"], "b": ["1:a", "x"]})
    assert verify.content(moved[0].to_batches()) != verify.content(moved[1].to_batches())


KIND_OF_ALL = """SELECT * FROM (VALUES
  (true, 1::UTINYINT, 2::BIGINT, 0.1::FLOAT, '-0.0'::DOUBLE, 1.50::DECIMAL(10, 2), 'ä'::VARCHAR, 'x'::ENUM('x', 'y'),
   DATE '2020-02-29', TIME '10:11:12.5', TIMESTAMP '2020-01-01 10:00:00', TIMESTAMPTZ '2020-01-01 10:00:00+02',
   TIMESTAMP_S '2020-01-01 10:00:01', TIMESTAMP_MS '1960-01-01 10:00:01.5', TIMESTAMP_NS '2020-01-01', 'a'::BLOB),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))"""


def test_all_types_of_a_table_come_back_from_parquet(tmp_path: Path) -> None:
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS {KIND_OF_ALL}")
        con.execute(f"COPY t TO '{tmp_path / 't.parquet'}'")
        own = con.sql("FROM t").to_arrow_table().to_batches()
    assert verify.content(exported(iter(own))) == verify.content(verify.batches(tmp_path / "t.parquet"))


@pytest.mark.slow
@needs_ssh
def test_a_table_is_certified_by_its_content(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    db, owner = made(tmp_path), key(tmp_path, "owner")
    (tmp_path / "signers").write_text(allowed(tmp_path / "owner.pub"))
    sqlmicro.mdav("persons", db=str(db), into="released", **USED)
    to = tmp_path / "c.json"
    made_of = sqlmicro.certify("released", db=str(db), to=str(to), key=str(owner))
    assert made_of["certificate"]["release"]["kind"] == "table"
    exports = {
        "a.parquet": "released", "order.parquet": "(FROM released ORDER BY rowid DESC)",
        "less.parquet": "(FROM released LIMIT 59)", "sign.parquet": "(SELECT * REPLACE (s + 0.0 AS s) FROM released)",
        "types.parquet": "(SELECT * REPLACE (age::FLOAT AS age) FROM released)",
        "other.parquet": "(SELECT * REPLACE (CASE WHEN rowid = 3 THEN 1 ELSE pay END AS pay) FROM released)",
        "moved.parquet": "(SELECT pay, age, * EXCLUDE (pay, age) FROM released)",
        "named.parquet": "(SELECT * RENAME (age AS Age) FROM released)",
    }  # fmt: skip
    with duckdb.connect(str(db)) as con:
        for path, query in exports.items():
            con.execute(f"COPY {query} TO '{tmp_path / path}'")
        con.execute("UPDATE released SET pay = pay + 1 WHERE rowid = 0")
    signers = ("--signers", tmp_path / "signers")
    found = {path: checked(capsys, monkeypatch, tmp_path / path, to, *signers)[0] for path in exports}
    assert found == {path: int(path not in ("a.parquet", "order.parquet")) for path in exports}
    with pytest.raises(sqlmicro.InputError, match="must be as it was published"):
        sqlmicro.certify("released", db=str(db), to=str(to), key=str(owner), overwrite=True)


# Publishing


TO = [("table", {"into": "out"}), ("parquet", {"to": "r.parquet"}), ("csv", {"to": "r.csv"}),
      ("json", {"to": "r.json"}), ("folder", {"to": "r", "partition_by": ["s"]})]  # fmt: skip


@pytest.mark.slow_but("json")
@pytest.mark.parametrize(("kind", "to"), [pytest.param(*case, id=case[0]) for case in TO])
def test_what_the_audits_miss_is_not_published(
    kind: str, to: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An audit that sees more records than there are does not get a release out."""
    db = made(tmp_path)
    monkeypatch.chdir(tmp_path)
    used = USED | {"nulls": "error"}
    real = publish.audit_release

    def wrong(*given: Any) -> Any:
        found = real(*given)
        checks = [sqlmicro.audits.registry.Check("k-anonymity", one.columns, 9, one.threshold, True, True)
                  if one.check == "k-anonymity" and one.value is not None else one for one in found.checks]  # fmt: skip
        return recounted.replace(found, checks=checks)

    monkeypatch.setattr(publish, "audit_release", wrong)
    with pytest.raises(sqlmicro.AuditFailed, match="the audits found 9") as caught:
        sqlmicro.mdav("persons", db=str(db), **used, **to)
    assert caught.value.exit_code == 1 and "Nothing was published" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]
    with duckdb.connect(str(db)) as con:
        assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(1,)]
    monkeypatch.setattr(publish, "audit_release", real)
    report = sqlmicro.mdav("persons", db=str(db), **used, **to)
    promised = {one["check"]: one["threshold"] for one in report["recounted"] if one["threshold"]}
    assert promised == {"k-anonymity": 5, "l-diversity": 2, "t-closeness": 0.9}
    whole = next(one for one in report["recounted"] if one["columns"] == report["audits"][0]["columns"])
    assert whole["classes"] == {str(size): n for size, n in report["histogram"].items()}


def test_what_cannot_be_read_back_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = made(tmp_path)

    def broken(path: Path) -> Any:
        yield pa.record_batch({"age": [1.0]})
        raise ValueError(PERSON)

    monkeypatch.setattr(verify, "batches", broken)
    with pytest.raises(sqlmicro.AuditFailed, match="nothing that can be read") as caught:
        sqlmicro.mdav("persons", db=str(db), to=str(tmp_path / "r.csv"), **USED)
    assert PERSON not in str(caught.value) and [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]


def test_a_large_table_is_left_to_the_audits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = made(tmp_path)
    monkeypatch.setattr(recounted, "MOST_ROWS", RECORDS - 1)
    report = sqlmicro.mdav("persons", db=str(db), into="out", **USED)
    assert any("not recounted without the database: a table of more than 59 rows" in note for note in report["notes"])
    assert {one["classes"] for one in report["recounted"]} == {None}
    found = sqlmicro.certify("out", db=str(db), to=str(tmp_path / "c.json"), unsigned=True)
    assert all(one["classes"] for one in found["certificate"]["recounted"] if one["check"] == "k-anonymity")
    assert found["signature"] is None and found["certificate"]["signed"] is False


@pytest.mark.slow
@pytest.mark.parametrize("place", [{"into": "out"}, {"to": "r.parquet"}])
def test_a_recount_holds_no_more_values_than_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: dict[str, str]
) -> None:
    """First what promises nothing is left to the audits: it was all columns that made 3 GB of 3 million rows."""
    used = USED | {"db": str(made(tmp_path)), "overwrite": True, "alone_because": "a test"}
    to = {key: str(tmp_path / value) if key == "to" else value for key, value in place.items()}
    whole = sqlmicro.mdav("persons", **used, **to)["recounted"]
    promised = [one for one in whole if one["threshold"] is not None]
    values = {name for one in whole for name in (*one["columns"], one["sensitive"])} - {None}
    fewer = {name for one in promised for name in (*one["columns"], one["sensitive"])} - {None}
    assert len(promised) < len(whole) and len(fewer) < len(values)
    for most, counted, what in (
        (RECORDS * len(values), whole, None), (RECORDS * len(values) - 1, promised, "what is not promised"),
        (RECORDS * len(fewer) - 1, [], "what is promised"),
    ):  # fmt: skip
        monkeypatch.setattr(recounted, "MOST_VALUES", most)
        report = sqlmicro.mdav("persons", **used, **to)
        found = {one["check"] for one in report["recounted"] if one["classes"]}
        assert len([one for one in report["recounted"] if one["classes"]]) == len([o for o in counted if o["classes"]])
        assert len(report["recounted"]) == len(whole) and found <= {"k-anonymity"}
        said = [note for note in report["notes"] if "not recounted without" in note]
        assert said == ([] if what is None else [f"not recounted without the database: {what}, over more than {most:,} "
                                                 "values"])  # fmt: skip


def test_csv_tells_an_empty_text_from_a_missing_one(tmp_path: Path) -> None:
    """A reader may tell them apart; counted as one, a class of 14 was seen where there are two of 7."""
    with opened(tmp_path / "w.duckdb") as con:
        con.execute("CREATE TABLE p AS SELECT range AS id, 1 AS a, CASE range % 12 WHEN 0 THEN '' WHEN 1 THEN NULL "
                    "ELSE 'x' END AS s FROM range(84)")  # fmt: skip
    used: dict[str, Any] = {"db": str(tmp_path / "w.duckdb"), "columns": ["a"], "rest": "drop", "keep": ["s"]}
    for ending in ("csv", "parquet"):
        report = sqlmicro.constant("p", to=str(tmp_path / f"r.{ending}"), **used)
        assert report["audits"][0]["value"] == 7, ending
        assert report["recounted"][0]["classes"] == {"7": 2, "70": 1}


def test_persons_and_lists_are_only_attested(tmp_path: Path) -> None:
    with opened(tmp_path / "w.duckdb") as con:
        con.execute("CREATE TABLE visits AS SELECT range // 2 AS person, range % 50 AS age, [1.0] AS l FROM range(200)")
    made_of = sqlmicro.mdav("visits", db=str(tmp_path / "w.duckdb"), columns=["age"], person=["person"], keep=["l"],
                            rest="drop", to=str(tmp_path / "r.parquet"), k=5)  # fmt: skip
    assert "not recounted without the database: what is over l" in made_of["notes"]
    used: dict[str, Any] = {"db": str(tmp_path / "w.duckdb"), "to": str(tmp_path / "c.json"), "unsigned": True}
    told = sqlmicro.certify(str(tmp_path / "r.parquet"), **used)
    checks = [(one["check"], one["why"]) for one in told["certificate"]["attested"]]
    assert ("persons (age)", "it does not say whose record is whose") in checks
    assert "person" not in json.dumps(told["certificate"]).replace("persons (", "")
    assert [one["columns"] for one in told["certificate"]["recounted"]] == [["age"]]


def test_why_it_is_only_attested_is_true(tmp_path: Path) -> None:
    """Entropy and recursive l can be measured by whoever has the release, what a population holds cannot."""
    with opened(tmp_path / "w.duckdb") as con:
        con.execute("CREATE TABLE p AS SELECT range // 10 AS age, range % 5 AS s FROM range(200)")
        con.execute("CREATE TABLE everybody AS SELECT range // 20 AS age FROM range(400)")
    used: dict[str, Any] = {"db": str(tmp_path / "w.duckdb"), "columns": ["age"], "rest": "drop", "k": 5}
    kept: dict[str, Any] = {"sensitive": ["s"], "min_entropy_l": 3, "min_recursive_l": 2}
    sqlmicro.mondrian("p", **used, **kept, population="everybody", min_k_map=5, to=str(tmp_path / "r.parquet"))
    told = sqlmicro.certify(str(tmp_path / "r.parquet"), db=used["db"], to=str(tmp_path / "c.json"), unsigned=True)
    why = {one["check"].partition(" (")[0]: one["why"] for one in told["certificate"]["attested"]}
    assert why["k-map"] == "the population is not in it"
    macros = "not counted by sqlmicro.verify; the macros of sqlmicro measure it"
    assert why["entropy-l-diversity"] == why["recursive-l-diversity"] == macros
    with duckdb.connect() as con:
        con.execute(sqlmicro.macros(print=True)["script"])
        con.execute(f"CREATE VIEW r AS FROM '{tmp_path / 'r.parquet'}'")
        ((_, entropy, recursive),) = con.execute("FROM sm_l_diversity('r', ['age'], 's')").fetchall()
    found = {one["check"].partition(" (")[0]: one["value"] for one in told["certificate"]["attested"]}
    assert (found["entropy-l-diversity"], found["recursive-l-diversity"]) == pytest.approx((entropy, recursive))


# The command


@needs_ssh
def test_the_command_refuses_what_it_cannot_do(
    certified: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, db, to = str(certified / "r.parquet"), str(certified / "w.duckdb"), str(tmp_path / "c.json")
    owner = str(certified / "owner")
    errors = (sqlmicro.InputError, sqlmicro.ParameterError)

    def refused(match: str, /, **given: Any) -> None:
        with pytest.raises(errors, match=match) as caught:
            sqlmicro.certify(**{"release": release, "db": db, "to": to, "key": owner, **given})
        assert caught.value.exit_code == 2 and list(tmp_path.iterdir()) == left

    left: list[Path] = []
    refused("neither", key=None)
    refused("both", unsigned=True)
    refused("ends in .json", to=str(tmp_path / "c.txt"))
    refused("folder", to=str(tmp_path / "nowhere" / "c.json"))
    refused("names an SSH key", key=str(tmp_path / "nothing"))
    refused("must be a key that signs", key=str(certified / "signers"))
    refused("recorded here", release="nothing")
    refused("recorded here", release="7")
    refused("needs the record", db=None)
    refused("needs the record", db=None, ledger=str(tmp_path / "ledger"))
    monkeypatch.setenv("PATH", str(tmp_path))
    refused("OpenSSH signs the certificate")
    monkeypatch.undo()
    (tmp_path / "c.json").symlink_to(certified / "r.json")
    left = [tmp_path / "c.json"]
    refused("must not exist yet")
    refused("must not exist yet", overwrite=True)


@pytest.mark.slow
@needs_ssh
def test_a_changed_release_or_ledger_is_not_certified(certified: Path, tmp_path: Path) -> None:
    shutil.copy(certified / "w.duckdb", tmp_path)
    used = {"db": str(tmp_path / "w.duckdb"), "to": str(tmp_path / "c.json"), "key": str(certified / "owner")}
    release = certified / "r.parquet"
    kept = release.read_bytes()
    try:
        release.write_bytes(kept + b"\0")
        with pytest.raises(sqlmicro.InputError, match="must be as it was published"):
            sqlmicro.certify(str(release), **used)
    finally:
        release.write_bytes(kept)
    for change in (
        "k = 50", "consulted = '[]'", "consulted = '{}'", "checks = replace(checks, '5', '50')",
        "promised = replace(promised, '5', '50')", "recounted = replace(recounted, '5', '50')",
        "parameters = replace(parameters, 'age', 'Age')", "versions = '{\"sqlmicro\": \"99\"}'",
        "file_hash = reverse(file_hash)", "output_hash = reverse(output_hash)", "n = n + 1", "verdict = 'kept'",
        "k_released = 50", "key_fingerprint = NULL, key_source = 'secret'",
    ):  # fmt: skip
        shutil.copy(certified / "w.duckdb", tmp_path)
        with duckdb.connect(used["db"]) as con:
            assert con.execute(f"UPDATE sqlmicro.releases SET {change}").fetchall() == [(2,)]
        with pytest.raises(sqlmicro.InputError, match="the ledger must be as it was written"):
            sqlmicro.certify(str(release), **used)
    assert [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]


@needs_ssh
def test_another_file_under_the_name_of_a_release_is_not_certified(certified: Path, tmp_path: Path) -> None:
    """It has the same classes, so that all is recounted as before, but nobody has attacked or compared it."""
    shutil.copy(certified / "w.duckdb", tmp_path)
    release = certified / "r.parquet"
    kept, table = release.read_bytes(), pq.read_table(release)
    used = {"db": str(tmp_path / "w.duckdb"), "to": str(tmp_path / "c.json"), "key": str(certified / "owner")}
    try:
        pq.write_table(replaced(table, "pay", pa.compute.add(table["pay"], 1000.0)), release)
        digest = sha256(release.read_bytes()).hexdigest()
        with duckdb.connect(used["db"]) as con:
            con.execute("UPDATE sqlmicro.releases SET file_hash = $1 WHERE id = 2", [digest])
        with pytest.raises(sqlmicro.InputError, match=r"the ledger must be as it was written\. .* release 2"):
            sqlmicro.certify(str(release), **used)
    finally:
        release.write_bytes(kept)


@needs_ssh
def test_what_was_checked_is_not_what_the_table_of_audits_says_now(certified: Path, tmp_path: Path) -> None:
    """Later audits add rows to it, so nothing tells whether it was changed: a certificate has what was recorded."""
    shutil.copy(certified / "w.duckdb", tmp_path)
    used = {"db": str(tmp_path / "w.duckdb"), "key": str(certified / "owner")}
    told = []
    for change in ("", "UPDATE sqlmicro.audits SET value = 50"):
        with opened(used["db"]) as con:
            con.execute(change)
        to = tmp_path / f"{len(told)}.json"
        sqlmicro.certify(str(certified / "r.parquet"), to=str(to), **used)
        told.append(json.loads(to.read_text()))
    assert told[0]["attested"] == told[1]["attested"] and told[0]["attested"]


@needs_ssh
def test_a_key_of_the_agent_signs(certified: Path, tmp_path: Path) -> None:
    """Only the public half is there: the agent has the other."""
    shutil.copy(certified / "owner.pub", tmp_path)
    socket = f"/tmp/agent-{os.getpid()}"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            env = {**os.environ, "SSH_AUTH_SOCK": socket}
            if subprocess.run(["ssh-add", "-q", certified / "owner"], env=env, capture_output=True).returncode == 0:
                break
        os.environ["SSH_AUTH_SOCK"] = socket
        used = {"db": str(certified / "w.duckdb"), "to": str(tmp_path / "c.json"), "key": str(tmp_path / "owner.pub")}
        assert "SHA256:" in sqlmicro.certify("2", **used)["signer"]
    finally:
        os.environ.pop("SSH_AUTH_SOCK", None)
        agent.terminate()
        agent.wait()


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([entry(1), entry(2, state="withdrawn")], "a release that is out"),
        ([entry(1), entry(2, state="gone")], "a release that is out"),
        ([entry(1, intact=False), entry(2)], "changes at release 1"),
        ([entry(1), entry(2, intact=False)], "changes at release 2"),
        ([entry(1), entry(2), entry(3, intact=False)], ""),
        ([entry(1, intact=False, state="withdrawn"), entry(2, state="replaced")], "changes at release 1"),
    ],
)
def test_what_is_certified_is_out_and_the_ledger_up_to_it_intact(
    monkeypatch: pytest.MonkeyPatch, entries: list[Entry], said: str
) -> None:
    monkeypatch.setattr(certificate.ledger, "entries", lambda *_: entries)
    if not said:
        assert certificate._entry(None, None, "2") is entries[1]  # type: ignore[arg-type]
        return
    with refused(said):
        certificate._entry(None, None, "2")  # type: ignore[arg-type]


def test_of_the_settings_of_a_step_no_text_of_others_is_told() -> None:
    own = ["age", "town"]
    told = [certificate._told("mdav", "x", value, own) for value in (3, ["age"], ["age", "a name"], "a name", None)]
    assert told == [3, ["age"], "(not told)", "(not told)", None]
