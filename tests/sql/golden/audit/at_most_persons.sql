-- title: How diverse each class is, and at most as many as it has persons
-- source: sqlmicro: a person with four visits and four diagnoses is no class of four; l-diversity of
--   Machanavajjhala et al. (2007) takes a record for each person
-- reads: classes (measure), cells (size: persons)
-- returns: the columns, records (persons), measure
-- params: classes, cells, columns
SELECT
  c."a",
  c.records,
  least(m.measure, c.size) AS measure
FROM "staging"."classes" AS m
JOIN "staging"."cells" AS c ON c."a" IS NOT DISTINCT FROM m."a"
