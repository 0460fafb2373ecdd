-- title: By how much a sensitive value is more frequent in each class than in the release, relative to the release
-- source: Cao & Karras (2012): basic beta-likeness: (q - p) / p of the value that gains most
-- reads: shares
-- returns: the columns, records, measure
-- params: shares, columns
SELECT
  "a",
  CAST(sum(records) AS BIGINT) AS records,
  max(probability / share) - 1 AS measure
FROM "staging"."shares"
GROUP BY ALL
