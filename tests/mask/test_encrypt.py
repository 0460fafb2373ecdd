"""FF1: the vectors of NIST, a naive FF1 of our own, the way back, and what is refused."""

from __future__ import annotations

import io
import random
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from world import execute, refused, rows

import sqlmicro
from sqlmicro.cli import app
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask.encrypt import ALPHABETS

ffx = pytest.importorskip("ffx", reason="libffx is not installed: pip install 'sqlmicro[encrypt]'")
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: E402  (libffx brings it)

KEY = "correct horse battery staple"
CARDS = ["4111-1111-1111-1111", "4929 0000 1234 5678", None, "4111-1111-1111-1111", "000000", "-123456"]
SHORT, MIDDLE, LONG = "2B7E151628AED2A6ABF7158809CF4F3C", "EF4359D8D580AA4F", "7F036D6F04FC6A94"
TWEAK, LETTERS = "39383736353433323130", "3737373770717273373737"
SAMPLES = [
    (SHORT, 10, "", "0123456789", "2433477484"),
    (SHORT, 10, TWEAK, "0123456789", "6124200773"),
    (SHORT, 36, LETTERS, "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    (SHORT + MIDDLE, 10, "", "0123456789", "2830668132"),
    (SHORT + MIDDLE, 10, TWEAK, "0123456789", "2496655549"),
    (SHORT + MIDDLE, 36, LETTERS, "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"),
    (SHORT + MIDDLE + LONG, 10, "", "0123456789", "6657667009"),
    (SHORT + MIDDLE + LONG, 10, TWEAK, "0123456789", "1001623463"),
    (SHORT + MIDDLE + LONG, 36, LETTERS, "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
]
"""NIST, Cryptographic Standards and Guidelines, Examples with Intermediate Values: FF1 samples 1 to 9."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)


def naive_ff1(key: bytes, tweak: bytes, signs: str, text: str) -> str:
    """Return FF1.Encrypt, Algorithm 7 of NIST SP 800-38G, as it is written there."""
    radix, n, t = len(signs), len(text), len(tweak)
    u, v = n // 2, n - n // 2
    half = (radix**v - 1).bit_length()
    b = -(-half // 8)
    d = 4 * -(-b // 4) + 4
    first = bytes([1, 2, 1]) + radix.to_bytes(3) + bytes([10, u % 256]) + n.to_bytes(4) + t.to_bytes(4)

    def aes(block: bytes) -> bytes:
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)

    def number(numerals: str) -> int:
        return sum(signs.index(sign) * radix**place for place, sign in enumerate(reversed(numerals)))

    def numerals(value: int, length: int) -> str:
        return "".join(signs[value // radix**place % radix] for place in reversed(range(length)))

    left, right = text[:u], text[u:]
    for turn in range(10):
        given = first + tweak + bytes((-t - b - 1) % 16) + bytes([turn]) + number(right).to_bytes(b)
        chained = bytes(16)
        for at in range(0, len(given), 16):
            chained = aes(bytes(x ^ y for x, y in zip(given[at : at + 16], chained, strict=True)))
        more = b"".join(aes((int.from_bytes(chained) ^ j).to_bytes(16)) for j in range(1, -(-d // 16)))
        length = v if turn % 2 else u
        added = (number(left) + int.from_bytes((chained + more)[:d])) % radix**length
        left, right = right, numerals(added, length)
    return left + right


@pytest.mark.parametrize(("key", "radix", "tweak", "text", "result"), SAMPLES)
def test_the_library_and_the_naive_one_pass_the_vectors_of_nist(
    key: str, radix: int, tweak: str, text: str, result: str
) -> None:
    cipher = ffx.FF1(bytes.fromhex(key), radix=radix)
    assert cipher.encrypt(text, tweak=bytes.fromhex(tweak)) == result
    assert cipher.decrypt(result, tweak=bytes.fromhex(tweak)) == text
    assert naive_ff1(bytes.fromhex(key), bytes.fromhex(tweak), ALPHABETS["lower"][:radix], text) == result


def encrypted(workbench: Any, values: list[Any], alphabet: str = "digits", kind: str = "VARCHAR", **more: Any) -> Any:
    """Return what values become, in their order."""
    db = workbench.make({"at": ("INTEGER", range(len(values))), "x": (kind, values)})
    made = workbench.release("encrypt", db, columns=["x"], rest="keep", alphabet=alphabet, **more).columns
    return [own for _, own in sorted(zip(made["at"], made["x"], strict=True))]


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_values_are_encrypted_as_by_a_naive_ff1_and_keep_their_form(workbench: Any, alphabet: str) -> None:
    signs, draw = ALPHABETS[alphabet], random.Random(alphabet)
    values = ["".join(draw.choice(signs) for _ in range(draw.randint(6, 60))) for _ in range(60)]
    values = [f"{text[:3]}-{text[3:]} " if draw.random() < 0.5 else text for text in values]
    key = sha256(b"sqlmicro encrypt\0" + KEY.encode()).digest()
    found = encrypted(workbench, values, alphabet)
    for value, own in zip(values, found, strict=True):
        plain, made = ("".join(char for char in text if char in signs) for text in (value, own))
        assert made == naive_ff1(key, b"", signs, plain)
        assert [c if c not in signs else "" for c in own] == [c if c not in signs else "" for c in value]
    assert len({*found}) == len({*values})


def test_equal_values_stay_equal_missing_ones_missing_and_decrypt_leads_back(
    workbench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = encrypted(workbench, CARDS)
    assert found == encrypted(workbench, CARDS, seed="another")
    assert [one is None for one in found] == [one is None for one in CARDS]
    assert found[0] == found[3]
    assert encrypted(workbench, [-123456, None], kind="BIGINT") == [found[5], None]
    file = tmp_path / "pseudonyms"
    file.write_text("\n".join(text for text in found if text), encoding="utf-8")
    assert sqlmicro.decrypt(str(file))["values"] == [card for card in CARDS if card]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(text for text in found if text)))
    assert sqlmicro.decrypt("-")["values"] == [card for card in CARDS if card]
    (tmp_path / "other").write_text(KEY[::-1])
    assert not {*sqlmicro.decrypt(str(file), key_file=str(tmp_path / "other"))["values"]} & {*CARDS}
    done = CliRunner().invoke(app, ["decrypt", str(file)])
    assert done.stdout.splitlines() == [card for card in CARDS if card]


def test_all_values_of_a_length_stay_different(workbench: Any) -> None:
    found = encrypted(workbench, [f"{number:06}" for number in range(20_000)])
    assert len({*found}) == 20_000
    assert {len(text) for text in found} == {6}


@pytest.mark.parametrize(
    ("value", "alphabet", "words"),
    [
        ("12345", "digits", r"at least 6 letters or digits, so that there are 1,000,000 .* Got 1 values with fewer"),
        ("abc1", "hex", "at least 5 letters"),
        ("ab1", "lower", "at least 4 letters"),
        ("", "digits", "at least 6"),
        ("AB123456", "digits", "must be of --alphabet digits. Got 1 values with others"),
        ("12345é", "mixed", "must be of --alphabet mixed"),
        ("1234567²", "digits", "must be of --alphabet digits"),
    ],
)
def test_what_could_be_guessed_or_stay_readable_is_refused(
    workbench: Any, tmp_path: Path, value: str, alphabet: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        encrypted(workbench, ["123456", value], alphabet)
    assert not value or value not in str(caught.value)
    (tmp_path / "x").write_text(f"123456\n{value}\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        sqlmicro.decrypt(str(tmp_path / "x"), alphabet=alphabet)


@pytest.mark.parametrize(("kind", "value"), [("DATE", "2020-01-01"), ("DOUBLE", 1.0), ("BOOLEAN", True)])
def test_other_types_are_refused(workbench: Any, kind: str, value: Any) -> None:
    with pytest.raises(InputError, match="works on text, whole numbers and UUIDs"):
        encrypted(workbench, [value, value], kind=kind)


def test_uuids_of_hex_digits(workbench: Any) -> None:
    (found, _) = encrypted(workbench, ["1b4e28ba-2fa1-11d2-883f-0016d3cca427"] * 2, "hex", "UUID")
    assert [len(part) for part in found.split("-")] == [8, 4, 4, 4, 12]


def test_it_is_called_a_pseudonym_and_shows_neither_key_nor_value(workbench: Any) -> None:
    db = workbench.make({"x": ("VARCHAR", ["7351-000042", "7351-000043"])})
    report = sqlmicro.encrypt("records", db=db, columns=["x"], into="out", show_sql=True)
    key = sha256(b"sqlmicro encrypt\0" + KEY.encode()).digest()
    for secret in (KEY, "7351", key.hex(), repr(key)[2:-1]):
        assert secret not in str(report)
    made = sqlmicro.encrypt("records", db=db, columns=["x"], into="out", overwrite=True)
    assert made["verdict"]["apart"] == {"x": "pseudonym"}
    assert made["verdict"]["status"] == "none"
    assert made["steps"][0]["key_fingerprint"]
    assert "x is encrypted: a pseudonym that the key turns back; 0 of 2 values" in " ".join(made["notes"])
    assert KEY.encode() not in Path(db).read_bytes()


def test_what_is_missing_is_told(workbench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with refused("reads one of the pseudonyms and the key"):
        sqlmicro.decrypt("-", key_file="-")
    with refused("must be a file of text"):
        sqlmicro.decrypt(str(tmp_path / "none"))
    (tmp_path / "x").write_text("123456\n")
    monkeypatch.setitem(sys.modules, "ffx", None)
    for call in (lambda: encrypted(workbench, ["123456"]), lambda: sqlmicro.decrypt(str(tmp_path / "x"))):
        with pytest.raises(InputError, match=r"pip install 'sqlmicro\[encrypt\]'"):
            call()
    monkeypatch.delenv("SQLMICRO_PSEUDONYM_KEY")
    with pytest.raises(ParameterError, match="a secret key is needed"):
        sqlmicro.decrypt(str(tmp_path / "x"))


POLICY = """
db = "w.duckdb"
min_join_k = 1
[[table]]
name = "persons"
[[table.step]]
do = "encrypt"
columns = ["number"]
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
do = "encrypt"
columns = ["customer"]
[[table.step]]
do = "shuffle"
columns = ["amount"]
[[table.step]]
do = "publish"
into = "orders_r"
[[key]]
from = "orders.customer"
to = "persons.number"
"""


def test_policies_keep_keys_and_series_their_pseudonyms(tmp_path: Path) -> None:
    execute(
        tmp_path,
        "CREATE TABLE persons AS SELECT 700000 + i AS number, 18 + (i * 7) % 60 AS age FROM range(60) r(i)",
        "CREATE TABLE orders AS SELECT 700000 + (i * 11) % 60 AS customer, (i * 31) % 97 AS amount FROM range(99) r(i)",
    )
    (tmp_path / "p.toml").write_text(POLICY)
    plan = sqlmicro.plan(str(tmp_path / "p.toml"))
    assert plan["tables"][0]["columns"][0]["role"] == "encrypt"
    sqlmicro.apply(str(tmp_path / "p.plan.json"), approved=plan["hash"])
    joined = "SELECT count(o.amount) FROM persons{0} p LEFT JOIN orders{0} o ON p.number = o.customer GROUP BY p.number"
    before, after = (Counter(rows(tmp_path, joined.format(end))) for end in ("", "_r"))
    assert before == after
    given = {"db": str(tmp_path / "w.duckdb"), "columns": ["number"], "row_key": ["number"], "keep": ["age"],
             "accept_unique": ["age"], "into": "out", "overwrite": True, "series": "numbers"}  # fmt: skip
    epochs = []
    for night, more in (("01", {}), ("02", {}), ("03", {"epoch": True})):
        sqlmicro.encrypt("persons", **given, night=f"2026-01-{night}", **more)
        epochs.append({row[0] for row in rows(tmp_path, "SELECT number FROM out")})
    assert epochs[0] == epochs[1]
    (tmp_path / "x").write_text("\n".join(epochs[2]))
    assert len(epochs[0] & epochs[2]) < 3
    found = sqlmicro.decrypt(str(tmp_path / "x"), epoch=2)["values"]
    assert {*found} == {str(700000 + i) for i in range(60)} != {*sqlmicro.decrypt(str(tmp_path / "x"))["values"]}
