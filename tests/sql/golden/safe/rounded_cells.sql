-- title: The released records with every number as the type of its column can hold it
-- source: sqlmicro: half to even, which has no bias. Half a cent is hardly ever a DOUBLE, so what lies a millionth of the
--   last digit from a half counts as one. At the end of a type's range a DOUBLE may lie just outside it: then the next
--   one inside is taken
-- reads: released
-- returns: label, the columns, n; the rounded columns in their own type, days and microseconds as whole DOUBLEs
-- params: released, plain, times, whole, decimals (column, digits after the point)
SELECT
  label
  , "sex"
  , "x"
  , round_even("day", 0) AS "day"
  , coalesce(
      TRY_CAST(round_even("net ""income""", 0) AS INTEGER),
      CAST("net ""income""" * (1 - 2.220446049250313e-16) AS INTEGER)) AS "net ""income"""
  , coalesce(
      TRY_CAST(round_even("big", 0) AS BIGINT),
      CAST("big" * (1 - 2.220446049250313e-16) AS BIGINT)) AS "big"
  , coalesce(
      TRY_CAST(round_even(round("pay" * 1e1, 6), 0) / 1e1 AS DECIMAL(4,1)),
      CAST("pay" * (1 - 2.220446049250313e-16) AS DECIMAL(4,1))) AS "pay"
  , coalesce(
      TRY_CAST(round_even(round("fee" * 1e2, 6), 0) / 1e2 AS DECIMAL(7,2)),
      CAST("fee" * (1 - 2.220446049250313e-16) AS DECIMAL(7,2))) AS "fee"
  , n
FROM "staging"."released"
