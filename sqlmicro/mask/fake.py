"""Fakes: identifiers replaced by invented ones of the same kind, the same for the same value wherever it stands."""

from __future__ import annotations

import hmac
import unicodedata
import warnings
from base64 import b32encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from sqlmicro.database.column_names import words
from sqlmicro.database.columns import Column, settings_by_column
from sqlmicro.errors import InputError, ParameterError, nearest
from sqlmicro.identifiers import scan
from sqlmicro.mask import keyed
from sqlmicro.mask.keyed import KeyFile, key_for
from sqlmicro.options.params import Param
from sqlmicro.registry import Tick, method, of_no_column

if TYPE_CHECKING:
    from sqlmicro.work import Outcome, Work

KINDS: Mapping[str, tuple[str, str]] = {
    "name": ("name", ""), "first-name": ("first_name", ""), "last-name": ("last_name", ""),
    "login": ("user_name", ".{token}"), "email": ("user_name", ".{token}@example.org"), "phone": ("phone_number", ""),
    "street": ("street_address", ""), "address": ("address", ""), "city": ("city", ""), "company": ("company", ""),
    "iban": ("iban", ""), "card": ("credit_card_number", ""),
}  # fmt: skip
"""What there are fakes of: what Faker calls it, and what stands behind. A token is made by the key alone."""
_FOUND = {
    "e-mail addresses": "email", "telephone numbers": "phone", "names of persons": "name", "user names": "login",
    "street addresses": "street", "bank accounts (IBAN)": "iban", "payment cards": "card", "credit cards": "card",
}  # fmt: skip
"""The kind of fakes for what the scan finds."""
_FIRST = {
    "first", "given", "fore", "firstname", "vorname", "vornamen", "rufname", "prenom", "prenoms", "voornaam", "nombre",
    "imie",
}  # fmt: skip
_LAST = {
    "last", "family", "sur", "surname", "lastname", "maiden", "nachname", "familienname", "geburtsname", "apellido",
    "apellidos", "achternaam", "cognome", "nazwisko", "nom",
}  # fmt: skip
"""Words in the names of columns that have a part of a name."""
_TRIES = 1000
_TOKEN = 12
"""Letters and digits of a token, of 5 bits each."""


@method(
    "fake",
    stage="mask",
    engine="sql",
    promise="masked",
    assures=of_no_column,
    by_value=True,
    source="RFC 2104: HMAC, with SHA-256, draws from the lists of Faker",
    templates=keyed.TEMPLATES,
    takes_strata=False,
    surrogate="fake",
)
def fake(
    work: Work,
    *,
    kind: Annotated[
        tuple[str, ...],
        Param(
            f"What is invented, one of {', '.join(KINDS)}: for all columns, or COLUMN=KIND. Default: what the scan "
            "finds in the column.",
            metavar="KIND,COLUMN=KIND",
        ),
    ] = (),
    locale: Annotated[str, Param("Whose names and forms, such as de_DE.", metavar="LOCALE")] = "en_US",
    may_repeat: Annotated[
        bool, Param("Let several values have one fake in a column whose values are all different, too.")
    ] = False,
    key_file: KeyFile = None,
) -> Outcome:
    """Replace identifiers by invented ones of the same kind: with one key the same value has the same fake everywhere.

    Returns
    -------
    Outcome
        An invented name, e-mail address, IBAN and so on for every value, as text.

    Raises
    ------
    ParameterError
        When there is no key, or no such kind or locale.
    InputError
        For a column of another type, one whose kind nobody knows, without Faker, and where a column whose values are
        all different would get a fake twice.

    Notes
    -----
    The HMAC-SHA-256 of the text by the key is the seed of the fake: with one key, kind, locale and version of Faker the
    same value has the same fake in every column, table and release, so that tables can be joined as before. Text is
    compared as it is written. NULL stays NULL. The key is neither part of a statement nor recorded; the version is
    noted, and an epoch of a series has one.

    What it promises: without the key nobody can tell from a fake what it stands for. No record has its own value,
    in whatever case and with whatever signs between: then the next one is drawn. What it does not: a part of it, such
    as a first name, may be its own by chance. A fake may be the value of another record, which is counted, or that of
    somebody who exists: call no number and pay to no account; e-mail addresses are of example.org, which has no mail.
    The release is pseudonymous, not anonymous: how often a value occurs stays, all records of one person stay
    recognisable as such, and whoever has the key can try all names. k is never counted over fakes.

    Two values may have one fake: there are some hundred first names and cities, and some 100,000 names. An e-mail
    address or login has a token of 60 bits, so that two are never seen alike. A column whose values are all different
    keeps that, or is refused. About 150 µs for each different value.
    """
    keyed.refuse_inexact(work)
    faker, version = _faker(work, locale)
    key = key_for("fake", keyed.key_of(work, key_file))
    kinds = work.once(f"{work.prefix} kinds", lambda: [*_kinds(work, kind).values()])
    if work.once(f"{work.prefix} faker", lambda: version) != version:
        must, do = "an epoch of a series has one version of Faker", "Install that one, or begin a new --epoch"
        raise InputError(work.where, must, version, do)
    for column, of in zip(work.columns, kinds, strict=True):
        found = keyed.texts_of(work, column)

        def invented(texts: Sequence[str], tick: Tick, of: str = of) -> list[str]:
            fakes = []
            for number, text in enumerate(texts, 1):
                fakes.append(_fake_of(text, faker, of, key))
                tick(number, len(texts))
            return fakes

        fakes = keyed.replace_texts(work, column, [*found], invented)
        many = len(set(fakes))
        if many < len(fakes) and max(found.values(), default=0) == 1 and not may_repeat:
            raise InputError(
                work.where, f"all values of {column.name!r} are different, and so are their fakes",
                f"{len(fakes):,} values with {many:,} fakes ({of})",
                "Use --kind email or login, pseudonymise, or --may-repeat if two may have one",
            )  # fmt: skip
        work.note(
            f"{column.name} is fake ({of}, {locale}, Faker {version}): {len(fakes):,} values became {many:,}, of which "
            f"{len({*fakes} & {*found}):,} are the value of another record; how often each occurs stays"
        )
    return work.outcome


def _faker(work: Work, locale: str) -> tuple[Any, str]:
    """Return what invents, and its version.

    Raises
    ------
    InputError
        Where Faker is not installed.
    ParameterError
        When it knows no such locale.
    """
    try:
        from faker import VERSION, Faker
        from faker.config import AVAILABLE_LOCALES
    except ImportError:
        do = "Install it by: pip install 'sqlmicro[fake]'"
        raise InputError(work.where, "needs Faker, which is not installed", do=do) from None
    if locale not in AVAILABLE_LOCALES:
        where, must = f"{work.where}, locale", "must be a locale of Faker, such as de_DE"
        raise ParameterError(where, must, repr(locale), nearest(locale, sorted(AVAILABLE_LOCALES)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Faker(locale), VERSION


def _kinds(work: Work, given: Sequence[str]) -> dict[Column, str]:
    """Return the kind of every column: as it is said, else as the scan finds it.

    Raises
    ------
    ParameterError
        For what is no kind.
    InputError
        When nobody knows the kind of a column.
    """
    where = f"{work.where}, kind"
    of_all = [text for text in given if "=" not in text]
    named = settings_by_column(work.columns, [text for text in given if "=" in text], where, "is written COLUMN=KIND")
    kinds = dict.fromkeys(work.columns, of_all[0]) if of_all else {}
    kinds |= dict(named)
    wrong = [text for text in (*of_all[:1], *kinds.values()) if text not in KINDS]
    if wrong or len(of_all) > 1:
        got = repr(wrong[0]) if wrong else "several for all columns"
        do = nearest(wrong[0], [*KINDS]) if wrong else "Write COLUMN=KIND"
        raise ParameterError(where, f"must be one of {', '.join(KINDS)}", got, do)
    left = [column.name for column in work.columns if column not in kinds]
    sought = [column for column in work.source.columns if column.name in left]
    seen = scan.seen(work.warehouse, work.source, sought) if sought else {}
    for column in work.columns:
        if column not in kinds:
            found = next((one.finding for read, one in seen.items() if read.name == column.name), None)
            kinds[column] = _FOUND.get(found.kind, "") if found else ""
            if kinds[column] == "name":
                kinds[column] = _part_of_name(column.name)
    unknown = [column.name for column, one in kinds.items() if not one]
    if unknown:
        do = f"Say which, as in --kind '{unknown[0]}=name'; for numbers of another kind use pseudonymise"
        raise InputError(where, "the scan must tell what a column holds, where nobody says it", ", ".join(unknown), do)
    return {column: kinds[column] for column in work.columns}


def _part_of_name(column: str) -> str:
    """Return which part of names a column has, by its own name.

    >>> [_part_of_name(name) for name in ("first_name", "Nachname", "customer_name")]
    ['first-name', 'last-name', 'name']
    """
    told = {*words(column).split("_")}
    return "first-name" if told & _FIRST else "last-name" if told & _LAST else "name"


def _fake_of(text: str, faker: Any, kind: str, key: bytes) -> str:
    """Return the first fake that a text draws and that is not the text itself.

    Raises
    ------
    InputError
        Where there is none.
    """
    invents, behind = KINDS[kind]
    for attempt in range(_TRIES):
        digest = hmac.digest(key, f"{kind} {attempt} {text}".encode(), "sha256")
        faker.seed_instance(int.from_bytes(digest[:16]))
        token = b32encode(digest[16:]).decode().lower()[:_TOKEN]
        found = ", ".join(getattr(faker, invents)().splitlines()) + behind.format(token=token)
        if _plain(found) != _plain(text):
            return found
    raise InputError("fake, kind", "another value than its own must be there for each", f"one {kind} in this locale")


def _plain(text: str) -> str:
    """Return the letters and digits of a text, in one case.

    >>> _plain("Ève O'Hara") == _plain("ève  OHARA")
    True
    """
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
