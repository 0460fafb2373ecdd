"""The scan: a bounded sample of every column's values, matched in SQL, checked in Python, and never shown.

What a value looks like: the regular expressions of the scan, in the syntax that RE2 and Java share.

Text that reads as numbers, dates or amounts, but for a few values: what it is, and what reads it so.
"""

from __future__ import annotations

import re
import shlex
import string
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache

from sqlmicro.database.columns import Column, ColumnProfile, Finding, Misread, Reading, Seen, names_of
from sqlmicro.database.read_once import read_once
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.typed_columns import profile_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import ParameterError, nearest
from sqlmicro.identifiers.judge import Sample, judge, regions
from sqlmicro.identifiers.rare import FewerThan, marked
from sqlmicro.identifiers.repeated import RepeatedPersons
from sqlmicro.system.reporting import OMITTED

MOST_VALUES = 1000
"""How many distinct values of a column are looked at."""
MOST_CHECKED = 200
_MOST_LEAVES, _MOST_KEYS = 5000, 50
"""Of a column of JSON: values inside of it, and keys they are told apart by."""
BLANKS = " \t\r\n\u00a0\u200b\ufeff"
_NO_VALUES = ("BOOLEAN", "DATE", "TIME", "INTERVAL", "BIT")
_NESTED = ("STRUCT", "MAP", "JSON", "UNION", "VARIANT")


@dataclass(frozen=True)
class ColumnReport:
    """A column: what it is, and the scale and the role that are proposed for it, with the reasons."""

    name: str
    type: str
    nulls: int
    distinct: int
    scale: str
    scale_reason: str
    role: str
    role_reason: str
    identifier: str | None
    """What kind of identifier its values look like."""
    share: float | None
    """The share of its values that do."""


@dataclass(frozen=True)
class ProfileReport:
    """The columns of a table."""

    table: str
    rows: int
    columns: list[ColumnReport]
    persons: RepeatedPersons | None = field(default=None, metadata=OMITTED)
    """Whose records the rows seem to be, where these are of fewer persons."""
    of_person: list[str] | None = field(default=None, metadata=OMITTED)
    """The columns without missing values that have one value for each of these persons."""


@dataclass(frozen=True)
class _Sampled:
    """The staged values, and the patterns that they are matched with.

    Some are looked for after another, and some where letters beyond ASCII are folded into one.
    """

    leaves: Name
    patterns: Mapping[str, str]
    after: Mapping[str, str]
    folded: Sequence[str]


def report(
    table: str,
    found: Sequence[ColumnProfile],
    persons: RepeatedPersons | None,
    of_person: Sequence[Column] = (),
) -> ProfileReport:
    """Return the report of the profiles of a table's columns, and of whose records its rows seem to be."""
    columns = [
        ColumnReport(
            p.column.name, p.column.type, p.nulls, p.distinct, *p.scale, *p.role,
            p.seen.finding.kind if p.seen.finding else None, p.seen.finding.share if p.seen.finding else None,
        )
        for p in found
    ]  # fmt: skip
    named = list(names_of(of_person)) if persons else None
    return ProfileReport(table, found[0].rows if found else 0, columns, persons, named)


def profiles(
    warehouse: Warehouse,
    source: Source,
    region: str | None = None,
    fewer: FewerThan | None = None,
    codes: Collection[Column] = (),
) -> list[ColumnProfile]:
    """Return the profile of every column, with what a sample of its values shows, and whether most of them are rare."""
    with read_once(warehouse, source) as staged:
        found = seen(warehouse, staged, source.columns, region)
        profiled = [replace(profile, seen=found[profile.column]) for profile in profile_columns(warehouse, staged)]
        return marked(warehouse, staged, profiled, fewer or FewerThan(), codes)


def seen(
    warehouse: Warehouse, source: Source, columns: Sequence[Column], region: str | None = None
) -> dict[Column, Seen]:
    """Return what a sample of the values of each column shows.

    Raises
    ------
    ParameterError
        When there is no country of that name.
    """
    return seen_together(warehouse, [(source, columns)], region)[0]


def seen_together(
    warehouse: Warehouse,
    tables: Sequence[tuple[Source, Sequence[Column]]],
    region: str | None = None,
    most: int = MOST_VALUES,
) -> list[dict[Column, Seen]]:
    """Return what samples of the values of several tables show, all matched at once: that takes long for every table.

    `most` is how many distinct values of a column are looked at.

    Raises
    ------
    ParameterError
        When there is no country of that name.
    """
    if region is not None and region not in regions():
        raise ParameterError(
            "--region", "must be the two letters of a country", repr(region), nearest(region.upper(), regions())
        )
    listed: list[tuple[int, Column]] = []
    drawn: list[Name] = []
    for number, (source, columns) in enumerate(tables):
        scanned = [column for column in columns if _has_values(column)]
        if scanned:
            with read_once(warehouse, source) as staged:
                drawn.append(warehouse.fetch(_drawn(warehouse, staged, scanned, len(listed) + 1, most)))
        listed += [(number, column) for column in scanned]
    found: list[dict[Column, Seen]] = [{column: Seen() for column in columns} for _, columns in tables]
    if not drawn:
        return found
    here = warehouse.small
    samples = _samples(here, _sampled(here, drawn), [column for _, column in listed])
    beside = [frozenset(column.name for column in source.columns) for source, _ in tables]
    for place, (number, column) in enumerate(listed, 1):
        csv = tables[number][0].is_csv
        found[number][column] = _seen(column, samples.get(place, []), region, beside[number], csv=csv)
    return found


def _has_values(column: Column) -> bool:
    return column.family not in ("boolean", "date", "timestamp", "timestamptz") and not (
        column.type.upper().startswith(_NO_VALUES) and "[" not in column.type
    )


def _drawn(warehouse: Warehouse, source: Source, columns: Sequence[Column], first: int, most: int) -> Name:
    """Stage a sample of the values of a table; the places of its columns start at `first`."""
    (estimates,) = warehouse.rows("load/distinct_estimates.sql", relation=source.relation, columns=columns)
    kinds: Params = {"plain": [], "floats": [], "nested": []}
    for place, (column, distinct) in enumerate(zip(columns, estimates, strict=True), first):
        kinds[_kind(column, warehouse)].append((column, place, max(1, int(distinct) // most)))
    into = "sampled_values" if first == 1 else f"sampled_values_{first}"
    return warehouse.run("load/sampled_values.sql", into, relation=source.relation, most=most, blanks=BLANKS, **kinds)


def _sampled(warehouse: Warehouse, drawn: Sequence[Name]) -> _Sampled:
    """Return the values of samples, those inside of JSON each on its own, and the patterns to be looked for."""
    sampled = drawn[0]
    if len(drawn) > 1:
        sampled = warehouse.run("load/samples_together.sql", "sampled_together", samples=drawn)
        for relation in drawn:
            warehouse.forget(relation)
    ((json, others, letters, digits, marks, longest),) = warehouse.rows("load/sampled_forms.sql", sampled=sampled)
    if json and warehouse.reads_json:
        leaves = warehouse.run("load/leaves.sql", "sampled_leaves", sampled=sampled, most=_MOST_LEAVES)
        return _Sampled(leaves, in_folded(), AFTER, FOLDED)  # JSON may have any letters, written as \u00e9
    if others:
        return _Sampled(sampled, in_folded(), AFTER, FOLDED)
    there = {*marks, *(string.ascii_letters if letters else ""), *(string.digits if digits else "")}
    return _Sampled(sampled, matching(there, longest), AFTER_IN_ASCII, ())


def _kind(column: Column, warehouse: Warehouse) -> str:
    if column.family == "float":
        return "floats"
    nested = "[" in column.type or column.type.upper().startswith(_NESTED)
    return "nested" if nested and warehouse.reads_json else "plain"


def _samples(warehouse: Warehouse, sampled: _Sampled, columns: Sequence[Column]) -> dict[int, list[Sample]]:
    """Return what was seen of each column, by its place: a sample, and one more for every key of the JSON in it.

    The patterns that take long are only looked for where another one was found.
    """
    matched: dict[tuple[int, str], dict[str, int]] = {}
    listed: dict[tuple[int, str], dict[str, list[str]]] = {}
    occurring = {""}
    for later in (False, True):
        wanted = [
            (name, text)
            for name, text in sampled.patterns.items()
            if (name in sampled.after) == later and sampled.after.get(name, "") in occurring
        ]
        if not wanted:
            continue
        for place, path, pattern, count, values in warehouse.rows(
            "load/pattern_matches.sql", leaves=sampled.leaves, listed=LISTED, most=MOST_CHECKED,
            patterns=[one for one in wanted if one[0] not in sampled.folded],
            folded=[one for one in wanted if one[0] in sampled.folded],
        ):  # fmt: skip
            matched.setdefault((place, path), {})[pattern] = count
            listed.setdefault((place, path), {})[pattern] = values or []
            occurring.add(pattern)
    samples: dict[int, list[Sample]] = {}
    for (place, path), counts in sorted(matched.items(), key=lambda item: (-item[1][""], item[0])):
        column = columns[place - 1]
        name = (path and path.strip('"$')) or column.name
        sample = Sample(name, "text" if path else column.family, counts[""], counts, listed.get((place, path), {}))
        if len(samples.setdefault(place, [])) < _MOST_KEYS:
            samples[place].append(sample)
    return samples


def _seen(column: Column, samples: Iterable[Sample], region: str | None, beside: Collection[str], *, csv: bool) -> Seen:
    """Return what the samples of a column show together; the first finding stands for all."""
    samples = list(samples)
    findings = [found for found in (judge(sample, region, beside) for sample in samples) if found is not None]
    findings.sort(key=lambda found: not found.direct)
    if not findings and column.type == "UUID":
        findings = [Finding("UUIDs", 1.0)]
    whole = next((sample for sample in samples if sample.name == column.name and len(samples) == 1), None)
    read = misread(whole, csv=csv) if whole is not None and not findings else None
    group = whole is not None and whole.share("leading zero") > 0 and whole.share("digit group") >= 0.95
    prose = whole is not None and column.family in ("text", "enum") and whole.share("prose") >= 0.5
    return Seen(findings[0] if findings else None, misread=read, digit_group=group, prose=prose)


_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_LARGE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9])"
_PORT = "(?::[0-9]{1,5})?"
_NO = "(?:[ ]?(?:[0-9]+[ ]?[-/]?[ ]?[0-9]*[ ]?[A-Za-z]?)[.]?)"
_WORDS = "[\\p{L}0-9.'’ -]{2,60}"

_STREETS = (
    # Hauptstraße 5a, Am Alten Markt 12, Keizersgracht 123-II, Storgatan 4, Mannerheimintie 12 B 7
    "[\\p{L}0-9.'’ -]*(?:str|str[.]|straße|strasse|weg|platz|allee|gasse|ring|damm|ufer|graben|steig|chaussee|hof|markt"
    "|stieg"
    "|straat|laan|plein|gracht|kade|dijk|singel|pad|dreef|steeg|baan|lei|markt|hof|plantsoen|boulevard|park|wal|erf"
    "|burg"
    "|gatan|gata|vägen|väg|gränd|stigen|torget|backen|gade|vej|gate|veien|vegen|vei|allé|plass|bakken|stræde|svingen"
    "|haugen|tunet|løkka|åsen|jordet|stubben|faret|lia|stien"
    "|katu|tie|kuja|polku|raitti|utca|út|útja|tér|körút|köz|sor|sokak|sok[.]|sokağı|caddesi|cad[.]|cd[.]|sk[.]|bulvarı)"
    f",?{_NO}(?:[,/ ].*)?",
    # Am Markt 3, Im Winkel 7, An der Mühle 12, Unter den Linden 77
    "(?:Am|Im|An|In|Auf|Zum|Zur|Unter|Beim|Alter?|Alte)[ ](?:[\\p{L}.-]+[ ]){0,3}[\\p{L}.-]+[ ][0-9]+[ ]?[A-Za-z]?",
    # 221B Baker Street, 1600 Pennsylvania Ave NW, Apt 4, 12/3 Nehru Marg
    "(?:Flat|Apt|Unit|Studio|Suite|No|H[.]?[ ]?No|Plot|House|Door|#)?[.:#]?[ ]?[0-9]+[A-Za-z]?(?:[-/][0-9A-Za-z]+)*,?[ "
    "]"
    f"{_WORDS}[ ](?:street|st|avenue|ave|av|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|place|pl|terrace|ter"
    "|circle|cir|highway|hwy|parkway|pkwy|square|sq|trail|trl|close|crescent|cres|gardens|grove|mews|hill|row|walk"
    "|walks|rise"
    "|alley|loop|plaza|pike|run|ridge|view|park|path|pass|point|quay|wharf|avenues|roads|streets|green|lodge|manor|mall"
    "|mount|mountain|mill|mills|meadow|meadows|harbors?|heights|hollow|island|islands|isle|junctions?|keys?|knolls?"
    "|lakes?"
    "|landing|light|lights|mission|motorway|neck|orchard|oval|overpass|parks|passage|pine|pines|plain|plains|port|ports"
    "|prairie|radial|ramp|ranch|rapids?|rest|ridges|river|route|rue|shoals?|shores?|skyway|spring|springs|spurs?"
    "|squares"
    "|station|stravenue|stream|summit|throughway|trace|track|trafficway|tunnel|turnpike|underpass|unions?|valleys?|via"
    "|viaduct|views|villages?|ville|vista|wall|wells?|bridge|brook|brooks|burgs?|bypass|camp|canyon|cape|causeway"
    "|centers?"
    "|cliffs?|club|common|corners?|course|cove|coves|creek|crest|crossing|crossroad|curve|dale|dam|divide|drives"
    "|estates?"
    "|expressway|extensions?|fall|falls|ferry|fields?|flats?|fords?|forest|forges?|forks?|fort|freeway|garden|gateway"
    "|glens?"
    "|greens|groves|haven|inlet|nagar|marg|colony|sector|bagh|ganj|chowk|salai|layout|enclave|vihar|puram|peth|gali"
    "|society|phase)"
    "[.]?(?:[ ](?:n|s|e|w|ne|nw|se|sw|north|south|east|west)[.]?)?(?:[, \n].*)?",
    # 12 bis, rue de la Paix
    "[0-9]+[ ]?(?:bis|ter|quater)?,?[ ](?:rue|avenue|av[.]?|boulevard|bd[.]?|place|chemin|impasse|allée|allee|quai"
    "|route|cours"
    "|square|passage|sentier|faubourg|voie|villa|résidence|ruelle)[ ].{2,}",
    "(?:rue|avenue|boulevard|chemin|impasse|quai)[ ].{2,40}[ ,]+[0-9]+.*",
    # Calle Mayor 5, C/ Alcalá, 12, Via Roma 3, Rua Augusta, 100, ul. Długa 7/3
    "(?:calle|c/|cl[.]|cl[ ]|avda?[.]?|avenida|av[.]|plaza|pza[.]?|plza[.]?|paseo|p[.]º|camino|carrera|cra[.]?|ronda"
    "|travesía|travesia"
    "|cuesta|glorieta|callejón|calz[.]?|calzada|cañada|pasaje|pasadizo|alameda|rambla|vial|urbanización|privada"
    "|prolongación"
    "|circuito|cerrada|diagonal|corredor|andador|eje|viaducto|boulevard|periférico|retorno|"
    "via|viale|piazza|corso|largo|vicolo|strada|contrada|piazzale|borgo|rotonda|stretto|canale|incrocio|"
    "rua|travessa|praça|praca|estrada|rodovia|r[.]|beco|ladeira|quadra|parque|passarela|"
    "trecho|trevo|vale|via|vila|viela|viaduto|vereda|setor|sítio|residencial|recanto|pátio|núcleo|morro|loteamento"
    "|lagoa|jardim"
    "|fazenda|favela|esplanada|estação|distrito|conjunto|condomínio|colônia|chácara|campo|aeroporto|área|lago|feira|"
    "ul[.]|ulica|al[.]|aleja|aleje|pl[.]|plac|os[.]|osiedle|ulice|náměstí|nám[.]|strada|str[.]|bulevardul|bd[.]|calea"
    "|aleea"
    "|ulitsa|улица|ул[.]|вул[.]|вулиця)[ ]?.{2,60}[ ,]+(?:n[.º°]?[ ]?|nr[.]?[ ]?|no[.]?[ ]?|km[ ]?)?[0-9]+.*",
    # Strada Lungă nr. 5 bl. 2, Dlouhá 12/7
    "(?:aleea|bulevardul|bd[.]?|calea|intrarea|piața|splaiul|șoseaua|sos[.]|strada|str[.])[ ].{2,40}[ ,]+(?:nr[.]?[ "
    "]?)?[0-9]+.*",
    "(?:[\\p{L}.]+[ ]){0,2}[\\p{L}]+(?:ova|ská|cká|ní|ého|ých|á|ů)[ ][0-9]+(?:/[0-9]+[a-z]?)?",
    # 東京都新宿区西新宿2丁目8番1号, 建国路100号
    ".*(?:[0-9]+丁目|[0-9]+番地?|[0-9]+号|[路街道].{0,3}[0-9a-zA-Z]+[座号栋弄]?).*",
)

_MONEY = "(?:[€$£¥]|(?i:EUR|USD|CHF|GBP|SEK|NOK|DKK|PLN|CZK))"
_SUM = "[-+]?[0-9]+(?:[.,' ][0-9]{3})*(?:[.,][0-9]+|[.,]-)?"

EMAIL = (
    "[\\p{L}0-9._%+-]+[ ]?(?:@|[(\\[](?:at|AT)[)\\]])[ ]?(?:[\\p{L}0-9](?:[\\p{L}0-9-]*[\\p{L}0-9])?[.])+[\\p{L}]{2,}"
)

PERSON_AND_NUMBER = (
    "(?i)^(?:customer|client|patient|employee|clerk|user|member|person|student|subject|participant|provider|physician"
    "|kunde|mitarbeiter|mitglied|versicherte[nr]?|teilnehmer|proband|usuario|cliente|paciente|utilisateur)"
    "[ ]?[#_:.-]?[ ]?[0-9]{2,}$"
)
"""Customer#000000017: a name that is a number given to a person."""

PATTERNS: dict[str, str] = {
    "numbered person": PERSON_AND_NUMBER,
    "email": EMAIL,
    "uuid": "^[{]?[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}[}]?$",
    "mac": "^(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$|^(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}$"
    "|^(?:[0-9A-Fa-f]{4}[.]){2}[0-9A-Fa-f]{4}$",
    "ip4": f"^(?:{_OCTET}[.]){{3}}{_OCTET}{_PORT}$",
    # One part of 100 or more: versions of software, such as 2.10.1.0, have none.
    "ip4 large": f"^(?:{_OCTET}[.]){{0,3}}{_LARGE}(?:[.]{_OCTET}){{0,3}}{_PORT}$",
    "ip6": "^[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:/[0-9]+|%\\w+)?$",
    "url": "^(?:[A-Za-z][A-Za-z0-9+.-]*://|www[.])[^ ]+$",
    # Of a person: user@, a profile on a network, a user in the path or the query.
    "url of a person": (
        "^[A-Za-z][A-Za-z0-9+.-]*://[^/@ ]+@[^ ]+$"
        "|^(?:https?://)?(?:[a-z]+[.])?(?:facebook|twitter|x|instagram|github|gitlab|tiktok|xing|threads|bsky|vk"
        "|t)[.][a-z]{2,3}"
        "/@?[^/ ?#]+/?$"
        "|^(?:https?://)?(?:[a-z]+[.])?linkedin[.]com/in/[^ ]+$"
        "|^(?:https?://|www[.])[^ ]*/(?:~|@|users?/|u/|people/|profiles?/|members?/|accounts?/|patients?/|customers?/"
        "|author/|orcid[.]org/)[^/ ]+.*$"
        "|^(?:https?://|www[.])[^ ]*[?&](?:user|uid|user_?id|user_?name|login|e?mail|customer_?id|patient_?id"
        "|member_?id|account)=[^ ]+$"
    ),
    "handle": "^@[A-Za-z0-9_.]{2,30}$",
    "phone": "^(?:[+]|00)[ ]?[(]?[0-9][0-9 ()./-]{6,22}[0-9]$",
    # Written as telephones are: (212) 555-0123, 212-555-0123, 06 12 34 56 78, 030/1234567, 0151-23456789
    "phone as written": (
        "^(?:1[ .-]?)?[(][2-9][0-9]{2}[)][ ]?[0-9]{3}[ .-][0-9]{4}(?:[ ]?(?:x|ext[.]?)[ ]?[0-9]+)?$"
        "|^(?:1[.-])?[2-9][0-9]{2}[.-][2-9][0-9]{2}[.-][0-9]{4}(?:x[0-9]+)?$"
        "|^0[1-9](?:[ .][0-9]{2}){4}$"
        "|^[(]0[0-9]{1,5}[)][ ]?[0-9 /-]{4,12}$|^[(][1-9]{2}[)][ ]?9?[0-9]{4}-[0-9]{4}$"
    ),
    "phone loose": "^[+(]?[+(0-9][0-9 ()./-]{4,22}[0-9][ ]?(?:(?:x|ext|Ext|app|DW)[.]?[ ]?[0-9]+)?$",
    "code": "^[0-9A-Za-zÄÖÜäöü .·/<+-]{0,36}[0-9][0-9A-Za-zÄÖÜäöü .·/<+-]{0,36}$",
    "name": "^[\\p{L}][\\p{L}.'’´`-]*(?:,?[ ]+[\\p{L}(][\\p{L}.'’´`)-]*){0,5}$",
    "address": "(?i)^(?:" + "|".join(_STREETS) + ")$",
    "position": (
        "^[\\[(]?[ ]?[-+]?[0-9]{1,2}[.][0-9]{5,}[°]?[ ]?[NSns]?[ ]?[,;/ ][ ]?[-+]?[0-9]{1,3}[.][0-9]{5,}[°]?[ "
        "]?[EWOewo]?[ ]?[\\])]?$"
        "|(?i)^(?:srid=[0-9]+;)?point[ ]?[zm]*[ ]?[(][ ]?[-+]?[0-9]{1,3}[.][0-9]{4,}[ "
        "][-+]?[0-9]{1,3}[.][0-9]{4,}.*[)]$"
        "|^[0-9]{1,3}[°º][ ]?[0-9]{1,2}['′’][ ]?[0-9]{1,2}(?:[.,][0-9]+)?[\"″”][ ]?[NSEWO].*$"
    ),
    "five decimals": "^[-+]?[0-9]{1,3}[.,][0-9]{5,}$",
    # Four words or more, as sentences have them.
    "prose": "^[^\\p{L}]*(?:\\p{L}+[^\\p{L}]+){3}\\p{L}",
    "letters": "\\p{L}{2}",
    "letters and digits": "\\p{L}{2}.*[0-9]|[0-9].*\\p{L}{2}",
    "at": "@|[(\\[](?:at|AT)[)\\]]",
    "digits": "[0-9].*[0-9].*[0-9].*[0-9].*[0-9]",
    "token": "^[0-9A-Za-z+/=_.-]{16,}$",
    "decimal comma": "^[-+]?(?:[0-9]{1,3}(?:[.][0-9]{3})+|[0-9]+),[0-9]+$",
    "whole": "^[-+]?[0-9]+$",
    "number": "^[-+]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][-+]?[0-9]+)?$",
    "percentage": "^[-+]?[0-9]+(?:[.,][0-9]+)?[ ]?%$",
    "amount": f"^{_MONEY}[ ]?{_SUM}$|^{_SUM}[ ]?{_MONEY}$",
    "date by year": "^[0-9]{4}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12][0-9]|3[01])$",
    "date by year with /": "^[0-9]{4}/(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12][0-9]|3[01])$",
    "date with dots": "^(?:0?[1-9]|[12][0-9]|3[01])[.](?:0?[1-9]|1[0-2])[.][0-9]{4}$",
    "date by month": "^(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12][0-9]|3[01])/[0-9]{4}$",
    "date by day": "^(?:0?[1-9]|[12][0-9]|3[01])/(?:0?[1-9]|1[0-2])/[0-9]{4}$",
    "missing": (
        "(?i)^(?:#?n[./]?a[.]?|nan|<na>|null|none|nil|[-–—]+|[.]+|[?]+|[*]+|k[. /]?[ ]?a[.]?|n[.]?[ ]?[bdv][.]?"
        "|s[./]?o[.]?|unknown|unbekannt|inconnue?|desconocid[oa]|sconosciut[oa]|onbekend|missing|fehlt|fehlend"
        "|(?:not|keine)[ ]?(?:available|known|applicable|angaben?)|missing value|no data|\\\\n)$"
    ),
    "leading zero": "^0[0-9]{1,14}$",
    "digit group": "^[0-9]{3,15}$",
}
"""By name. Those that start with ^ match a whole value, the others anything in it."""
AFTER = {"email": "at", "name": "letters", "address": "letters and digits", "prose": "letters"}
"""Patterns that take long to be read, each with one that matches whatever it matches, and is looked for first."""
AFTER_IN_ASCII = {"address": AFTER["address"]}
"""The only one of these that takes long among values that are ASCII throughout."""
_LETTERS, _DIGITS = string.ascii_letters, string.digits
NEEDS: dict[str, tuple[str, ...]] = {
    "numbered person": (_LETTERS, _DIGITS),
    "email": (_LETTERS, ".", "@(["),
    "uuid": ("-",),
    "mac": (":-.",),
    "ip4": (_DIGITS, "."),
    "ip4 large": (_DIGITS,),
    "ip6": (":",),
    "url": (_LETTERS, ":."),
    "url of a person": (_LETTERS, "/="),
    "handle": ("@",),
    "phone": (_DIGITS, "+0"),
    "phone as written": (_DIGITS, " (.-"),
    "phone loose": (_DIGITS,),
    "code": (_DIGITS,),
    "name": (_LETTERS,),
    "address": (_LETTERS, _DIGITS),
    "position": (_DIGITS, "."),
    "five decimals": (_DIGITS, ".,"),
    "prose": (_LETTERS, "".join(map(chr, range(128))).translate(dict.fromkeys(map(ord, _LETTERS)))),
    "letters": (_LETTERS,),
    "letters and digits": (_LETTERS, _DIGITS),
    "at": ("@([",),
    "digits": (_DIGITS,),
    "decimal comma": (_DIGITS, ","),
    "whole": (_DIGITS,),
    "number": (_DIGITS,),
    "percentage": (_DIGITS, "%"),
    "amount": (_DIGITS, _LETTERS + "$"),
    "date by year": (_DIGITS, "-"),
    "date by year with /": (_DIGITS, "/"),
    "date with dots": (_DIGITS, "."),
    "date by month": (_DIGITS, "/"),
    "date by day": (_DIGITS, "/"),
    "missing": (_LETTERS + "-.?*",),
    "leading zero": ("0",),
    "digit group": (_DIGITS,),
}
"""Of values in ASCII a match has, of each of these groups of characters, one at least."""
LEAST = {"uuid": 36, "mac": 14, "token": 16, "phone": 9, "ip4": 7, "phone loose": 6, "digits": 5}
"""How many characters a match has at least, where these are many."""
LISTED = ("phone", "phone loose", "code", "name", "ip6", "digit group", "prose", "missing")
"""Of these the values themselves are needed, to be checked in Python."""

FOLDED = ("email", "name", "prose", "letters", "letters and digits")
"""Patterns that ask of a letter beyond ASCII only whether it is one: a z in its place matches the same."""

_LETTER = r"\p{L}"
_CLASS = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\p\{L\}")
_OTHERS = re.compile(r"[^\x00-\x7f]")


@cache
def in_ascii() -> dict[str, str]:
    """Return the patterns for values that are ASCII throughout, where they match the same and are compiled sooner.

    A letter is then one of 52. What tells all letters of Unicode takes longer to compile than a small table to match.
    """
    return {name: _CLASS.sub(lambda found: _in_ascii(found[0]), pattern) for name, pattern in PATTERNS.items()}


def matching(there: Set[str], longest: int) -> dict[str, str]:
    """Return the patterns for values in ASCII that may match one of these characters and not more: others match none.

    Each takes a third of a millisecond to be compiled, which is longer than a small table is matched with it.
    """
    return {
        name: pattern
        for name, pattern in in_ascii().items()
        if longest >= LEAST.get(name, 0) and not any(there.isdisjoint(group) for group in NEEDS.get(name, ()))
    }


@cache
def in_folded() -> dict[str, str]:
    """Return the patterns for any values; `FOLDED` ones are for values whose letters beyond ASCII are a z each.

    They are compiled in a tenth of the time that all letters of Unicode take.
    """
    return PATTERNS | {name: _CLASS.sub(lambda found: _in_folded(found[0]), PATTERNS[name]) for name in FOLDED}


def _in_folded(text: str) -> str:
    """Return a class, or a letter, with the letters of ASCII in place of all.

    >>> _in_folded(r"[\\p{L}’.]"), _in_folded(r"\\p{L}")
    ('[A-Za-z’.]', '[A-Za-z]')
    """
    return "[A-Za-z]" if text == _LETTER else text.replace(_LETTER, "A-Za-z")


def _in_ascii(text: str) -> str:
    """Return what matches the same ASCII characters as a class, or a letter: a class of nothing else stays.

    >>> _in_ascii("[äa]"), _in_ascii("[ä]")
    ('[a]', '[ä]')
    """
    if text == _LETTER:
        return "[A-Za-z]"
    short = _OTHERS.sub("", text.replace(_LETTER, "A-Za-z"))
    return text if short == "[]" else short


_MOST = 0.9
_COMMAS = 0.3
"""The least share of values with a decimal comma: others may be whole."""
_DATES = (
    ("date by year", "%Y-%m-%d"), ("date by year with /", "%Y/%m/%d"), ("date with dots", "%d.%m.%Y"),
    ("date by month", "%m/%d/%Y"), ("date by day", "%d/%m/%Y"),
)  # fmt: skip


def misread(sample: Sample, *, csv: bool) -> Misread | None:
    """Return what nine tenths of the values of a text column read as, where they do; words for missing ones aside.

    >>> of = {"whole": 90, "missing": 1, "number": 90}
    >>> told = misread(Sample("income", "text", 91, of, {"missing": ["NA"]}), csv=True)
    >>> told.what, told.how
    ('numbers', '--null-string NA')
    >>> misread(Sample("line", "text", 90, {"whole": 90, "number": 90}), csv=True)
    """
    words = sample.listed.get("missing", ())
    there = sample.total - sample.matched.get("missing", 0)
    if sample.family != "text" or there < 2:
        return None
    found = _read_as(sample, there)
    if found is None:
        return None
    what, own, matched = found
    if own is None:
        return Misread(what, "make numbers of it in SQL, such as CAST(replace(x, '%', '') AS DOUBLE) in a view")
    if not csv:
        kind = "DATE" if what == "dates" else "DOUBLE"
        return Misread(what, f"make a column of them in SQL, with TRY_CAST(x AS {kind}) or TRY_STRPTIME(x, format)")
    options = [*own, *(["--null-string " + shlex.quote(",".join(sorted(words)))] if words else [])]
    others = "what else stands for a missing value" if words else "what stands for a missing value"
    if matched < there or not options:
        options.append(f"{'with' if words else 'and name in --null-string'} {others}{' in it' if words else ''}")
    dates = tuple(form for name, form in _DATES if what == "dates" and sample.matched.get(name, 0) == matched)
    comma = what == "numbers with decimal comma"
    return Misread(what, " ".join(options), Reading(tuple(sorted(words)), comma, dates))


def _read_as(sample: Sample, there: int) -> tuple[str, list[str] | None, int] | None:
    """Return what the values read as, the options that read them (None where none does), and how many they read."""
    count = sample.matched
    dates = {form: count.get(name, 0) for name, form in _DATES}
    if (most := max(dates.values())) >= _MOST * there:
        forms = [form for form, matched in dates.items() if matched == most]
        return "dates", [] if forms == ["%Y-%m-%d"] else [f"--date-format {' or '.join(forms)}"], most
    commas, whole, numbers = (count.get(name, 0) for name in ("decimal comma", "whole", "number"))
    if commas >= _COMMAS * there and commas + whole >= _MOST * there:
        return "numbers with decimal comma", ["--decimal ,"], commas + whole
    # Digits and nothing else are text on purpose, as are those that begin with 0.
    mixed = count.get("missing") or min(numbers, whole) < there
    if numbers >= _MOST * there and mixed and not count.get("leading zero"):
        return "numbers", [], numbers
    for name, what in (("percentage", "percentages"), ("amount", "amounts of money")):
        if count.get(name, 0) >= _MOST * there:
            return what, None, count[name]
    return None
