-- title: The tail of every stratum: the records at or beyond the threshold
-- source: Hundepool et al. (2012), top and bottom coding. Values are added in ascending order, so that the mean does
--   not depend on the number of threads
-- reads: relation, thresholds
-- returns: the strata, threshold, records, mean and median of the tail
-- params: relation, thresholds, by, column, top
WITH tail AS (
  SELECT
    {{ by | listed("t.{}, ") }}
    t.threshold,
    CASE WHEN CASE WHEN {{ top | lit }}
      THEN r.{{ column | ident }} >= t.threshold
      ELSE r.{{ column | ident }} <= t.threshold
    END THEN CAST(r.{{ column | ident }} AS DOUBLE) END AS value
  FROM {{ relation | ident }} AS r
  JOIN {{ thresholds | ident }} AS t
    ON {{ by | same("r", "t") }}
  WHERE value IS NOT NULL
)
SELECT
  {{ by | listed("{}, ") }}
  threshold,
  count(*) AS records,
  greatest(min(value), least(list_sum(list_sort(list(value))) / count(*), max(value))) AS mean,
  median(value) AS median
FROM tail
GROUP BY ALL
