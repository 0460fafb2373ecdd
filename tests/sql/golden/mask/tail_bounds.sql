-- title: Where the tail of every stratum begins, the last value that is no part of it, and what it becomes, as text
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation, tails (the strata, threshold, mean, median)
-- returns: the strata, threshold and replacement (NULL where a stratum has no tail), the last value outside
-- params: relation, tails, by, strata (column, name), column, top, replacement
SELECT
  CAST(r."land" AS VARCHAR) AS "stratum_1",
  CAST(t.threshold AS VARCHAR) AS threshold,
  CAST(CASE WHEN true
    THEN max(r."net ""income""") FILTER (WHERE t.threshold IS NULL OR r."net ""income""" < t.threshold)
    ELSE min(r."net ""income""") FILTER (WHERE t.threshold IS NULL OR r."net ""income""" > t.threshold)
  END AS VARCHAR) AS beyond,
  CAST(t."mean" AS VARCHAR) AS becomes
FROM "staging"."typed" AS r
LEFT JOIN "staging"."tails" AS t
  ON r."land" IS NOT DISTINCT FROM t."land"
GROUP BY ALL
ORDER BY ALL
