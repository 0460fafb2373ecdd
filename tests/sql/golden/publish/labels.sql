-- title: The values that occur in each of some columns
-- source: sqlmicro: an ENUM type lists all its labels, also of records that are not released
-- reads: relation
-- returns: number of the column, from 1; label
-- params: relation, columns
SELECT DISTINCT
  1 AS number,
  CAST("kind" AS VARCHAR) AS label
FROM "staging"."released"
WHERE "kind" IS NOT NULL
UNION ALL
SELECT DISTINCT
  2 AS number,
  CAST("grade" AS VARCHAR) AS label
FROM "staging"."released"
WHERE "grade" IS NOT NULL
