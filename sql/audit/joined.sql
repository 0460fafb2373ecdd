-- title: Records with what they refer to: one row for every difference in it, or the record alone
-- source: sqlmicro: what somebody who holds all releases can put side by side; keys are compared as text. Rows that tell the
--   same are joined once: who is counted depends on what is told, not on how often
-- reads: base, the relation of every one of `joined`
-- returns: columns (of base), the columns of every one of `joined` and whether it was there, n (1)
-- params: base, columns, joined (alias, relation, pairs of columns that agree, its columns, there: the name of a column)
SELECT
{% for column in columns %}
  b.{{ column | ident }},
{% endfor %}
{% for alias, relation, pairs, others, there in joined %}
{% for column in others %}
  {{ alias | ident }}.{{ column | ident }},
{% endfor %}
  {{ alias | ident }}.n IS NOT NULL AS {{ there | ident }},
{% endfor %}
  1 AS n
FROM {{ base | ident }} AS b
{% for alias, relation, pairs, others, there in joined %}
LEFT JOIN (
  SELECT DISTINCT
  {% for _, other in pairs %}
    {{ other | ident }},
  {% endfor %}
  {% for column in others %}
    {{ column | ident }},
  {% endfor %}
    n
  FROM {{ relation | ident }}) AS {{ alias | ident }} ON true
{%- for one, other in pairs %}
 AND CAST(b.{{ one | ident }} AS VARCHAR) = CAST({{ alias | ident }}.{{ other | ident }} AS VARCHAR)
{%- endfor %}

{% endfor %}
