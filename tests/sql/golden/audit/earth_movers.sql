-- title: How far the distribution of every numeric column in the release is from that in the original
-- source: Vallender (1974): Earth Mover's (Wasserstein) distance, the area between the cumulated shares, in standard
--   deviations of the original; missing values take no part
-- reads: original, released (values)
-- returns: column_name, distance (0 for a column that does not vary)
-- params: original, released, columns
SELECT
  'x' AS column_name,
  coalesce(sum(width * abs(before / (SELECT count("x") FROM "staging"."original")
    - after / (SELECT count("x") FROM "staging"."released")))
    / nullif((SELECT stddev_samp("x") FROM "staging"."original"), 0), 0) AS distance
FROM (
  SELECT
    lead("x") OVER (ORDER BY "x") - "x" AS width,
    sum(sum(before)) OVER (ORDER BY "x") AS before,
    sum(sum(after)) OVER (ORDER BY "x") AS after
  FROM (
    SELECT "x", 1 AS before, 0 AS after FROM "staging"."original"
    UNION ALL
    SELECT "x", 0, 1 FROM "staging"."released")
  WHERE "x" IS NOT NULL
  GROUP BY "x")
UNION ALL
SELECT
  'y' AS column_name,
  coalesce(sum(width * abs(before / (SELECT count("y") FROM "staging"."original")
    - after / (SELECT count("y") FROM "staging"."released")))
    / nullif((SELECT stddev_samp("y") FROM "staging"."original"), 0), 0) AS distance
FROM (
  SELECT
    lead("y") OVER (ORDER BY "y") - "y" AS width,
    sum(sum(before)) OVER (ORDER BY "y") AS before,
    sum(sum(after)) OVER (ORDER BY "y") AS after
  FROM (
    SELECT "y", 1 AS before, 0 AS after FROM "staging"."original"
    UNION ALL
    SELECT "y", 0, 1 FROM "staging"."released")
  WHERE "y" IS NOT NULL
  GROUP BY "y")
