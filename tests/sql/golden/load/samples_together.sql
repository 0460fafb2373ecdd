-- title: The sampled values of several tables
-- source: sqlmicro
-- reads: samples (relations with place, path, value)
-- returns: place, path, value
-- params: samples
SELECT place, path, value
FROM "staging"."first"
UNION ALL
SELECT place, path, value
FROM "staging"."second"
