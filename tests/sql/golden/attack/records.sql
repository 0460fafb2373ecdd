-- title: The order in which a run has numbered the records
-- source: sqlmicro: that of load/shuffled.sql
-- reads: relation (typed)
-- returns: place (in the table, from 0), in the order of their numbers
-- params: relation, first (columns)
SELECT place
FROM (
  SELECT
    *,
    row_number() OVER () - 1 AS place
  FROM "staging"."typed")
ORDER BY record, place
