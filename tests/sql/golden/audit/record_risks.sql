-- title: The risk of every record, beside what the record is known by
-- source: Benedetti & Franconi (1998), individual risk; Templ, Kowarik & Meindl (2015), household risk: whoever is in none
--   is one alone; Elliot & Manning (2003), DIS-SUDA
-- reads: records (the key, the columns, the household), cells (size), classes (measure: the risk of a record), scored (score
--   and probability of the classes that have one), households (measure), linked (row_id: the key as a struct; attack)
-- returns: the key, class_size, individual_risk, household_risk, suda, dis_suda, linked_by; those that are lacking are NULL
--   and come last
-- params: records, key (the column, what it is called), columns, cells, classes, scored (in a list of one, or none; with the
--   DIS-SUDA of a class without a score: 0, or NULL where none is known), households (likewise), household, linked
--   (likewise), lacking (name and type of what was not measured)
SELECT
  r."key_1" AS "the ""id""",
  c.size AS class_size,
  CAST(i.measure AS DOUBLE) AS individual_risk
  , CAST(coalesce(h.measure, i.measure) AS DOUBLE) AS household_risk
  , CAST(coalesce(s.score, 0) AS DOUBLE) AS suda
  , coalesce(s.dis_suda, CAST(0.0 AS DOUBLE)) AS dis_suda
  , l.attack AS linked_by
FROM "staging"."records" AS r
JOIN "staging"."cells" AS c ON r."a" IS NOT DISTINCT FROM c."a"
JOIN "staging"."classes" AS i ON r."a" IS NOT DISTINCT FROM i."a"
LEFT JOIN "staging"."scored" AS s ON r."a" IS NOT DISTINCT FROM s."a"
LEFT JOIN "staging"."households" AS h ON h.n IS NULL AND r."h" IS NOT DISTINCT FROM h."h"
LEFT JOIN "staging"."linked" AS l ON l.row_id = { 'key_1': r."key_1"}
