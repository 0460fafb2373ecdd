-- title: The share of every sensitive value in the table that classes are compared with
-- source: Li, Li & Venkatasubramanian (2007). The table is the input where there is one: what was left out of a release
--   is no reason to take it for rarer. A value that only the release has is there with share 0
-- reads: cells (of the input, or of the release itself), members (of the release)
-- returns: the sensitive column, share
-- params: cells, members, value
SELECT
  "v",
  coalesce(sum(n) / (SELECT sum(records) FROM "staging"."members"), 0) AS share
FROM (
  SELECT "v", records AS n
  FROM "staging"."members"
  UNION ALL
  SELECT DISTINCT "v", 0 AS n
  FROM "staging"."members")
GROUP BY "v"
