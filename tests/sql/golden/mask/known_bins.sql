-- title: The bin of a list that every value is in; a value in none is left out
-- source: sqlmicro: the bins of a recoding that was published
-- reads: values
-- returns: value, low (NULL: open), high (NULL: open)
-- params: values, lows, highs
WITH bins AS (
  SELECT
    unnest(CAST([NULL, 10.0, 25.0] AS DOUBLE[])) AS low,
    unnest(CAST([0.0, 20.0, NULL] AS DOUBLE[])) AS high
)
SELECT
  v.value,
  b.low,
  b.high
FROM "staging"."values" AS v
JOIN bins AS b
  ON (b.low IS NULL OR CAST(v.value AS DOUBLE) >= b.low) AND (b.high IS NULL OR CAST(v.value AS DOUBLE) < b.high)
WHERE v.value IS NOT NULL
UNION ALL
SELECT
  value,
  NULL AS low,
  NULL AS high
FROM "staging"."values"
WHERE value IS NULL
