-- title: The texts of the values of a column, and how many records have each
-- source: sqlmicro
-- reads: relation
-- returns: text, n
-- params: relation, column
SELECT
  CAST({{ column | ident }} AS VARCHAR) AS text,
  count(*) AS n
FROM {{ relation | ident }}
WHERE {{ column | ident }} IS NOT NULL
GROUP BY CAST({{ column | ident }} AS VARCHAR)
