-- title: The stratum of every record as a number
-- source: sqlmicro
-- reads: relation
-- returns: stratum (from 0), in the order of row_id
-- params: relation, by
SELECT
  dense_rank() OVER (ORDER BY "land", "sex") - 1 AS stratum
FROM "staging"."typed"
ORDER BY row_id
