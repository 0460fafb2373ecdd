-- title: The records of a table that were drawn by their places
-- source: sqlmicro: targets of a table that is too large to try every record
-- reads: relation (the user's table), drawn (position: places in it, from 0)
-- returns: the columns under their own names
-- params: relation, drawn, columns
SELECT{{ columns | listed("\n  {name}") }}
FROM {{ relation | ident }}
QUALIFY row_number() OVER () - 1 IN (SELECT d.position FROM {{ drawn | ident }} AS d)
