-- title: The nominal values of groups and of cells as numbers, so that equal values of both have the same number
-- source: sqlmicro: the margins that weights are calibrated to
-- reads: released, original
-- returns: first the groups in the order of label, then the cells in the order of cell: n, a number from 0 per nominal column
--   (NULL is a value of its own)
-- params: released, original, nominal
WITH both_files AS (
  SELECT
    true AS is_first,
    label AS cell,
    {{ nominal | listed("{}, ") }}n
  FROM {{ released | ident }}
  UNION ALL
  SELECT
    false AS is_first,
    cell,
    {{ nominal | listed("{}, ") }}n
  FROM {{ original | ident }}
)
SELECT
  n
{% for column in nominal %}
  , dense_rank() OVER (ORDER BY {{ column | ident }}) - 1 AS {{ column | ident }}
{% endfor %}
FROM both_files
ORDER BY is_first DESC, cell
