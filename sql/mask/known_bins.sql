-- title: The bin of a list that every value is in; a value in none is left out
-- source: sqlmicro: the bins of a recoding that was published
-- reads: values
-- returns: value, low (NULL: open), high (NULL: open)
-- params: values, lows, highs
WITH bins AS (
  SELECT
    unnest(CAST({{ lows | lit }} AS DOUBLE[])) AS low,
    unnest(CAST({{ highs | lit }} AS DOUBLE[])) AS high
)
SELECT
  v.value,
  b.low,
  b.high
FROM {{ values | ident }} AS v
JOIN bins AS b
  ON (b.low IS NULL OR CAST(v.value AS DOUBLE) >= b.low) AND (b.high IS NULL OR CAST(v.value AS DOUBLE) < b.high)
WHERE v.value IS NOT NULL
UNION ALL
SELECT
  value,
  NULL AS low,
  NULL AS high
FROM {{ values | ident }}
WHERE value IS NULL
