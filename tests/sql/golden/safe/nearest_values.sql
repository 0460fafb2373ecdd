-- title: The released records with values that were read, the nearest to their means
-- source: sqlmicro: of two that are equally near the lower. Means of a column of few values are otherwise more values than it has
-- reads: released, cells
-- returns: label, the columns, n
-- params: released, cells, plain, columns
SELECT
  r.label
  , r."sex"
  , CASE
      WHEN CAST(r."net ""income""" AS DOUBLE) - below_1.place <= -above_1.place - CAST(r."net ""income""" AS DOUBLE)
        THEN below_1.occurring
      ELSE coalesce(above_1.occurring, below_1.occurring)
    END AS "net ""income"""
  , CASE
      WHEN CAST(r."x" AS DOUBLE) - below_2.place <= -above_2.place - CAST(r."x" AS DOUBLE)
        THEN below_2.occurring
      ELSE coalesce(above_2.occurring, below_2.occurring)
    END AS "x"
  , r.n
FROM "staging"."released" AS r
ASOF LEFT JOIN (
  SELECT CAST("net ""income""" AS DOUBLE) AS place, min("net ""income""") AS occurring
  FROM "staging"."cells"
  WHERE "net ""income""" IS NOT NULL
  GROUP BY CAST("net ""income""" AS DOUBLE)) AS below_1
  ON CAST(r."net ""income""" AS DOUBLE) >= below_1.place
ASOF LEFT JOIN (
  SELECT -CAST("net ""income""" AS DOUBLE) AS place, min("net ""income""") AS occurring
  FROM "staging"."cells"
  WHERE "net ""income""" IS NOT NULL
  GROUP BY -CAST("net ""income""" AS DOUBLE)) AS above_1
  ON -CAST(r."net ""income""" AS DOUBLE) >= above_1.place
ASOF LEFT JOIN (
  SELECT CAST("x" AS DOUBLE) AS place, min("x") AS occurring
  FROM "staging"."cells"
  WHERE "x" IS NOT NULL
  GROUP BY CAST("x" AS DOUBLE)) AS below_2
  ON CAST(r."x" AS DOUBLE) >= below_2.place
ASOF LEFT JOIN (
  SELECT -CAST("x" AS DOUBLE) AS place, min("x") AS occurring
  FROM "staging"."cells"
  WHERE "x" IS NOT NULL
  GROUP BY -CAST("x" AS DOUBLE)) AS above_2
  ON -CAST(r."x" AS DOUBLE) >= above_2.place
