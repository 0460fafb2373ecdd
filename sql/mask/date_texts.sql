-- title: Every date as text
-- source: sqlmicro
-- reads: values (days since 1970)
-- returns: value, recoded
-- params: values
SELECT
  value,
  CAST(DATE '1970-01-01' + CAST(value AS INTEGER) AS VARCHAR) AS recoded
FROM {{ values | ident }}
