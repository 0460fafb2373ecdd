-- title: Every value with what it becomes on each level, numbered, and how much of the column that covers
-- source: El Emam et al. (2009), granularity: (values that share the level - 1) / (values - 1),
--   of the values that records have
-- reads: values (value, n), rungs (a relation per level: value, recoded)
-- returns: value, code_0, and per level: level_i, code_i, share_i
-- params: values, rungs (alias, relation, level, code, share)
SELECT
  v.value,
  dense_rank() OVER (ORDER BY v.value NULLS LAST) AS code_0
  , "l1".recoded AS "level_1"
  , dense_rank() OVER (ORDER BY "l1".recoded NULLS LAST) AS "code_1"
  , greatest(count(CASE WHEN v.n > 0 THEN 1 END) OVER (PARTITION BY "l1".recoded) - 1, 0)
      / greatest(count(CASE WHEN v.n > 0 THEN 1 END) OVER () - 1, 1) AS "share_1"
  , "l2".recoded AS "level_2"
  , dense_rank() OVER (ORDER BY "l2".recoded NULLS LAST) AS "code_2"
  , greatest(count(CASE WHEN v.n > 0 THEN 1 END) OVER (PARTITION BY "l2".recoded) - 1, 0)
      / greatest(count(CASE WHEN v.n > 0 THEN 1 END) OVER () - 1, 1) AS "share_2"
FROM "staging"."values" AS v
JOIN "staging"."one" AS "l1" ON "l1".value IS NOT DISTINCT FROM v.value
JOIN "staging"."two" AS "l2" ON "l2".value IS NOT DISTINCT FROM v.value
