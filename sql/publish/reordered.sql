-- title: The records of a candidate, numbered in an order of their own
-- source: sqlmicro: files of one run that stand in one order would be one file
-- reads: relation
-- returns: row_id from 0, record, the columns
-- params: relation, columns, candidate (its number)
SELECT
  row_number() OVER (
    ORDER BY sha256(concat(getvariable('sqlmicro_order'), ' candidate ', {{ candidate | lit }}, ' ', row_id))) - 1 AS row_id,
  record,
  {{ columns | idents }}
FROM {{ relation | ident }}
