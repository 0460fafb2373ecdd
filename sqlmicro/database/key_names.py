"""What the names of tables and columns say of keys: which column may refer to which table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from sqlmicro.database.column_names import says, words

_ENDING = re.compile(
    r"_?(?:id|ids|key|sk|fk|no|nr|num|number|nummer|code|uuid|guid|ref|kennung|schluessel|identifier)$"
)
_BEGINNING = re.compile(r"^(?:id|num|numero|no|nr|code|cod|codigo|fk|pk|sk|cle|clave)_(?:de_|del_|da_|do_)?(?=[a-z])")
_OWN_TABLE = re.compile(
    r"(?:.*_)?(?:reports_to|manager|parent|supervisor|boss|superior|chief|head|vorgesetzter?|uebergeordnet|mother|father"
    r"|referred_by|referrer|preceding|previous|next|successor|predecessor|replaces|replaced_by|duplicate_of|root)"
    r"(?:_.*)?"
)
_SOMEBODY = re.compile(
    r".+_(?:by|von|par|por|door|da)"
    r"|(?:.*_)?(?:support_?|sales_?|account_?|case_?|team_?|project_?)?(?:rep|representative|agent|manager|supervisor"
    r"|leader|leiter(?:in)?|vorgesetzter?|responsible|verantwortlicher?|creator|ersteller|modifier|editor|approver"
    r"|reviewer|assignee|requester|requestor|reporter|submitter|operator|handler|assessor|auditor|seller|salesperson"
    r"|verkaeufer(?:in)?|bearbeiter(?:in)?|sachbearbeiter(?:in)?|betreuer(?:in)?|berater(?:in)?|advisor|adviser"
    r"|counsell?or|coach|tutor|instructor|trainer|lecturer|dozent(?:in)?|examiner|pruefer(?:in)?|referrer|technician"
    r"|vertreter(?:in)?|responsable|auteur|vendeur|vendedor|creador)"
)
"""Who did something: a number of a person, whatever the table of persons is called."""
_DID = re.compile(r"(.+?)_?(?:modified|created|updated|changed|deleted|added|approved|assigned|entered|closed|opened)")


def prefix_of_tables(tables: Iterable[str]) -> str:
    """Return the word that more than half of the tables of a warehouse start with, at least three; it says nothing.

    >>> prefix_of_tables(["mdl_user", "mdl_course", "mdl_enrol", "log"]), prefix_of_tables(["user", "course"])
    ('mdl', '')
    """
    listed = [words(table.rpartition(".")[2]) for table in tables]
    first = [name.partition("_")[0] for name in listed if "_" in name]
    found = max(first, key=first.count, default="")
    return found if first.count(found) >= max(3, len(listed) / 2) else ""


def without_table_prefix(table: str, prefix: str) -> str:
    """Return the name of a table without schema and without what most tables start with.

    >>> without_table_prefix("school.mdl_user", "mdl"), without_table_prefix("log", "mdl")
    ('user', 'log')
    """
    name = words(table.rpartition(".")[2])
    return name.removeprefix(f"{prefix}_") if prefix else name


@cache
def stem(table: str) -> str:
    """Return the name of a table as one word or several, in the singular.

    >>> stem("main.Customers"), stem("visit_occurrence"), stem("categories"), stem("addresses")
    ('customer', 'visit_occurrence', 'category', 'address')
    """
    text = words(table.rpartition(".")[2])
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x")):
        if text.endswith(ending):
            return text.removesuffix(ending) + instead
    return text.removesuffix("s") if not text.endswith(("ss", "us", "is")) else text


@cache
def base(column: str) -> str:
    """Return the name of a column without the word for a key at its end or beginning; nothing where that is all.

    >>> base("CustomerID"), base("custkey"), base("id"), base("gender_concept_id"), base("id_client")
    ('customer', 'cust', '', 'gender_concept', 'client')
    """
    text = words(column)
    found = _ENDING.sub("", text)
    return _BEGINNING.sub("", text) if found == text else found


def without_prefix(columns: Iterable[str]) -> dict[str, str]:
    """Return the columns of a table without the abbreviation of the table that all of them start with.

    >>> without_prefix(["o_orderkey", "o_custkey"]), without_prefix(["id", "name"])
    ({'o_orderkey': 'orderkey', 'o_custkey': 'custkey'}, {'id': 'id', 'name': 'name'})
    """
    listed = list(columns)
    first = {words(column).partition("_")[0] for column in listed}
    cut = len(listed) > 1 and len(first) == 1 and all("_" in column for column in listed)
    return {column: column.partition("_")[2] if cut else column for column in listed}


_PERSON = "person id"


@cache
def marks(column: str) -> frozenset[str]:
    """Return beginnings of words, one of which `marks_of_key` has too if `affinity` is above 0 in another table.

    >>> sorted(marks("ship_customer_id")), sorted(marks_of_key("customers", "id"))
    (['_cu', 'cus', 'hip', 'ip_', 'ome', 'p_c', 'person id', 'shi', 'sto', 'tom', 'ust'], ['cus', 'person id'])
    """
    said = base(column)
    found = {part[:3] for part in said.split("_")} - {""}
    if words(column) != said:  # a word may stand behind another one: relateduserid
        found |= {said[at : at + 3] for at in range(len(said) - 3)}
    return frozenset(found | ({_PERSON} if says(column) == _PERSON or _is_somebody(column) else set()))


def marks_of_key(parent: str, key: str) -> frozenset[str]:
    """Return beginnings of words that name a key of a table."""
    found = {name[:3] for name in (*stem(parent).split("_"), base(key))} - {""}
    return frozenset(found | ({_PERSON} if says(f"{stem(parent)}_id") == _PERSON else set()))


def _is_somebody(column: str) -> bool:
    """Tell whether a column is the number of whoever did something, by its name."""
    said = base(column)
    did = _DID.fullmatch(said)
    by = did is not None and says(f"{did[1]}_id") == _PERSON
    return by or _SOMEBODY.fullmatch(said if words(column) != said else words(column)) is not None


def affinity(child: str, column: str, parent: str, key: str) -> int:
    """Return how much the name of a column speaks for referring to a key of a table: 0 (not at all) to 4.

    >>> affinity("orders", "customer_id", "customers", "id"), affinity("orders", "KundeID", "kunde", "KundeID")
    (4, 4)
    >>> affinity("orders", "custkey", "customer", "custkey"), affinity("person", "gender_concept_id", "concept", "id")
    (4, 3)
    >>> affinity("staff", "ReportsTo", "staff", "StaffID"), affinity("orders", "ShipVia", "shippers", "ShipperID")
    (2, 1)
    >>> affinity("visits", "patient_id", "persons", "id"), affinity("visits", "product_id", "persons", "id")
    (2, 0)
    >>> affinity("orders", "quantity", "products", "id"), affinity("orders", "email", "persons", "email")
    (0, 0)
    >>> affinity("enrol", "courseid", "course", "id"), affinity("log", "relateduserid", "user", "id")
    (4, 2)
    >>> affinity("course", "category", "course_categories", "id"), affinity("grade", "itemid", "grade_items", "id")
    (1, 3)
    >>> affinity("submission", "assignment", "assign", "id"), affinity("leave", "approved_by", "staff", "staff_no")
    (1, 1)
    """
    table, said, of_key = stem(parent), base(column), base(key)
    if not said:
        return 0
    owns = of_key in ("", table) or (len(of_key) >= 3 and (table.startswith(of_key) or table.endswith(f"_{of_key}")))
    if owns and (said in (table, of_key) or (len(said) >= 3 and words(column) != said and table.startswith(said))):
        return 4
    if words(column) == words(key) and words(column) != said:
        return 3 if owns else 2
    if owns and any(said.endswith(f"_{name}") for name in (table, of_key) if name):
        return 3
    numbers_persons = says(f"{table}_id") == _PERSON and (owns or says(key) in (_PERSON, "number"))
    if numbers_persons and child != parent and says(column) == _PERSON:
        return 2 if owns else 1
    if child == parent and _OWN_TABLE.fullmatch(words(column)):
        return 2
    is_key = words(column) != said
    if owns and len(said) >= 4 and table.endswith(f"_{said}"):
        return 3 if is_key else 1
    if owns and is_key and len(table) >= 4 and said.endswith(table):
        return 2
    if owns and len(table) >= 5 and said.startswith(table) and "_" not in said:
        return 1
    if numbers_persons and _is_somebody(column):
        return 1
    first = said.partition("_")[0]
    begins = len(first) >= 4 and table.startswith(first) and first not in (said, table)
    return 1 if owns and child != parent and begins else 0
