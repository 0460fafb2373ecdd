-- title: The records as they are released: values that were suppressed are NULL
-- source: Hundepool et al. (2012), local suppression
-- reads: relation, chosen (row_id, and per column whether it is suppressed)
-- returns: row_id, the columns
-- params: relation, chosen, columns (column, flag)
SELECT
  r.row_id
{% for column, flag in columns %}
  , CASE WHEN NOT c.{{ flag | ident }} THEN r.{{ column | ident }} END AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
JOIN {{ chosen | ident }} AS c USING (row_id)
