-- title: The bin between two quantiles that every value is in
-- source: Hundepool et al. (2012), global recoding; records with one value stay together, the first and the last bin are
--   open
-- reads: values (value, n; 0 for one that no record has, which is in the bin where it lies)
-- returns: value, low (NULL: open), high (NULL: open)
-- params: values, parts
WITH binned AS (
  SELECT
    value,
    CAST((sum(n) OVER (ORDER BY value) - n) * {{ parts | lit }} // sum(n) OVER () AS INTEGER) AS bin
  FROM {{ values | ident }}
  WHERE value IS NOT NULL AND n > 0
),
bounds AS (
  SELECT
    CASE WHEN lag(bin) OVER (ORDER BY bin) IS NOT NULL THEN min(value) END AS first,
    lead(min(value)) OVER (ORDER BY bin) AS next
  FROM binned
  GROUP BY bin
)
SELECT v.value, CAST(d.first AS DOUBLE) AS low, CAST(d.next AS DOUBLE) AS high
FROM {{ values | ident }} AS v
LEFT JOIN bounds AS d
  ON v.value IS NOT NULL AND (d.first IS NULL OR v.value >= d.first) AND (d.next IS NULL OR v.value < d.next)
