-- title: The records of a release, each with the number of the person it is about
-- source: sqlmicro: what says whose record it is, is not released: the original tells it, by the match. Records that it does
--   not know are one person, so that no class looks larger than it is
-- reads: released, original (both as they are)
-- returns: the columns under their own names, person
-- params: released, original, columns, match, person, number (the name of what is added)
SELECT
{% for column in columns %}
  r.{{ column.name | ident }},
{% endfor %}
  o.{{ number | ident }}
FROM {{ released | ident }} AS r
LEFT JOIN (
  SELECT
  {% for column in match %}
    {{ column.name | ident }},
  {% endfor %}
    dense_rank() OVER (ORDER BY {{ person | listed("{name}") }}) AS {{ number | ident }}
  FROM {{ original | ident }}) AS o ON true
{% for column in match %}
  AND r.{{ column.name | ident }} IS NOT DISTINCT FROM o.{{ column.name | ident }}
{% endfor %}
