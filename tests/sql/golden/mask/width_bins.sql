-- title: The bin of equal width that every value is in
-- source: Hundepool et al. (2012), global recoding; bins begin at multiples of the width
-- reads: values
-- returns: value, low, high (low <= value < high)
-- params: values, width
SELECT
  value,
  round(floor(CAST(value AS DOUBLE) / 10.0) * 10.0, 9) AS low,
  round((floor(CAST(value AS DOUBLE) / 10.0) + 1) * 10.0, 9) AS high
FROM "staging"."values"
