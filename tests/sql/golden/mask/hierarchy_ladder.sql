-- title: Every value with what a hierarchy makes of it on each level, numbered, and how much of the hierarchy that covers
-- source: El Emam et al. (2009), granularity; Iyengar (2002): (leaves that share the level - 1) / (leaves - 1)
-- reads: texts (value, recoded: the value as text), hierarchy (value, a column per level; its row without a value says what becomes of a missing one)
-- returns: value, found (whether the hierarchy has it), code_0, and per level: level_i, code_i, share_i
-- params: texts, hierarchy, levels (level, code, share)
WITH leaves AS (
  SELECT
    *
    , greatest(count(value) OVER (PARTITION BY "level_1") - 1, 0) / greatest(count(value) OVER () - 1, 1)
      AS "share_1"
    , greatest(count(value) OVER (PARTITION BY "level_2") - 1, 0) / greatest(count(value) OVER () - 1, 1)
      AS "share_2"
  FROM "staging"."hierarchy")
SELECT
  v.value,
  v.value IS NULL OR h.value IS NOT NULL AS found,
  dense_rank() OVER (ORDER BY v.value NULLS LAST) AS code_0
  , h."level_1"
  , dense_rank() OVER (ORDER BY h."level_1" NULLS LAST) AS "code_1"
  , h."share_1"
  , h."level_2"
  , dense_rank() OVER (ORDER BY h."level_2" NULLS LAST) AS "code_2"
  , h."share_2"
FROM "staging"."texts" AS v
LEFT JOIN leaves AS h ON h.value IS NOT DISTINCT FROM v.recoded
