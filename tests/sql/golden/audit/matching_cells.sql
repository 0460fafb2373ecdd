-- title: The combinations of values that occur, and how many records match each, where NULL matches every value
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: a suppressed value may be any; two records match if they agree in
--   every column in which both have a value
-- reads: relation (cells), among (cells: the records to match; the same ones, or the population)
-- returns: the columns, the kept columns, total of every summed column over the records that match, records that have
--   the combination itself, size (records that match)
-- params: relation, among, columns (name and bit of each), kept, summed
WITH askers AS (
  SELECT *, 0 + CASE WHEN "a" IS NULL THEN 1 ELSE 0 END + CASE WHEN "b" IS NULL THEN 2 ELSE 0 END AS pattern
  FROM "staging"."cells"),
others AS (
  SELECT *, 0 + CASE WHEN "a" IS NULL THEN 1 ELSE 0 END + CASE WHEN "b" IS NULL THEN 2 ELSE 0 END AS other
  FROM "staging"."cells"),
asked AS (
  SELECT DISTINCT
    "a",
    CASE WHEN (pattern | other) & 1 = 0 THEN "a" END AS masked_1,
    "b",
    CASE WHEN (pattern | other) & 2 = 0 THEN "b" END AS masked_2,
    pattern,
    other
  FROM askers, (SELECT DISTINCT other FROM others)),
found AS (
  SELECT
    CASE WHEN (pattern | other) & 1 = 0 THEN "a" END AS masked_1,
    CASE WHEN (pattern | other) & 2 = 0 THEN "b" END AS masked_2,
    pattern,
    other,
    sum(records) AS records
  FROM others, (SELECT DISTINCT pattern FROM askers)
  GROUP BY ALL)
SELECT
  asked."a",
  asked."b",
  CAST(coalesce(sum(found.records) FILTER (WHERE found.other = found.pattern), 0) AS BIGINT) AS records,
  CAST(sum(found.records) AS BIGINT) AS size
FROM asked
JOIN found ON asked.pattern = found.pattern AND asked.other = found.other
  AND asked.masked_1 IS NOT DISTINCT FROM found.masked_1
  AND asked.masked_2 IS NOT DISTINCT FROM found.masked_2
GROUP BY ALL
