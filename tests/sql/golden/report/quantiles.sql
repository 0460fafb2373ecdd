-- title: Quantiles of numeric columns that are the value of no single record
-- source: sqlmicro: the mean of the k values around the rank of the quantile; NULL where one of them is among the k
--   smallest or the k largest
-- reads: relation (values)
-- returns: column_name, level, value (NULL where it is left out); a column without values has no row
-- params: relation, columns, levels, k
SELECT
  'x' AS column_name,
  level,
  CASE WHEN low > 2 AND low + 1 <= total - 2 THEN avg(value ORDER BY position) END AS value
FROM (
  SELECT
    value,
    position,
    level,
    total,
    CAST(floor(level * (total - 1) + 1 - 1 / 2.0 + 0.5) AS BIGINT) AS low
  FROM (
    SELECT
      "x" AS value,
      row_number() OVER (ORDER BY "x") AS position,
      count(*) OVER () AS total
    FROM "staging"."released"
    WHERE "x" IS NOT NULL)
  CROSS JOIN (SELECT unnest(CAST([0.05, 0.25, 0.5, 0.95] AS DOUBLE[])) AS level))
WHERE position BETWEEN low AND low + 1
GROUP BY level, low, total
UNION ALL
SELECT
  'y' AS column_name,
  level,
  CASE WHEN low > 2 AND low + 1 <= total - 2 THEN avg(value ORDER BY position) END AS value
FROM (
  SELECT
    value,
    position,
    level,
    total,
    CAST(floor(level * (total - 1) + 1 - 1 / 2.0 + 0.5) AS BIGINT) AS low
  FROM (
    SELECT
      "y" AS value,
      row_number() OVER (ORDER BY "y") AS position,
      count(*) OVER () AS total
    FROM "staging"."released"
    WHERE "y" IS NOT NULL)
  CROSS JOIN (SELECT unnest(CAST([0.05, 0.25, 0.5, 0.95] AS DOUBLE[])) AS level))
WHERE position BETWEEN low AND low + 1
GROUP BY level, low, total
