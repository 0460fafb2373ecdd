-- title: How many records have each pattern of missing values, in every stratum
-- source: Little & Rubin (2002): the pattern of missing values of a record
-- reads: relation (with pattern)
-- returns: pattern, stratum (from 0), n
-- params: relation, by
SELECT
  pattern,
  dense_rank() OVER (ORDER BY "land", true) - 1 AS stratum,
  n
FROM (
  SELECT
    pattern
    , "land"
    , count(*) AS n
  FROM "staging"."patterns"
  GROUP BY ALL)
ORDER BY pattern, stratum
