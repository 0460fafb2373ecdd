-- title: The tail of every stratum: the records at or beyond the threshold
-- source: Hundepool et al. (2012), top and bottom coding. Values are added in ascending order, so that the mean does
--   not depend on the number of threads
-- reads: relation, thresholds
-- returns: the strata, threshold, records, mean and median of the tail
-- params: relation, thresholds, by, column, top
WITH tail AS (
  SELECT
    {% for stratum in by %}t.{{ stratum | ident }}, {% endfor +%}
    t.threshold,
    CASE WHEN CASE WHEN {{ top | lit }}
      THEN r.{{ column | ident }} >= t.threshold
      ELSE r.{{ column | ident }} <= t.threshold
    END THEN CAST(r.{{ column | ident }} AS DOUBLE) END AS value
  FROM {{ relation | ident }} AS r
  JOIN {{ thresholds | ident }} AS t
    ON {% for stratum in by %}r.{{ stratum | ident }} IS NOT DISTINCT FROM t.{{ stratum | ident }} AND {% endfor %}true
  WHERE value IS NOT NULL
)
SELECT
  {% for stratum in by %}{{ stratum | ident }}, {% endfor +%}
  threshold,
  count(*) AS records,
  greatest(min(value), least(list_sum(list_sort(list(value))) / count(*), max(value))) AS mean,
  median(value) AS median
FROM tail
GROUP BY ALL
