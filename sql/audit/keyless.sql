-- title: The records of a table that has no key, numbered as they are read
-- source: sqlmicro
-- reads: relation
-- returns: the columns, the number of the record, from 1
-- params: relation, number (what it is called)
SELECT
  *,
  row_number() OVER () AS {{ number | ident }}
FROM {{ relation | ident }}
