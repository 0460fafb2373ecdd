-- title: The smallest value of every column, and how far the largest is from it
-- source: sqlmicro
-- reads: relation
-- returns: one row: low_i and width_i of the columns, counted from 1
-- params: relation, columns
SELECT
{% for column in columns %}
  min(CAST({{ column | ident }} AS DOUBLE)) AS low_{{ loop.index }},
  max(CAST({{ column | ident }} AS DOUBLE)) - low_{{ loop.index }} AS width_{{ loop.index }}
  {% if not loop.last %},{% endif +%}
{% endfor %}
FROM {{ relation | ident }}
