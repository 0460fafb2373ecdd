-- title: The most frequent value of one nominal column in every group
-- source: Domingo-Ferrer & Torra (2005); of equally frequent values the smallest is taken, NULL last
-- reads: grouped
-- returns: label, the column
-- params: grouped, column
SELECT
  label,
  "net ""income"""
FROM (
  SELECT label, "net ""income""", count(*) AS n
  FROM "staging"."grouped"
  GROUP BY label, "net ""income""")
QUALIFY row_number() OVER (PARTITION BY label ORDER BY n DESC, "net ""income""" NULLS LAST) = 1
