-- title: The records with the tail of a column replaced, as a recoding says, and whether they are in it
-- source: Hundepool et al. (2012), top and bottom coding; sqlmicro: a record whose stratum or tail is not known is left out
-- reads: relation, tails (the strata, start, beyond, whole, becomes)
-- returns: row_id, value, in_tail, and how many of the stratum are in it
-- params: relation, tails, strata (column, name), column, top, result
WITH found AS (
  SELECT
    r.row_id,
    r."net ""income""" AS value,
    t."stratum_1", 
    t.becomes,
    r."net ""income""" IS NOT NULL AND (t.whole OR CASE WHEN true
      THEN coalesce(r."net ""income""" >= t.start, r."net ""income""" > t.beyond)
      ELSE coalesce(r."net ""income""" <= t.start, r."net ""income""" < t.beyond)
    END) AS in_tail
  FROM "staging"."typed" AS r
  JOIN "staging"."tails" AS t
    ON true
      AND CAST(r."land" AS VARCHAR) IS NOT DISTINCT FROM t."stratum_1"
)
SELECT
  f.row_id,
  CASE WHEN f.in_tail THEN f.becomes ELSE CAST(f.value AS DOUBLE) END AS value,
  f.in_tail,
  count(*) FILTER (WHERE f.in_tail) OVER (PARTITION BY f."stratum_1",  true) AS n
FROM found AS f
WHERE NOT f.in_tail OR f.becomes IS NOT NULL
