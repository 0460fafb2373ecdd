-- title: The mean of every group in every numeric column, moved by what keeps the tables of the numbers near
-- source: sqlmicro: means alone have less spread than their records. A number goes at most half the way to the least or
--   the largest of its group, whose own it would be there
-- reads: cells, members, means, moved
-- returns: label, n, the columns
-- params: cells, members, means, moved, columns, others (columns that stay as they are)
WITH ranges AS (
  SELECT
    m.label
    , min(CAST(c."x" AS DOUBLE)) AS low_1
    , max(CAST(c."x" AS DOUBLE)) AS high_1
  FROM "staging"."members" AS m
  JOIN "staging"."cells" AS c USING (cell)
  GROUP BY m.label
)
SELECT
  a.label
  , a.n
  , CASE WHEN a."x" IS NOT NULL THEN
      greatest((a."x" + r.low_1) / 2,
        least((a."x" + r.high_1) / 2, a."x" + v."x")) END
        AS "x"
  , a."other"
FROM "staging"."means" AS a
JOIN "staging"."moved" AS v USING (label)
JOIN ranges AS r USING (label)
