-- title: The records as numbers, a missing value as -1, with their weights
-- source: sqlmicro; a weight that is missing, NaN or infinite is 0, as in audit/cells.sql
-- reads: relation
-- returns: in the order of row_id: row_id, a number from 0 per column, weight
-- params: relation, columns, weights (none, or a column)
SELECT
  row_id
{% for column in columns %}
  , CASE WHEN {{ column | ident }} IS NULL THEN -1
      ELSE dense_rank() OVER (ORDER BY {{ column | ident }} NULLS LAST) - 1 END AS {{ column | ident }}
{% endfor %}
{% for column in weights %}
  , CASE WHEN isfinite(CAST({{ column | ident }} AS DOUBLE)) THEN CAST({{ column | ident }} AS DOUBLE) ELSE 0
    END AS weight
{% endfor %}
FROM {{ relation | ident }}
ORDER BY row_id
