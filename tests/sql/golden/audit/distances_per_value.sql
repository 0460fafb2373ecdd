-- title: How far the released values are from the original ones, in standard deviations
-- source: Mateo-Sanz, Sebe & Domingo-Ferrer (2004); sdcMicro's IL1s: |x - y| / (sqrt(2) sd), sd of the original column
-- reads: original, released (values, by row_id)
-- returns: column_name, total, records (with a value in both); 0 for a column that does not vary
-- params: original, released, columns
SELECT
  'x' AS column_name,
  coalesce(sum(abs(o."x" - r."x")) / nullif(sqrt(2)
    * (SELECT stddev_samp("x") FROM "staging"."original"), 0), 0) AS total,
  count(o."x" - r."x") AS records
FROM "staging"."original" AS o
JOIN "staging"."released" AS r USING (row_id)
UNION ALL
SELECT
  'y' AS column_name,
  coalesce(sum(abs(o."y" - r."y")) / nullif(sqrt(2)
    * (SELECT stddev_samp("y") FROM "staging"."original"), 0), 0) AS total,
  count(o."y" - r."y") AS records
FROM "staging"."original" AS o
JOIN "staging"."released" AS r USING (row_id)
