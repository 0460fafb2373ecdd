"""Three public schemas, rebuilt with generated rows: TPC-H-like orders, OMOP-like clinical, Northwind-like shop.

Tables and columns are called as in the published schemas; values are drawn here. Labels: columns that identify persons
(names, contacts, numbers given to persons), person keys (whose record it is), foreign keys.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST = "Anna,Peter,Maria,Jonas,Julia,Lukas,Emma,David,Laura,Thomas,Sarah,Michael,Nina,Robert,Clara,Daniel,Eva,Martin"
LAST = "Meyer,Smith,Gruber,Novak,Rossi,Garcia,Silva,Jensen,Kowalski,Dubois,Brown,Miller,Wagner,Johnson,Lopez,Moreau"
STREETS = "High Street,Main Street,Oak Avenue,Park Road,Mill Lane,Church Street,Station Road,King Street,Elm Avenue"
WORDS = "carefully,final,deposits,detect,slyly,agai,ironic,accounts,sleep,furiously,even,pinto,beans,along,bold,express"


def one_of(names: str, salt: int) -> str:
    listed = names.split(",")
    quoted = ", ".join(f"'{name}'" for name in listed)
    return f"[{quoted}][1 + (hash(i, {salt}) % {len(listed)})::INTEGER]"


def number(below: int, salt: int, first: int = 0) -> str:
    return f"({first} + hash(i, {salt}) % {below})::BIGINT"


def maybe(text: str, salt: int) -> str:
    return f"CASE WHEN hash(i, {salt}) % 5 > 0 THEN {text} END"


def day(salt: int, first: str = "1992-01-01", days: int = 2500) -> str:
    return f"(DATE '{first}' + (hash(i, {salt}) % {days})::INTEGER)"


NAME = f"{one_of(FIRST, 1)} || ' ' || {one_of(LAST, 2)}"
ADDRESS = f"(1 + hash(i, 3) % 180) || ' ' || {one_of(STREETS, 4)}"
PHONE = "printf('%d-%03d-%03d-%04d', 10 + (hash(i, 5) % 25)::INTEGER, (100 + hash(i, 6) % 900)::INTEGER, " \
        "(100 + hash(i, 7) % 900)::INTEGER, (1000 + hash(i, 8) % 9000)::INTEGER)"  # fmt: skip
ZIP = "lpad((hash(i, {}) % 90 * 97)::VARCHAR, 5, '0')"
COMMENT = " || ' ' || ".join(one_of(WORDS, salt) for salt in range(20, 26))


@dataclass(frozen=True)
class Schema:
    """Tables: rows and columns with their SQL; and the labels."""

    name: str
    tables: dict[str, tuple[int, dict[str, str]]]
    identifiers: set[str]
    persons: set[str]
    keys: set[tuple[str, str]]

    @property
    def texts(self):
        """The columns of free text."""
        return {
            f"{table}.{name}" for table, (_, columns) in self.tables.items() for name, of in columns.items()
            if of == COMMENT
        }  # fmt: skip

    def statements(self):
        for table, (rows, columns) in self.tables.items():
            listed = ", ".join(f'{expression} AS "{name}"' for name, expression in columns.items())
            yield f'CREATE TABLE "{table}" AS SELECT {listed} FROM range({rows}) r(i)'


def lines(*texts: str) -> set[str]:
    return {word for text in texts for word in text.split()}


def pairs(text: str) -> set[tuple[str, str]]:
    words = text.split()
    return set(zip(words[::2], words[1::2], strict=True))


TPCH = Schema(
    "TPC-H-like orders",
    {
        "region": (5, {"r_regionkey": "i", "r_name": "'REGION ' || i", "r_comment": COMMENT}),
        "nation": (25, {"n_nationkey": "i", "n_name": "'NATION ' || i", "n_regionkey": "i % 5", "n_comment": COMMENT}),
        "supplier": (200, {
            "s_suppkey": "i + 1", "s_name": "printf('Supplier#%09d', i + 1)", "s_address": ADDRESS,
            "s_nationkey": number(25, 11), "s_phone": PHONE,
            "s_acctbal": "(hash(i, 12) % 1000000)::DECIMAL(15,2) / 100",
            "s_comment": COMMENT}),
        "part": (2000, {
            "p_partkey": "i + 1", "p_name": COMMENT, "p_mfgr": "'Manufacturer#' || (1 + hash(i, 13) % 5)",
            "p_brand": "'Brand#' || (11 + hash(i, 14) % 45)", "p_type": "'TYPE ' || hash(i, 15) % 150",
            "p_size": number(50, 16, 1), "p_container": "'BOX ' || hash(i, 17) % 40",
            "p_retailprice": "900 + (i % 1000) / 10.0", "p_comment": COMMENT}),
        "partsupp": (8000, {
            "ps_partkey": "i // 4 + 1", "ps_suppkey": "(i * 7) % 200 + 1", "ps_availqty": number(9999, 18, 1),
            "ps_supplycost": "(hash(i, 19) % 100000) / 100.0", "ps_comment": COMMENT}),
        "customer": (3000, {
            "c_custkey": "i + 1", "c_name": "printf('Customer#%09d', i + 1)", "c_address": ADDRESS,
            "c_nationkey": number(25, 31), "c_phone": PHONE, "c_acctbal": "(hash(i, 32) % 1000000) / 100.0",
            "c_mktsegment": one_of("BUILDING,AUTOMOBILE,MACHINERY,HOUSEHOLD,FURNITURE", 33), "c_comment": COMMENT}),
        "orders": (30000, {
            "o_orderkey": "i * 4 + 1", "o_custkey": number(2000, 34, 1), "o_orderstatus": one_of("F,O,P", 35),
            "o_totalprice": "(hash(i, 36) % 50000000) / 100.0", "o_orderdate": day(37),
            "o_orderpriority": one_of("1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW", 38),
            "o_clerk": "printf('Clerk#%09d', (1 + hash(i, 39) % 30)::INTEGER)", "o_shippriority": "0",
            "o_comment": COMMENT}),
        "lineitem": (60000, {
            "l_orderkey": "(i // 2) * 4 + 1", "l_partkey": number(2000, 41, 1), "l_suppkey": number(200, 42, 1),
            "l_linenumber": "i % 2 + 1", "l_quantity": number(50, 43, 1), "l_extendedprice": number(9000000, 44),
            "l_discount": "(hash(i, 45) % 11) / 100.0", "l_tax": "(hash(i, 46) % 9) / 100.0",
            "l_returnflag": one_of("A,N,R", 47), "l_linestatus": one_of("F,O", 48), "l_shipdate": day(49),
            "l_commitdate": day(50), "l_receiptdate": day(51), "l_shipinstruct": one_of("NONE,COD,TAKE BACK", 52),
            "l_shipmode": one_of("AIR,RAIL,SHIP,TRUCK,MAIL", 53), "l_comment": COMMENT}),
    },
    lines("customer.c_custkey customer.c_name customer.c_address customer.c_phone orders.o_custkey orders.o_clerk",
          "supplier.s_address supplier.s_phone"),
    lines("customer.c_custkey customer.c_name orders.o_custkey orders.o_clerk"),
    pairs("nation.n_regionkey region.r_regionkey supplier.s_nationkey nation.n_nationkey "
          "customer.c_nationkey nation.n_nationkey partsupp.ps_partkey part.p_partkey "
          "partsupp.ps_suppkey supplier.s_suppkey orders.o_custkey customer.c_custkey "
          "lineitem.l_orderkey orders.o_orderkey lineitem.l_partkey part.p_partkey "
          "lineitem.l_suppkey supplier.s_suppkey"),
)  # fmt: skip

EVENTS = ("condition_occurrence", "drug_exposure", "procedure_occurrence", "measurement")
CONCEPT = "(8000 + (hash(i, {}) % 400) * 3)::BIGINT"


def event(
    name: str, rows: int, concept: str, *more: tuple[str, str], salt: int
) -> dict[str, tuple[int, dict[str, str]]]:
    columns = {
        f"{name}_id": f"i + {salt * 1000}",
        "person_id": number(1800, salt, 101),
        f"{concept}_concept_id": CONCEPT.format(salt + 1),
        f"{concept}_start_date": day(salt + 2, "2015-01-01"),
        f"{concept}_type_concept_id": "8003::BIGINT",
        "provider_id": maybe(number(60, salt + 3, 501), salt + 4),
        "visit_occurrence_id": maybe(number(9000, salt + 5, 700000), salt + 6),
        f"{concept}_source_value": f"'S' || hash(i, {salt + 7}) % 300",
        f"{concept}_source_concept_id": CONCEPT.format(salt + 8),
    }
    return {name: (rows, {**columns, **dict(more)})}


OMOP = Schema(
    "OMOP-like clinical",
    {
        "concept": (1200, {
            "concept_id": "8000 + i", "concept_name": "'concept ' || i", "domain_id": "'domain ' || i % 12",
            "vocabulary_id": "'vocabulary ' || i % 9", "concept_class_id": "'class ' || i % 30",
            "standard_concept": "['S', 'C'][1 + i % 2]", "concept_code": "'C' || i * 17",
            "valid_start_date": "DATE '1970-01-01'", "valid_end_date": "DATE '2099-12-31'"}),
        "location": (900, {
            "location_id": "3000 + i", "address_1": ADDRESS, "city": one_of("Graz,Linz,Wien,Bern,Köln", 61),
            "state": one_of("ST,OO,W,BE,NW", 62), "zip": ZIP.format(63),
            "county": one_of("a,b,c,d,e,f", 64)}),
        "care_site": (40, {
            "care_site_id": "200 + i", "care_site_name": "'Clinic ' || i",
            "place_of_service_concept_id": CONCEPT.format(65),
            "location_id": number(900, 66, 3000), "care_site_source_value": "'CS' || i"}),
        "provider": (60, {
            "provider_id": "501 + i", "provider_name": NAME, "specialty_concept_id": CONCEPT.format(67),
            "care_site_id": number(40, 68, 200), "year_of_birth": number(40, 69, 1950),
            "gender_concept_id": "8000 + 3 * (i % 2)"}),
        "person": (2000, {
            "person_id": "101 + i", "gender_concept_id": "(8000 + 3 * (hash(i, 71) % 2))::BIGINT",
            "year_of_birth": number(80, 72, 1930), "month_of_birth": number(12, 73, 1), "day_of_birth": number(28, 74,
            1),
            "race_concept_id": CONCEPT.format(75), "ethnicity_concept_id": CONCEPT.format(76),
            "location_id": number(900, 77, 3000), "provider_id": maybe(number(60, 78, 501), 79),
            "care_site_id": number(40, 80, 200), "person_source_value": "md5(i::VARCHAR)"}),
        "death": (150, {
            "person_id": "101 + 13 * i", "death_date": day(81, "2018-01-01"), "death_type_concept_id": "8003::BIGINT",
            "cause_concept_id": maybe(CONCEPT.format(82), 83)}),
        "observation_period": (2000, {
            "observation_period_id": "40000 + i", "person_id": "101 + i", "observation_period_start_date": day(84),
            "observation_period_end_date": day(85, "2019-01-01"), "period_type_concept_id": "8003::BIGINT"}),
        "visit_occurrence": (9000, {
            "visit_occurrence_id": "700000 + i", "person_id": number(1800, 86, 101),
            "visit_concept_id": CONCEPT.format(87),
            "visit_start_date": day(88, "2015-01-01"), "visit_end_date": day(89, "2015-01-01"),
            "visit_type_concept_id": "8003::BIGINT", "provider_id": maybe(number(60, 90, 501), 91),
            "care_site_id": number(40, 92, 200),
            "preceding_visit_occurrence_id": maybe("700000 + (i * 7) % 9000", 93)}),
        **event("condition_occurrence", 20000, "condition", salt=100),
        **event("drug_exposure", 20000, "drug", ("quantity", number(90, 119)), ("days_supply", number(30, 120)),
        salt=110),
        **event("procedure_occurrence", 9000, "procedure", salt=130),
        **event("measurement", 30000, "measurement", ("value_as_number", "(hash(i, 149) % 9999) / 10.0"),
                ("unit_concept_id", CONCEPT.format(150)), salt=140),
    },
    lines("location.address_1 provider.provider_id provider.provider_name person.person_id person.person_source_value",
          *(f"{table}.{column}" for table in (*EVENTS, "visit_occurrence") for column in ("person_id", "provider_id")),
          "person.provider_id death.person_id observation_period.person_id"),
    lines("person.person_id provider.provider_id person.provider_id death.person_id observation_period.person_id",
          *(f"{table}.{column}" for table in (*EVENTS, "visit_occurrence") for column in ("person_id", "provider_id"))),
    pairs("care_site.location_id location.location_id provider.care_site_id care_site.care_site_id "
          "person.location_id location.location_id person.provider_id provider.provider_id "
          "person.care_site_id care_site.care_site_id death.person_id person.person_id "
          "observation_period.person_id person.person_id visit_occurrence.person_id person.person_id "
          "visit_occurrence.provider_id provider.provider_id visit_occurrence.care_site_id care_site.care_site_id "
          "visit_occurrence.preceding_visit_occurrence_id visit_occurrence.visit_occurrence_id")
    | {(f"{table}.{key}", to) for table in EVENTS
       for key, to in (("person_id", "person.person_id"), ("provider_id", "provider.provider_id"),
                       ("visit_occurrence_id", "visit_occurrence.visit_occurrence_id"))}
    | {(f"{table}.{name}", "concept.concept_id") for table, names in (
        ("care_site", "place_of_service_concept_id"), ("provider", "specialty_concept_id gender_concept_id"),
        ("person", "gender_concept_id race_concept_id ethnicity_concept_id"),
        ("death", "death_type_concept_id cause_concept_id"), ("observation_period", "period_type_concept_id"),
        ("visit_occurrence", "visit_concept_id visit_type_concept_id"), ("measurement", "unit_concept_id"),
        *((table, f"{one}_concept_id {one}_type_concept_id {one}_source_concept_id") for table, one in (
            ("condition_occurrence", "condition"), ("drug_exposure", "drug"), ("procedure_occurrence", "procedure"),
            ("measurement", "measurement")))) for name in names.split()},
)  # fmt: skip

SHIP = {"ShipName": NAME, "ShipAddress": ADDRESS, "ShipCity": one_of("Graz,Linz,Bern,Reims,Lyon,Cork,Porto", 201),
        "ShipRegion": one_of("A,B,C", 202), "ShipPostalCode": ZIP.format(203),
        "ShipCountry": one_of("Austria,France,Ireland,Portugal", 204)}  # fmt: skip
CUSTOMER_ID = "chr((65 + {0} % 26)::INTEGER) || chr((65 + ({0} // 26) % 26)::INTEGER) || 'KUN'"
NORTHWIND = Schema(
    "Northwind-like shop",
    {
        "Categories": (8, {"CategoryID": "i + 1", "CategoryName": "'Category ' || i", "Description": COMMENT}),
        "Suppliers": (29, {
            "SupplierID": "i + 1", "CompanyName": "'Company ' || i", "ContactName": NAME,
            "ContactTitle": one_of("Owner,Sales Agent,Manager", 205), "Address": ADDRESS,
            "City": one_of("Graz,Linz,Bern,Reims,Lyon,Cork", 206), "Country": one_of("Austria,France", 207),
            "Phone": PHONE}),
        "Products": (77, {
            "ProductID": "i + 1", "ProductName": "'Product ' || i", "SupplierID": number(29, 208, 1),
            "CategoryID": number(8, 209, 1), "QuantityPerUnit": "(1 + i % 24) || ' boxes'",
            "UnitPrice": "(hash(i, 210) % 9000) / 100.0", "UnitsInStock": number(120, 211), "ReorderLevel": number(30,
            212),
            "Discontinued": "i % 9 = 0"}),
        "Customers": (400, {
            "CustomerID": CUSTOMER_ID.format("i"), "CompanyName": "'Company ' || i", "ContactName": NAME,
            "ContactTitle": one_of("Owner,Sales Agent,Manager", 213), "Address": ADDRESS,
            "City": one_of("Graz,Linz,Bern,Reims,Lyon,Cork", 214),
            "PostalCode": ZIP.format(215), "Country": one_of("Austria,France", 216),
            "Phone": PHONE, "Fax": PHONE}),
        "Employees": (60, {
            "EmployeeID": "i + 1", "LastName": one_of(LAST, 217), "FirstName": one_of(FIRST, 218),
            "Title": one_of("Sales Representative,Sales Manager,Vice President", 219), "BirthDate": day(220,
            "1950-01-01", 15000),
            "HireDate": day(221), "Address": ADDRESS, "City": one_of("Graz,Linz,Bern", 222),
            "HomePhone": PHONE, "Extension": number(9000, 223, 1000),
            "ReportsTo": "CASE WHEN i > 2 THEN 1 + (i * 5) % 11 END"}),
        "Shippers": (3, {"ShipperID": "i + 1", "CompanyName": "'Company ' || i", "Phone": PHONE}),
        "Region": (4, {"RegionID": "i + 1", "RegionDescription": "'Region ' || i"}),
        "Territories": (53, {
            "TerritoryID": "lpad((1000 + i * 37)::VARCHAR, 5, '0')", "TerritoryDescription": "'Place ' || i",
            "RegionID": number(4, 224, 1)}),
        "EmployeeTerritories": (200, {
            "EmployeeID": number(60, 225, 1),
            "TerritoryID": "lpad((1000 + (hash(i, 226) % 53) * 37)::VARCHAR, 5, '0')"}),
        "Orders": (3000, {
            "OrderID": "10248 + i", "CustomerID": CUSTOMER_ID.format("(hash(i, 227) % 380)::BIGINT"),
            "EmployeeID": number(60, 228, 1), "OrderDate": day(229), "RequiredDate": day(230), "ShippedDate": day(231),
            "ShipVia": number(3, 232, 1), "Freight": "(hash(i, 233) % 90000) / 100.0", **SHIP}),
        "Order Details": (8000, {
            "OrderID": "10248 + (i * 3) % 3000", "ProductID": number(77, 234, 1),
            "UnitPrice": "(hash(i, 235) % 9000) / 100.0",
            "Quantity": number(100, 236, 1), "Discount": "(hash(i, 237) % 5) / 20.0"}),
    },
    lines("Suppliers.ContactName Suppliers.Address Suppliers.Phone Customers.CustomerID Customers.ContactName",
          "Customers.Address Customers.Phone Customers.Fax Employees.EmployeeID Employees.LastName Employees.FirstName",
          "Employees.Address Employees.HomePhone Shippers.Phone EmployeeTerritories.EmployeeID Orders.CustomerID",
          "Orders.EmployeeID Orders.ShipName Orders.ShipAddress Employees.ReportsTo"),
    lines("Customers.CustomerID Orders.CustomerID Employees.EmployeeID Employees.ReportsTo Orders.EmployeeID",
          "EmployeeTerritories.EmployeeID"),
    pairs("Products.SupplierID Suppliers.SupplierID Products.CategoryID Categories.CategoryID "
          "Orders.CustomerID Customers.CustomerID Orders.EmployeeID Employees.EmployeeID Orders.ShipVia "
          "Shippers.ShipperID "
          "Employees.ReportsTo Employees.EmployeeID Territories.RegionID Region.RegionID "
          "EmployeeTerritories.EmployeeID Employees.EmployeeID EmployeeTerritories.TerritoryID Territories.TerritoryID")
    | {("Order Details.OrderID", "Orders.OrderID"), ("Order Details.ProductID", "Products.ProductID")},
)  # fmt: skip
SCHEMAS = (TPCH, OMOP, NORTHWIND)
