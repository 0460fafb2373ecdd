-- title: By how much a sensitive value is more frequent in each class than in the whole table, relative to the table
-- source: Cao & Karras (2012): basic beta-likeness: (q - p) / p of the value that gains most; one that the table lacks gains infinitely
-- reads: shares
-- returns: the columns, records, measure
-- params: shares, columns
SELECT
  "a",
  CAST(sum(records) AS BIGINT) AS records,
  max(CASE WHEN share > 0 THEN probability / share ELSE CAST('infinity' AS DOUBLE) END) - 1 AS measure
FROM "staging"."shares"
GROUP BY ALL
