-- title: The boxes of a recoding: what is in them, and what it is released as
-- source: LeFevre, DeWitt & Ramakrishnan (2006); sqlmicro: boxes that were published are applied to other records
-- reads: nothing, the boxes stand here
-- returns: box, the strata as text, per range the ends in the type of the column, per set its values, whether values are
--   missing, and the released text
-- params: boxes (how many), strata (name, texts), ranges (low, high, missing, label, lows, highs, missings, type), dates,
--   timestamps, sets (set, missing, label, sets, missings)
WITH texts AS (
  SELECT
    unnest(range(2)) AS box
    , unnest(CAST(['a', NULL] AS VARCHAR[])) AS "stratum_1"
    , unnest(CAST(['5', NULL] AS VARCHAR[])) AS "low_1"
    , unnest(CAST(['7', NULL] AS VARCHAR[])) AS "high_1"
    , unnest([false, true]) AS "missing_1"
    , unnest(CAST(['1970-01-02', '1970-01-01'] AS VARCHAR[])) AS "low_2"
    , unnest(CAST(['1970-02-01', '1970-01-01'] AS VARCHAR[])) AS "high_2"
    , unnest([true, false]) AS "missing_2"
    , unnest(CAST(['1970-01-01 00:00:00', NULL] AS VARCHAR[])) AS "low_3"
    , unnest(CAST(['1970-01-01 00:00:01', NULL] AS VARCHAR[])) AS "high_3"
    , unnest([false, true]) AS "missing_3"
    , unnest(CAST([['b', 'a''s'], []] AS VARCHAR[][])) AS "low_4"
    , unnest([false, true]) AS "missing_4"
)
SELECT
  b.box
  , b."stratum_1"
  , CAST(b."low_1" AS INTEGER) AS "low_1"
  , CAST(b."high_1" AS INTEGER) AS "high_1"
  , CAST(CAST(b."low_2" AS DATE) - DATE '1970-01-01' AS DOUBLE) AS "low_2"
  , CAST(CAST(b."high_2" AS DATE) - DATE '1970-01-01' AS DOUBLE) AS "high_2"
  , CAST(epoch_us(CAST(b."low_3" AS TIMESTAMP)) AS DOUBLE) AS "low_3"
  , CAST(epoch_us(CAST(b."high_3" AS TIMESTAMP)) AS DOUBLE) AS "high_3"
  , b."missing_1"
  , CASE WHEN b."low_1" = b."high_1" THEN b."low_1"
      ELSE '[' || b."low_1" || ', ' || b."high_1" || ']' END
    || CASE WHEN b."missing_1" THEN ' or missing' ELSE '' END AS "label_1"
  , b."missing_2"
  , CASE WHEN b."low_2" = b."high_2" THEN b."low_2"
      ELSE '[' || b."low_2" || ', ' || b."high_2" || ']' END
    || CASE WHEN b."missing_2" THEN ' or missing' ELSE '' END AS "label_2"
  , b."missing_3"
  , CASE WHEN b."low_3" = b."high_3" THEN b."low_3"
      ELSE '[' || b."low_3" || ', ' || b."high_3" || ']' END
    || CASE WHEN b."missing_3" THEN ' or missing' ELSE '' END AS "label_3"
  , b."low_4"
  , b."missing_4"
  , CASE len(b."low_4") WHEN 0 THEN NULL WHEN 1 THEN b."low_4"[1]
      ELSE '{' || array_to_string(list_sort(b."low_4"), ', ') || '}' END
    || CASE WHEN b."missing_4" THEN ' or missing' ELSE '' END AS "label_4"
FROM texts AS b
