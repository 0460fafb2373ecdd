-- title: What every column contributes to the SUDA scores
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: the scores of the minimal sample uniques that have the column
-- reads: scores (the combinations that count), minimal_uniques (one relation for every number of columns)
-- returns: column_name, total
-- params: scores, minimal_uniques (relation and weight of each), columns (name and bit of each)
WITH weighed AS (
{% for relation, weight in minimal_uniques %}
  SELECT bits, CAST({{ weight | lit }} AS DOUBLE) AS score
  FROM {{ relation | ident }}
  WHERE cell IN (SELECT cell FROM {{ scores | ident }})
  {{ loop | between("UNION ALL") }}
{% endfor %}
)
{% for column, bit in columns %}
SELECT {{ column.name | lit }} AS column_name, sum(score) AS total
FROM weighed
WHERE bits & {{ bit | lit }} > 0
{{ loop | between("UNION ALL") }}
{% endfor %}
