-- title: The box of every group as text: its stratum, and its range or set in every column
-- source: LeFevre, DeWitt & Ramakrishnan (2006); the ends are those of the released ranges
-- reads: groups (row_id, label), relation
-- returns: the strata, and per column low, high and whether values are missing; of a set the values stand for low
-- params: groups, relation, strata (column, name), ranges, dates, timestamps, sets (column, low, high, missing),
--   order (low, high, missing)
WITH boxes AS (
  SELECT
    g.label
    , CAST(min(r."land") AS VARCHAR) AS "stratum_1"
    , CAST(min(r."net ""income""") AS VARCHAR) AS "low_1"
    , CAST(max(r."net ""income""") AS VARCHAR) AS "high_1"
    , count(*) > count(r."net ""income""") AS "missing_1"
    , CAST(DATE '1970-01-01' + CAST(min(r."born") AS INTEGER) AS VARCHAR) AS "low_3"
    , CAST(DATE '1970-01-01' + CAST(max(r."born") AS INTEGER) AS VARCHAR) AS "high_3"
    , count(*) > count(r."born") AS "missing_3"
    , CAST(make_timestamp(CAST(min(r."seen") AS BIGINT)) AS VARCHAR) AS "low_4"
    , CAST(make_timestamp(CAST(max(r."seen") AS BIGINT)) AS VARCHAR) AS "high_4"
    , count(*) > count(r."seen") AS "missing_4"
    , list_sort(list(DISTINCT CAST(r."town" AS VARCHAR)) FILTER (WHERE r."town" IS NOT NULL))
      AS "low_2"
    , NULL AS "high_2"
    , count(*) > count(r."town") AS "missing_2"
  FROM "staging"."groups" AS g
  JOIN "staging"."typed" AS r USING (row_id)
  GROUP BY g.label
)
SELECT
  b."stratum_1", 
  b."low_1", b."high_1", b."missing_1", b."low_2", b."high_2", b."missing_2", b."low_3", b."high_3", b."missing_3", b."low_4", b."high_4", b."missing_4"
FROM boxes AS b
ORDER BY b.label
