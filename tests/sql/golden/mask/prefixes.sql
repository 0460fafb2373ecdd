-- title: The first characters of every value, the others as asterisks
-- source: sqlmicro
-- reads: values
-- returns: value, recoded
-- params: values, length
SELECT
  value,
  left(CAST(value AS VARCHAR), 2)
    || repeat('*', greatest(length(CAST(value AS VARCHAR)) - 2, 0)) AS recoded
FROM "staging"."values"
