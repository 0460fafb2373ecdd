-- title: What SUDA gives a score: every combination of values that occurs
-- source: Elliot, Manning & Ford (2002)
-- reads: cells
-- returns: cell (its number), entity (the same), the columns, records (that have the combination)
-- params: cells, columns
SELECT
  row_number() OVER () AS cell,
  row_number() OVER () AS entity,
  {{ columns | idents }},
  records
FROM {{ cells | ident }}
