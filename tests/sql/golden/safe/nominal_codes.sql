-- title: The nominal values of combinations as numbers, to see which columns tell much of each other
-- source: sqlmicro; of more than so many combinations those with the smallest hashes, which is a sample
-- reads: cells
-- returns: in any order the nominal columns as numbers from 0; NULL is a value of its own
-- params: cells, nominal, most
SELECT
  dense_rank() OVER (ORDER BY "sex") - 1 AS "sex", dense_rank() OVER (ORDER BY "land") - 1 AS "land"
FROM (
  SELECT "sex", "land"
  FROM "staging"."cells"
  ORDER BY hash("sex", "land")
  LIMIT 5
) AS sampled
