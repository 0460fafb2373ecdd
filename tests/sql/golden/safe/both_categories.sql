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
    "sex", n
  FROM "staging"."released"
  UNION ALL
  SELECT
    false AS is_first,
    cell,
    "sex", n
  FROM "staging"."original"
)
SELECT
  n
  , dense_rank() OVER (ORDER BY "sex") - 1 AS "sex"
FROM both_files
ORDER BY is_first DESC, cell
