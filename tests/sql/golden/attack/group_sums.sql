-- title: How many values the other members of a group can compute from its mean
-- source: f mean - sum of the others is off by |f mean - sum of all|, for every member alike
-- reads: original, released (values, by row_id)
-- returns: column_name, recovered (values off by at most so many standard deviations of the original), records (with a
--   value in both tables, in groups where all have one)
-- params: original, released, columns (column, the columns that a group has in common), within
SELECT
  'x' AS column_name,
  CAST(coalesce(sum(f) FILTER (WHERE error <= 0.3 * coalesce(sd, 0)), 0) AS BIGINT) AS recovered,
  CAST(coalesce(sum(f), 0) AS BIGINT) AS records
FROM (
  SELECT
    count(*) AS f,
    abs(sum(o."x" - r."x")) AS error
  FROM "staging"."released" AS r
  JOIN "staging"."original" AS o USING (row_id)
  GROUP BY r."x", r."g"
  HAVING count(*) = count(o."x" - r."x")),
  (SELECT stddev_samp("x") AS sd FROM "staging"."original")
