-- title: The first day of the year, quarter, month or week of every date
-- source: sqlmicro
-- reads: values (days since 1970)
-- returns: value, recoded (days since 1970)
-- params: values, unit
SELECT
  value,
  CAST(CAST(date_trunc('quarter', DATE '1970-01-01' + CAST(value AS INTEGER)) AS DATE) - DATE '1970-01-01' AS DOUBLE)
    AS recoded
FROM "staging"."values"
