-- title: The tails of a recoding, by stratum
-- source: Hundepool et al. (2012), top and bottom coding; sqlmicro: tails that were published are applied to others
-- reads: nothing, the tails stand here
-- returns: the strata as text, start (in the tail), beyond (not in it), whole (every value is), becomes (NULL: not known)
-- params: strata (name, texts), starts, beyonds, becomes, type, result
WITH texts AS (
  SELECT
    unnest(CAST(['a', NULL] AS VARCHAR[])) AS "stratum_1",
    unnest(CAST(['5', NULL] AS VARCHAR[])) AS start,
    unnest(CAST([NULL, NULL] AS VARCHAR[])) AS beyond,
    unnest(CAST(['6.5', NULL] AS VARCHAR[])) AS becomes
)
SELECT
  b."stratum_1",
  CAST(b.start AS INTEGER) AS start,
  CAST(b.beyond AS INTEGER) AS beyond,
  b.start IS NULL AND b.beyond IS NULL AS whole,
  CAST(b.becomes AS DOUBLE) AS becomes
FROM texts AS b
