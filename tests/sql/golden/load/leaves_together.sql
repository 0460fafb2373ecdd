-- title: The sampled values of several tables
-- source: sqlmicro
-- reads: leaves (relations with place, path, value)
-- returns: place, path, value
-- params: leaves
SELECT place, path, value
FROM "staging"."first"
UNION ALL
SELECT place, path, value
FROM "staging"."second"
