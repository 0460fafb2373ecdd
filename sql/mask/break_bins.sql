-- title: The bin between two given breaks that every value is in
-- source: Hundepool et al. (2012), global recoding; the first and the last bin are open
-- reads: values
-- returns: value, low (NULL: open), high (NULL: open)
-- params: values, breaks
SELECT
  value,
  CASE WHEN value IS NOT NULL THEN
    list_max(list_filter({{ breaks | lit }}, lambda x: x <= CAST(value AS DOUBLE)))
  END AS low,
  CASE WHEN value IS NOT NULL THEN
    list_min(list_filter({{ breaks | lit }}, lambda x: x > CAST(value AS DOUBLE)))
  END AS high
FROM {{ values | ident }}
