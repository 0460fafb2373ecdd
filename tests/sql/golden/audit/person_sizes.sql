-- title: How many classes of each size there are, in persons, and how many persons have their smallest class among them
-- source: Samarati & Sweeney (1998), k counts persons; sqlmicro: a person is as rare as the rarest of her records
-- reads: persons (a record for every person and class)
-- returns: size, classes, records (persons, each once)
-- params: persons, columns, person
SELECT
  size,
  CAST(count(*) / size AS BIGINT) AS classes,
  count(*) FILTER (WHERE is_first) AS records
FROM (
  SELECT size, row_number() OVER (PARTITION BY "p" ORDER BY size) = 1 AS is_first
  FROM (
    SELECT
      "p",
      count(*) OVER (PARTITION BY "a") AS size
    FROM "staging"."persons"))
GROUP BY size
ORDER BY size
