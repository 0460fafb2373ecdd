-- title: The same value for every record
-- source: sqlmicro
-- reads: relation
-- returns: row_id, the columns
-- params: relation, columns, value
SELECT
  row_id
{% for column in columns %}
  , {{ value | lit }} AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
