-- title: Records with what they refer to: one row for every difference in it, or the record alone
-- source: sqlmicro: what somebody who holds all releases can put side by side; keys are compared as text. Rows that tell the
--   same are joined once: who is counted depends on what is told, not on how often
-- reads: base, the relation of every one of `joined`
-- returns: columns (of base), the columns of every one of `joined` and whether it was there, n (1)
-- params: base, columns, joined (alias, relation, pairs of columns that agree, its columns, there: the name of a column)
SELECT
  b."cost_3",
  "j_1"."age_2",
  "j_1"."net ""income""_6",
  "j_1".n IS NOT NULL AS "there_5",
  1 AS n
FROM "staging"."visits" AS b
LEFT JOIN (
  SELECT DISTINCT
    "id_1",
    "age_2",
    "net ""income""_6",
    n
  FROM "staging"."persons") AS "j_1" ON true AND CAST(b."whose_4" AS VARCHAR) = CAST("j_1"."id_1" AS VARCHAR)
