-- title: The middle of the bin of every value; of an open bin the end it has
-- source: sqlmicro
-- reads: bins
-- returns: value, recoded
-- params: bins
SELECT
  value,
  (coalesce(low, high) + coalesce(high, low)) / 2 AS recoded
FROM "staging"."bins"
