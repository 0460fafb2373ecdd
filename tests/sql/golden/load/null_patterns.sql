-- title: The records and which of the columns they have no value in
-- source: sqlmicro, --nulls pattern
-- reads: relation
-- returns: the columns of relation, and pattern: a 1 for every missing value
-- params: relation, columns
SELECT
  *,
  ''
  || CASE WHEN "a" IS NULL THEN '1' ELSE '0' END
  || CASE WHEN "b" IS NULL THEN '1' ELSE '0' END
  AS pattern
FROM "staging"."typed"
