-- title: The categories a matrix names, numbered, with the number of records that have them
-- source: sqlmicro
-- reads: relation
-- returns: label (from 1, in the order of names), value (NULL for a name that the type does not have), records
-- params: relation, column, names, type
WITH given AS (
  SELECT
    unnest(range(1, len(['30', '9', 'it''s', '10']) + 1)) AS label,
    TRY_CAST(unnest(['30', '9', 'it''s', '10']) AS INTEGER) AS value
)
SELECT
  g.label,
  g.value,
  count(r."net ""income""") AS records
FROM given AS g
LEFT JOIN "staging"."typed" AS r ON r."net ""income""" = g.value
GROUP BY ALL
