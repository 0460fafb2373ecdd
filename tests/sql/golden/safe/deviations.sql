-- title: By how much the tables of two files differ
-- source: Höhne, SAFE: A_S = Z_S'Z_S (counts) and T_S = Z_S'X (sums) for sets S of nominal columns. The cells of one file
--   count positive and those of the other negative; summed by cell values, what is left is the difference
-- reads: original, changed (combinations that occur, with n)
-- returns: a row per set S: table_id (as grouping() gives it: a bit per column, set where the column is not in S), cells, cells_changed, count_deviation,
--   count_max, and for the i-th numeric column sum_deviation_i and sum_max_i
-- params: original, changed, nominal, numeric, sets
WITH both_files AS (
  SELECT
    n AS signed_n
    , "sex"
    , "land"
    , n * CAST("x" AS DOUBLE) AS signed_1
  FROM "staging"."original"
  UNION ALL
  SELECT
    -n AS signed_n
    , "sex"
    , "land"
    , -n * CAST("x" AS DOUBLE) AS signed_1
  FROM "staging"."changed"
),
cells AS (
  SELECT
grouping("sex", "land") AS table_id,
    sum(signed_n) AS deviation
    , coalesce(sum(signed_1), 0) AS deviation_1
  FROM both_files
  GROUP BY GROUPING SETS (
    ("sex"),
    ("land"),
    ("sex", "land")
  )
)
SELECT
  table_id,
  count(*) AS cells,
  count(*) FILTER (WHERE deviation <> 0) AS cells_changed,
  sum(abs(deviation)) AS count_deviation,
  max(abs(deviation)) AS count_max
  , sum(abs(deviation_1)) AS sum_deviation_1
  , max(abs(deviation_1)) AS sum_max_1
FROM cells
GROUP BY table_id
ORDER BY table_id
