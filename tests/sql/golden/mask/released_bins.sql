-- title: The bins that released records are in
-- source: sqlmicro: a recoding that is written shows no other ends
-- reads: bins (value, low, high), relation, kept (the records that are released)
-- returns: low, high, in order; an open end is NULL
-- params: bins, relation, kept, column
SELECT DISTINCT
  b.low,
  b.high
FROM "staging"."bins" AS b
JOIN "staging"."typed" AS r ON r."net ""income""" = b.value
SEMI JOIN "staging"."kept" AS k USING (row_id)
ORDER BY b.low NULLS FIRST
