-- title: The risk of every record, beside the household it belongs to
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: hierarchical risk
-- reads: relation (records), classes (measure)
-- returns: the household, measure
-- params: relation, classes, columns, household
SELECT
  r."h",
  c.measure
FROM "staging"."records" AS r
JOIN "staging"."classes" AS c ON r."a" IS NOT DISTINCT FROM c."a"
