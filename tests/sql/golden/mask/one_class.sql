-- title: The level on which all values are one
-- source: Samarati (2001)
-- reads: values
-- returns: value, recoded
-- params: values, label (NULL where the column stays numeric)
SELECT
  value,
  '*' AS recoded
FROM "staging"."values"
