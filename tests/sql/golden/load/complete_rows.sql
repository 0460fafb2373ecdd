-- title: The records that have a value in every one of the columns
-- source: sqlmicro, --nulls suppress
-- reads: typed
-- returns: the columns of typed
-- params: typed, columns
SELECT *
FROM "staging"."typed"
WHERE
  "a" IS NOT NULL AND
  "b" IS NOT NULL AND
  true
