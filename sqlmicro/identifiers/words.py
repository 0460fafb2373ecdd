"""Names of persons: whether a text is one, by lists of common given names and surnames."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "ß": "ss"})
_TITLES = frozenset(
    "dr prof mr mrs ms miss mx sir herr frau hr fr mme mlle m mm sr sra srta dhr mevr mw pan pani ing dipl mag med phil jun"
    " sen jr ii iii iv md phd dds bsc msc ba ma von van der de den di da do dos das del della la le el al bin ibn ter ten zu"
    " zum y e i und univ esq rn dvm smt shri sri".split()
)
_NO_PERSON = frozenset(
    "gmbh ag kg ohg inc ltd llc llp plc corp co company group groupe gruppe sons sa sarl sas bv nv oy ab as srl spa spz oo"
    " ltda eirl stiftung verein bank hotel hospital klinik school university universität street strasse straße road avenue"
    " park city county beach lake river mountain island bay valley north south east west new saint st san santa fort port"
    " los las rio the and of for with services service systems solutions technologies partners associates holding".split()
)
_AMBIGUOUS = frozenset(
    "may june april august sunday black white brown green gray grey gold rose amber violet olive scarlet ruby jade silver red"
    " blue baker cook mason carter butcher farmer gardner miller smith king bishop major judge french german english west east"
    " north south hill wood stone field park brook lake rice berry lemon angel summer winter autumn sommer herbst montag"
    " samstag petit grand roux blanc rouge noir gross klein kurz lang schwarz weiss braun grau roth boss price young old long"
    " short rich good best true noble sharp frei ernst neu alt hoch engel post per day iris heather hazel ivy lily daisy"
    " jasmine basil ginger olive van no na si do so in an am on or it he she her his my an de la le el no yes ja nein oui non".split()
)
_OF_FAMILIES = re.compile(
    r"[^\W\d_]{3,}(?:ski|ska|cki|cka|dzki|dzka|wicz|czyk|czak|ssons?|sdotter|sdottir|ssen|nsen|rsen|lsen|tsen|dsen|escu|eanu"
    r"|oglu|ovic|evic|ovich|evich|enko|chuk|czuk|inen|opoulos|opoulou|idis|akis|shvili|strom|stroem|qvist|quist|gren|ovova|kova"
    r"|nova|rova|lova|cova|[nkrlmdst]ov|elli|etti|ucci|acci|azzi|ozzi|igni|aldi|ardi|ieri|stra|inga|ema|huis|veld|endez"
    r"|inez|andez|guez|quez|alez|irez|arez|aharan|swamy|nathan|murthy|garwal|sinh|wala|kar|yan|tyan|zadeh|pour|nejad)"
)
"""Endings that surnames have, and few other words; of whole words without accents."""
_HAN = re.compile(
    "^(?:[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾萧蕭田董潘袁蔡蒋蔣余于杜叶葉程魏苏蘇吕呂丁任卢盧姚沈钟鍾姜崔谭譚陆陸范汪廖石金韦韋贾賈夏付方邹鄒熊白孟秦邱侯江尹薛闫雷"
    "龙龍黎史陶贺賀毛郝顾顧龚龔邵万萬覃武钱錢戴严嚴莫孔向常汤湯][\\u4e00-\\u9fff]{1,2}"
    "|(?:佐藤|鈴木|高橋|田中|渡辺|渡邊|伊藤|山本|中村|小林|加藤|吉田|山田|佐々木|山口|松本|井上|木村|林|斎藤|清水|山崎|森|池田|橋本|阿部|石川|山下|中島|石井|小川"
    "|前田|岡田|長谷川|藤田|後藤|近藤|村上|遠藤|青木|坂本|斉藤|福田|太田|西村|藤井|金子|岡本|藤原|三浦|中野|中川|原田|松田|竹内|小野|田村|中山|和田|石田|森田|上田|原|内田"
    "|柴田|酒井|宮崎|横山|高木|安藤|宮本|大野|小島|谷口|今井|工藤|高田|増田|丸山|杉山|村田|大塚|新井|藤本|小山|平野|河野|上野|野口|武田|松井|千葉|菅原|岩崎|久保|木下|佐野|野村|松尾|市川|菊地"
    "|菊池|杉本|古川|大西|島田|水野|桜井|高野|渡部|吉川|山内|西田|飯田|若松|津田|江古田|三宅|喜嶋|廣川)[ 　]?[\\u3040-\\u30ff\\u4e00-\\u9fff]{0,4}"
    "|[김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민나진지엄채원천방공현함변염여추도소석선설마길연위표명기반라왕금옥육인맹제모][ ]?[가-힣]{1,2})$"
)


@cache
def _listed(file: str) -> frozenset[str]:
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def plain(text: str) -> str:
    """Return text in lower case without accents; umlauts are written with an e.

    >>> plain("Jörg"), plain("Łukasz"), plain("José")
    ('joerg', 'lukasz', 'jose')
    """
    umlauts = text.lower().replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").translate(_LETTERS)
    return "".join(char for char in unicodedata.normalize("NFKD", umlauts) if not unicodedata.combining(char))


def _is_one_of(word: str, names: frozenset[str]) -> bool:
    """Tell whether a word is in a list; an umlaut may be written there with or without its e."""
    own = plain(word)
    return own in names or own.replace("ae", "a").replace("oe", "o").replace("ue", "u") in names


_FIRM = re.compile(r"[&+]|\b(?:S[.]?A[.]?S?|S[.]?R[.]?L|[sS][.]?\s?r[.]?\s?o|a[.]s|Lda|e[.]K|KGaA|mbH|O[.]H[.]G)(?:\b|[.]|$)")


def is_name(text: str) -> bool:
    """Tell whether a text is the name of a person: a common given name or surname, alone or where one stands.

    >>> [is_name(text) for text in ("Anna Schmidt", "GARCÍA, José", "J. Smith", "Bonn", "Müller GmbH", "Nguyễn Văn An")]
    [True, True, True, False, False, True]
    """
    if _HAN.match(text):
        return True
    if _FIRM.search(text):
        return False
    given, surnames = _listed("given_names.txt"), _listed("surnames.txt")
    words = [word for word in re.split(r"[ ,.()’'`´/-]+", text.strip()) if word]
    if any(plain(word) in _NO_PERSON for word in words):
        return False
    told = [word for word in words if len(word) > 1 and plain(word) not in _TITLES] or words[:1]
    if len(told) > 5:
        return False
    first, last = told[0], told[-1]
    if len(told) == 1:
        clear = len(words) > 1 or plain(first) not in _AMBIGUOUS
        return clear and len(first) > 1 and (_is_one_of(first, given) or _is_surname(first, surnames))
    if any(_is_one_of(word, given) and plain(word) not in _AMBIGUOUS for word in (first, last)):
        return True
    return all(_is_surname(word, surnames) or _is_one_of(word, given) for word in (first, last))


def _is_surname(word: str, surnames: frozenset[str]) -> bool:
    return _is_one_of(word, surnames) or (word[:1].isupper() and _OF_FAMILIES.fullmatch(plain(word)) is not None)
