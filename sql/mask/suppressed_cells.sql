-- title: The combinations as they are released: values that were suppressed are NULL
-- source: Hundepool et al. (2012), local suppression
-- reads: cells, chosen (label, cell, and per column whether it is suppressed)
-- returns: label, the columns
-- params: cells, chosen, columns (column, flag)
SELECT
  s.label
{% for column, flag in columns %}
  , CASE WHEN NOT s.{{ flag | ident }} THEN c.{{ column | ident }} END AS {{ column | ident }}
{% endfor %}
FROM {{ chosen | ident }} AS s
JOIN {{ cells | ident }} AS c USING (cell)
