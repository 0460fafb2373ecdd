-- title: Where the tail of every stratum begins: at the value of the record that is so many places from the end
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation
-- returns: the strata, threshold; a stratum with fewer values has none
-- params: relation, by, column, count, top
WITH placed AS (
  SELECT
    "net ""income""" AS threshold,
    row_number() OVER (
      PARTITION BY true
      ORDER BY "net ""income""") AS position,
    count(*) OVER (PARTITION BY true) AS n
  FROM "staging"."typed"
  WHERE "net ""income""" IS NOT NULL
)
SELECT
  threshold
FROM placed
WHERE CASE WHEN true THEN n - position + 1 ELSE position END = 2
