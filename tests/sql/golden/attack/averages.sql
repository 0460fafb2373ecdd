-- title: How many values the mean of several releases recovers, and how many the first alone
-- source: sqlmicro: noise that is drawn anew for every release averages out
-- reads: original, released and the others (values, by row_id)
-- returns: column_name, recovered by the mean (off by at most so many standard deviations of the original), alone (by the
--   first release), records (with a value in all tables)
-- params: original, released, alone (its alias), others (alias, relation), columns, within
SELECT
  'x' AS column_name,
  count(*) FILTER (WHERE abs(list_avg(["r1"."x", "r2"."x"]) - o."x")
    <= 0.9 * coalesce(sd, 0)) AS recovered,
  count(*) FILTER (WHERE abs("r1"."x" - o."x") <= 0.9 * coalesce(sd, 0)) AS alone,
  count(*) AS records
FROM "staging"."original" AS o
JOIN "staging"."first" AS "r1" USING (row_id)
JOIN "staging"."second" AS "r2" USING (row_id)
CROSS JOIN (SELECT stddev_samp("x") AS sd FROM "staging"."original") AS spread
WHERE o."x" IS NOT NULL AND "r1"."x" IS NOT NULL AND "r2"."x" IS NOT NULL
