-- title: The cells as numbers: every nominal value by its number, every numeric value as it is
-- source: Höhne, SAFE: the number of a nominal value is the column of Z that holds the 1
-- reads: cells
-- returns: in the order of cell: n, stratum from 0, a number from 0 per nominal column (NULL is a value of its own), the
--   numeric columns as DOUBLE
-- params: cells, by, nominal, numeric
SELECT
  n,
  dense_rank() OVER (ORDER BY true) - 1 AS stratum
  , dense_rank() OVER (ORDER BY "sex") - 1 AS "sex"
  , CAST("net ""income""" AS DOUBLE) AS "net ""income"""
FROM "staging"."cells"
ORDER BY cell
