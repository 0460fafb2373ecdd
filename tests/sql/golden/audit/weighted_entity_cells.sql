-- title: The combinations of values that occur, how many entities have each, and for how many members of the population
-- source: sqlmicro: a person stands for as many members of the population, however many records say so. Where the weights
--   of an entity differ within a class the least counts, and one that is missing, NaN or infinite is 0: no class looks
--   larger than it is
-- reads: relation (records)
-- returns: the columns, total (the sum of the weights of the entities), records, size: both the number of distinct
--   entities; a record without one counts as an entity
-- params: relation, columns, entity, weight
SELECT
  "a",
  coalesce(sum(CASE WHEN entity IS NULL THEN total ELSE low END), 0) AS total,
  CAST(sum(CASE WHEN entity IS NULL THEN n ELSE 1 END) AS BIGINT) AS records,
  CAST(sum(CASE WHEN entity IS NULL THEN n ELSE 1 END) AS BIGINT) AS size
FROM (
  SELECT
    "a",
    "p" AS entity,
    min("w") FILTER (WHERE isfinite(CAST("w" AS DOUBLE))) AS low,
    sum("w") FILTER (WHERE isfinite(CAST("w" AS DOUBLE))) AS total,
    count(*) AS n
  FROM "staging"."records"
  GROUP BY ALL)
GROUP BY ALL
