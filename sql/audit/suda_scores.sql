-- title: The SUDA score of every combination of values that has one
-- source: Elliot, Manning, Mayes, Gurd & Bane (2005): the sum over the minimal sample uniques, each weighed by how many
--   columns it has
-- reads: minimal_uniques (one relation for every number of columns)
-- returns: cell, score
-- params: minimal_uniques (relation and weight of each)
SELECT cell, sum(score) AS score
FROM (
{% for relation, weight in minimal_uniques %}
  SELECT cell, CAST({{ weight | lit }} AS DOUBLE) AS score FROM {{ relation | ident }}
  {{ loop | between("UNION ALL") }}
{% endfor %}
)
WHERE score > 0
GROUP BY cell
