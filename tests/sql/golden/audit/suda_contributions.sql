-- title: What every column contributes to the SUDA scores
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: the scores of the minimal sample uniques that have the column
-- reads: scores (the combinations that count), minimal_uniques (one relation for every number of columns)
-- returns: column_name, total
-- params: scores, minimal_uniques (relation and weight of each), columns (name and bit of each)
WITH weighed AS (
  SELECT bits, CAST(6 AS DOUBLE) AS score
  FROM "staging"."ones"
  WHERE cell IN (SELECT cell FROM "staging"."scores")
  UNION ALL
  SELECT bits, CAST(2 AS DOUBLE) AS score
  FROM "staging"."twos"
  WHERE cell IN (SELECT cell FROM "staging"."scores")
)
SELECT 'a' AS column_name, sum(score) AS total
FROM weighed
WHERE bits & 1 > 0
UNION ALL
SELECT 'b' AS column_name, sum(score) AS total
FROM weighed
WHERE bits & 2 > 0
UNION ALL
SELECT 'v' AS column_name, sum(score) AS total
FROM weighed
WHERE bits & 4 > 0
