-- title: The records and the population in one relation
-- source: sqlmicro
-- reads: relation, population
-- returns: row_id (-1, -2, … for members of the population), the columns
-- params: relation, population, columns
SELECT
  row_id,
  {{ columns | idents }}
FROM {{ relation | ident }}
UNION ALL
SELECT
  -1 - row_id,
  {{ columns | idents }}
FROM {{ population | ident }}
