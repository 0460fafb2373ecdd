-- title: The values of a column as text, and how many records have each
-- source: sqlmicro
-- reads: relation
-- returns: value, n; without the missing ones
-- params: relation, column
SELECT
  CAST({{ column.name | ident }} AS VARCHAR) AS value,
  count(*) AS n
FROM {{ relation | ident }}
WHERE {{ column.name | ident }} IS NOT NULL
GROUP BY ALL
ORDER BY ALL
