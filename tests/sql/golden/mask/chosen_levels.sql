-- title: The combinations that are released, with the value of the level that was chosen for each column
-- source: sqlmicro: local recoding
-- reads: cells, chosen (label, a number of a level per column), the relations that hold the levels by value
-- returns: label, the columns
-- params: cells, chosen, joined (relation, alias, column), columns (column, chosen level, levels: number, alias, name)
SELECT
  s.label
  , CASE s."chosen_1"
    WHEN 0 THEN "t1"."recoded"
    WHEN 1 THEN "a1"."level_1"
    END AS "net ""income"""
  , CASE s."chosen_2"
    WHEN 0 THEN "a2"."value"
    WHEN 1 THEN "a2"."level_1"
    WHEN 2 THEN "a2"."level_2"
    END AS "x"
FROM "staging"."chosen" AS s
JOIN "staging"."cells" AS c ON c.cell = s.label
JOIN "staging"."incomes" AS "a1" ON "a1".value IS NOT DISTINCT FROM c."net ""income"""
JOIN "staging"."texts" AS "t1" ON "t1".value IS NOT DISTINCT FROM c."net ""income"""
JOIN "staging"."letters" AS "a2" ON "a2".value IS NOT DISTINCT FROM c."x"
