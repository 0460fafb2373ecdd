-- title: The most frequent value of one column in every group
-- source: Höhne, SAFE; of equally frequent values the smallest is taken, NULL last
-- reads: cells, members
-- returns: label, the column
-- params: cells, members, column
SELECT
  label,
  "sex"
FROM (
  SELECT
    m.label,
    c."sex",
    sum(m.n) AS n
  FROM "staging"."members" AS m
  JOIN "staging"."cells" AS c USING (cell)
  GROUP BY m.label, c."sex")
QUALIFY row_number() OVER (PARTITION BY label ORDER BY n DESC, "sex" NULLS LAST) = 1
