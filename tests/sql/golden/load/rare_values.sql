-- title: How many records have a value that fewer than k have
-- source: Samarati (2001), k-anonymity, of one column
-- reads: relation, once for each block of columns
-- returns: a row per column that has a value: place, present (records with a value), rare (those whose value fewer than k
--   have); text under a collation is told apart as it is written, and records without a person are one person's
-- params: relation, blocks (of columns, with their places), who (keys, of one column or several together, of each of which a value must
--   have k as well as of records: persons, households), k
SELECT
  place,
  CAST(sum(times) AS BIGINT) AS present,
  CAST(coalesce(sum(times) FILTER (WHERE owners < 2), 0) AS BIGINT) AS rare
FROM (
  SELECT
    place,
    count(*) AS times,
    least(count(*), count(*)) AS owners
  FROM (
    SELECT
      unnest([1, 2]) AS place,
      unnest([md5(CAST("city" AS VARCHAR)), md5(CAST("net ""income""" AS VARCHAR))]) AS value
    FROM "staging"."persons")
  WHERE value IS NOT NULL
  GROUP BY place, value)
GROUP BY place
UNION ALL
SELECT
  place,
  CAST(sum(times) AS BIGINT) AS present,
  CAST(coalesce(sum(times) FILTER (WHERE owners < 2), 0) AS BIGINT) AS rare
FROM (
  SELECT
    place,
    count(*) AS times,
    least(count(*), count(*)) AS owners
  FROM (
    SELECT
      unnest([3]) AS place,
      unnest([md5(CAST("name" AS VARCHAR))]) AS value
    FROM "staging"."persons")
  WHERE value IS NOT NULL
  GROUP BY place, value)
GROUP BY place
