-- title: The representative of its group for every record
-- source: sqlmicro
-- reads: groups, representatives
-- returns: row_id, the columns
-- params: groups, representatives, columns
SELECT
  g.row_id
{% for column in columns %}
  , r.{{ column | ident }}
{% endfor %}
FROM {{ groups | ident }} AS g
JOIN {{ representatives | ident }} AS r USING (label)
