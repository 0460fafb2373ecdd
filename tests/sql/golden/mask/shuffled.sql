-- title: The values of the columns, together, permuted among the records within strata
-- source: sqlmicro: every permutation is equally likely; records with the same columns missing are permuted among
--   themselves
-- reads: relation
-- returns: row_id, the columns
-- params: relation, by, columns, stream
WITH patterns AS (
  SELECT
"land", 
    row_id
    , "net ""income"""
    , "net ""income""" IS NULL AS pattern_1
    , "town"
    , "town" IS NULL AS pattern_2
    , CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', 'shuffle_1.1', ' ', row_id)), 15)) AS BIGINT) AS value
  FROM "staging"."typed"
),
seated AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY
"land", pattern_1, pattern_2, true ORDER BY row_id) AS seat,
    row_number() OVER (PARTITION BY
"land", pattern_1, pattern_2, true ORDER BY value, row_id) AS draw
  FROM patterns
)
SELECT
  a.row_id
  , b."net ""income"""
  , b."town"
FROM seated AS a
JOIN seated AS b
  ON
    a."land" IS NOT DISTINCT FROM b."land" AND
    a.pattern_1 = b.pattern_1 AND
    a.pattern_2 = b.pattern_2 AND
    a.seat = b.draw
