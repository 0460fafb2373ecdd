-- title: The first class that every combination fits, with what its values are released as
-- source: sqlmicro: local recoding; a combination that fits none is left out
-- reads: cells, classes (place, the strata, a level and a value per column), the relations that hold the levels by value
-- returns: label (the number of the combination), the columns that changed
-- params: cells, classes, joined (relation, alias, column), strata (column, name),
--   columns (column, value, level, type, steps: number, alias, name), changed (of the columns)
WITH nodes AS (
  SELECT DISTINCT
    "level_1", "level_2"
  FROM "staging"."classes"
),
fitting AS (
  SELECT
    c.cell,
    min(k.place) AS place
  FROM "staging"."cells" AS c
  JOIN "staging"."ladder" AS "a1" ON "a1".value IS NOT DISTINCT FROM c."net ""income"""
  JOIN "staging"."texts" AS "t1" ON "t1".value IS NOT DISTINCT FROM c."net ""income"""
  CROSS JOIN nodes AS n
  JOIN "staging"."classes" AS k
    ON true
      AND CAST(c."land" AS VARCHAR) IS NOT DISTINCT FROM k."stratum_1"
      AND k."level_1" = n."level_1"
      AND CAST(k."value_1" AS VARCHAR) IS NOT DISTINCT FROM CASE n."level_1"
        WHEN 0 THEN CAST("t1"."recoded" AS VARCHAR)
        WHEN 1 THEN CAST("a1"."level_1" AS VARCHAR)
      END
      AND k."level_2" = n."level_2"
      AND CAST(k."value_2" AS VARCHAR) IS NOT DISTINCT FROM CASE n."level_2"
        WHEN 0 THEN CAST("c"."town" AS VARCHAR)
      END
  GROUP BY c.cell
)
SELECT
  f.cell AS label
  , CAST(k."value_1" AS VARCHAR) AS "net ""income"""
FROM fitting AS f
JOIN "staging"."classes" AS k USING (place)
