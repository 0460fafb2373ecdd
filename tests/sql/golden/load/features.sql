-- title: The records as numbers, for a kernel
-- source: sqlmicro; an ordinal value is the place of its value in the order (Domingo-Ferrer & Torra 2005)
-- reads: relation
-- returns: in the order of row_id: row_id, the numeric columns as DOUBLE, ordinal values by their place from 0, nominal
--   values by a number from 0 (NULL is a value of its own), stratum (from 0) where strata are given
-- params: relation, numeric, ordinal (column, type that has the order), nominal, strata (none, or the columns of the strata
--   as the only element)
SELECT
  row_id
  , CAST("net ""income""" AS DOUBLE) AS "net ""income"""
  , CAST("x" AS DOUBLE) AS "x"
FROM "staging"."typed"
ORDER BY row_id
