-- title: What SUDA gives a score: every combination of values that occurs
-- source: Elliot, Manning & Ford (2002)
-- reads: cells
-- returns: cell (its number), owner (the same number), the columns, records (that have the combination)
-- params: cells, columns
SELECT
  row_number() OVER () AS cell,
  row_number() OVER () AS owner,
  {{ columns | idents }},
  records
FROM {{ cells | ident }}
