-- title: How many records have a value that fewer than k have
-- source: Samarati (2001), k-anonymity, of one column
-- reads: relation
-- returns: a row per column: place, present (records with a value), rare (those whose value fewer than k have); text under
--   a collation is told apart as it is written, and records without a person are one person's
-- params: relation, columns (with their place), who (keys, of one column or several together, of each of which a value must
--   have k as well as of records: persons, households), k
SELECT 0 AS place, 0 AS present, 0 AS rare
WHERE false
UNION ALL
SELECT
  1 AS place,
  CAST(coalesce(sum(times), 0) AS BIGINT) AS present,
  CAST(coalesce(sum(times) FILTER (WHERE owners < 2), 0) AS BIGINT) AS rare
FROM (
  SELECT
    count(*) AS times,
    least(count(*), count(*)) AS owners
  FROM "staging"."persons"
  WHERE "city" IS NOT NULL
  GROUP BY md5(CAST("city" AS VARCHAR)))
UNION ALL
SELECT
  2 AS place,
  CAST(coalesce(sum(times), 0) AS BIGINT) AS present,
  CAST(coalesce(sum(times) FILTER (WHERE owners < 2), 0) AS BIGINT) AS rare
FROM (
  SELECT
    count(*) AS times,
    least(count(*), count(*)) AS owners
  FROM "staging"."persons"
  WHERE "net ""income""" IS NOT NULL
  GROUP BY md5(CAST("net ""income""" AS VARCHAR)))
UNION ALL
SELECT
  3 AS place,
  CAST(coalesce(sum(times), 0) AS BIGINT) AS present,
  CAST(coalesce(sum(times) FILTER (WHERE owners < 2), 0) AS BIGINT) AS rare
FROM (
  SELECT
    count(*) AS times,
    least(count(*), count(*)) AS owners
  FROM "staging"."persons"
  WHERE "name" IS NOT NULL
  GROUP BY md5(CAST("name" AS VARCHAR)))
