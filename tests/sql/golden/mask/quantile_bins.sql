-- title: The bin between two quantiles that every value is in
-- source: Hundepool et al. (2012), global recoding; records with one value stay together, the first and the last bin are
--   open
-- reads: values (value, n)
-- returns: value, low (NULL: open), high (NULL: open)
-- params: values, parts
WITH binned AS (
  SELECT
    value,
    CAST((sum(n) OVER (ORDER BY value) - n) * 2 // sum(n) OVER () AS INTEGER) AS bin
  FROM "staging"."values"
  WHERE value IS NOT NULL
),
bounds AS (
  SELECT
    bin,
    CASE WHEN lag(bin) OVER (ORDER BY bin) IS NOT NULL THEN CAST(min(value) AS DOUBLE) END AS low,
    CAST(lead(min(value)) OVER (ORDER BY bin) AS DOUBLE) AS high
  FROM binned
  GROUP BY bin
)
SELECT v.value, d.low, d.high
FROM "staging"."values" AS v
LEFT JOIN binned AS b ON b.value = v.value
LEFT JOIN bounds AS d ON d.bin = b.bin
