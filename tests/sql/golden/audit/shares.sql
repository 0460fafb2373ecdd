-- title: The share every sensitive value has in its class and in the whole release
-- source: Li, Li & Venkatasubramanian (2007): what a class tells beyond what the whole table tells
-- reads: members
-- returns: the columns, the sensitive column, records, probability (share in the class), share (in the whole release)
-- params: members, columns, value
WITH counted AS (
  SELECT "v", sum(records) AS n
  FROM "staging"."members"
  GROUP BY ALL)
SELECT
  m."a",
  m."v",
  m.records,
  m.size / sum(m.size) OVER (PARTITION BY m."a") AS probability,
  counted.n / (SELECT sum(n) FROM counted) AS share
FROM "staging"."members" AS m
JOIN counted ON m."v" IS NOT DISTINCT FROM counted."v"
