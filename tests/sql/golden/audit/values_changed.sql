-- title: How many values of each nominal column were changed
-- source: sqlmicro
-- reads: original, released (both by row_id)
-- returns: column_name, changed, records
-- params: original, released, columns
SELECT
  'name' AS column_name,
  count(*) FILTER (WHERE o."name" IS DISTINCT FROM r."name") AS changed,
  count(*) AS records
FROM "staging"."typed" AS o
JOIN "staging"."released" AS r USING (row_id)
UNION ALL
SELECT
  'size' AS column_name,
  count(*) FILTER (WHERE o."size_" IS DISTINCT FROM r."size_") AS changed,
  count(*) AS records
FROM "staging"."typed" AS o
JOIN "staging"."released" AS r USING (row_id)
