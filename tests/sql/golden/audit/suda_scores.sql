-- title: The SUDA scores of the records, and what every column contributes to them
-- source: Elliot, Manning & Ford (2002); the score of sdcMicro and IHSN: a minimal unique of n of m columns counts
--   (2^(m - n) - 1) / binomial(m, n), its share of the combinations of n columns times what else it makes unique
-- reads: minimal_uniques
-- returns: column_name (NULL for all), highest (score of a record), total, records (with a score)
-- params: minimal_uniques, weights (by n), columns (name and bit of each)
WITH weighted AS (
  SELECT cell, bits, CAST(CASE n WHEN 1 THEN 0.5 WHEN 2 THEN 0.0 END AS DOUBLE) AS score
  FROM "staging"."uniques")
SELECT
  NULL AS column_name,
  max(score) AS highest,
  sum(score) AS total,
  count(*) AS records
FROM (SELECT sum(score) AS score FROM weighted GROUP BY cell HAVING sum(score) > 0)
UNION ALL
SELECT 'a', max(score), sum(score), count(DISTINCT cell)
FROM weighted
WHERE bits & 1 > 0 AND score > 0
UNION ALL
SELECT 'b', max(score), sum(score), count(DISTINCT cell)
FROM weighted
WHERE bits & 2 > 0 AND score > 0
