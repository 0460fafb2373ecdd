-- title: The first moment of the year, quarter, month, week, day or hour of every timestamp
-- source: sqlmicro
-- reads: values (microseconds since 1970)
-- returns: value, recoded (microseconds since 1970)
-- params: values, unit
SELECT
  value,
  CAST(epoch_us(date_trunc({{ unit | lit }}, make_timestamp(CAST(value AS BIGINT)))) AS DOUBLE) AS recoded
FROM {{ values | ident }}
