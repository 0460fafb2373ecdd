-- title: The records, and the combinations that are frequent in the population, as numbers; a missing value as -1
-- source: Sweeney (2002): k-map
-- reads: records (by canonical bytes, with row_id), population (combinations, with size)
-- returns: in the order of row_id, which is -1 for a combination of the population: row_id, a number from 0 per column
-- params: records, population, columns, k (members of the population)
WITH together AS (
  SELECT
    row_id
  {% for column in columns %}
    , {{ column | ident }}
  {% endfor %}
  FROM {{ records | ident }}
  UNION ALL
  SELECT
    -1
  {% for column in columns %}
    , {{ column | ident }}
  {% endfor %}
  FROM {{ population | ident }}
  WHERE size >= {{ k }}
)
SELECT
  row_id
{% for column in columns %}
  , CASE WHEN {{ column | ident }} IS NULL THEN -1
      ELSE dense_rank() OVER (ORDER BY {{ column | ident }} NULLS LAST) - 1 END AS {{ column | ident }}
{% endfor %}
FROM together
ORDER BY row_id
