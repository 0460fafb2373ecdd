-- title: The values of a nominal column, numbered, with the number of records that have them
-- source: sqlmicro
-- reads: relation
-- returns: label (from 1), value, records; NULL is left out
-- params: relation, column
SELECT
  row_number() OVER (ORDER BY "town") AS label,
  "town" AS value,
  count(*) AS records
FROM "staging"."typed"
WHERE "town" IS NOT NULL
GROUP BY "town"
