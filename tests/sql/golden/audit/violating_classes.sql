-- title: The equivalence classes with fewer than k records, smallest first
-- source: Samarati & Sweeney (1998); the values are only shown on request (--show-values)
-- reads: relation
-- returns: the columns as text, size
-- params: relation, columns, k, most
SELECT
  CAST(any_value("name") AS VARCHAR) AS "name",
  CAST(any_value("net ""income""") AS VARCHAR) AS "net ""income""",
  count(*) AS size
FROM "staging"."released"
GROUP BY
  encode(CAST("name" AS VARCHAR)),
  encode(CAST("net ""income""" AS VARCHAR))
HAVING count(*) < 3
ORDER BY count(*), min(encode(CAST("name" AS VARCHAR))), min(encode(CAST("net ""income""" AS VARCHAR)))
LIMIT 10
