-- title: Every timestamp as text
-- source: sqlmicro
-- reads: values (microseconds since 1970)
-- returns: value, recoded
-- params: values
SELECT
  value,
  CAST(make_timestamp(CAST(value AS BIGINT)) AS VARCHAR) AS recoded
FROM {{ values | ident }}
