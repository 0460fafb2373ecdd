-- title: Which values of every record are missing
-- source: sqlmicro
-- reads: relation
-- returns: in the order of row_id: row_id, and for every column whether there is no value
-- params: relation, columns
SELECT
  row_id
{% for column in columns %}
  , {{ column | ident }} IS NULL AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
ORDER BY row_id
