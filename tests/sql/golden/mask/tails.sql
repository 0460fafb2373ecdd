-- title: The tail of every stratum: the records at or beyond the threshold
-- source: Hundepool et al. (2012), top and bottom coding. Values are added in ascending order, so that the mean does
--   not depend on the number of threads
-- reads: relation, thresholds
-- returns: the strata, threshold, records, mean and median of the tail
-- params: relation, thresholds, by, column, top
WITH tail AS (
  SELECT
    t.threshold,
    CASE WHEN CASE WHEN true
      THEN r."net ""income""" >= t.threshold
      ELSE r."net ""income""" <= t.threshold
    END THEN CAST(r."net ""income""" AS DOUBLE) END AS value
  FROM "staging"."typed" AS r
  JOIN "staging"."thresholds" AS t
    ON true
  WHERE value IS NOT NULL
)
SELECT
  threshold,
  count(*) AS records,
  greatest(min(value), least(list_sum(list_sort(list(value))) / count(*), max(value))) AS mean,
  median(value) AS median
FROM tail
GROUP BY ALL
