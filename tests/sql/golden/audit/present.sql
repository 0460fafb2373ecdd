-- title: How many records there are, and how many have a value in each of some columns
-- source: sqlmicro
-- reads: relation
-- returns: one row: records; present_i for the i-th column
-- params: relation, columns
SELECT
  count(*) AS records
  , count("x") AS present_1
  , count("net ""income""") AS present_2
FROM "staging"."typed"
