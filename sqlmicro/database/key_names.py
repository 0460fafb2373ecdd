"""What the names of tables and columns say of keys: which column may refer to which table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from sqlmicro.database.column_names import says, words

_ENDING = re.compile(
    r"_?(?:id|ids|key|sk|fk|no|nr|num|number|nummer|code|uuid|guid|ref|kennung|schluessel|identifier)$"
)
_OWN_TABLE = re.compile(
    r"(?:.*_)?(?:reports_to|manager|parent|supervisor|boss|superior|chief|head|vorgesetzter?|uebergeordnet|mother|father"
    r"|referred_by|referrer|preceding|previous|next|successor|predecessor|replaces|replaced_by|duplicate_of|root)"
    r"(?:_.*)?"
)


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
    """Return the name of a column without the word for a key at its end; nothing where that is all.

    >>> base("CustomerID"), base("custkey"), base("id"), base("gender_concept_id")
    ('customer', 'cust', '', 'gender_concept')
    """
    return _ENDING.sub("", words(column))


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
    (['cus', 'person id', 'shi'], ['cus', 'person id'])
    """
    found = {part[:3] for part in base(column).split("_")} - {""}
    return frozenset(found | ({_PERSON} if says(column) == _PERSON else set()))


def marks_of_key(parent: str, key: str) -> frozenset[str]:
    """Return beginnings of words that name a key of a table."""
    found = {name[:3] for name in (stem(parent), base(key))} - {""}
    return frozenset(found | ({_PERSON} if says(f"{stem(parent)}_id") == _PERSON else set()))


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
    if owns and child != parent and says(column) == says(f"{table}_id") == _PERSON:
        return 2
    if child == parent and _OWN_TABLE.fullmatch(words(column)):
        return 2
    first = said.partition("_")[0]
    return 1 if owns and child != parent and len(first) >= 4 and table.startswith(first) and first != said else 0
