-- title: How far the distribution of a nominal sensitive column in each class is from that of the release
-- source: Li, Li & Venkatasubramanian (2007): t-closeness, Earth Mover's Distance where all values are equally far apart
-- reads: shares
-- returns: the columns, records, measure (half the sum of the differences: what the class has too much of)
-- params: shares, columns
SELECT
  "a",
  CAST(sum(records) AS BIGINT) AS records,
  sum(greatest(probability - share, 0)) AS measure
FROM "staging"."shares"
GROUP BY ALL
