"""What the name of a column says of its content, in the languages that tables are written in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import IntEnum
from functools import cache
from typing import Literal

Says = Literal[
    "email", "phone", "person", "name", "address", "number", "short number", "person id", "login", "bank", "card",
    "device", "network", "plate", "position", "profile", "record id",
]  # fmt: skip

_LETTERS = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
_PERSON = (
    "patient(?:en|in)?|pat|customer|cust|client|kunde(?:n|in)?|user|member|mitglieds?|person(?:en|al)?|pers|people"
    "|employee|emp|empl|mitarbeiter(?:in)?|arbeitnehmer|student(?:en|in)?|schueler|pupil|citizen|buerger|subscriber"
    "|abonnent|insured|insuree|versicherte[nr]?|versicherungsnehmer|(?:policy)?holder|cardholder|beneficiary|donor"
    "|participant|proband(?:en|in)?|teilnehmer|respondent|passenger|guest|gast|voter|worker|staff|debtor|tenant|mieter"
    "|buyer|kaeufer|resident|bewohner|visitor|borrower|taxpayer|individual|applicant|candidate|teacher|lehrer|doctor"
    "|physician|arzt|nurse|driver|fahrer|cliente|usuario|paciente|empleado|alumno|persona|klienta?|pacjenta?|osoba"
    "|osoby"
    "|pracownik|utilisateur|adherent|assure|salarie|patiente?|personne|deelnemer|klant(?:en)?|werknemer|gebruiker"
    "|persoon|funcionario|aluno|pessoa|inquilino|huurder|mother|father|mutter|vater|spouse|partner|child|kind|parent"
    "|guardian|owner|inhaber|contact|kontakt|recipient|empfaenger|sender|absender|signatory|author|autor|witness|zeuge"
    "|clerk|prescriber|clinician|cashier|provider"
)
_SUBJECT = (
    "patient(?:en|in)?|pat|customer|cust|client|kunde(?:n|in)?|member|mitglieds?|student(?:en|in)?|schueler|pupil"
    "|subscriber|abonnent|insured|insuree|versicherte[nr]?|versicherungsnehmer|policy_?holder|cardholder|beneficiary"
    "|donor|participant|proband(?:en|in)?|teilnehmer|respondent|passenger|guest|gast|voter|debtor|tenant|mieter|buyer"
    "|kaeufer|resident|bewohner|visitor|borrower|taxpayer|applicant|candidate|cliente|paciente|alumno|klienta?"
    "|pacjenta?|adherent|assure|patiente?|deelnemer|klant(?:en)?|aluno|inquilino|huurder|subject"
)
"""Persons that records are about."""
_OTHERS = (
    "employee|emp|empl|empleado|mitarbeiter(?:in)?|staff|worker|clerk|provider|doctor|physician|surgeon|arzt|aerztin"
    "|medecin|medico|nurse|teacher|lehrer(?:in)?|driver|fahrer(?:in)?|cashier|prescriber|clinician|therapist|author"
    "|autor|witness|zeuge|contact|kontakt|sender|absender|recipient|empfaenger|parent|mother|father|mutter|vater|spouse"
    "|partner|guardian|owner|inhaber|signatory|seller|vendedor|vendeur|verkaeufer(?:in)?|agent|advis[eo]r|berater(?:in)?"
    "|operator|bearbeiter(?:in)?"
)
"""Persons that a record of somebody else may name."""
_NUMBER = "id|uid|uuid|guid|nr|no|num|number|nummer|numero|code|kennung|kennziffer|schluessel|key|hash|ref"
_NAME = "name|namen|naam|nom|nombre|nome|navn|namn|nimi|imie|jmeno"
_NATIONAL = (
    "ssn|social_?security(?:_?(?:no|num|number))?|soc_?sec|sozialversicherungs?_?(?:nr|nummer)|sv_?(?:nr|nummer)"
    "|(?:rentenversicherungs|rv)_?(?:nr|nummer)|versicherungs?_?(?:nr|nummer)|versicherten_?(?:nr|nummer|id)"
    "|insurance_?(?:no|num|number|id)|(?:krankenversicherten|kv)_?(?:nr|nummer)|policy_?(?:no|num|number)|ahv(?:_?nr)?"
    "|steuer_?id(?:entifikationsnummer|nr)?|steuer_?(?:nr|nummer)|tax_?(?:payer_?)?(?:id|no|num|number|code)|itin"
    "|nino|national_?insurance(?:_?(?:no|num|number))?|ni_?(?:no|number)|nhs(?:_?(?:no|num|number))?"
    "|bsn(?:_?(?:nr|nummer))?|burgerservicenummer|sofi_?nummer|rijksregister(?:_?nummer|nr)?|insz|niss"
    "|insee|num(?:ero)?_?(?:de_)?secu(?:rite)?(?:_sociale)?|securite_sociale|dni|dni_?nie|nif|documento(?:_identidad)?"
    "|curp|cpf|pesel|(?:codice|cod)_?fiscale|codfisc|aadh?aar\\w*|adhaar\\w*|pan_?(?:no|num|number|card)|voter_?id"
    "|personnummer|personnr|person_?nummer|fodselsnummer|cpr|cpr_?(?:nr|nummer)|hetu|henkilotunnus|rodne_?cislo|cnp"
    "|egn|oib|jmbg|emso|amka|tckn|tc_?(?:kimlik|no)(?:_?no)?|kimlik_?no|cedula|cuil|cuit|nik|cnic|nric|my_?number"
    "|national_?(?:id|no|num|number|identity)(?:_?(?:no|num|number))?|identity_?(?:no|num|number|card)"
    "|id_?(?:card|number|doc\\w*|ausweis)(?:_?(?:no|num|number|nr))?|\\w*ausweis(?:_?(?:nr|nummer|id))?|passport\\w*"
    "|(?:reise)?pass_?(?:nr|nummer|no|number)|reisepass\\w*|pasaporte|passeport|passaporte|paszport|paspoort"
    "|driv(?:er|ers|ing)_?(?:s_?)?licen[cs]e\\w*|licen[cs]e_?(?:no|num|number)|fuehrerschein\\w*|rijbewijs\\w*"
    "|personal_?(?:id|code|number|ident\\w*)|citizen_?(?:id|no|number)|medicare(?:_?(?:no|num|number|id))?|mrn"
    "|medical_?record(?:_?(?:no|num|number))?|personalnummer|matrikel(?:_?(?:nr|nummer))"
)
_HEALTH = "diagnos[ei]s?|diagnoses|disease|illness|icd(?:_?\\d+)?|hiv|krankheit(?:en)?|erkrankung|maladie|enfermedad"

_WORDS: tuple[tuple[Says, str], ...] = (
    ("email", "e_?mails?|\\w*e_?mail_?(?:addresse?|adresse?|id)?|mail|\\w*mail_?(?:address|adresse)|courriel|correo"
              "|correo_electronico|mailadres|emailadres|poczta|mailto"),
    ("network", "(?:\\w+_)?ip_?(?:v?[46])?(?:_?(?:addr|address|adresse))?|(?:client|remote|source|src|host)_?ip"
                "|ipaddr|x_?forwarded_?for"),
    ("device", "(?:\\w+_)?mac(?:_?(?:addr|address|adresse))|mac|imei|imsi|iccid|udid|idfa|gaid|aaid|android_?id"
    "|device_?id"
               "|geraete_?id|serial_?of_?device|advertising_?id|fingerprint_?id|cookie_?id|vin|fahrgestellnummer|fin"),
    ("phone", "\\w*telefon\\w*|\\w*telephone\\w*|telefoon\\w*|tel|tel_?(?:no|nr|num|number|nummer)|\\w*_tel"
              "|(?:\\w*_)?phone(?:_?(?:no|nr|num|number|\\d))?|(?:home|work|cell|mobile)phone|phone(?:no|nr|number)"
              "|mobil|mobile|mobile_?(?:no|num|number)|mobil_?(?:nr|nummer|telefon)|\\w*handy(?:_?(?:nr|nummer))?"
              "|fax|\\w*fax_?(?:no|nr|num|number|nummer)?|cell|cell_?(?:no|number)|celular|movil|portable|telefono"
              "|telemovel"
              "|komorka|telefonu?|msisdn|whatsapp(?:_?(?:no|number))?|rufnummer|festnetz(?:nummer)?|contact_?(?:no"
              "|number)"),
    ("login", "user_?name|username|login(?:_?(?:name|id))?|logon|nick_?name|nick|screen_?name|(?:user_)?handle"
              "|benutzer_?(?:name|kennung)|twitter(?:_?(?:handle|name))?|instagram|skype(?:_?id)?|account_?name"),
    ("profile", "(?:\\w*_)?(?:linkedin|facebook|github|xing)(?:_?(?:url|profile|link))?|profile_?(?:url|link)"
    "|home_?page"
                "|personal_?(?:url|website|site)"),
    ("bank", "(?:\\w*_)?iban|konto|konto_?(?:nr|nummer)|(?:bank_?)?account_?(?:no|nr|num|number)|bank_?account"
             "|compte_?bancaire|cuenta_?bancaria|rekening_?(?:nr|nummer)|numero_de_cuenta|conta_?bancaria|numer_konta"
             "|cbu|clabe"),
    ("card", "(?:credit|debit|payment|bank)_?cards?(?:_?(?:no|num|number))?|card_?(?:no|num|number)|cc_?(?:no|num"
    "|number)"
             "|kreditkarten?_?(?:nr|nummer)?|kartennummer|carte_?bancaire|tarjeta(?:_?credito)?|pan"),
    ("person", f"(?:{_PERSON})_?(?:full_?|first_?|last_?|real_?)?(?:{_NAME})|vor_?namen?|nach_?namen?|familien_?namen?"
               "|geburts_?namen?|maedchen_?name|madchen_?name|ruf_?name|zu_?name|f_?name|l_?name|m_?name"
               "|(?:first|last|given|family|middle|maiden|full|birth|sur|fore|legal|nick)_?names?|initials"
               "|prenoms?|nom_?(?:de_)?(?:famille|usage|naissance|complet)|patronyme|(?:primer_|segundo_)?apellidos?"
               "|nombres|nombre_completo|nombre_y_apellidos?|voor_?naam|achter_?naam|familie_?naam|roep_?naam"
               "|meisjes_?naam"
               "|imie|imiona|imie_i_nazwisko|nazwisko(?:_\\w+)?|sobre_?nome|nome_completo|primeiro_nome|cognome"
               "|etternavn"
               "|for_?navn|efter_?namn|for_?namn|suku_?nimi|etu_?nimi|jmeno|prijmeni|ansprechpartner|kontoinhaber"
               "|karten_?inhaber|soyad[i]?|vezeteknev|keresztnev|personal_?name|name_of_\\w+|maiden"),
    ("address", "(?:\\w*_)?(?:address|adresse|adress|addr)(?:_?(?:line)?_?\\d)?|address_?line|anschrift|wohn_?anschrift"
                "|direccion|domicilio|endereco|indirizzo|adres|adresa|adr|(?:\\w*_)?(?:street|strasse|str|straat)"
                "|\\w+strasse|\\w+straat|street_?(?:name|address|no|number|\\d)|strasse_?(?:nr|hausnr|und_\\w+)"
                "|strassen_?name|rue|calle|ulica|rua|logradouro|numero_et_rue|house_?(?:no|number)_\\w+"),
    ("person", "kundin|ansprechpartnerin"),
    ("number", _NATIONAL),
    ("plate", "kennzeichen|kfz(?:_?kennzeichen)?|autokennzeichen|(?:licen[cs]e|number|registration"
    "|reg)_?plates?(?:_?(?:no|number))?"
              "|plates?|plate_?(?:no|number)|vehicle_?reg\\w*|matricula|immatriculation|placa|targa|kenteken"
              "|nr_?rejestracyjny|numer_rejestracyjny|tablica_\\w+"),
    ("number", "drivers?|licen[cs]e"),
    ("position", "(?:\\w*_)?(?:lat|latitude|latitud|breite|breitengrad|geo_?lat|gps_?lat|lon|lng|long|longitude"
    "|longitud|laenge"
                 "|laengengrad|geo_?(?:lon|lng)|gps_?(?:lon|lng)|coords?|coordinates?|koordinaten?|geo|gps|geo_?point"
                 "|location|position|standort|latlng|lat_?(?:lon|long))"),
    ("person id", f"(?:{_PERSON})_?(?:{_NUMBER})|(?:{_PERSON})s?(?:nr|nummer|id)|(?:matricule|matrikelnummer)"
                  f"|(?:id|num|numero|no|nr|code|cod|codigo)_(?:de_|del_|da_|do_)?(?:{_PERSON})"),
    ("short number", "nie|rut|sin|nir|nid|rg|tin|idnr|svnr|tax|afm|nip|rfc|tfn|ird|rc|ric|ik|ni|nn|ppsn?|isikukood"
                     "|asmens_?kodas|kennitala|tz|teudat_?zehut|fnr|vnr|bic_?no|identif\\w*|personid|ident"),
    ("name", f"(?:\\w+_)?(?:{_NAME})|nazwa|nev|isim|ad_?soyad|{_PERSON}"),
    ("record id", "(?:.*_)?(?:id|uid|uuid|guid|key|account|hash|kennung)(?:_?(?:no|nr|number|hash))?"),
)  # fmt: skip
_RECORD_ID = _WORDS[-1][1]

_THINGS = (
    "product|produkt|produit|producto|item|article|artikel|brand|marke|company|firma|firmen|unternehmen|business|vendor"
    "|supplier|lieferant|manufacturer|hersteller|organi[sz]ation|org|employer|arbeitgeber|school|schule|university|uni"
    "|hospital|krankenhaus|clinic|klinik|department|dept|abteilung|team|project|projekt|campaign|event|station|store"
    "|shop"
    "|filiale|branch|plan|category|kategorie|class|group|gruppe|type|typ|city|town|stadt|ort|gemeinde|municipality"
    "|county|country|land|region|state|province|district|kreis|bezirk|place|venue|site|file|datei|table|tabelle|column"
    "|field|feature|model|module|package|library|service|server|host|domain|database|db|schema|job|task|process|queue"
    "|drug|medication|medikament|wirkstoff|species|colou?r|farbe|currency|title|titel|status|month|monat|day|weekday"
    "|order|invoice|rechnung|bestellung|auftrag|parcel|shipment|batch|lot|charge|sku|ean|gtin|isbn|issn|upc|siren|siret"
    "|vat|ust|sensor|machine|maschine|asset|part|teil|version|device_?type|language|sprache|rule|metric|unit|einheit"
    "|building|room|raum|course|kurs|subject|fach|book|movie|film|song|album|game|app|bank|insurer|profession|beruf"
)
_OF_A_THING = rf"(?:.*_)?(?:{_THINGS})(?:s|en|n)?(?:_(?:name|namen|naam|nom|nombre|nome|{_NUMBER}))?"
_QUALITY = (
    r".*_(?:type|typ|status|state|count|anzahl|cnt|flag|opt_?in|optin|verified|valid|confirmed|length|len|consent|domain"
    r"|provider|format|quality|score|model|brand|os|plan|category|kategorie|year|jahr|date|datum|at|on|age|minutes|usage"
    r"|cost|kosten|bill|charges|total|sum|avg|mean|rate|share|pct|percent|country|city|region|group|gruppe|class|level)"
    rf"|(?!num_(?:{_PERSON})$)(?:has|is|hat|ist|n|num|nb|anzahl|count|prefers?|days|months|years)_.*"
)
_WEIGHING = r"(^|_)(weights?|gewicht|poids|wgts?|hochrechnungsfaktor)$"
_OF_A_BODY = r"(?:^|_)(?:body|birth|newborn|infant|maternal|dry|wet|net|gross|lean|organ|parcel|package)_weights?$"
_SAMPLING = (
    r"(?:^|_)(?:[paf]weights?|wgts?|fnlwgt|finalwgt|perwt|hhwt|hrf|gewichtung(?:sfaktor)?|hochrechnung(?:s(?:faktor|gewicht))?"
    r"|(?:fall|design|personen|haushalts|stichproben)gewicht|ponderation|factor_(?:de_)?expansion"
    r"|(?:sampling|sample|survey|design|person|personal|respondent|household|hh|population|expansion|final|base"
    r"|calibrated|calibration|grossing|inflation|analysis|analytic|replicate|poststratification|longitudinal"
    r"|cross_sectional)_weights?)$"
)
_SENSITIVE = (
    rf"(^|_)({_HEALTH}|choroba|ziekte|malattia|doenca|salary|gehalt|lohn|salaire|salario|salaris|wynagrodzenie|stipendio"
    r"|religion|religione?|religiao|confession|konfession|denomination|ethnicity|ethnic_?group|ethnie|etnia|hautfarbe"
    r"|sexual_?orientation|sexuelle_?orientierung|sex_?life|political_?(?:party|opinion|affiliation)|partei"
    r"|parteizugehoerigkeit"
    r"|trade_?union|union_?membership|gewerkschaft|syndicat|disability|behinderung|handicap|discapacidad|pregnan(?:t|cy)"
    r"|schwanger(?:schaft)?|genotype|mutation|biometric|conviction|criminal_?record|offen[cs]e|vorstrafen?|straftat"
    r"|medication|medikament|prescription|therapy|therapie|addiction|sucht|psychiatric|abortion)(_|$)"
)
_DIGIT_GROUP = (
    r"(?:.*_)?(?:plz|postleitzahl(?:en)?|zip|zip_?code|zip_?\d|zcta|post_?code|postal|postal_?code|postal_?cd"
    r"|code_?postal"
    r"|codigo_?postal|cod_?postal|cp|cep|cap|kod_?pocztowy|postnummer|postnr|postinumero|psc|pin_?code|ags|gkz|ars"
    r"|gemeinde_?(?:schluessel|kennziffer|code|nr)|kreis_?(?:schluessel|kennziffer|code)|regionalschluessel|insee_?com"
    r"|code_?(?:insee|commune|departement)|fips|fips_?code|county_?fips|state_?fips|county_?code|state_?code|area_?code"
    r"|vorwahl|dialling_?code|dialing_?code|calling_?code|nuts|nuts_?code|census_?tract|tract|block_?group|teryt"
    r"|municipality_?code|region_?code|country_?code|sic|sic_?code|naics|naics_?code|nace|isco|isco_?\d*)(?:_?\d)?"
)

_QUANTITY = (
    r"(?:.*_)?(?:age|alter|lebensalter|edad|leeftijd|wiek|idade|eta|alder|years?|yrs?|jahre?|jahrgang|annees?|anos?|anni"
    r"|anno|rok|jaar|months?|monate?|mois|mes|weeks?|wochen?|days?|tage?|hours?|stunden?|minutes?|minuten|seconds?|date"
    r"|datum|time|zeit|period|quarter|born|birth|income|einkommen|revenu|ingreso|wages?|lohn|pay|earnings|rent|miete"
    r"|prices?|preis|prix|precio|costs?|kosten|amount|betrag|montant|importe|sum|summe|total|value|wert|score|points?"
    r"|punkte|rating|grade|rank|rang|level|stufe|height|groesse|taille|size|length|laenge|width|breite|depth|distance"
    r"|bmi|dose|dosis|temp|temperature|temperatur|pressure|rate|percent|prozent|count|anzahl|nombre_de_.*|quantity|qty"
    r"|menge|duration|dauer|speed|area|volume|weight|gewicht|members|persons|employees|children|kinder|visits)"
    r"(?:_\d+)?|(?:n|num|nb|no|number|anzahl|count|zahl)_(?:of|der|de)_.*"
)
_FOR_CODE = "code|kode|kod|codice|codigo|cod|cd|koodi|schluessel|kennziffer|kennzahl|kenn_?nr|chiffre|clave|sleutel"
_CODED = (
    "comune|commune|gemeente|gemeinde|kommune|kommun|gmina|municipio|municipality|concelho|kreis|landkreis|bezirk|district"
    "|distrito|canton|kanton|departement|departamento|provincia?|province|provincie|powiat|okres|county|wahlkreis|wahlbezirk"
    "|constituency|circonscription|precinct|tract|block|region|regione|station|stazione|filiale|branch|agence|agencia"
    "|sucursal|filial|kostenstelle|cost_?cent(?:er|re)|profit_?cent(?:er|re)|abteilung|department|dept|beruf|berufe"
    "|occupation|occ|profession|professione|profesion|zawod|beroep|yrke|industry|branche|wirtschaftszweig|sector|sektor"
    "|product|produkt|artikel|article|item|material|sku|drug|atc|pzn|ndc|diagnos[ei]s?|icd|drg|ops|procedure|tariff|tarif"
    "|store|shop|site|school|schule|hospital|klinik|clinic|ward|room|zone|sprengel|flurstueck"
)
_CLASSIFICATIONS = (
    "kldb|isco|soc|nace|naics|sic|noga|onace|wz|isic|cpc|isced|istat|insee|teryt|nuts|lau|ags|ars|fips|geoid|cusip|icd|ops"
    "|drg|atc|pzn|ndc|gtin|ean|upc|mcc|plz|zip"
)
_CODE = (
    rf"(?:.*_)?(?:{_FOR_CODE})(?:_?[0-9]+)?|(?:code|cod|codice|codigo|kod)_.*|.*(?:schluessel|kennziffer|kostenstelle)"
    rf"|(?:.*_)?(?:{_CODED})(?:_?(?:{_FOR_CODE}|{_NUMBER}|{_CLASSIFICATIONS}|klasse|class))?(?:_?[0-9]+)?"
    rf"|(?:.*_)?(?:{_CLASSIFICATIONS})(?:_?[0-9]+)?(?:_[0-9]?d)?"
)

_HOUSEHOLD = (
    r"(?:.*_)?(?:household|house_hold|hhold|haushalts?|hh|menage|hogar|hid)(?:_?(?:id|no|nr|num|number|nummer|key))?"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled, on first use: most commands look at no column."""
    return re.compile(pattern)


def words(name: str) -> str:
    """Return the name of a column as lower-case words with one underscore between them, without accents.

    >>> words("KundenTelefonNr"), words("E-Mail"), words("Straße 2"), words("customerIDs")
    ('kunden_telefon_nr', 'e_mail', 'strasse_2', 'customer_ids')
    """
    parted = re.sub(r"(?<=[a-zß-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z]{2})", "_", name)
    umlauts = parted.lower().replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").translate(_LETTERS)
    plain = "".join(char for char in unicodedata.normalize("NFKD", umlauts) if not unicodedata.combining(char))
    return re.sub(r"[\W_]+", "_", plain).strip("_")


def says(name: str) -> Says | None:
    """Return what the name of a column says is in it, or None; words before or after it do not hide it.

    >>> says("customer_email"), says("kundenTelefon"), says("svnr"), says("phone_type"), says("product_name")
    ('email', 'phone', 'number', None, None)
    >>> says("patientId"), says("order_id"), says("Vorname"), says("name")
    ('person id', 'record id', 'person', 'name')
    """
    text = words(name)
    if _compiled(_QUALITY).fullmatch(text):
        return None
    tails = [text, *(text[i + 1 :] for i, char in enumerate(text) if char == "_")]
    heads = [text[:i] for i, char in enumerate(text) if char == "_"]
    for kind, form in _WORDS:
        pattern = _compiled(form)
        if kind in ("name", "short number", "record id", "person id") and _compiled(_OF_A_THING).fullmatch(text):
            return "record id" if _compiled(_RECORD_ID).fullmatch(text) else None
        ends = kind not in ("name", "short number")
        if any(pattern.fullmatch(part) for part in (tails if ends else tails[:1])):
            return kind
        if kind in ("email", "phone", "bank", "number", "person") and any(pattern.fullmatch(part) for part in heads):
            return kind
    return None


def of_a_thing(name: str) -> bool:
    """Tell whether the name of a column speaks of products, places or the like, not of persons.

    >>> of_a_thing("city"), of_a_thing("productNo"), of_a_thing("customer")
    (True, True, False)
    """
    return _compiled(_OF_A_THING).fullmatch(words(name)) is not None


def is_word_for_a_person(name: str) -> bool:
    """Tell whether the name is a word for persons of some role, and nothing else; signs within a long one hide nothing.

    >>> is_word_for_a_person("Patient"), is_word_for_a_person("kunde"), is_word_for_a_person("product")
    (True, True, False)
    >>> is_word_for_a_person('per "son'), is_word_for_a_person("em_p")
    (True, False)
    """
    text = words(name)
    letters = text.replace("_", "")
    return _compiled(_PERSON).fullmatch(letters if len(letters) >= 6 else text) is not None


def is_part_of_a_name(name: str, beside: Iterable[str]) -> bool:
    """Tell whether a column is a part of names of persons because other columns of its table are the other parts.

    >>> is_part_of_a_name("FIRST", ["FIRST", "LAST"]), is_part_of_a_name("first", ["first", "second"])
    (True, False)
    """
    parts = ({"first", "given", "fore"}, {"last", "family", "sur", "surname", "maiden", "maiden_name"})
    if words(name) not in {*parts[0], *parts[1], "middle"}:
        return False  # before the other columns are looked at: every column of a table asks
    others = {words(other) for other in beside}
    return all(part & others for part in parts)


class Whose(IntEnum):
    """Whose number a column has, by its name: those that a record is about come first."""

    SUBJECT = 0
    ANYBODY = 1
    OTHERS = 2


def whose(name: str) -> Whose:
    """Return whose number or name a column has: of who the record is about, or of others that it names.

    >>> [whose(name).name for name in ("PATIENT", "kundennr", "patient_doctor_id", "PROVIDER", "user_id")]
    ['SUBJECT', 'SUBJECT', 'OTHERS', 'OTHERS', 'ANYBODY']
    """
    text = words(name)
    if _compiled(rf"(?:.*_)?(?:{_OTHERS})s?_?(?:{_NUMBER})?").fullmatch(text):
        return Whose.OTHERS
    is_subject = _compiled(rf"(?:^|_)(?:{_SUBJECT})s?_?(?:{_NUMBER})?(?:_|$)").search(text)
    return Whose.SUBJECT if is_subject else Whose.ANYBODY


def is_weight(name: str) -> bool:
    """Tell whether the name may be that of sampling weights.

    >>> is_weight("sampling_weight"), is_weight("weight"), is_weight("weighted"), is_weight("birthWeight")
    (True, True, False, False)
    """
    text = words(name)
    found = _compiled(_WEIGHING).search(text) or _compiled(_SAMPLING).search(text)
    return found is not None and _compiled(_OF_A_BODY).search(text) is None


def is_sampling_weight(name: str) -> bool:
    """Tell whether the name can only be that of sampling weights: a column called weight may be that of a body.

    >>> [is_sampling_weight(name) for name in ("pweight", "household_weights", "Hochrechnungsfaktor", "weight")]
    [True, True, True, False]
    """
    return is_weight(name) and _compiled(_SAMPLING).search(words(name)) is not None


def is_quantity(name: str) -> bool:
    """Tell whether the name is that of something measured or counted, which is no number of a record.

    >>> is_quantity("Alter"), is_quantity("birthYear"), is_quantity("number_of_children"), is_quantity("row_no")
    (True, True, True, False)
    """
    return _compiled(_QUANTITY).fullmatch(words(name)) is not None


def is_sensitive(name: str) -> bool:
    """Tell whether the name is that of something a release must not tell of a person.

    >>> is_sensitive("Hauptdiagnose"), is_sensitive("icd10"), is_sensitive("monthlySalary"), is_sensitive("age")
    (True, True, True, False)
    """
    text = words(name)
    return _compiled(_SENSITIVE).search(text) is not None or text.endswith(("diagnose", "krankheit", "gehalt"))


def is_household(name: str) -> bool:
    """Tell whether the name is that of the number of a household.

    >>> is_household("hh_id"), is_household("HaushaltsNr"), is_household("ori_hid"), is_household("household_size")
    (True, True, True, False)
    """
    return _compiled(_HOUSEHOLD).fullmatch(words(name)) is not None


def is_code(name: str) -> bool:
    """Tell whether the name is that of codes of places, occupations, goods or the like, where it stands over numbers.

    So is that of a key, which says which record of another table is meant: nobody computes with it.

    >>> [is_code(name) for name in ("codice_comune", "berufKldb", "station_id", "Wahlkreis", "occupation", "isco08")]
    [True, True, True, True, True, True]
    >>> [is_code(name) for name in ("income", "age", "number_of_rooms", "coded_at", "class_size", "room_count")]
    [False, False, False, False, False, False]
    >>> [is_code(name) for name in ("employer_id", "accountKey", "arzt_nr", "hid", "paid", "household_size")]
    [True, True, True, True, False, False]
    """
    text = words(name)
    if _compiled(_CODE).fullmatch(text) or _compiled(_HOUSEHOLD).fullmatch(text):
        return _compiled(_QUALITY).fullmatch(text) is None
    return says(name) in ("record id", "person id")


def is_digit_group(name: str) -> bool:
    """Tell whether the name is that of a group of digits nobody computes with, such as a postcode or an area code.

    >>> is_digit_group("PLZ"), is_digit_group("zipCode"), is_digit_group("kreisschluessel"), is_digit_group("income")
    (True, True, True, False)
    """
    return _compiled(_DIGIT_GROUP).fullmatch(words(name)) is not None
