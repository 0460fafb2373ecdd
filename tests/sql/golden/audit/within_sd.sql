-- title: How many original values lie within some standard deviations of the released ones
-- source: Templ (2006), sdcMicro's dRisk: |x - y| <= s sd, sd of the released column
-- reads: original, released (values, by row_id)
-- returns: column_name, within, records (with a value in both); the column NULL counts records that are within in all
-- params: original, released, columns, sd
WITH found AS (
  SELECT
    abs(o."x" - r."x")
      <= 0.5 * (SELECT stddev_samp("x") FROM "staging"."released") AS within_1,
    abs(o."y" - r."y")
      <= 0.5 * (SELECT stddev_samp("y") FROM "staging"."released") AS within_2,
  FROM "staging"."original" AS o
  JOIN "staging"."released" AS r USING (row_id))
SELECT 'x' AS column_name, count(*) FILTER (WHERE within_1) AS within, count(within_1) AS records
FROM found
UNION ALL
SELECT 'y' AS column_name, count(*) FILTER (WHERE within_2) AS within, count(within_2) AS records
FROM found
UNION ALL
SELECT NULL, count(*) FILTER (WHERE true AND within_1 AND within_2), count(*)
FROM found
