-- title: The risk of every person, beside the household she belongs to
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: hierarchical risk; sqlmicro: of several records of a person the one at
--   the largest risk counts
-- reads: relation (records), classes (measure)
-- returns: the household, measure
-- params: relation, classes, columns, person, household
SELECT
  r."h",
  max(c.measure) AS measure
FROM "staging"."records" AS r
JOIN "staging"."classes" AS c ON r."a" IS NOT DISTINCT FROM c."a"
GROUP BY r."p", r."h"
