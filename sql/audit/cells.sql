-- title: The combinations of values that occur, and how many records have each
-- source: Samarati & Sweeney (1998): the equivalence classes of a table; NULL is a value of its own
-- reads: relation (records)
-- returns: the columns, total of every summed column (their sum over the records; what is missing, NaN or infinite counts
--   0), records, size (records again)
-- params: relation, columns, summed
SELECT
{% for column in columns %}
  {{ column | ident }},
{% endfor %}
{% for column in summed %}
  coalesce(sum({{ column | ident }}) FILTER (WHERE isfinite(CAST({{ column | ident }} AS DOUBLE))), 0) AS total,
{% endfor %}
  count(*) AS records,
  count(*) AS size
FROM {{ relation | ident }}
GROUP BY ALL
