-- title: Which draws from 0 to 2^60 turn a value into which
-- source: sqlmicro. Probabilities are whole multiples of 2^-60, the last category of a row takes what is left by
--   rounding; a range is listed in every one of the 256 equal bins it reaches into, so that a draw meets few ranges
--   (Chen & Asau 1974)
-- reads: categories, transitions
-- returns: source, target (values), low, high (below which), bin
-- params: categories, transitions
WITH cumulated AS (
  SELECT
    source,
    target,
    CASE WHEN lead(target) OVER around IS NULL THEN 1152921504606846976
      ELSE least(sum(CAST(probability * 1152921504606846976e0 AS BIGINT)) OVER around, 1152921504606846976) END AS high
  FROM "staging"."transitions"
  WHERE probability > 0
  WINDOW around AS (PARTITION BY source ORDER BY target)
),
ranges AS (
  SELECT
    source,
    target,
    CAST(coalesce(lag(high) OVER (PARTITION BY source ORDER BY target), 0) AS BIGINT) AS low,
    CAST(high AS BIGINT) AS high
  FROM cumulated
)
SELECT
  a.value AS source,
  b.value AS target,
  r.low,
  r.high,
  unnest(range(r.low >> 52, ((r.high - 1) >> 52) + 1)) AS bin
FROM ranges AS r
JOIN "staging"."categories" AS a ON r.source = a.label
JOIN "staging"."categories" AS b ON r.target = b.label
WHERE r.high > r.low
