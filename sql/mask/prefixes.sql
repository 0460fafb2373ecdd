-- title: The first characters of every value, the others as asterisks
-- source: sqlmicro
-- reads: values
-- returns: value, recoded
-- params: values, length
SELECT
  value,
  left(CAST(value AS VARCHAR), {{ length | lit }})
    || repeat('*', greatest(length(CAST(value AS VARCHAR)) - {{ length | lit }}, 0)) AS recoded
FROM {{ values | ident }}
