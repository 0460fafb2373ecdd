-- title: The levels of a column as numbers
-- source: sqlmicro
-- reads: ladder
-- returns: in the order of the values, what is missing last: the number of every class from 0, and its share
-- params: ladder, levels (code, share)
SELECT
  code_0 - 1 AS code_0
  , "code_1" - 1 AS "code_1"
  , CAST("share_1" AS DOUBLE) AS "share_1"
FROM "staging"."ladder"
ORDER BY code_0
