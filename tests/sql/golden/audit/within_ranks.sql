-- title: How many original values lie within some ranks of the released ones
-- source: Domingo-Ferrer & Torra (2001): interval disclosure by ranks; a value's rank among the original ones is the middle
--   of the ranks of those that equal it, and between theirs where none does
-- reads: original, released (values, by row_id)
-- returns: column_name, within, records (with a value in both)
-- params: original, released, columns, ranks
SELECT
  'x' AS column_name,
  count(*) FILTER (WHERE abs(
    (x.low + x.high) / 2 - CASE WHEN y.value = r."x" THEN (y.low + y.high) / 2 ELSE coalesce(y.high, 0) END)
    <= 1) AS within,
  count(*) AS records
FROM "staging"."original" AS o
JOIN "staging"."released" AS r USING (row_id)
JOIN (
  SELECT "x" AS value, sum(count(*)) OVER (ORDER BY "x") AS high,
    sum(count(*)) OVER (ORDER BY "x") - count(*) AS low
  FROM "staging"."original" WHERE "x" IS NOT NULL GROUP BY "x") AS x
  ON x.value = o."x"
ASOF LEFT JOIN (
  SELECT "x" AS value, sum(count(*)) OVER (ORDER BY "x") AS high,
    sum(count(*)) OVER (ORDER BY "x") - count(*) AS low
  FROM "staging"."original" WHERE "x" IS NOT NULL GROUP BY "x") AS y
  ON r."x" >= y.value
WHERE r."x" IS NOT NULL
