-- title: Every value as text
-- source: sqlmicro
-- reads: values
-- returns: value, recoded
-- params: values
SELECT
  value,
  CAST(value AS VARCHAR) AS recoded
FROM {{ values | ident }}
