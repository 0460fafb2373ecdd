-- title: The values of its unit for every record
-- source: sqlmicro
-- reads: members (row_id, unit), values (by the row_id of the unit)
-- returns: row_id, the columns
-- params: members, values, columns
SELECT
  m.row_id
{% for column in columns %}
  , v.{{ column | ident }}
{% endfor %}
FROM {{ members | ident }} AS m
JOIN {{ values | ident }} AS v ON m.unit = v.row_id
