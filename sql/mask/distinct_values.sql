-- title: The values of a column that occur, and in how many records
-- source: sqlmicro
-- reads: relation
-- returns: value, n
-- params: relation, column
SELECT
  {{ column | ident }} AS value,
  count(*) AS n
FROM {{ relation | ident }}
GROUP BY {{ column | ident }}
