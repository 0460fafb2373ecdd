-- title: What a hierarchy makes of every value
-- source: Hundepool et al. (2012), global recoding
-- reads: values, hierarchy (value, a column per level)
-- returns: value, recoded, found (whether the hierarchy has the value; NULL stays NULL)
-- params: values, hierarchy, level
SELECT
  v.value,
  h."level_2" AS recoded,
  v.value IS NULL OR h.value IS NOT NULL AS found
FROM "staging"."values" AS v
LEFT JOIN "staging"."hierarchy" AS h ON h.value = CAST(v.value AS VARCHAR)
