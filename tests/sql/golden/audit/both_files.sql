-- title: The records of two files as numbers, so that equal values of both have the same number
-- source: sqlmicro: what tables, means and models are made of
-- reads: original, released
-- returns: first the original, then the released records, each in the order of row_id: is_first, a number from 0 per nominal
--   column (NULL is a value of its own), the numeric columns as DOUBLE, those with ranges as text
-- params: original, released, nominal, numeric, ranges
WITH both_files AS (
  SELECT
    true AS is_first,
    CAST("s" AS VARCHAR) AS "s", 
    CAST("x" AS DOUBLE) AS "x", 
    CAST("r" AS VARCHAR) AS "r", 
    row_id
  FROM "staging"."original"
  UNION ALL
  SELECT
    false AS is_first,
    CAST("s" AS VARCHAR) AS "s", 
    CAST("x" AS DOUBLE) AS "x", 
    CAST("r" AS VARCHAR) AS "r", 
    row_id
  FROM "staging"."released"
)
SELECT
  is_first
  , dense_rank() OVER (ORDER BY "s") - 1 AS "s"
  , "x"
  , "r"
FROM both_files
ORDER BY is_first DESC, row_id
