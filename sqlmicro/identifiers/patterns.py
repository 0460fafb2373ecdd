"""What a value looks like: the regular expressions of the scan, in the syntax that RE2 and Java share."""

from __future__ import annotations

import re
import string
from collections.abc import Set
from functools import cache

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
