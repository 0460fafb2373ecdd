-- title: How far the distribution of every nominal column in the release is from that in the original
-- source: Hellinger (1909): sqrt(1/2 sum (sqrt p - sqrt q)^2), from 0 to 1; NULL counts as a value
-- reads: original, released (values)
-- returns: column_name, distance
-- params: original, released, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  sqrt(greatest(0, sum((sqrt(before / (SELECT count(*) FROM {{ original | ident }}))
    - sqrt(after / (SELECT count(*) FROM {{ released | ident }}))) ** 2) / 2)) AS distance
FROM (
  SELECT {{ column | ident }}, sum(before) AS before, sum(after) AS after
  FROM (
    SELECT {{ column | ident }}, 1 AS before, 0 AS after FROM {{ original | ident }}
    UNION ALL
    SELECT {{ column | ident }}, 0, 1 FROM {{ released | ident }})
  GROUP BY {{ column | ident }})
{{ loop | between("UNION ALL") }}
{% endfor %}
