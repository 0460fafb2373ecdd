-- title: The share of every sensitive value in the table that classes are compared with
-- source: Li, Li & Venkatasubramanian (2007). The table is the input where there is one: what was left out of a release
--   is no reason to take it for rarer. A value that only the release has is there with share 0
-- reads: cells (of the input, or of the release itself), members (of the release)
-- returns: the sensitive column, share
-- params: cells, members, value
SELECT
  {{ value | ident }},
  coalesce(sum(n) / (SELECT sum(records) FROM {{ cells | ident }}), 0) AS share
FROM (
  SELECT {{ value | ident }}, records AS n
  FROM {{ cells | ident }}
  UNION ALL
  SELECT DISTINCT {{ value | ident }}, 0 AS n
  FROM {{ members | ident }})
GROUP BY {{ value | ident }}
