-- title: The records as numbers, for a kernel
-- source: sqlmicro
-- reads: relation
-- returns: row_id and the columns as DOUBLE, in the order of row_id
-- params: relation, columns
SELECT
  row_id
{% for column in columns %}
  , CAST({{ column | ident }} AS DOUBLE) AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
ORDER BY row_id
