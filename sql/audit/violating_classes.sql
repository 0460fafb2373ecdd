-- title: The equivalence classes with fewer than k records, smallest first
-- source: Samarati & Sweeney (1998); the values are only shown on request (--show-values)
-- reads: relation
-- returns: the columns as text, size
-- params: relation, columns, k, most
SELECT
{% for column in columns %}
  CAST(any_value({{ column.name | ident }}) AS VARCHAR) AS {{ column.name | ident }},
{% endfor %}
  count(*) AS size
FROM {{ relation | ident }}
GROUP BY
{% for column in columns %}
  encode(CAST({{ column.name | ident }} AS VARCHAR)){% if not loop.last %},{% endif +%}
{% endfor %}
HAVING count(*) < {{ k }}
ORDER BY count(*){% for column in columns %}, min(encode(CAST({{ column.name | ident }} AS VARCHAR))){% endfor +%}
LIMIT {{ most }}
