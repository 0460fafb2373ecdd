-- title: The records with their new values
-- source: sqlmicro
-- reads: relation, and the relations that carry new values by row_id
-- returns: row_id, record and the columns, in the order of row_id
-- params: relation, columns (the column, where it comes from, its name there), joined (alias, relation)
SELECT
  r.row_id,
  r.record
{% for column, alias, name in columns %}
  , {{ alias | ident }}.{{ name | ident }} AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }} AS r
{% for alias, replaced in joined %}
LEFT JOIN {{ replaced | ident }} AS {{ alias | ident }} ON {{ alias | ident }}.row_id = r.row_id
{% endfor %}
ORDER BY r.row_id
