-- title: What is known of the rows of a person: how many they are, and what their values come to
-- source: sqlmicro: aggregates of a fact table as quasi-identifiers; sums of doubles in the order of the values, which is
--   the same for the same values
-- reads: relation
-- returns: keys (as text; only rows that have all), the aggregates, n (1)
-- params: relation, keys, counts (names), sums, averages, least, greatest (pairs: a column, the name of the aggregate)
SELECT
{% for key in keys %}
  CAST({{ key | ident }} AS VARCHAR) AS {{ key | ident }},
{% endfor %}
{% for name in counts %}
  count(*) AS {{ name | ident }},
{% endfor %}
{% for column, name in sums %}
  sum({{ column | ident }} ORDER BY {{ column | ident }}) AS {{ name | ident }},
{% endfor %}
{% for column, name in averages %}
  avg({{ column | ident }} ORDER BY {{ column | ident }}) AS {{ name | ident }},
{% endfor %}
{% for column, name in least %}
  min({{ column | ident }}) AS {{ name | ident }},
{% endfor %}
{% for column, name in greatest %}
  max({{ column | ident }}) AS {{ name | ident }},
{% endfor %}
  1 AS n
FROM {{ relation | ident }}
WHERE NOT (false{% for key in keys %} OR {{ key | ident }} IS NULL{% endfor %})
GROUP BY ALL
