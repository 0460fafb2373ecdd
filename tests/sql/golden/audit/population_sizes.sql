-- title: How many members of the population have the combination of each class
-- source: Sweeney (2002): k-map; a combination that nobody in the population has counts 0
-- reads: cells, population (cells)
-- returns: the columns, records, size, total (members of the population)
-- params: cells, population, columns
SELECT
  c."a",
  c."b",
  c.records,
  c.size,
  coalesce(p.size, 0) AS total
FROM "staging"."cells" AS c
LEFT JOIN "staging"."population" AS p ON c."a" IS NOT DISTINCT FROM p."a" AND c."b" IS NOT DISTINCT FROM p."b"
