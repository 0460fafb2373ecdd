-- title: The combinations that are released, with the value of the level that was chosen for each column
-- source: sqlmicro: local recoding
-- reads: cells, chosen (label, a number of a level per column), the relations that hold the levels by value
-- returns: label, the columns
-- params: cells, chosen, joined (relation, alias, column), columns (column, chosen level, levels: number, alias, name)
SELECT
  s.label
{% for column, level, levels in columns %}
  , CASE s.{{ level | ident }}
  {% for number, alias, name in levels %}
    WHEN {{ number | lit }} THEN {{ alias | ident }}.{{ name | ident }}
  {% endfor %}
    END AS {{ column | ident }}
{% endfor %}
FROM {{ chosen | ident }} AS s
JOIN {{ cells | ident }} AS c ON c.cell = s.label
{% for relation, alias, column in joined %}
JOIN {{ relation | ident }} AS {{ alias | ident }} ON {{ alias | ident }}.value IS NOT DISTINCT FROM c.{{ column | ident }}
{% endfor %}
