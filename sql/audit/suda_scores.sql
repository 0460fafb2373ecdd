-- title: The SUDA scores of the records, and what every column contributes to them
-- source: Elliot, Manning & Ford (2002); the score of sdcMicro and IHSN: a minimal unique of n of m columns counts
--   (2^(m - n) - 1) / binomial(m, n), its share of the combinations of n columns times what else it makes unique
-- reads: minimal_uniques
-- returns: column_name (NULL for all), highest (score of a record), total, records (with a score)
-- params: minimal_uniques, weights (by n), columns (name and bit of each)
WITH weighted AS (
  SELECT cell, bits, CAST(CASE n{% for number, weight in weights %} WHEN {{ number | lit }} THEN {{ weight | lit }}{% endfor %} END AS DOUBLE) AS score
  FROM {{ minimal_uniques | ident }})
SELECT
  NULL AS column_name,
  max(score) AS highest,
  sum(score) AS total,
  count(*) AS records
FROM (SELECT sum(score) AS score FROM weighted GROUP BY cell HAVING sum(score) > 0)
{% for column, bit in columns %}
UNION ALL
SELECT {{ column.name | lit }}, max(score), sum(score), count(DISTINCT cell)
FROM weighted
WHERE bits & {{ bit | lit }} > 0 AND score > 0
{% endfor %}
