-- title: How many records have each pattern of missing values, in every stratum
-- source: Little & Rubin (2002): the pattern of missing values of a record
-- reads: relation (with pattern)
-- returns: pattern, stratum (from 0), n
-- params: relation, by
SELECT
  pattern,
  stratum,
  count(*) AS n
FROM (
  SELECT
    pattern,
    dense_rank() OVER (ORDER BY "land", true) - 1 AS stratum
  FROM "staging"."patterns")
GROUP BY pattern, stratum
ORDER BY pattern, stratum
