-- title: The records with the group they are in
-- source: sqlmicro
-- reads: groups, relation
-- returns: label, the columns
-- params: groups, relation, columns
SELECT
  g.label
{% for column in columns %}
  , r.{{ column | ident }}
{% endfor %}
FROM {{ groups | ident }} AS g
JOIN {{ relation | ident }} AS r USING (row_id)
