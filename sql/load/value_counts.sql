-- title: The values of a column as text, and how many records have each
-- source: sqlmicro
-- reads: relation
-- returns: value, n; without the missing ones
-- params: relation, column
SELECT
  CAST(r.{{ column | ident }} AS VARCHAR) AS value,
  count(*) AS n
FROM {{ relation | ident }} AS r
WHERE r.{{ column | ident }} IS NOT NULL
GROUP BY r.{{ column | ident }}
ORDER BY 1
