-- title: The values of a column that occur in the records or in the population, and in how many records
-- source: sqlmicro
-- reads: relation, population
-- returns: value, n (0: in the population only)
-- params: relation, population, column
SELECT
  value,
  count(row_id) AS n
FROM (
  SELECT {{ column | ident }} AS value, row_id
  FROM {{ relation | ident }}
  UNION ALL
  SELECT {{ column | ident }}, NULL
  FROM {{ population | ident }})
GROUP BY value
