-- title: The cells of two files as numbers, so that equal values of both have the same number
-- source: sqlmicro: in one of them the columns of a level above are replaced already
-- reads: cells, original
-- returns: first the cells, then those of the original, each in the order of cell: n, a number from 0 per nominal column (NULL
--   is a value of its own), the numeric columns as DOUBLE
-- params: cells, original, nominal, numeric
WITH both_files AS (
  SELECT
    true AS is_first,
    cell,
    {{ nominal | listed("{}, ") }}{{ numeric | listed("{}, ") }}n
  FROM {{ cells | ident }}
  UNION ALL
  SELECT
    false AS is_first,
    cell,
    {{ nominal | listed("{}, ") }}{{ numeric | listed("{}, ") }}n
  FROM {{ original | ident }}
)
SELECT
  n
{% for column in nominal %}
  , dense_rank() OVER (ORDER BY {{ column | ident }}) - 1 AS {{ column | ident }}
{% endfor %}
{% for column in numeric %}
  , CAST({{ column | ident }} AS DOUBLE) AS {{ column | ident }}
{% endfor %}
FROM both_files
ORDER BY is_first DESC, cell
