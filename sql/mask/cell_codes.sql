-- title: The combinations that occur as numbers, a missing value as -1
-- source: sqlmicro
-- reads: cells
-- returns: in the order of cell: what was counted, a number from 0 per column
-- params: cells, counted (n, or n and members), columns
SELECT
  {{ counted | idents }}
{% for column in columns %}
  , CASE WHEN {{ column | ident }} IS NULL THEN -1
      ELSE dense_rank() OVER (ORDER BY {{ column | ident }} NULLS LAST) - 1 END AS {{ column | ident }}
{% endfor %}
FROM {{ cells | ident }}
ORDER BY cell
