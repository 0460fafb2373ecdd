-- title: The values of a nominal column, numbered, with the number of records that have them
-- source: sqlmicro
-- reads: relation
-- returns: label (from 1), value, records; NULL is left out
-- params: relation, column
SELECT
  row_number() OVER (ORDER BY {{ column | ident }}) AS label,
  {{ column | ident }} AS value,
  count(*) AS records
FROM {{ relation | ident }}
WHERE {{ column | ident }} IS NOT NULL
GROUP BY {{ column | ident }}
