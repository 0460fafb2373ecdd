-- title: The values of the columns, together, permuted among the records within strata
-- source: sqlmicro: every permutation is equally likely, two random orders are laid side by side; records with the same
--   columns missing are permuted among themselves
-- reads: drawn (with draw_1, draw_2)
-- returns: row_id, the columns
-- params: drawn, by, columns
WITH patterns AS (
  SELECT
    "land", 
    row_id
    , "net ""income"""
    , "net ""income""" IS NULL AS pattern_1
    , "town"
    , "town" IS NULL AS pattern_2
    , draw_1
    , draw_2
  FROM "staging"."drawn"
),
seated AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY
      "land", 
      pattern_1, pattern_2, true ORDER BY draw_1, row_id) AS seat,
    row_number() OVER (PARTITION BY
      "land", 
      pattern_1, pattern_2, true ORDER BY draw_2, row_id) AS draw
  FROM patterns
)
SELECT
  a.row_id
  , b."net ""income"""
  , b."town"
FROM seated AS a
JOIN seated AS b
  ON a."land" IS NOT DISTINCT FROM b."land" AND
    a.pattern_1 = b.pattern_1 AND
    a.pattern_2 = b.pattern_2 AND
    a.seat = b.draw
