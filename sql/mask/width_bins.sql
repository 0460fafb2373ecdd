-- title: The bin of equal width that every value is in
-- source: Hundepool et al. (2012), global recoding; bins begin at multiples of the width
-- reads: values
-- returns: value, low, high (low <= value < high)
-- params: values, width
SELECT
  value,
  round(floor(CAST(value AS DOUBLE) / {{ width | lit }}) * {{ width | lit }}, 9) AS low,
  round((floor(CAST(value AS DOUBLE) / {{ width | lit }}) + 1) * {{ width | lit }}, 9) AS high
FROM {{ values | ident }}
