-- title: What a hierarchy makes of every value
-- source: Hundepool et al. (2012), global recoding
-- reads: values, hierarchy (value, a column per level)
-- returns: value, recoded, found (whether the hierarchy has the value; NULL stays NULL)
-- params: values, hierarchy, level
SELECT
  v.value,
  h.{{ level | ident }} AS recoded,
  v.value IS NULL OR h.value IS NOT NULL AS found
FROM {{ values | ident }} AS v
LEFT JOIN {{ hierarchy | ident }} AS h ON h.value = CAST(v.value AS VARCHAR)
