-- title: How many records have each pattern of missing values, in every stratum
-- source: Little & Rubin (2002): the pattern of missing values of a record
-- reads: relation (with pattern)
-- returns: pattern, stratum (from 0), n
-- params: relation, by
SELECT
  pattern,
  dense_rank() OVER (ORDER BY {{ by | listed("{}, ") }}true) - 1 AS stratum,
  n
FROM (
  SELECT
    pattern
  {% for column in by %}
    , {{ column | ident }}
  {% endfor %}
    , count(*) AS n
  FROM {{ relation | ident }}
  GROUP BY ALL)
ORDER BY pattern, stratum
