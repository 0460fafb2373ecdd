"""Fakes: of a valid form, the same for the same value and key everywhere, never their own value, never counted as k."""

from __future__ import annotations

import hmac
import re
import sys
from base64 import b32encode
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import phonenumbers
import pytest
from stdnum import iban, luhn
from world import execute, refused, rows

import sqlmicro
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.mask.fake import KINDS

KEY = "correct horse battery staple"
NAMES = ["Anna", "Bert", "Carl", None, "Anna", "Dora"]
NO_FAKER = "faker is not installed: pip install 'sqlmicro[fake]'"
faker = pytest.importorskip("faker", reason=NO_FAKER)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)


def faked(workbench: Any, values: list[Any], kind: str, **more: Any) -> list[Any]:
    """Return the fakes of values, in their order."""
    db = workbench.make({"at": ("INTEGER", range(len(values))), "x": ("VARCHAR", values)})
    made = workbench.release("fake", db, columns=["x"], rest="keep", kind=[kind], **more).columns
    return [fake for _, fake in sorted(zip(made["at"], made["x"], strict=True))]


VALID = {
    "email": re.compile(r"[\w.-]+@example\.org").fullmatch,
    "login": re.compile(r"[\w.-]+\.[a-z2-7]{12}").fullmatch,
    "iban": iban.is_valid,
    "card": luhn.is_valid,
    "phone": lambda text: phonenumbers.is_possible_number(phonenumbers.parse(text, "DE")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_fake_has_the_form_of_its_kind_and_stands_for_one_value(workbench: Any, kind: str) -> None:
    found = faked(workbench, NAMES, kind, locale="de_DE")
    assert found == faked(workbench, NAMES, kind, locale="de_DE", seed="another")
    assert [fake is None for fake in found] == [name is None for name in NAMES]
    assert found[0] == found[4]
    assert not {*found} & {*NAMES} - {None}
    assert all(fake and "\n" not in fake and VALID.get(kind, bool)(fake) for fake in found if fake is not None)
    assert (found == faked(workbench, NAMES, kind, locale="fr_FR")) == (kind == "card"), "cards are of no country"


def test_tokens_are_the_hmac_of_the_value_by_a_key_of_fakes_alone(workbench: Any) -> None:
    key = sha256(b"sqlmicro fake\0" + KEY.encode()).digest()
    digests = [hmac.new(key, f"login 0 {name}".encode(), "sha256").digest() for name in ("Anna", "Bert")]
    tokens = [b32encode(digest).decode().lower() for digest in (digest[16:] for digest in digests)]
    assert [fake[-12:] for fake in faked(workbench, ["Anna", "Bert"], "login")] == [token[:12] for token in tokens]


@pytest.mark.parametrize(("kind", "word"), [("city", str), ("first-name", str.upper), ("last-name", "{} ".format)])
def test_nobody_has_her_own_value_however_it_is_written(
    workbench: Any, kind: str, word: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All values that there are fakes of, so that by chance alone some draw themselves: about one for every key."""
    fake = faker.Faker("de_DE")
    invents = {"city": fake.city, "first-name": fake.first_name, "last-name": fake.last_name}[kind]
    values = sorted({invents() for _ in range(3000)})
    given = [word(value) for value in values]
    for key in range(8):
        monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", f"{KEY} {key}")
        found = faked(workbench, given, kind, locale="de_DE", may_repeat=True)
        assert not [value for value, own in zip(values, found, strict=True) if value.lower() == own.lower()]


def test_a_column_of_different_values_keeps_them_different_or_is_refused(workbench: Any) -> None:
    many = [f"person {number}" for number in range(1500)]
    assert len({*faked(workbench, many, "email")}) == len({*faked(workbench, many, "iban")}) == 1500
    with pytest.raises(InputError, match=r"1,500 values with [\d,]+ fakes \(city\).*--may-repeat") as caught:
        faked(workbench, many, "city", locale="de_DE")
    assert "person" not in str(caught.value)
    assert len({*faked(workbench, many, "city", locale="de_DE", may_repeat=True)}) < 1500
    assert len(faked(workbench, [*many, many[0]], "city", locale="de_DE")) == 1501, "one is there twice already"


def test_the_scan_tells_the_kind_where_nobody_does(workbench: Any) -> None:
    people = {
        "vorname": ["Anna", "Bert", "Sabine"] * 20,
        "last_name": ["Meier", "Schmidt", "Weber"] * 20,
        "mail": [f"p{number}@web.de" for number in range(60)],
        "konto": ["DE89370400440532013000"] * 60,
    }
    given = {name: ("VARCHAR", values) for name, values in people.items()}
    db = workbench.make({**given, "code": ("VARCHAR", ["x1", "x2", "x3"] * 20)})
    report = sqlmicro.fake("records", db=db, columns=[*people], drop=["code"], into="out")
    told = " ".join(report["notes"])
    for column, kind in zip(people, ("first-name", "last-name", "email", "iban"), strict=True):
        assert f"{column} is fake ({kind}" in told
    assert report["verdict"]["apart"] == dict.fromkeys(people, "fake")
    assert report["verdict"]["status"] == "none", "k is not counted over fakes"
    assert report["steps"][0]["key_fingerprint"]
    with refused("the scan must tell what a column holds, where nobody says it. Got code"):
        sqlmicro.fake("records", db=db, columns=["code"], rest="drop", into="other")


def test_values_of_others_are_counted(workbench: Any) -> None:
    given = ["Anna", "Bert"]
    known = [*given, *faked(workbench, given, "first-name")] * 9
    db = workbench.make({"x": ("VARCHAR", known)})
    notes = workbench.release("fake", db, columns=["x"], kind=["first-name"]).report["notes"]
    shown = re.findall(r"4 values became \d, of which (\d) are the value of another record", " ".join(notes))
    assert int(shown[0]) >= 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": ["nmae"]}, "must be one of name, .* Got 'nmae'. Did you mean 'name'"),
        ({"kind": ["name", "city"]}, "Got several for all columns"),
        ({"kind": ["y=name"]}, "y"),
        ({"kind": ["name"], "locale": "de_DX"}, "must be a locale of Faker"),
    ],
)
def test_what_is_refused(workbench: Any, options: dict[str, Any], words: str) -> None:
    db = workbench.make({"x": ("VARCHAR", ["a", "b"])})
    with pytest.raises(ParameterError, match=words):
        workbench.release("fake", db, columns=["x"], **options)


def test_without_faker_it_says_how_to_install_it(workbench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faker", None)
    db = workbench.make({"x": ("VARCHAR", ["a", "b"])})
    with pytest.raises(InputError, match=r"pip install 'sqlmicro\[fake\]'"):
        workbench.release("fake", db, columns=["x"], kind=["name"])


def test_neither_the_key_nor_a_value_is_in_script_or_report(workbench: Any) -> None:
    db = workbench.make({"x": ("VARCHAR", ["Canary Bird", "Other Bird"])})
    report = sqlmicro.fake("records", db=db, columns=["x"], kind=["name"], into="out", show_sql=True)
    derived = sha256(b"sqlmicro fake\0" + KEY.encode()).digest()
    for secret in (KEY, "Bird", derived.hex(), repr(derived)[2:-1]):
        assert secret not in str(report)
    made = sqlmicro.fake("records", db=db, columns=["x"], kind=["name"], into="out", overwrite=True)
    assert "Bird" not in str(made) + str(rows(db))
    assert KEY.encode() not in Path(db).read_bytes()


POLICY = """
db = "w.duckdb"
key_file = "secret"
min_join_k = 1
leave_out = ["persons_r", "orders_r"]
[[table]]
name = "persons"
[[table.step]]
do = "fake"
columns = ["login", "name"]
kind = ["login=email", "name=name"]
may_repeat = true
key_file = "secret"
[[table.step]]
do = "mdav"
columns = ["age"]
k = 3
[[table.step]]
do = "publish"
into = "persons_r"
[[table]]
name = "orders"
person = ["customer"]
[[table.step]]
do = "fake"
columns = ["customer"]
kind = ["email"]
key_file = "secret"
[[table.step]]
do = "shuffle"
columns = ["amount"]
[[table.step]]
do = "publish"
into = "orders_r"
[[key]]
from = "orders.customer"
to = "persons.login"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    execute(
        tmp_path,
        "CREATE TABLE persons AS SELECT 'l' || i AS login, 'canary ' || i AS name, 18 + (i * 7) % 60 AS age "
        "FROM range(60) r(i)",
        "CREATE TABLE orders AS SELECT 'l' || (i * 11) % 60 AS customer, (i * 31) % 97 AS amount FROM range(200) r(i)",
    )
    (tmp_path / "secret").write_text("a secret of at least sixteen bytes\n")
    (tmp_path / "p.toml").write_text(POLICY)
    return tmp_path


def test_fakes_join_as_before_and_are_planned_and_applied(folder: Path) -> None:
    plan = sqlmicro.plan(str(folder / "p.toml"))
    assert {c["name"]: c["role"] for t in plan["tables"] for c in t["columns"]} == {
        "login": "fake", "name": "fake", "age": "mdav", "customer": "fake + person", "amount": "shuffle",
    }  # fmt: skip
    sqlmicro.apply(str(folder / "p.plan.json"), approved=plan["hash"])
    joined = "SELECT count(*) AS n FROM persons{0} p LEFT JOIN orders{0} o ON p.login = o.customer GROUP BY p.login"
    before, after = (Counter(rows(folder, joined.format(end))) for end in ("", "_r"))
    assert before == after
    assert "canary" not in (folder / "p.applied.json").read_text()


STEP = '[[table.step]]\ndo = "fake"\ncolumns = ["customer"]\nkind = ["email"]\nkey_file = "secret"\n'
OTHER = '[[table.step]]\ndo = "pseudonymise"\ncolumns = ["customer"]\nkey_file = "secret"\n'


@pytest.mark.parametrize("other", ["", OTHER], ids=["none", "pseudonymise"])
def test_a_key_is_fake_on_both_sides_or_on_none(folder: Path, other: str) -> None:
    assert STEP in POLICY
    (folder / "p.toml").write_text(POLICY.replace(STEP, other))
    with pytest.raises(JobError, match=r"key 1: the columns of a key are made anew by the same step, fake"):
        sqlmicro.run(str(folder / "p.toml"))


def test_an_epoch_of_a_series_has_one_version_of_faker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(folder, "ALTER TABLE persons ADD COLUMN id INTEGER", "UPDATE persons SET id = CAST(login[2:] AS INTEGER)")
    given = {"db": str(folder / "w.duckdb"), "columns": ["login"], "kind": ["login"], "row_key": ["id"],
             "keep": ["name"], "identifier_ok": ["name"], "accept_unique": ["name"], "drop": ["age"],
             "into": "out", "overwrite": True, "series": "fakes"}  # fmt: skip
    sqlmicro.fake("persons", **given, night="2026-01-01")
    first = dict(rows(folder, "SELECT name, login FROM out"))
    execute(folder, "DELETE FROM persons WHERE id > 50")
    assert sqlmicro.fake("persons", **given, night="2026-01-02")["series"]["went"] == 9
    assert dict(rows(folder, "SELECT name, login FROM out")).items() <= first.items()
    monkeypatch.setattr(faker, "VERSION", "0.0")
    with refused("an epoch of a series has one version of Faker", folder / "w.duckdb"):
        sqlmicro.fake("persons", **given, night="2026-01-03")
    sqlmicro.fake("persons", **given, night="2026-01-03", epoch=True)
    assert not {*dict(rows(folder, "SELECT name, login FROM out")).items()} & {*first.items()}


@pytest.mark.parametrize("method", ["pseudonymise", "encrypt", "fake"])
def test_the_key_is_another_secret_than_the_lasting_one(
    workbench: Any, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By one secret for both, a pseudonym could be the key of offsets of dates: the HMAC of a text that says so."""
    for variable in ("SQLMICRO_PSEUDONYM_KEY", "SQLMICRO_SECRET"):
        monkeypatch.setenv(variable, "one secret for everything")
    db = workbench.make({"code": ("VARCHAR", ["1234567", "7654321"])})
    with pytest.raises(ParameterError, match=r"must be another secret than SQLMICRO_SECRET\. Got the same") as no:
        workbench.release(method, db, columns=["code"], **({"kind": ["phone"]} if method == "fake" else {}))
    assert "one secret" not in str(no.value)
