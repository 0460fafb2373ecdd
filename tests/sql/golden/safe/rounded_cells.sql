-- title: The released records with every number as the type of its column can hold it
-- source: sqlmicro: half to even, which has no bias. At the end of a type's range a DOUBLE may lie just outside it: then
--   the next one inside is taken
-- reads: released
-- returns: label, the columns, n; the rounded columns in their own type, days and microseconds as whole DOUBLEs
-- params: released, plain, times, rounded (column, digits after the point)
SELECT
  label
  , "sex"
  , "x"
  , round_even("day", 0) AS "day"
  , coalesce(
      TRY_CAST(round_even("net ""income""", 0) AS INTEGER),
      CAST("net ""income""" * (1 - 2.220446049250313e-16) AS INTEGER)) AS "net ""income"""
  , coalesce(
      TRY_CAST(round_even("pay", 1) AS DECIMAL(4,1)),
      CAST("pay" * (1 - 2.220446049250313e-16) AS DECIMAL(4,1))) AS "pay"
  , coalesce(
      TRY_CAST(round_even("big", 0) AS BIGINT),
      CAST("big" * (1 - 2.220446049250313e-16) AS BIGINT)) AS "big"
  , n
FROM "staging"."released"
