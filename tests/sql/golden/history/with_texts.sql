-- title: The sensitive values that seats of a series have, as texts that give the same values again
-- source: sqlmicro
-- reads: remembered (value, column_name, text), relation, seats
-- returns: column_name, value (their hash together), text
-- params: remembered, relation, seats, sensitive
SELECT column_name, value, text
FROM "staging"."remembered"
UNION
SELECT
  'sex',
  CAST(hash(0, CAST(r."c2" AS VARCHAR)) >> 1 AS BIGINT),
  CAST(r."c2" AS VARCHAR)
FROM "staging"."relation" AS r
SEMI JOIN "staging"."seats" AS s USING (row_id)
