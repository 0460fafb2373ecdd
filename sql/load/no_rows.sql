-- title: A table's columns and no rows, under the names c0, c1, …: its definition tells which carry a collation
-- source: DuckDB: DESCRIBE leaves the collation out, the definition of a table states it
-- reads: relation
-- returns: no rows
-- params: relation, columns (pairs of name and alias)
SELECT{{ columns | listed("\n  {1} AS {2}") }}
FROM {{ relation | ident }}
LIMIT 0
