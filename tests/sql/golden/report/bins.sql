-- title: How many values of every numeric column lie between given edges, before and after
-- source: sqlmicro: a histogram whose edges are round numbers, so that none of them is a value of the original
-- reads: original, released (values)
-- returns: column_name, bin (how many edges are at most the value), before, after; missing values take no part
-- params: original, released, columns (each with its edges)
SELECT
  'x' AS column_name,
  bin,
  CAST(sum(before) AS BIGINT) AS before,
  CAST(sum(after) AS BIGINT) AS after
FROM (
  SELECT
    CAST("x" >= 10.0 AS BIGINT) +
    CAST("x" >= 20.0 AS BIGINT) +
    0 AS bin,
    before,
    after
  FROM (
    SELECT "x", 1 AS before, 0 AS after FROM "staging"."original"
    UNION ALL
    SELECT "x", 0, 1 FROM "staging"."released")
  WHERE "x" IS NOT NULL)
GROUP BY bin
UNION ALL
SELECT
  'y' AS column_name,
  bin,
  CAST(sum(before) AS BIGINT) AS before,
  CAST(sum(after) AS BIGINT) AS after
FROM (
  SELECT
    CAST("y" >= 1.0 AS BIGINT) +
    0 AS bin,
    before,
    after
  FROM (
    SELECT "y", 1 AS before, 0 AS after FROM "staging"."original"
    UNION ALL
    SELECT "y", 0, 1 FROM "staging"."released")
  WHERE "y" IS NOT NULL)
GROUP BY bin
