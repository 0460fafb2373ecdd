-- title: The records that are in a box, with what its values are released as
-- source: LeFevre, DeWitt & Ramakrishnan (2006); sqlmicro: a record in no box is left out, its values are not guessed
-- reads: relation, boxes
-- returns: row_id, the columns as text
-- params: relation, boxes, several (boxes that follow each other are looked at together first), strata (column, name),
--   ranges (column, low, high, missing), sets (column, set, missing), columns (column, label)
WITH blocks AS (
  SELECT
    b.box // 2 AS block
    , min(b."low_1") AS "low_1"
    , max(b."high_1") AS "high_1"
    , bool_or(b."missing_1") AS "missing_1"
    , list_distinct(flatten(list(b."low_2"))) AS "low_2"
    , bool_or(b."missing_2") AS "missing_2"
  FROM "staging"."boxes" AS b
  GROUP BY block
)
SELECT
  r.row_id
  , b."label_1" AS "net ""income"""
  , b."label_2" AS "town"
FROM "staging"."typed" AS r
JOIN blocks AS s
  ON true
    AND (r."net ""income""" BETWEEN s."low_1" AND s."high_1"
      OR r."net ""income""" IS NULL AND s."missing_1")
    AND (list_contains(s."low_2", CAST(r."town" AS VARCHAR))
      OR r."town" IS NULL AND s."missing_2")
JOIN "staging"."boxes" AS b
  ON b.box // 2 = s.block
    AND CAST(r."land" AS VARCHAR) IS NOT DISTINCT FROM b."stratum_1"
    AND (r."net ""income""" BETWEEN b."low_1" AND b."high_1"
      OR r."net ""income""" IS NULL AND b."missing_1")
    AND (list_contains(b."low_2", CAST(r."town" AS VARCHAR))
      OR r."town" IS NULL AND b."missing_2")
