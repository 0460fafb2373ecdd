-- title: The records of release and original together, as numbers, and which of both each is from
-- source: Woo, Reiter, Oganian & Karr (2009): a model that tells them apart measures how unlike they are
-- reads: original, released (values)
-- returns: target (1 for the release), the numeric columns, the rank of every nominal value, counted from 1
-- params: original, released, numeric, nominal
SELECT
{% for column in numeric %}
  {{ column | ident }},
{% endfor %}
{% for column in nominal %}
  dense_rank() OVER (ORDER BY {{ column | ident }}) AS {{ column | ident }},
{% endfor %}
  target
FROM (
  SELECT {{ numeric | listed("{}, ") }}{{ nominal | listed("{}, ") }}0 AS target
  FROM {{ original | ident }}
  UNION ALL
  SELECT {{ numeric | listed("{}, ") }}{{ nominal | listed("{}, ") }}1
  FROM {{ released | ident }})
